"""The papers' own prompts, taken from where they lie, in the place of ours: sent, and read.

The papers are no part of this project. What they print of a prompt is cut out here, its
placeholders are made variables, and what a model is told to reply is replied by a server.
"""

import contextlib
import json
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from shared_data import shared_path

pytest.importorskip("openai", reason="needs the extra llm")

from chat_server import ChatServer, completion, embedding
from simulations import small_simulation

from arena import Arena, ArenaInfo, read_arena, write_arena
from arena.judging import LlmJudge, choose_pairs, judge_pairs, pairwise_prompt
from arena.llm import Budget, Llm, LlmSettings, open_store
from arena.llm.prompts import read_templates
from features import extract
from features.models import FEATURE_PROMPTS, ModelOptions
from surrogate_arena.generation import (
    ANSWER_PROMPTS,
    TIME_PROMPT,
    GenerationSettings,
    LlmSystem,
    TimeFilter,
    generate_answers,
)
from surrogate_arena.papers.grouse.metrics import AnswerSample
from surrogate_arena.papers.grouse.scoring_prompts import GROUSE_PROMPTS, GrousePrompts, ScoringTask
from surrogate_arena.papers.judges import PromptJudge
from surrogate_arena.papers.wikieval.benchmark import WIKIEVAL_PROMPTS
from surrogate_arena.papers.wikieval.judges import Pair, RankingPrompts, ScorePrompts

GUIDE = Path(__file__).parents[3] / "docs" / "reference" / "reproducing.md"
PASSAGES = [
    {"passage_id": "7#1", "title": "Oslo", "text": "Oslo is the capital of Norway.", "relevance": 1}
]
OUTPUT = "##Reason: It says so [7#1]. ##Answer: Oslo is the capital."


def paper(name):
    return shared_path(f"papers/{name}.txt").read_text(encoding="utf-8")


def part(text, start, end):
    """Cut out what stands from one phrase to another, both included, whatever breaks the lines."""
    found = re.search(f"{_spaced(start)}.*?{_spaced(end)}", text, re.DOTALL)
    assert found is not None, f"{start} … {end}"
    return found[0].replace("\\_", "_").replace("$\\{\\{language\\}\\}\\$", "{{language}}")


def _spaced(phrase):
    return r"\s+".join(map(re.escape, phrase.split()))


def column(text, start, end):
    """Cut a prompt out of one of two columns: the cells of its lines, from the given place on."""
    lines = text.splitlines()
    first = next(n for n, line in enumerate(lines) if start in line)
    at = lines[first].index(start)
    cells = []
    for line in lines[first : first + 40]:
        is_there = line[max(0, at - 2) : at + 4].strip()  # else the cell is the other column's
        cell = re.split(r"\s{4,}", line[max(0, at - 2) :].strip())[0] if is_there else ""
        cells.append(cell)
        if end in cell:
            break
    whole = "\n".join(cell for cell in cells if cell)
    return re.sub(r"-\n", "", whole)


@pytest.fixture
def serve():
    with contextlib.ExitStack() as stack:
        yield lambda reply: stack.enter_context(
            ChatServer(lambda prompt, earlier: completion(reply(prompt)))
        )


@pytest.fixture
def file(tmp_path):
    def write(name, text):
        path = tmp_path / f"{name}.jinja"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def arena():
    queries = pd.DataFrame(
        [("q", "en", "Which city is the capital?", PASSAGES)],
        columns=["query_id", "language", "query", "passages"],
    )
    answers = pd.DataFrame(
        [("q", "en", "ref", "Oslo [7#1]."), ("q", "en", "new", OUTPUT)],
        columns=["query_id", "language", "system", "answer"],
    )
    judgments = pd.DataFrame(
        columns=["query_id", "language", "system_a", "system_b", "winner", "judge"], dtype=str
    )
    info = ArenaInfo(name="a", languages=["en"], systems=["new", "ref"], reference_system="ref")
    return Arena(info, queries, answers, judgments)


def asked_at(server, model="m", **fields):
    quick = {"timeout_s": 5, "retries": 0}
    return LlmSettings(model=model, base_url=server.url, api_key_env=None, **quick, **fields)


def system_at(server, prompt, file=None):
    settings = GenerationSettings(model="m", base_url=server.url, api_key_env=None, prompt=prompt)
    own = {} if file is None else {"answer": file}
    return LlmSystem.of(settings, read_templates(own, [ANSWER_PROMPTS[prompt]]))


