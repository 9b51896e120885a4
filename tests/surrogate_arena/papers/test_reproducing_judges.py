"""Every command of the guide that reproduces the papers, on small data of the published shape."""

import json
import re
import shlex
from pathlib import Path

import pandas as pd
import pytest
from grouse_samples import unit_test, written
from memerag_samples import answered, labeled, lines_of
from wikieval_samples import published_rows

from surrogate_arena.papers.grouse.metrics import JUDGED_METRICS
from surrogate_arena.papers.grouse.unit_tests import TEST_TYPES

GUIDE = Path(__file__).parents[3] / "docs" / "reference" / "reproducing_judges.md"
PAPERS = ("MEMERAG", "Ragas", "GroUSE")
YES, NO = "Supported", "Not Supported"
ASKS_LLMS = re.compile(r"llm:|gpt-|model=")


def commands():
    """Yield the commands of each row, in order: what is drawn was written before."""
    sections = re.split(r"^## ", GUIDE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for section in sections[1:]:
        paper = section.splitlines()[0].strip()
        for row in re.findall(r"^\| .*`surrogate-arena .*$", section, re.MULTILINE):
            if paper in PAPERS:
                item = row.split("|")[1].strip()
                yield f"{paper}, {item}", re.findall(r"`surrogate-arena ([^`]+)`", row)


COMMANDS = dict(commands())


def sentences(several):
    label = (lambda text: [text] * 3) if several else (lambda text: text)
    first, second = ("Directly answers the question", "Adds context to the answer")
    return [
        answered(
            f"q{number}",
            labeled("Oslo lies in Norway.", label(YES), label("Other"), label(first)),
            labeled("It is old.", label(NO), label("Contradiction"), label(second), 1),
        )
        for number in range(3)
    ]


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Folders and files as the guide names them, in the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    for name, several in (("MEMERAG", False), ("MEMERAG-EXT", True), ("IAA", True)):
        Path(name).mkdir()
        for language in ("en", "de", "es", "fr", "hi"):
            Path(name, f"{language}.jsonl").write_text(lines_of(*sentences(several)))
    Path("WIKIEVAL/data").mkdir(parents=True)
    pd.DataFrame(published_rows()).to_parquet("WIKIEVAL/data/train.parquet")
    tests = [unit_test(kind.name, kind.name) for kind in TEST_TYPES]
    Path("TESTS.jsonl").write_text(lines_of(*map(as_written, tests)))
    plain = [as_written(test) for test in tests]
    for row in plain:
        del row["conditions"]
    Path("SAMPLES.jsonl").write_text(lines_of(*plain))
    ids = [f"TESTS.jsonl:{line}" for line in range(1, len(tests) + 1)]
    rows = [f"{each},{name},5,5,,1" for name in ("first", "second") for each in ids]
    header = "test_id,annotator,answer_relevancy,completeness,usefulness,faithfulness"
    Path("HUMAN.csv").write_text("\n".join([header, *rows]) + "\n")
    shares = [f"{each},0.8,1" for each in ids]
    Path("quick.toml").write_text("replicates = 10\npermutations = 20\n")
    for name in ("SHARES", "TOOL"):
        table = "test_id,answer_relevancy,faithfulness\n" + "\n".join(shares)
        Path(f"{name}.csv").write_text(table)
    return tmp_path


def as_written(test):
    sample = test.sample
    conditions = {f"{name}_condition": str(test.conditions[name]) for name in JUDGED_METRICS}
    return written(
        input=sample.question,
        actual_output=sample.answer,
        expected_output=sample.expected,
        references=list(sample.references),
        metadata={"test_type": test.test_type},
        conditions=conditions,
    )


@pytest.fixture
def server(serve):
    from chat_server import completion

    answer = {"answer_relevancy": 5, "completeness": 5, "usefulness": 1, "faithfulness": 1}
    everything = json.dumps({"answer_2": answer | {"score": 1}, "answer": answer | {"score": 1}})

    def behave(prompt, earlier):
        """Say something that each of the benchmarks can read."""
        told = "".join(row["content"] for row in chat.bodies[-1]["messages"])
        if "</answer>" in told or "Evidence Passages" in told:
            return completion(f"<answer>{YES if 'Oslo' in prompt else NO}</answer>")
        if "JSON" in told:
            return completion(everything)
        return completion("1. Oslo lies in Norway.\n1: Yes\nScore: 7\nBetter: 1")

    chat = serve(behave)
    return chat


SLOW = [item for item in COMMANDS if item.endswith(("(verdicts)", "(drawing)"))]
ROWS = [pytest.param(item, marks=pytest.mark.slow if item in SLOW else ()) for item in COMMANDS]


@pytest.mark.parametrize("item", ROWS)
def test_the_commands_of_the_guide_run(item, data, server, run, capsys, request):
    for command in [*before(item), *COMMANDS[item]]:
        if "EMBEDDER" in command:
            command = command.replace("EMBEDDER", request.getfixturevalue("minilm"))
        words = shlex.split(command)
        assert words[0] in ("metaeval", "publish")
        if ASKS_LLMS.search(command):
            words += ["--base-url", server.url, "--config", f"store={data}/store.sqlite"]
        if "quick.toml" not in words and words[0] == "metaeval":
            words += ["--config", "quick.toml"]
        assert run(*words) == 0, capsys.readouterr().err
    assert capsys.readouterr().out.strip()


def before(item):
    """Return the commands whose files a drawing is of."""
    paper, _, what = item.partition(", ")
    if not what.endswith("(drawing)"):
        return []
    return [
        command
        for other, found in COMMANDS.items()
        if other.startswith(paper) and other.endswith("(verdicts)")
        for command in found
    ]


def test_the_guide_has_every_table_of_the_three_papers():
    tables = {paper: set() for paper in PAPERS}
    for item in COMMANDS:
        paper, _, what = item.partition(", ")
        for part in what.split(";"):
            if part.strip().startswith("table"):
                tables[paper] |= set(map(int, re.findall(r"\d+", part)))
    assert tables == {"MEMERAG": {*range(1, 14)}, "Ragas": {1}, "GroUSE": {*range(1, 10)}}
