"""The commands of the guide that reproduces the papers: evaluation sets."""

import json
import re
import shlex
from pathlib import Path

import pytest

from arena import read_arena
from surrogate_arena.cli.unanswered_arenas import read_arena_to_answer

GUIDE = Path(__file__).parents[3] / "docs" / "reference" / "reproducing.md"
SECTION = "Evaluation sets"
LONG = "##Reason: [p0] says so.\n##Answer: It is the town of which the first passage tells us."


def commands():
    text = GUIDE.read_text(encoding="utf-8").split(f"## {SECTION}\n")[1].split("\n## ")[0]
    return [shlex.split(words) for words in re.findall(r"`surrogate-arena ([^`]+)`", text)]


def write(path, *records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Files as the guide names them, in the working folder."""
    monkeypatch.chdir(tmp_path)
    asked = [f"q{number}" for number in range(4)]
    prompt = "Question: Where?\n\nContexts:\n[p0] Here.\n[p1] There.\n\nInstruction: Answer."
    labels = {"positive_ids": ["p0"], "negative_ids": ["p1"]}
    folder = tmp_path / "CLONES"
    write(
        folder / "mirage-bench" / "en" / "dev-0.jsonl",
        *({"query_id": key, "prompt": prompt, **labels} for key in asked),
    )
    outputs = [{"model": name, "output": LONG} for name in ("one", "other")]
    write(
        folder / "mirage-bench-output" / "en" / "dev-0.jsonl",
        *({"query_id": key, "outputs": outputs, "answer_bleu": {"one": 0.5}} for key in asked),
    )
    Path("TOPICS.tsv").write_text("".join(f"{key}\tWhere is it?\n" for key in asked))
    Path("QRELS.tsv").write_text(
        "".join(f"{key}\tQ0\td{number}\t1\n" for number, key in enumerate(asked))
        + "".join(f"q0\tQ0\td{number}\t0\n" for number in range(4, 10))
        + "q1\tQ0\td9\t0\n"
    )
    passages = [f"d{number}" for number in range(10)]
    write(
        Path("CORPUS.jsonl"), *({"docid": key, "title": "", "text": "It is."} for key in passages)
    )
    return tmp_path


def test_the_commands_of_the_guide_run_in_their_order(run, data, capsys):
    pytest.importorskip("bm25s")
    shown = commands()
    assert "select" in [words[0] for words in shown]
    for words in [["import", "mirage", "CLONES", "--out", "mirage"], *shown]:
        assert run(*words) == 0, (words, capsys.readouterr().err)
    assert len(read_arena_to_answer(data / "hard").queries) == 2
    best = read_arena_to_answer(data / "best").queries
    # The best five of a question's own passages, not of the corpus: one has seven.
    assert best["passages"].map(len).tolist() == [5, 2, 1, 1]
    relevant = best["passages"].map(lambda own: any(each["relevance"] == 1 for each in own))
    assert relevant.all()
    annotated = read_arena(data / "annotation").answers
    assert annotated["system"].value_counts().to_dict() == {"one": 2, "other": 2}