def test_mirage_figure_10_answers(serve, file, arena, tmp_path):
    text = paper("mirage-bench")
    instruction = part(text, "Instruction: Provide an answer", "within brackets []")
    form = part(text, "Please respond in {{language}}", "##Answer: {answer}.")
    citing = part(text, "using the IEEE format based", "contexts.")
    passages = (
        "{% for p in passages %}[{{ p.passage_id }}] {{ p.title }} – {{ p.text }}\n{% endfor %}"
    )
    template = f"Question: {{{{question}}}}\nContexts:\n{passages}{instruction} {citing}\n{form}"
    server = serve(lambda prompt: OUTPUT)
    system = system_at(server, "mirage", file("figure10", template))
    with open_store(tmp_path / "store.sqlite") as store:
        generated = generate_answers(arena.queries, system, store)
    assert list(generated.answers["answer"]) == [OUTPUT]
    assert "demonstrating how you arrived at your answer in English" in next(iter(server.asked))
    assert generated.answers["prompt"][0].startswith("figure10@")


def test_mirage_figures_11_and_12_rate(serve, file, arena, tmp_path):
    text = paper("mirage-bench")
    overlap = part(
        text, "You are an AI assistant. In the following", "justification in English. Example"
    )
    overlap += part(
        text,
        ": Score: [[3]] Justification",
        'in the format: "[[score]]", followed by your justification in English.',
    )
    fluency = part(text, "You will be given one summary", "##Explanation: {explanation}.")
    given = {"overlap": file("figure11", overlap), "fluency": file("figure12", fluency)}
    server = serve(
        lambda prompt: (
            "##Rating: {2} ##Explanation: ok"
            if "Fluency" in prompt
            else "Score: [[4]] Justification: The response aligns with the Label."
        )
    )
    own = read_templates(given, FEATURE_PROMPTS)
    asked = asked_at(server, store=str(tmp_path / "store.sqlite"))
    models = ModelOptions(llm=asked, templates=own)
    table = extract(arena, "llm_overlap,llm_fluency", models=models, cache=tmp_path / "cache")
    names = [f"llm_{name}(template={own.signature([name])})" for name in given]
    assert all(name in table for name in names)
    assert set(table[names[1]]) == {2.0}
    assert set(table[names[0]]) == {4.0}
    documents = next(prompt for prompt in server.asked if "Fluency" in prompt)
    assert "Oslo is the capital of Norway." in documents


def test_mirage_figure_13_judges(serve, file, arena, tmp_path):
    text = part(
        paper("mirage-bench"),
        "Please act as an impartial judge",
        "[The End of Assistant B's Answer]",
    )
    server = serve(lambda prompt: 'Assistant A is better. "[[A]]"')
    figure_13 = LlmJudge(asked_at(server), prompt=pairwise_prompt(file("figure13", text)))
    with open_store(tmp_path / "store.sqlite") as store:
        judged = judge_pairs(arena, figure_13, choose_pairs(arena), store)
    assert list(judged.judgments["winner"]) == ["a"]
    (prompt,) = server.asked
    assert "[7#1] Oslo: Oslo is the capital of Norway." in prompt
    assert OUTPUT in prompt


@pytest.mark.slow
def test_the_guides_command_for_figure_13_asks_each_pair_once(
    serve, file, tmp_path, run, monkeypatch
):
    """In an order drawn at random (section 4.2), also where there are no verdicts yet."""
    unjudged = small_simulation(range(3), ["en"], questions=4).arena
    write_arena(replace(unjudged, judgments=unjudged.judgments.head(0)), tmp_path / "ARENA")
    asked = "{{question}} {{documents}} {{answer_a}} {{answer_b}} say [[A]], [[B]] or [[C]]"
    [command] = re.findall(r"figure 13: .*?`surrogate-arena (judge [^`]+)`", GUIDE.read_text())
    command = command.replace("figure13.jinja", str(file("figure13", asked)))
    command = command.replace("mirage", str(tmp_path / "ARENA"))
    server = serve(lambda prompt: "[[A]]")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    assert run(*command.split(), "--base-url", server.url) == 0
    verdicts = read_arena(tmp_path / "ARENA").judgments
    pairs = [frozenset(row) for row in verdicts[["system_a", "system_b"]].to_numpy()]
    assert len(set(zip(verdicts["query_id"], pairs, strict=True))) == len(verdicts) == 4 * 3
    assert len(set(verdicts["system_a"])) == 3


