"""The contract of plain tables: read right, or refused with the one command that works."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena import DataError, UsageError, import_arena
from surrogate_arena.importers import read_tables

CASES = Path(__file__).parents[4] / "shared" / "cases" / "contract" / "rag"
ROWS = [
    {"question": "When?", "system": "one", "answer": "It opened in 1932 [1]."},
    {"question": "When?", "system": "two", "answer": "Nobody can say."},
    {"question": "Who built it?", "system": "one", "answer": "J. Holt did."},
    {"question": "Who built it?", "system": "two", "answer": "The city, in the end."},
]


@pytest.fixture
def case():
    if not CASES.is_dir():
        pytest.skip("no cases beside the checkout")
    return CASES.joinpath


def read(*paths, **options):
    return import_arena("csv", list(paths), **{"language": "en", **options})


def answers_of(foreign):
    table = foreign.arena.answers.merge(foreign.arena.queries, on=["query_id", "language"])
    return set(zip(table["query"], table["system"], table["answer"], strict=True))


def written(folder, rows, suffix=".jsonl", name="table"):
    path = folder / f"{name}{suffix}"
    frame = pd.DataFrame(rows)
    if suffix == ".csv":
        frame.to_csv(path, index=False)
    elif suffix == ".parquet":
        frame.to_parquet(path)
    elif suffix == ".xlsx":
        frame.to_excel(path, index=False)
    else:
        frame.to_json(path, orient="records", lines=suffix == ".jsonl")
    return path


EXPECTED = {(row["question"], row["system"], row["answer"]) for row in ROWS}


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".json", ".parquet", ".xlsx"])
def test_a_contract_table_is_read_in_every_format(tmp_path, suffix):
    assert answers_of(read(written(tmp_path, ROWS, suffix))) == EXPECTED


def test_a_table_in_memory_is_read_by_the_same_names():
    frame = pd.DataFrame(ROWS).rename(columns={"question": "user_input", "answer": "response"})
    assert answers_of(read_tables({"mine": frame}, language="en")) == EXPECTED


def test_the_first_row_is_shown_as_it_was_understood(tmp_path):
    shown = read(written(tmp_path, ROWS)).shown
    assert shown[:3] == ("question: When?", "system: one", f"answer: {ROWS[0]['answer']}")


def test_systems_keep_the_order_in_which_the_file_names_them(tmp_path):
    assert read(written(tmp_path, ROWS[::-1])).arena.info.systems == ("two", "one")


def test_a_gold_answer_beside_a_prediction_is_asked_about(case):
    with pytest.raises(UsageError) as refused:
        read(case("01-gold-as-answer.jsonl"))
    assert "--column answer=prediction --column reference=answer" in str(refused.value)
    stated = {"answer": "prediction", "reference": "answer"}
    foreign = read(case("01-gold-as-answer.jsonl"), columns=stated)
    assert foreign.arena.answers["answer"].iloc[0] == "The bridge opened in 1932 [1]."
    assert foreign.arena.queries["reference"].iloc[0] == "It opened in 1932."


def test_a_label_is_no_answer(case):
    with pytest.raises(UsageError, match="--column answer=actual"):
        read(case("02-result-pass.csv"))


@pytest.mark.parametrize("name", ["03-count-as-passages.csv", "04-names-as-passages.csv"])
def test_numbers_and_file_names_are_no_passages(case, name):
    foreign = read(case(name))
    assert all(len(passages) == 0 for passages in foreign.arena.queries["passages"])
    assert "is not read" in " ".join(foreign.skipped["reason"])


def test_a_named_column_of_file_names_holds_no_passages(tmp_path):
    rows = [{**row, "documents": "bridge.pdf"} for row in ROWS]
    foreign = read(written(tmp_path, rows))
    assert all(len(passages) == 0 for passages in foreign.arena.queries["passages"])
    assert any("no passages" in note for note in foreign.notes)


def test_known_metrics_are_judges_and_others_where_named(case, tmp_path):
    foreign = read(case("06-ragas-a.csv"), case("06-ragas-b.csv"))
    judges = set(foreign.arena.judgments["judge"])
    assert judges == {"faithfulness", "answer_relevancy"}
    of_first = foreign.arena.judgments[foreign.arena.judgments["judge"] == "faithfulness"]
    better = of_first.apply(lambda row: row[f"system_{row['winner']}"], axis=1)
    assert set(better) == {"06-ragas-a"}
    marked = [{**row, "style": place} for place, row in enumerate(ROWS)]
    path = written(tmp_path, marked)
    assert read(path).arena.judgments.empty
    assert "--scores style" in " ".join(read(path).skipped["reason"])
    assert set(read(path, scores=["style"]).arena.judgments["judge"]) == {"style"}


def test_one_file_without_a_system_is_of_the_system_it_is_named_for(case):
    foreign = read(case("07-one-system.csv"))
    assert foreign.arena.info.systems == ("07-one-system",)
    assert any("the name of the file" in note for note in foreign.notes)


def test_a_row_of_means_is_left_out_and_counted(case):
    foreign = read(case("08-mean-row.csv"))
    assert len(foreign.arena.answers) == 3
    assert "it has neither a question nor an answer" in set(foreign.skipped["reason"])


def test_a_hint_works(case):
    path = case("09-strategy-column.csv")
    with pytest.raises(UsageError, match="--column system=strategy"):
        read(path)
    assert len(read(path, columns={"system": "strategy"}).arena.info.systems) == 2
    path = case("18-hint-promptflow.jsonl")
    with pytest.raises(UsageError) as refused:
        read(path)
    assert "--column question=inputs.chat_input --column answer=outputs.answer" in str(
        refused.value
    )
    stated = {"question": "inputs.chat_input", "answer": "outputs.answer"}
    assert len(read(path, columns=stated).arena.answers) == 3


def test_a_path_leads_into_cells_and_a_literal_column_wins(tmp_path):
    rows = [
        {"prompt": row["question"], "output": {"texts": [row["answer"]]}, "model": row["system"]}
        for row in ROWS
    ]
    path = written(tmp_path, rows)
    assert answers_of(read(path, columns={"answer": "output.texts[0]"})) == EXPECTED
    dotted = [{**row, "a.b": row["answer"], "answer": ""} for row in ROWS]
    assert answers_of(read(written(tmp_path, dotted), columns={"answer": "a.b"})) == EXPECTED


@pytest.mark.parametrize(
    "cell",
    [
        '["It opened in 1932.", "It has six lanes."]',
        "['It opened in 1932.', 'It has six lanes.']",
        '[{"page_content": "It opened in 1932."}, {"page_content": "It has six lanes."}]',
    ],
)
def test_a_list_written_as_text_is_that_list(tmp_path, cell):
    path = written(tmp_path, [{**ROWS[0], "contexts": cell}], ".csv")
    [passages] = read(path).arena.queries["passages"]
    assert [passage["text"] for passage in passages] == ["It opened in 1932.", "It has six lanes."]


def test_arrays_that_numpy_printed_are_refused_with_the_line_to_write(tmp_path):
    printed = str(np.array(["It opened in 1932.", "It has six lanes."]))
    path = written(tmp_path, [{**ROWS[0], "contexts": printed}], ".csv")
    with pytest.raises(DataError) as refused:
        read(path)
    [problem] = refused.value.problems
    assert problem.line == 2
    assert ".map(list)" in problem.fault


def test_an_empty_and_a_filled_column_are_no_conflict(tmp_path):
    rows = [{**row, "output": row["answer"], "answer": None} for row in ROWS]
    assert answers_of(read(written(tmp_path, rows))) == EXPECTED


def test_a_question_answered_again_offers_both_choices(tmp_path):
    rows = [*ROWS, {**ROWS[0], "answer": "In 1933."}]
    path = written(tmp_path, rows)
    with pytest.raises(DataError, match="--repeats"):
        read(path)
    assert answers_of(read(path, repeats="first")) == EXPECTED
    assert len(read(path, repeats="each").arena.queries) == 3


def test_a_repeated_row_is_counted_once(tmp_path):
    foreign = read(written(tmp_path, [*ROWS, ROWS[0]]))
    assert answers_of(foreign) == EXPECTED
    assert "the same answer again" in " ".join(foreign.skipped["reason"])


def test_battles_are_sent_to_their_own_reader(tmp_path):
    battle = {"question": "When?", "model_a": "x", "model_b": "y", "winner": "a"}
    with pytest.raises(UsageError, match="import lmarena"):
        read(written(tmp_path, [battle]))


def test_languages_are_detected_per_question(tmp_path):
    texts = {
        "en": "When was the old bridge across the river opened to traffic?",
        "de": "Wann wurde die alte Brücke über den Fluss für den Verkehr geöffnet?",
        "ja": "古い橋はいつ開通しましたか。",
    }
    rows = [{"question": text, "system": "s", "answer": "…so"} for text in texts.values()]
    foreign = import_arena("csv", [written(tmp_path, rows)])
    assert set(foreign.arena.info.languages) == set(texts)
    assert any("detected" in note for note in foreign.notes)
    assert import_arena("csv", [written(tmp_path, rows)], language="en").arena.info.languages == (
        "en",
    )


NAMES = st.text("abcdefgh_ ", min_size=1, max_size=12)


@given(data=st.data())
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_changes_an_arena_is_said(data, tmp_path):
    """Rows and columns in any order, columns of any name and content: the same, or it is said."""
    frame = pd.DataFrame(data.draw(st.permutations(ROWS)))
    extra = data.draw(st.dictionaries(NAMES, st.sampled_from(["x", "7", "PASS", "", "a text?"])))
    for name, value in extra.items():
        if name not in frame:
            frame[name] = value
    renamed = data.draw(st.sampled_from([{}, {"answer": "said"}, {"question": "asked"}]))
    frame = (
        frame.rename(columns=renamed)[data.draw(st.permutations(list(frame)))]
        if (not renamed)
        else frame.rename(columns=renamed)
    )
    path = written(tmp_path, json.loads(frame.to_json(orient="records")))
    try:
        foreign = read(path)
    except (UsageError, DataError):
        return
    if answers_of(foreign) != EXPECTED:
        said = " ".join([*foreign.notes, *foreign.shown, *foreign.skipped["reason"]])
        assert any(name in said for name in extra)


NESTED = [
    {
        "id": f"r-{place}",
        "inputs": {"text": row["question"]},
        "outputs": {"answer": row["answer"], "contexts": ["A text of the retriever."]},
        "run": {"name": row["system"]},
    }
    for place, row in enumerate(ROWS)
]
CONVERSATIONS = [
    {
        "id": f"r-{place}",
        "messages": [
            {"role": "user", "content": row["question"]},
            {"role": "assistant", "content": row["answer"]},
        ],
        "metadata": {"model": row["system"]},
    }
    for place, row in enumerate(ROWS)
]


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        (
            NESTED,
            {"question": "inputs.text", "answer": "outputs.answer", "system": "run.name"},
        ),
        (
            CONVERSATIONS,
            {"question": "messages", "answer": "messages", "system": "metadata.model"},
        ),
        (
            [{"Frage": r["question"], "Antwort": r["answer"], "Modell": r["system"]} for r in ROWS],
            {"question": "Frage", "answer": "Antwort", "system": "Modell"},
        ),
    ],
)
def test_all_that_is_missing_is_said_at_once_with_columns_that_work(tmp_path, rows, columns):
    path = written(tmp_path, rows)
    with pytest.raises(UsageError) as refused:
        read(path)
    asked = " ".join(f"--column {name}={column}" for name, column in columns.items())
    assert asked in str(refused.value)
    assert answers_of(read(path, columns=columns)) == EXPECTED


def test_of_a_column_that_is_read_in_part_the_rest_is_named(tmp_path):
    columns = {"question": "inputs.text", "answer": "outputs.answer", "system": "run.name"}
    foreign = read(written(tmp_path, NESTED), columns=columns)
    assert "'outputs.contexts' is not read" in set(foreign.skipped["reason"])


def test_conversations_are_read_from_csv_too(tmp_path):
    rows = [{**row, "messages": json.dumps(row["messages"])} for row in CONVERSATIONS]
    for row, first in zip(rows, ROWS, strict=True):
        row["metadata"] = first["system"]
    columns = {"question": "messages", "answer": "messages", "system": "metadata"}
    assert answers_of(read(written(tmp_path, rows, ".csv"), columns=columns)) == EXPECTED


def test_a_column_per_system_is_sent_to_the_recipe(tmp_path):
    rows = [{"question": r["question"], "gpt-4o": r["answer"], "llama": "So." * 9} for r in ROWS]
    with pytest.raises(UsageError, match="a column per system"):
        read(written(tmp_path, rows))


def test_a_table_without_a_header_is_refused(tmp_path):
    lines = [f'"{row["question"]}",{row["system"]},"{row["answer"]}"' for row in ROWS]
    path = tmp_path / "bare.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(UsageError, match="put a line with the names"):
        read(path)


def test_trials_are_no_systems_where_files_are(tmp_path):
    paths = []
    for system in ("one", "two"):
        rows = [
            {"question": "When?", "answer": f"{system} says {trial}.", "trial": trial}
            for trial in (0, 1)
        ]
        paths.append(written(tmp_path, rows, name=system))
    with pytest.raises(DataError) as refused:
        read(*paths)
    # What to do is said once, whatever the number of problems.
    assert str(refused.value).count("--repeats each") == 1
    foreign = read(*paths, repeats="each")
    assert foreign.arena.info.systems == ("one", "two")
    assert len(foreign.arena.queries) == 2


def test_scores_of_a_single_system_are_said_to_be_no_verdicts(tmp_path):
    rows = [{**row, "system": "one", "faithfulness": 0.5} for row in ROWS[::2]]
    foreign = read(written(tmp_path, rows))
    assert any("no verdicts by faithfulness" in note for note in foreign.notes)


def test_the_name_of_a_sheet_is_read_as_the_system(tmp_path):
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        for system in ("one", "two"):
            rows = [row for row in ROWS if row["system"] == system]
            frame = pd.DataFrame(rows).drop(columns="system")
            frame.to_excel(book, sheet_name=system, index=False)
    foreign = read(path)
    assert answers_of(foreign) == EXPECTED
    assert foreign.skipped.empty


def test_no_message_lists_more_than_ten_columns(tmp_path):
    wide = {f"c{number}": f"A text with the number {number}." for number in range(40)}
    with pytest.raises(UsageError) as refused:
        read(written(tmp_path, [wide, {**wide, "c0": "Another text."}]))
    assert "and 30 more" in str(refused.value)
