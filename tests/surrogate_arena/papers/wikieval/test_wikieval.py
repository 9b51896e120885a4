"""WikiEval's pairs, what is said of damaged files, and their judges."""

import json
import math

import pandas as pd
import pytest
from chat_server import broken, completion, refused
from wikieval_samples import QUESTIONS, published_rows

from arena import DataError, UsageError
from arena.llm import UnparsableError
from surrogate_arena.papers.evaluation import evaluate_judges
from surrogate_arena.papers.judges import FunctionJudge, PromptJudge
from surrogate_arena.papers.settings import MetaevalSettings
from surrogate_arena.papers.verdict import Verdict
from surrogate_arena.papers.wikieval.benchmark import Wikieval, score_preferences
from surrogate_arena.papers.wikieval.judges import (
    RankingPrompts,
    read_choice,
    read_score,
)
from surrogate_arena.papers.wikieval.pairs import CRITERIA, read_wikieval


def by_criterion(pairs, criterion):
    return pairs[pairs["criterion"] == criterion].set_index("question")


@pytest.mark.parametrize("where", ["rows.parquet", "clone/data/train-00000-of-00001.parquet"])
def test_the_published_rows_hold_a_pair_of_each_criterion(tmp_path, where):
    file = tmp_path / where
    file.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(published_rows()).to_parquet(file)
    pairs = read_wikieval(file if where == "rows.parquet" else tmp_path / "clone")
    assert list(pairs["criterion"].drop_duplicates()) == list(CRITERIA)
    assert len(pairs) == 9
    for question, texts in QUESTIONS.items():
        context = texts["context"]
        for criterion, beside, better, worse in (
            ("faithfulness", context, texts["answer"], texts["ungrounded"]),
            ("answer_relevance", None, texts["answer"], texts["poor"]),
            ("context_relevance", None, context, context + texts["added"]),
        ):
            row = by_criterion(pairs, criterion).loc[question]
            assert (row["context"], row["better"], row["worse"]) == (beside, better, worse)
    (file.parent / "other.csv").touch()
    with pytest.raises(DataError, match=r"other\.csv"):
        read_wikieval(file.parent)


def test_labels_of_good_and_bad_texts_are_pairs(tmp_path):
    texts = {"ff": ["answer", "context"], "ar": ["answer"], "cr": ["context"]}
    for name, columns in texts.items():
        table = pd.DataFrame({"question": ["q", "q"], "label": [0, 1]})
        for column in columns:
            table[column] = "source" if name == "ff" and column == "context" else ["bad", "good"]
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    pairs = read_wikieval(tmp_path).set_index("criterion")
    assert sorted(pairs.index) == sorted(CRITERIA)
    assert (pairs["better"] == "good").all()
    assert (pairs["worse"] == "bad").all()
    assert pairs["context"].to_dict() == {
        "faithfulness": "source", "answer_relevance": None, "context_relevance": None
    }  # fmt: skip


def test_a_question_without_a_good_and_a_bad_text_is_told(tmp_path):
    rows = [("q1", "x", 1), ("q2", "x", 1), ("q2", "y", 0), ("q2", "z", 0), ("q3", "x", 2)]
    table = pd.DataFrame(rows, columns=["question", "answer", "label"])
    table.to_csv(tmp_path / "ar.csv", index=False)
    with pytest.raises(DataError) as refused:
        read_wikieval(tmp_path)
    assert [(each.line, each.field) for each in refused.value.problems] == [
        (2, "label"), (5, "question"), (6, "label")
    ]  # fmt: skip


def test_published_rows_that_are_faulty_are_told(tmp_path):
    file = tmp_path / "wikieval.jsonl"
    rows = published_rows()
    rows[1]["context_v2"] = []
    rows[2]["question"] = rows[0]["question"]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(DataError) as refused:
        read_wikieval(file)
    assert [(each.line, each.field) for each in refused.value.problems] == [
        (2, "context_v2"), (3, "question")
    ]  # fmt: skip


def judge_pairs(pairs, judges, **options):
    benchmark = Wikieval(pairs, settings=MetaevalSettings(**options))
    return evaluate_judges(benchmark, judges).verdicts


@pytest.fixture
def pairs(tmp_path):
    pd.DataFrame(published_rows()).to_parquet(tmp_path / "wikieval.parquet")
    return read_wikieval(tmp_path / "wikieval.parquet")


def accuracies(preferences, **options):
    scores = score_preferences(preferences, MetaevalSettings(**options))
    return dict(zip(scores["criterion"], scores["value"], strict=True))


def knows(better):
    """Return a function that prefers the better texts, or the worse ones."""
    texts = {text for each in QUESTIONS.values() for text in (each["answer"], each["context"])}
    return lambda criterion, question, context, text: float((text in texts) == better)


@pytest.mark.parametrize(("better", "accuracy"), [(True, 1.0), (False, 0.0)])
def test_any_function_judges(pairs, better, accuracy):
    preferences = judge_pairs(pairs, [FunctionJudge("oracle", knows(better))])
    assert set(accuracies(preferences).values()) == {accuracy}