RAGAS = {
    "statements": ("Given a question and answer, create one", "answer: [answer]"),
    "verdicts": ("Consider the given context and following", "statement: [statement 1]"),
    "question": ("Generate a question for the given answer.", "answer: [answer]"),
    "sentences": ("Please extract relevant sentences from", "from given context."),
}


def test_ragas_section_3_measures(serve, file, arena, tmp_path):
    text = paper("ragas")
    found = {name: column(text, *ends) for name, ends in RAGAS.items()}
    found["statements"] = found["statements"].replace("[question]", "{{question}}")
    found["verdicts"] = found["verdicts"].replace(
        "statement: [statement 1]",
        "context: {{context}}\n{% for each in statements %}statement: {{each}}\n{% endfor %}",
    )
    found["sentences"] += "\nquestion: {{question}}\ncontext: {{context}}"
    given = {
        name: file(name, prompt.replace("[answer]", "{{answer}}"))
        for name, prompt in found.items()
        if name != "question"
    }

    def reply(prompt):
        if prompt.startswith("Given a question"):
            return "statements:\nOslo is a city.\nOslo is the capital of Norway."
        if prompt.startswith("Consider"):
            return (
                "1. The context names it as a capital only.\n2. It is stated.\n"
                "Final verdict for each statement in order: No. Yes."
            )
        return "Oslo is the capital of Norway."

    server = serve(reply)
    models = ModelOptions(
        llm=asked_at(server, store=str(tmp_path / "store.sqlite")),
        templates=read_templates(given, FEATURE_PROMPTS),
    )
    table = extract(arena, "ragas_faithfulness,ragas_context_relevance", models=models)
    values = table[[name for name in table if name.endswith(")")]]
    assert values.to_numpy().tolist() == [[0.5, 1.0], [0.5, 1.0]]
    assert all(len(body["messages"]) == 1 for body in server.bodies)


def test_ragas_section_3_asks_for_questions_of_an_answer(file, arena, tmp_path):
    text = column(paper("ragas"), *RAGAS["question"])
    asked = "What is the capital of Norway?"
    vectors = {asked: [3.0, 4.0], "Which city is the capital?": [0.0, 1.0]}

    def behave(text, _):
        return embedding(vectors[text]) if text in vectors else completion(asked)

    with ChatServer(behave) as server:
        models = ModelOptions(
            llm=asked_at(server, store=str(tmp_path / "store.sqlite")),
            templates=read_templates(
                {"question": file("question", text.replace("[answer]", "{{answer}}"))},
                FEATURE_PROMPTS,
            ),
        )
        name = "ragas_answer_relevance@1(model=m with endpoint:text-embedding-ada-002,prefix=none)"
        table = extract(arena, name, models=models)
        sent = [body["messages"] for body in server.bodies if "messages" in body]
    [found] = [column for column in table if column.startswith("ragas_") and ":" not in column[-9:]]
    assert table[found].tolist() == pytest.approx([0.8, 0.8])
    assert all(len(messages) == 1 for messages in sent)
    assert all("Generate a question for the given answer." in m[0]["content"] for m in sent)


def judged(prompts, server, store, item):
    llm = Llm(asked_at(server), store, Budget())
    return PromptJudge(prompts, llm).judge([item])[0].value


@pytest.mark.parametrize(
    ("reply", "choice"),
    [("1. Answer 2\n2. Answer 1", "second"), ("answer 1 > answer 2", "first"),
     ("Answer 1: Rank 2\nAnswer 2: Rank 1", "second"), ("Answer 1 is more relevant.", "first")],
)  # fmt: skip
def test_ragas_section_5_ranks(serve, file, tmp_path, reply, choice):
    text = column(paper("ragas"), "Answer Relevancy measures the degree", "answer 2: [answer 2]")
    for name, variable in (("question", "question"), ("answer 1", "text"), ("answer 2", "other")):
        text = text.replace(f"[{name}]", f"{{{{{variable}}}}}")
    own = read_templates({"gpt-ranking": file("ranking", text)}, WIKIEVAL_PROMPTS)
    pair = Pair("answer_relevance", "Where?", None, "There.", "Here.")
    with open_store(tmp_path / "store.sqlite") as store:
        assert judged(RankingPrompts(own), serve(lambda prompt: reply), store, pair) == choice


