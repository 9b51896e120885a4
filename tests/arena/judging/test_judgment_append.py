"""Adding verdicts to an arena folder: nothing is lost, nothing stands there twice."""

import gzip
import json
import multiprocessing

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from judged_systems import build_arena

from arena import DataError, read_arena, write_arena
from arena.data.answer_digests import with_digests
from arena.judging.appending import append_rows
from arena.judging.llm_judge import VERDICT_COLUMNS

SUFFIXES = [".jsonl.gz", ".csv.gz", ".parquet"]
OLD = [
    {"query_id": "q0", "language": "en", "system_a": "good", "system_b": "poor", "winner": "a"},
    {"query_id": "q0", "language": "en", "system_a": "fair", "system_b": "poor", "winner": "tie"},
]


@pytest.fixture
def folder(tmp_path):
    write_arena(build_arena(), tmp_path)
    (tmp_path / "judgments.jsonl.gz").unlink()
    return tmp_path


def verdicts(*keys, judge="new", winner="b"):
    cells = (winner, judge, "shown", 0.75, 0.2, 0.75, "", "v1", "", None)
    rows = [(q, "en", a, b, *cells) for q, a, b in keys]
    return pd.DataFrame(rows, columns=VERDICT_COLUMNS)


def write_old(folder, suffix, **further):
    from arena.data.tables import write_rows

    table = pd.DataFrame([row | {"judge": "old"} | further for row in OLD])
    write_rows(table, folder / f"judgments{suffix}")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_verdicts_are_added_in_every_format(folder, suffix):
    write_old(folder, suffix, note="kept")
    path, added = append_rows(
        folder, "judgments", verdicts(("q1", "good", "poor"), ("q2", "poor", "fair"))
    )
    assert (path.name, added) == (f"judgments{suffix}", 2)
    table = read_arena(folder).judgments
    assert list(table["judge"]) == ["old", "old", "new", "new"]
    assert list(table["winner"]) == ["a", "tie", "b", "b"]
    assert list(table["note"])[:2] == ["kept", "kept"]
    assert [float(value) for value in table["probability"][2:]] == [0.75, 0.75]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_nothing_is_written_twice(folder, suffix):
    write_old(folder, suffix)
    new = verdicts(("q1", "good", "poor"))
    assert append_rows(folder, "judgments", new)[1] == 1
    path, added = append_rows(folder, "judgments", new)
    before = path.read_bytes()
    assert added == 0
    assert append_rows(folder, "judgments", new)[1] == 0
    assert path.read_bytes() == before
    assert len(read_arena(folder).judgments) == 3
    assert append_rows(folder, "judgments", verdicts(("q1", "poor", "good")))[1] == 1
    assert append_rows(folder, "judgments", verdicts(("q1", "good", "poor"), judge="other"))[1] == 1


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_panels_verdicts_take_the_place_of_its_older_ones(folder, suffix):
    write_old(folder, suffix)
    append_rows(
        folder, "judgments", verdicts(("q1", "good", "poor"), ("q2", "good", "poor"), winner="a")
    )
    _, added = append_rows(folder, "judgments", verdicts(("q1", "good", "poor")), replacing=True)
    table = read_arena(folder).judgments
    assert added == 1
    assert list(table["judge"]) == ["old", "old", "new", "new"]
    assert list(table["query_id"]) == ["q0", "q0", "q2", "q1"]
    assert list(table["winner"]) == ["a", "tie", "a", "b"]


def test_lines_that_are_there_stay_byte_by_byte(folder):
    lines = [
        '{"judge": "old", "winner": "a", "language": "en", "query_id": "q0", "system_a": "good", '
        '"system_b": "poor", "score": 1.50, "more": {"x": [1, null]}}',
        "",
        json.dumps(OLD[1] | {"judge": "näme"}),
    ]
    text = "\ufeff" + "\r\n".join(lines)  # a byte order mark, and no line end at the end
    (folder / "judgments.jsonl").write_bytes(text.encode())
    append_rows(folder, "judgments", verdicts(("q1", "good", "poor")))
    written = (folder / "judgments.jsonl").read_text(encoding="utf-8").splitlines()
    assert written[:2] == [lines[0], lines[2]]
    assert json.loads(written[2])["judge"] == "new"


def test_parquet_keeps_its_columns(folder):
    columns = {name: [row[name] for row in OLD] for name in OLD[0]} | {"judge": ["old", "old"]}
    pq.write_table(pa.table(columns | {"more": [1, None]}), folder / "judgments.parquet")
    append_rows(folder, "judgments", verdicts(("q1", "good", "poor")))
    written = pq.read_table(folder / "judgments.parquet")
    assert written["more"].to_pylist() == [1, None, None]
    assert len(read_arena(folder).judgments) == 3


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_verdicts_on_former_texts_are_replaced_by_new_ones_of_the_same_pair(folder, suffix):
    write_old(folder, suffix)
    first = with_digests(verdicts(("q1", "good", "poor")), read_arena(folder).answers)
    append_rows(folder, "judgments", first)
    edited = read_arena(folder).answers.assign(answer="Something else.")
    # Sides are drawn by the texts, so that a pair may be judged with other sides than before.
    again = with_digests(verdicts(("q1", "poor", "good"), winner="a"), edited)
    assert append_rows(folder, "judgments", again)[1] == 1
    assert append_rows(folder, "judgments", again)[1] == 0
    judged = read_arena(folder)
    table = pd.concat([judged.judgments, judged.outdated])
    assert sorted(table["judge"]) == ["new", "old", "old"]
    assert table.loc[table["judge"] == "new", "system_a"].tolist() == ["poor"]


def test_a_folder_without_judgments_gets_them_in_the_format_of_its_answers(folder):
    path, added = append_rows(folder, "judgments", verdicts(("q1", "good", "poor")))
    assert (path.name, added) == ("judgments.jsonl.gz", 1)
    with gzip.open(path, "rt") as stream:
        assert json.loads(stream.read())["winner"] == "b"


def test_damaged_judgments_are_left_alone(folder):
    path = folder / "judgments.jsonl"
    path.write_text('{"query_id": "q0"}\nnonsense\n')
    with pytest.raises(DataError, match="judgments"):
        append_rows(folder, "judgments", verdicts(("q1", "good", "poor")))
    assert path.read_text() == '{"query_id": "q0"}\nnonsense\n'


def add_own(folder, judge):
    for question in range(4):
        append_rows(folder, "judgments", verdicts((f"q{question}", "good", "poor"), judge=judge))


@pytest.mark.slow
def test_processes_that_add_at_once_lose_nothing(folder):
    context = multiprocessing.get_context("spawn")
    others = [context.Process(target=add_own, args=(folder, f"judge-{n}")) for n in range(2)]
    for process in others:
        process.start()
    for process in others:
        process.join()
    assert len(read_arena(folder).judgments) == 8