def test_who_does_not_choose_is_wrong_and_counted(pairs):
    def half(criterion, question, context, text):
        return None if criterion == "faithfulness" else 1.0

    scores = score_preferences(judge_pairs(pairs, [FunctionJudge("f", half)]))
    row = scores.set_index("criterion").loc["faithfulness"]
    assert (row["value"], row["failures"], row["ties"], row["n"]) == (0.0, 3, 0, 3)
    row = scores.set_index("criterion").loc["answer_relevance"]
    assert (row["ties"], row["failures"], row["n"]) == (3, 0, 3)


def test_ties_are_broken_by_a_draw_that_the_seed_decides(pairs):
    many = pd.concat([pairs.assign(question=pairs["question"] + str(n)) for n in range(40)])
    preferences = judge_pairs(many, [FunctionJudge("f", lambda *_: 1)])
    found = accuracies(preferences)
    assert found == accuracies(preferences.sample(frac=1, random_state=1)[list(preferences)])
    assert found != accuracies(preferences, seed=1)
    assert all(0.35 < accuracy < 0.65 for accuracy in found.values())


def test_which_text_comes_first_is_drawn_by_content(pairs):
    shown = []

    class First:
        name, prompt = "first", ""

        def judge(self, items):
            shown.append({(item.criterion, item.question): item.first for item in items})
            return [Verdict("first") for _ in items]

    swapped = pairs.rename(columns={"better": "worse", "worse": "better"})[list(pairs)]
    for table in (pairs, pairs.iloc[::-1], swapped):
        judge_pairs(table, [First()])
    assert shown[0] == shown[1] == shown[2]
    for seed in range(9):
        judge_pairs(pairs, [First()], seed=seed)
    assert len({tuple(each.values()) for each in shown}) > 1


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("**Score:** 7.5", 7.5),
        ("A score of ten? Score: 3.\nOn reflection:\nScore: 4", 4),
        ("<think>Score: 9</think>Score: 2", 2),
        ("Maybe 9/10?\n</think>\n2", 2),
        ("9/10", 9),
        ("Score: 7,5", 7.5),
    ],
)
def test_scores_are_read(text, score):
    assert read_score(text) == score


@pytest.mark.parametrize(
    "text", ["", "Good.", "Score: 11", "Score: -1", "Score: 4/5", "Score: 7.5-8", "<think>Score: 3"]
)
def test_replies_without_a_score(text):
    with pytest.raises(UnparsableError):
        read_score(text)


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("Better: 1", 1),
        ("better is context 1.", 1),
        ("Better: 1, or rather\nBetter: 2", 2),
        ("Answer 1", 1),
    ],
)
def test_choices_are_read(text, choice):
    assert read_choice(text) == choice


@pytest.mark.parametrize(
    "text", ["Better: 1 and 2 are equal", "Neither answer is better: 1 and 2 lack sources."]
)
def test_both_are_no_choice(text):
    with pytest.raises(UnparsableError):
        read_choice(text)


@pytest.fixture
def asked(serve, llm_at):
    """Ask a server that behaves so: a judge, its verdicts on the pairs, the server."""

    def ask(prompts, pairs, behave, max_calls=None):
        server = serve(behave)
        judge = PromptJudge(prompts, llm_at(server, max_calls, retries=1))
        return judge, judge_pairs(pairs, [judge]), server

    return ask


def test_faults_are_counted_and_those_of_the_server_left_out(pairs, asked):
    def behave(prompt, _):
        if "Context relevance" in prompt:
            return broken()
        return refused() if "Answer relevance" in prompt else completion("Better: neither")

    _, preferences, _ = asked(RankingPrompts(), pairs, behave)
    scores = score_preferences(preferences).set_index("criterion")
    assert scores.loc["faithfulness", ["value", "failures", "n"]].tolist() == [0.0, 3, 3]
    assert scores.loc["answer_relevance", ["value", "failures"]].tolist() == [0.0, 3]
    lost = scores.loc["context_relevance"]
    assert (lost["n"], lost["not_asked"], lost["failures"]) == (0, 3, 0)
    assert math.isnan(lost["value"])
    assert lost["reason"] == "no pair of context_relevance was judged"
    failures = set(preferences["failure"])
    assert failures == {"unparsable", "refusal", "server_error"}


def test_an_embedder_that_is_not_here_is_missed_before_any_judge_is_paid(pairs, serve, tmp_path):
    server = serve(lambda prompt, _: completion("Score: 1"))
    judges = ["gpt-score:m", f"ragas:m with {tmp_path / 'nowhere'}"]
    with pytest.raises(UsageError, match="nowhere' is not on this machine"):
        judge_pairs(pairs, judges, base_url=server.url, store=str(tmp_path / "s.sqlite"))
    assert not server.bodies


def test_a_table_of_something_else_is_one_problem(tmp_path):
    pd.DataFrame({"a": ["x"] * 50, "label": [1] * 50}).to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(DataError) as raised:
        read_wikieval(tmp_path / "rows.csv")
    assert len(raised.value.problems) == 1
    assert "label" in str(raised.value)
