"""Relevance of sentences as a task of judges."""

import json

import pytest
from chat_server import completion
from sklearn.metrics import balanced_accuracy_score

from arena import UsageError
from surrogate.metaevaluation.judges import FunctionJudge
from surrogate.metaevaluation.memerag.relevance import (
    RELEVANCE_PROMPT,
    MemeragRelevance,
    RelevancePrompts,
    relevance_label,
    relevance_scores,
)
from surrogate.metaevaluation.runner import evaluate_judges


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("<rationale>It is irrelevant?</rationale><answer>Relevant</answer>", "Relevant"),
        ("<answer> **Irrelevant**. </answer>", "Irrelevant"),
        ("not relevant", "Irrelevant"),
        ("<answer>Adds context to the answer</answer>", "Relevant"),
        ("<answer>Unrelated to the question</answer>", "Irrelevant"),
        ("<answer>Relevant</answer> no, <answer>irrelevant</answer>", "Irrelevant"),
        ("<answer>relevant or irrelevant</answer>", None),
        ("It is relevant to what was asked.", None),
        ("", None),
    ],
)
def test_labels_are_read_and_never_guessed(text, label):
    assert relevance_label(text) == label


def test_an_llm_judges_all_labeled_sentences(serve, llm_at, small_sentences):
    """Challenging sentences count: their relevance could be told."""

    def behave(prompt, _):
        sentence = prompt.partition("[The Start of the Sentence ")[2].partition("]\n")[2]
        return completion(
            "<rationale>.</rationale><answer>"
            f"{'Irrelevant' if sentence.startswith(('Ja.', 'It')) else 'Relevant'}</answer>"
        )

    from surrogate.metaevaluation.judges import PromptJudge

    server = serve(behave)
    benchmark = MemeragRelevance(small_sentences)
    judge = PromptJudge(RelevancePrompts(), llm_at(server))
    evaluation = evaluate_judges(benchmark, [judge])
    verdicts = evaluation.verdicts
    assert len(verdicts) == len(small_sentences) == 6
    assert set(verdicts["relevance"]) == {"Relevant", "Irrelevant"}
    german = relevance_scores(verdicts, 10, 10).set_index("language").loc["de"]
    assert german["balanced_accuracy"] == 1.0
    assert german["relevant"] == 2
    english = relevance_scores(verdicts, 10, 10).set_index("language").loc["en"]
    assert english["reason"] == "no sentence of en that was judged is labeled Irrelevant"
    report = benchmark.report(evaluation, 10, 10)
    assert "Irrelevant" in " ".join(report.tables[0].notes)
    assert all("Where?" in prompt for prompt in server.asked)


def test_scores_are_those_of_scikit_learn(memerag_sentences):
    """On the real labels, and a judge that goes by the number of a sentence."""

    def judge(question, passages, answer, sentence):
        return "Relevant" if answer.index(sentence) < 100 else "Irrelevant"

    english = memerag_sentences[memerag_sentences["language"] == "en"]
    evaluation = evaluate_judges(MemeragRelevance(english), [FunctionJudge("early", judge)])
    verdicts = evaluation.verdicts
    expected = balanced_accuracy_score(verdicts["relevance"], verdicts["value"])
    found = relevance_scores(verdicts, 10, 10).set_index("language").loc["en"]
    assert found["balanced_accuracy"] == pytest.approx(expected)


def test_a_function_must_return_a_label(small_sentences):
    judge = FunctionJudge("f", lambda *_: "perhaps")
    with pytest.raises(UsageError, match="return Relevant or Irrelevant, or None"):
        evaluate_judges(MemeragRelevance(small_sentences), [judge])


def test_from_the_command_line(run, serve, small_folder, tmp_path, capsys):
    template = tmp_path / "mine.jinja"
    template.write_text("{{ question }} {{ sentence }}?", encoding="utf-8")
    assert RELEVANCE_PROMPT.read(template).version.startswith("mine@")
    server = serve(lambda prompt, _: completion("Relevant"))
    options = ["--base-url", server.url, "--store", tmp_path / "s.sqlite", "--judge", "llm:m"]
    asked = ["metaeval", "memerag", small_folder, "--task", "relevance", *options]
    assert run(*asked, "--template", template, "--json", "--permutations", 10) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["task"] == "relevance"
    assert {row["prompt"].partition("@")[0] for row in content["scores"]} == {"mine"}
    assert all(body["temperature"] == body["top_p"] == 0.1 for body in server.bodies)
    assert run(*asked, "--out", tmp_path / "run.json") == 2
    assert "are of faithfulness" in capsys.readouterr().err
    assert run("metaeval", "memerag", small_folder, "--task", "tone", *options) == 2
    assert "--task is 'tone'; use one of faithfulness, relevance" in capsys.readouterr().err
