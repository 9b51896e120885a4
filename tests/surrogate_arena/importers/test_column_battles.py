"""Judgments read column by column: the same as read row by row, from files of any form."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from arena.data import parquet
from arena.data.errors import DataError, UsageError
from arena.data.tables import write_rows
from arena.quality.judge_label import label_judge
from arena.rating.ratings import rate
from arena.statistics.codes import coded_judgments
from surrogate_arena.importers import judgments
from surrogate_arena.importers.battle_rows import BattleOptions
from surrogate_arena.importers.judgments import (
    counted_judgments_of,
    judgments_by_row,
    read_judgments,
)

STYLES = {
    "winner": [
        ["a", "b", "tie"],
        ["model_a", "model_b", "tie (bothbad)"],
        ["x", "y", "Z", "tie"],
        ["A>B", "B>>A", "x = y"],
        [1, 0, 0.5],
        ["1.0", "0.0", "0.5"],
        ["a", "error", None],
    ],
    "preference": [[1, 2, 1.25], [1.5, 1.75, 2]],
    "winner_model_a": [[True, False]],
    "winner_model_b": [[False]],
    "a_wins": [[True, False], ["yes", "no", None]],
    "query_id": [["q1"], ["q1", "q2"], ["3", "3.0", "4.0"], [1, 2]],
    "conversation_id": [["c1", "c2"], [5]],
    "language": [["en", "German"], ["klingon-ish", "DE", "none"], [None]],
    "judge": [["gpt-4o"], ["gpt-4o", "17", None], ["human", "user"], ["x:fluency"], [["gpt", "p"]]],
    "annotator": [["gpt-4o", None], ["ann@site.org"]],
    "judge_hash": [["v1", "v2", "user"], ["gpt-4o"]],
    "source": [["human", "model"]],
    "criterion": [["fluency", ""], ["style"]],
    "weight": [[1, 2.5], ["3", "1,5"]],
    "probability_a": [[0.25, 0.5], ["0.5", "0"], [0.25, None]],
    "probability_b": [[0.25, 0.5], ["0.5"], [0.25, "n/a"]],
    "both_bad": [[True, False], [False], [True, None]],
    "chosen": [["adaptive", None]],
    "repeat": [["2", None]],
    "flags": [["identical", "", None], ["identical,long"], [True, False], [["listed"]]],
    "turn": [[1], [1, 2, 3]],
    "anony": [[True, False]],
    "dedup_tag": [[{"sampled": True, "high_freq": False}, {"sampled": False, "high_freq": False}]],
    "confidence": [[0.1, 0.2], [0.1]],
    "explanation": [["so", "thus"], ["so"]],
    "index": [[1, 2, 3]],
    "Unnamed: 0": [[0, 1, 2]],
}
"""Forms that cells of a column have in sound files."""
ODD = {
    "winner": ["who?", "", "7"],
    "query_id": ["", " ", None],
    "weight": [0, None, "much"],
    "probability_a": [1.5, None, "much"],
    "probability_b": [-0.5, None],
    "criterion": [" ", 3],
    "turn": [-1, "first"],
    "judge": ["gpt-4o\u200b", " "],
    "language": [7],
}
"""Cells that may be at fault."""
NAMES = [
    ("x", "y", "Z"),
    (" gpt", "GPT", "gpt-4"),
    ("7", "8.0", "9"),
    (1, 2, 3),
    ("a", "b", "model_b"),
]
ODD_NAMES = ["", None, "x\u200b", "x"]


def cells_of(draw, styles, odd, size):
    """Draw the cells of a column: of one form, with an odd one now and then."""
    distinct = draw(st.sampled_from(styles))
    cells = draw(st.lists(st.sampled_from(distinct), min_size=size, max_size=size))
    if odd and draw(st.integers(0, 24)) == 0:
        cells[draw(st.integers(0, size - 1))] = draw(st.sampled_from(odd))
    return cells


@st.composite
def tables(draw):
    """Draw a table of battles, in one of the forms that files have, with further columns."""
    winners = [{"winner"}, {"winner"}, {"preference"}, {"winner_model_a", "winner_model_b"}]
    winners += [{"a_wins"}, {"probability_a", "probability_b"}]
    names = set(draw(st.sampled_from(winners)))
    names |= draw(
        st.sampled_from([{"query_id", "language", "judge"}, {"query_id", "judge"}, set()])
    )
    names |= draw(st.sets(st.sampled_from(sorted(STYLES)), max_size=4))
    size = draw(st.integers(1, 8))
    systems = draw(st.sampled_from(NAMES))
    first = draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    step = draw(st.lists(st.integers(1, 2), min_size=size, max_size=size))
    columns = {
        "model_a": [systems[place] for place in first],
        "model_b": [systems[(place + by) % 3] for place, by in zip(first, step, strict=True)],
    }
    if draw(st.integers(0, 9)) == 0:
        columns["model_a"][0] = draw(st.sampled_from(ODD_NAMES))
    for name in sorted(names):
        columns[name] = cells_of(draw, STYLES[name], ODD.get(name), size)
    return pd.DataFrame(columns, dtype=object)


def typed(table):
    """Return a table whose columns are of one type each, as Parquet needs them: texts if mixed."""
    columns = {}
    for name in table:
        types = set(map(type, table[name].dropna()))
        texts = table[name].map(lambda cell: None if cell is None else str(cell))
        columns[name] = table[name].infer_objects() if len(types) == 1 else texts
    return pd.DataFrame(columns)


def write_as(table, path):
    """Write a table in the form that a format has for its cells."""
    if path.suffix == ".csv":
        table = table.map(lambda cell: str(cell) if isinstance(cell, list | dict) else cell)
    if path.suffix == ".parquet":
        table = typed(table)
    write_rows(table, path)


def outcome(read):
    """Return what a reader returns or raises, as texts."""
    try:
        counted = read()
    except (DataError, UsageError) as error:
        return type(error), str(error)
    table = coded_judgments(counted.table)
    kinds = {name: str(kind) for name, kind in table.dtypes.items()}
    rows = [[repr(cell) for cell in row] for row in table.astype(object).to_numpy()]
    return kinds, rows, counted.skipped.to_dict(orient="records")


@settings(max_examples=60, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(table=tables(), suffix=st.sampled_from([".jsonl", ".csv", ".parquet"]), drops=st.booleans())
def test_columns_are_read_as_rows_are(tmp_path_factory, table, suffix, drops):
    path = tmp_path_factory.mktemp("battles") / f"j{suffix}"
    write_as(table, path)
    by_column = outcome(lambda: counted_judgments_of(path, drop_flagged=drops))
    assert by_column == outcome(lambda: judgments_by_row(path, BattleOptions(drops_flagged=drops)))


def simulated(n_judgments=400):
    random = np.random.default_rng(0)
    first = random.integers(6, size=n_judgments)
    second = (first + random.integers(1, 6, size=n_judgments)) % 6
    return pd.DataFrame(
        {
            "query_id": [f"q{number}" for number in random.integers(20, size=n_judgments)],
            "language": random.choice(["en", "de"], size=n_judgments),
            "system_a": [f"system-{number}" for number in first],
            "system_b": [f"system-{number}" for number in second],
            "winner": random.choice(["a", "b", "tie"], size=n_judgments),
            "judge": random.choice(["gpt-4o", "person:7"], size=n_judgments),
        }
    )


def of_lmarena(n_judgments=400):
    """Return battles in the form of LMArena's exports."""
    plain = simulated(n_judgments)
    words = {"a": "model_a", "b": "model_b", "tie": "tie (bothbad)"}
    random = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "conversation_id": [f"{number:032x}" for number in range(n_judgments)],
            "model_a": plain["system_a"],
            "model_b": plain["system_b"],
            "winner": plain["winner"].map(words),
            "judge": [f"arena_user_{number}" for number in random.integers(50, size=n_judgments)],
            "turn": random.integers(1, 4, size=n_judgments),
            "anony": random.random(n_judgments) < 0.9,
            "language": random.choice(["English", "German", "unknown"], size=n_judgments),
            "tstamp": random.random(n_judgments),
            "conv_metadata": [{"sum_user_tokens": number} for number in range(n_judgments)],
        }
    )


