"""Runs of TREC's tracks on RAG, with topics, grades and leaderboards beside them."""

import json

import pytest

from arena import import_arena

QUESTION = "How deep is the lake?"
ANSWERS = ("It is 40 m deep.", "About 45 m.")
PASSAGES = ["The lake is 40 m deep.", "Pikes live in it."]


def lines(folder, rows, name="run.jsonl"):
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def skipped(read):
    return dict(zip(read.skipped["reason"], read.skipped["count"], strict=True))


def answers(read):
    rows = read.arena.answers.to_dict(orient="records")
    return {row["system"]: row["answer"] for row in rows}


def passages(read, query=0):
    passages_of_query = read.arena.queries["passages"][query]
    return [(passage["passage_id"], passage["text"]) for passage in passages_of_query]


def test_runs_of_2024_count_references_from_0(tmp_path):
    rows = [
        {"run_id": f"run{n}", "topic_id": "2024-7", "topic": QUESTION, "response_length": 9}
        | {"references": ["d#1", "d#2", "d#3"]}
        | {"answer": [{"text": text, "citations": [0, 2]}, {"text": "So.", "citations": [9]}]}
        for n, text in enumerate(ANSWERS)
    ]
    read = import_arena("trec-rag", [lines(tmp_path, rows)])
    assert read.arena.queries["query_id"].tolist() == ["2024-7"]
    assert answers(read) == {f"run{n}": f"{text} [1][3] So." for n, text in enumerate(ANSWERS)}
    assert passages(read) == []
    assert skipped(read) == {
        "the text of the reference is not in the files": 6,
        "no reference has its number": 2,
    }


def run_of_2025(number, text, citations):
    head = {"team_id": "t", "run_id": f"run{number}", "narrative_id": 7, "narrative": QUESTION}
    answer = [{"text": text, "citations": citations}]
    return {"metadata": head, "references": ["d#1", "d#2"], "answer": answer}


def test_runs_of_both_years_are_read_together(tmp_path):
    old = {"run_id": "run0", "topic_id": "7", "topic": QUESTION, "references": ["d#1"]}
    old["answer"] = [{"text": ANSWERS[0], "citations": []}]
    read = import_arena("trec-rag", [lines(tmp_path, [old, run_of_2025(1, ANSWERS[1], [])])])
    assert answers(read) == {f"run{n}": text for n, text in enumerate(ANSWERS)}
    assert read.arena.queries["query_id"].tolist() == ["7"]


@pytest.mark.parametrize("citations", [[1, 0], ["d#2", "d#1"], {"d#1": 0.1, "d#2": 0.9}])
@pytest.mark.parametrize(
    "texts",
    [
        [{"docid": f"d#{n}", "segment": text} for n, text in enumerate(PASSAGES, 1)],
        [
            {
                "query": {"qid": "7", "text": QUESTION},
                "candidates": [
                    {"docid": f"d#{n}", "score": 1.0, "doc": {"segment": text}}
                    for n, text in enumerate(PASSAGES, 1)
                ],
            }
        ],
        [{"docid": "d#1", "contents": PASSAGES[0]}, {"id": "d#2", "text": PASSAGES[1]}],
    ],
)
def test_runs_of_2025_with_the_texts_of_references(tmp_path, citations, texts):
    rows = [run_of_2025(n, text, citations) for n, text in enumerate(ANSWERS)]
    lines(tmp_path, texts, "texts.jsonl")
    lines(tmp_path, rows)
    read = import_arena("trec-rag", [tmp_path])
    assert read.arena.queries["query"].tolist() == [QUESTION]
    assert answers(read) == {f"run{n}": f"{text} [2][1]" for n, text in enumerate(ANSWERS)}
    assert passages(read) == [("1", PASSAGES[0]), ("2", PASSAGES[1])]
    assert skipped(read) == {}