def test_ragas_section_5_scores(serve, file, tmp_path):
    text = column(paper("ragas"), "Faithfulness measures the information", "answer: [answer]")
    text = text.replace("[context]", "{{context}}").replace("[answer]", "{{text}}")
    own = read_templates({"gpt-score": file("score", text)}, WIKIEVAL_PROMPTS)
    pair = Pair("faithfulness", "Where?", "It is here.", "There.", "Here.")
    server = serve(lambda prompt: "Score: 9" if prompt.endswith("Here.") else "7/10")
    with open_store(tmp_path / "store.sqlite") as store:
        assert judged(ScorePrompts(own), server, store, pair) == "second"


def test_memerag_appendix_g1_filters_and_g3_answers(serve, file, arena, tmp_path):
    text = part(
        paper("memerag"), "You are an NLP assistant that helps to identify", "label in English."
    )
    template = TIME_PROMPT.read(file("g1", f"{text}\nQuestion: {{{{question}}}}"))
    server = serve(lambda prompt: "<rationale>Capitals stay.</rationale><label>no</label>")
    filtering = TimeFilter(asked_at(server, "llama-3-70b"), template)
    answering = serve(lambda prompt: "Oslo")
    asked = part(paper("memerag"), "You are an NLP assistant whose", "above in {{language}}.")
    system = system_at(answering, "memerag", file("g3", asked))
    with open_store(tmp_path / "store.sqlite") as store:
        generated = generate_answers(arena.queries, system, store, time_filter=filtering)
    assert list(generated.answers["answer"]) == ["Oslo"]
    assert "- Oslo is the capital of Norway." in next(iter(answering.asked))
    assert {body["model"] for body in server.bodies} == {"llama-3-70b"}


REFERENCES = "{% for each in contexts %}Reference {{ loop.index }}: {{ each }}\n{% endfor %}"


FIGURES = {8: "Answer relevancy", 9: "Completeness", 10: "Usefulness", 11: "Faithfulness"}


@pytest.mark.parametrize("figure", FIGURES)
def test_grouse_figures_8_to_11_score(serve, file, tmp_path, figure):
    """Each is asked as its figure has it, with the variables of the authors' own files.

    Keys with and without underscores are read.
    """
    pages = paper("grouse")
    title = FIGURES[figure]
    metric = title.casefold().replace(" ", "_")
    before = pages[: pages.index(f"Figure {figure}: Prompt used for {title}")]
    text = before[before.rindex("Task: Grounded Question Answering") :].replace("```", "")
    shown = "[question]" in text, "[reference 1]" in text
    text = re.sub(
        r"Reference 1: \[reference 1\].*?(?=\n\S*(?:User|\[/SAMPLE))",
        REFERENCES,
        text,
        flags=re.DOTALL,
    )
    for name, variable in (
        ("question", "input"),
        ("ground_truth", "expected_output"),
        ("prediction", "actual_output"),
    ):
        text = text.replace(f"[{name}]", f"{{{{ {variable} }}}}")
    own = read_templates({metric: file(metric, text)}, list(GROUSE_PROMPTS.values()))
    said = {
        f"answer {number}": {f"{metric}_justification": "It does.", metric: score}
        for number, score in ((1, 1), (2, None))
    }
    server = serve(lambda prompt: f"```json\n{json.dumps(said)}\n```")
    sample = AnswerSample("Which capital?", ("Oslo is one.",), "Oslo [1].", "No document responds")
    with open_store(tmp_path / "store.sqlite") as store:
        prompts = GrousePrompts(templates=own)
        llm = Llm(asked_at(server), store, Budget())
        (verdict,) = PromptJudge(prompts, llm).judge([ScoringTask(metric, sample)])
    assert (verdict.value, verdict.failure) == (None, None)
    (body,) = server.bodies
    assert "response_format" not in body
    (message,) = body["messages"]
    assert f"{metric}_justification" in message["content"]
    assert (
        "Which capital?" in message["content"],
        "Reference 1: Oslo is one." in message["content"],
    ) == shown
    assert "Answer 2: No document responds" in message["content"]
