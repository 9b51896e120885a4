"""Passages without ids have the numbers by which answers cite them."""

import json
import shlex

import pandas as pd
import pytest

from arena import write_arena
from surrogate.checks.faults import arena_faults
from surrogate_arena.importers import import_arena
from surrogate_arena.importers.new_answers import read_answers

TEXTS = ["The bridge opened in 1932.", "J. Holt built the bridge.", "It has six lanes."]


def imported(folder, cited, passages=TEXTS):
    rows = []
    for number, brackets in enumerate(cited):
        answer = f"The bridge number {number} opened in 1932 {brackets} for all the people of it."
        rows.append((f"What of bridge {number}?", "v1", answer, json.dumps(passages)))
    table = pd.DataFrame(rows, columns=["question", "system", "answer", "passages"])
    table.to_csv(folder / "answers.csv", index=False)
    return import_arena("csv", folder / "answers.csv", language="en")


def ids_in(read):
    return [passage["passage_id"] for passage in read.arena.queries["passages"][0]]


@pytest.mark.parametrize(
    ("cited", "ids"),
    [
        (["[0]", "[1][2]", "[0, 2]"], ["0", "1", "2"]),
        (["[1]", "[1][2]", "[3]"], ["1", "2", "3"]),
        # A slip beside answers that cite the last passage by its number
        (["[0]", "[3]", "[2, 3]"], ["1", "2", "3"]),
        (["", "", ""], ["1", "2", "3"]),
    ],
)
def test_numbers_begin_where_citations_do(tmp_path, cited, ids):
    read = imported(tmp_path, cited)
    assert ids_in(read) == ids
    says_so = any("numbered from 0" in note for note in read.notes)
    assert says_so == (ids[0] == "0")


def test_citations_from_zero_are_no_fault(tmp_path):
    read = imported(tmp_path, ["[0]", "[1][2]", "[0, 2]"])
    write_arena(read.arena, tmp_path / "arena")
    assert "dead-citation" not in set(arena_faults(read.arena).found["check"])


def test_ids_that_the_table_has_stay(tmp_path):
    passages = [{"id": str(7 + place), "text": text} for place, text in enumerate(TEXTS)]
    assert ids_in(imported(tmp_path, ["[0]", "[0]", "[0]"], passages)) == ["7", "8", "9"]


def test_passages_of_a_new_version_are_numbered_alike(tmp_path):
    read = imported(tmp_path, ["[0]", "[1][2]", "[0, 2]"])
    table = pd.read_csv(tmp_path / "answers.csv").assign(system="v2")
    others = [text.upper() for text in TEXTS]
    table["passages"] = json.dumps(others)
    table.to_csv(tmp_path / "new.csv", index=False)
    new = read_answers(tmp_path / "new.csv", read.arena.queries)
    assert [passage["passage_id"] for passage in new["passages"][0]] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("columns", "path"),
    [
        ({"retrieved": json.dumps(TEXTS)}, "retrieved"),
        ({f"Kontext {n + 1}": text for n, text in enumerate(TEXTS)}, None),
    ],
)
def test_columns_that_may_hold_passages_are_named_with_the_option_that_reads_them(
    tmp_path, columns, path
):
    rows = [
        {"question": f"What of bridge {n}?", "system": "v1", "answer": f"It opened in {n}."}
        for n in range(9)
    ]
    pd.DataFrame(rows).assign(**columns).to_csv(tmp_path / "answers.csv", index=False)
    skipped = import_arena("csv", tmp_path / "answers.csv", language="en").skipped
    reasons = " ".join(skipped["reason"])
    words = shlex.split(reasons.partition("--column ")[2])
    stated = words[0].removeprefix("passages=")
    assert path in (None, stated)
    read = import_arena(
        "csv", tmp_path / "answers.csv", language="en", columns={"passages": stated}
    )
    assert [passage["text"] for passage in read.arena.queries["passages"][0]] == TEXTS