def test_reports_with_documents_and_topics_of_their_own_file(tmp_path):
    rows = [
        {"metadata": {"run_id": "r", "topic_id": "5"}}
        | {"responses": [{"text": "Deep.", "citations": {"a": 0.2, "b": 0.8}}]}
        | {"documents": {"a": {"text": PASSAGES[0]}, "b": {"text": PASSAGES[1], "title": "Fish"}}}
    ]
    lines(tmp_path, [{"id": "5", "title": QUESTION}], "topics.jsonl")
    lines(tmp_path, rows)
    read = import_arena("trec-rag", [tmp_path])
    assert read.arena.queries["query"].tolist() == [QUESTION]
    assert answers(import_arena("trec-rag", str(tmp_path))) == answers(read)
    assert answers(read) == {"r": "Deep. [1][2]"}
    assert passages(read) == [("1", PASSAGES[1]), ("2", PASSAGES[0])]


@pytest.fixture
def data_set(tmp_path):
    """A data set of AutoJudge's form: run files without an ending, topics, grades, measures."""
    for name, text in zip(("team.run", "other"), ANSWERS, strict=True):
        report = {
            "metadata": {"team_id": "t", "run_id": name, "topic_id": "lake"},
            "responses": [{"text": text, "citations": ["d1", "d2"]}],
            "documents": {f"d{n}": {"id": f"d{n}", "text": t} for n, t in enumerate(PASSAGES, 1)},
        }
        (tmp_path / "runs" / "generation").mkdir(parents=True, exist_ok=True)
        lines(tmp_path / "runs" / "generation", [report], name)
    topic = {"request_id": "lake", "title": "lake depth", "problem_statement": QUESTION}
    lines(tmp_path, [topic], "topics.jsonl")
    (tmp_path / "README.md").write_text("# A data set\n\nof two runs\n")
    return tmp_path


def test_files_of_any_name_are_read_by_what_they_hold(data_set):
    read = import_arena("trec-rag", data_set)
    assert answers(read) == {
        name: f"{t} [1][2]"
        for name, t in zip(("other", "team.run"), reversed(ANSWERS), strict=True)
    }
    assert read.arena.queries["query"].tolist() == [f"lake depth. {QUESTION}"]
    (reason,) = skipped(read)
    assert reason.startswith("begins with neither a run nor a topic")


def test_grades_say_which_passages_are_relevant(data_set):
    (data_set / "test.qrels").write_text("lake 0 d1 3\nlake 0 d2 0\nlake 0 d9 1\nsea 0 d1 0\n")
    read = import_arena("trec-rag", data_set)
    assert [passage["relevance"] for passage in read.arena.queries["passages"][0]] == [1, 0]
    assert skipped(read)["no answer to its topic has its document"] == 2
    assert read.tally["parts of others"] == 5


LEADERBOARDS = {
    "ir_measures": "team.run\tlake\tnuggets\t0.5\nother\tlake\tnuggets\t0.25\n",
    "ir_measures with a header": "run_id topic_id measure value\n"
    "team.run lake nuggets .5\nother lake nuggets .25\n",
    "jsonl": "".join(
        json.dumps({"run_id": run, "topic_id": "lake", "measure": "nuggets", "value": value}) + "\n"
        for run, value in (("team.run", 0.5), ("other", 0.25))
    ),
}


@pytest.mark.parametrize("form", LEADERBOARDS)
def test_measures_of_a_leaderboard_are_judges(data_set, form):
    means = "team.run all nuggets 0.5\nabsent lake nuggets 1\n"
    (data_set / "official.eval").write_text(LEADERBOARDS[form])
    (data_set / "means.txt").write_text(means)
    read = import_arena("trec-rag", data_set)
    (verdict,) = read.arena.judgments.to_dict(orient="records")
    assert verdict["judge"] == "nuggets"
    assert verdict[f"system_{verdict['winner']}"] == "team.run"
    assert skipped(read)["its run has no answer to its topic"] == 1


def test_a_measure_without_a_run_is_of_the_run_that_its_file_is_named_for(data_set):
    for run, value in (("other", 0.25), ("team", 0.5)):
        (data_set / f"{run}.txt").write_text(f"nuggets  \tlake\t{value}\n")
    read = import_arena("trec-rag", data_set)
    assert read.arena.judgments.empty
    assert skipped(read)["its run has no answer to its topic"] == 1