FEW = 60
FILES = {
    "ours": simulated(FEW),
    "further columns": simulated(FEW).assign(
        confidence=0.5, explanation=[f"because of {number}" for number in range(FEW)]
    ),
    "soft verdicts": simulated(FEW).assign(
        probability_a=np.linspace(0, 0.6, FEW), probability_b=np.linspace(0.4, 0.1, FEW)
    ),
    "voters and criteria": simulated(FEW).assign(
        voter=["ann", "bob"] * (FEW // 2), criterion="fluency"
    ),
    "LMArena": of_lmarena(FEW),
    "no question": of_lmarena(FEW).drop(columns=["conversation_id", "conv_metadata"]),
    "names of winners": simulated(FEW).assign(
        winner=lambda rows: rows["system_a"].where(rows["winner"] != "b", rows["system_b"])
    ),
}


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl", ".csv"])
@pytest.mark.parametrize("form", FILES)
def test_files_of_usual_forms_are_read_by_column(tmp_path, monkeypatch, form, suffix):
    path = tmp_path / f"j{suffix}"
    write_as(FILES[form], path)
    by_row = outcome(lambda: judgments_by_row(path, BattleOptions()))
    monkeypatch.delattr(judgments, "judgments_by_row")
    assert outcome(lambda: counted_judgments_of(path)) == by_row


def test_row_groups_make_no_difference(tmp_path):
    table = of_lmarena().assign(number=[None, 0.5] * 200)
    for size in (None, 7):
        table.to_parquet(tmp_path / f"{size}.parquet", index=False, row_group_size=size)
    whole, parts = (read_judgments(tmp_path / f"{size}.parquet") for size in (None, 7))
    pd.testing.assert_frame_equal(whole, parts)


def test_votes_that_differ_in_a_column_that_is_not_kept_are_repeats(tmp_path):
    table = simulated(3).iloc[[0, 0, 0]].assign(text="so", time=[1, 2, 1], nested=[[1], [1], [1]])
    table.to_parquet(tmp_path / "j.parquet", index=False)
    # The third row is a copy of the first.
    assert read_judgments(tmp_path / "j.parquet")["repeat"].tolist() == [None, "2", None]


def errors_of(path):
    with pytest.raises(DataError) as caught:
        read_judgments(path)
    return [(problem.line, problem.field, problem.fault) for problem in caught.value.problems]


FAULTS = {
    "winner": {"winner": "neither of them"},
    "self": {"system_b": "system-1", "system_a": "system-1"},
    "no name": {"system_a": None},
    "hidden": {"system_a": "system\u200b-1"},
}


@pytest.mark.parametrize("change", FAULTS.values(), ids=FAULTS)
def test_faults_are_reported_with_their_lines(tmp_path, change):
    table = simulated()
    for name, value in change.items():
        table.loc[350, name] = value
    table.to_parquet(tmp_path / "j.parquet", index=False)
    write_rows(table, tmp_path / "j.jsonl")
    assert errors_of(tmp_path / "j.parquet") == errors_of(tmp_path / "j.jsonl")


def test_what_may_fill_the_memory_is_refused(tmp_path, monkeypatch):
    simulated().to_parquet(tmp_path / "j.parquet", index=False)
    monkeypatch.setattr(parquet, "MOST_CELLS", 100)
    with pytest.raises(DataError, match="holds more than 100 cells"):
        read_judgments(tmp_path / "j.parquet")


@pytest.mark.slow
def test_ratings_and_labels_of_categories_equal_those_of_texts(tmp_path):
    simulated().to_parquet(tmp_path / "j.parquet", index=False)
    coded = counted_judgments_of(tmp_path / "j.parquet").table
    texts = read_judgments(tmp_path / "j.parquet")
    rated = rate(coded, language="all", judge="all")
    expected = rate(texts, language="all", judge="all")
    pd.testing.assert_frame_equal(rated.table, expected.table)
    assert rated.notes == expected.notes
    assert rated.signature == expected.signature
    for judge in ("gpt-4o", "person:7"):
        assert label_judge(judge, coded) == label_judge(judge, texts)
