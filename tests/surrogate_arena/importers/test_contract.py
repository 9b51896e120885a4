"""The contract of plain tables: read right, or refused with the one command that works."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from table_files import write_table

from arena import ArenaError, DataError, UsageError, import_arena
from surrogate_arena.importers import read_tables
from surrogate_arena.importers.contract import bare_column, contract, field_names

ROWS = [
    {"question": "When?", "system": "one", "answer": "It opened in 1932 [1]."},
    {"question": "When?", "system": "two", "answer": "Nobody can say."},
    {"question": "Who built it?", "system": "one", "answer": "J. Holt did."},
    {"question": "Who built it?", "system": "two", "answer": "The city, in the end."},
]


def read(*paths, **options):
    return import_arena("csv", list(paths), **{"language": "en", **options})


def answers_of(foreign):
    table = foreign.arena.answers.merge(foreign.arena.queries, on=["query_id", "language"])
    return set(zip(table["query"], table["system"], table["answer"], strict=True))


def written(folder, rows, suffix=".jsonl", name="table"):
    path = folder / f"{name}{suffix}"
    write_table(pd.DataFrame(rows), path)
    return path


EXPECTED = {(row["question"], row["system"], row["answer"]) for row in ROWS}


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".json", ".parquet", ".xlsx"])
def test_a_contract_table_is_read_in_every_format(tmp_path, suffix):
    assert answers_of(read(written(tmp_path, ROWS, suffix))) == EXPECTED


def test_a_table_in_memory_is_read_by_the_same_names():
    frame = pd.DataFrame(ROWS).rename(columns={"question": "user_input", "answer": "response"})
    assert answers_of(read_tables({"mine": frame}, language="en")) == EXPECTED


def test_arrays_in_a_table_in_memory_are_lists():
    texts = ["It opened in 1932.", "It has six lanes."]
    frame = pd.DataFrame(ROWS)
    frame["passages"] = [np.array(texts, dtype=object) for _ in ROWS]
    [passages, *_] = read_tables({"mine": frame}, language="en").arena.queries["passages"]
    assert [passage["text"] for passage in passages] == texts


def test_the_first_row_is_shown_as_it_was_understood(tmp_path):
    shown = read(written(tmp_path, ROWS)).shown
    assert shown[2:5] == ("question: When?", "system: one", f"answer: {ROWS[0]['answer']}")


def test_a_score_of_which_the_lowest_wins_is_shown_as_the_file_has_it(tmp_path):
    marked = [{**row, "toxicity": 0.25, "faithfulness": 0.5} for row in ROWS]
    shown = read(written(tmp_path, marked)).shown
    assert "judge toxicity: 0.25, the lower the better" in shown
    assert "judge faithfulness: 0.5" in shown


def test_systems_keep_the_order_in_which_the_file_names_them(tmp_path):
    assert read(written(tmp_path, ROWS[::-1])).arena.info.systems == ("two", "one")


def test_a_gold_answer_beside_a_prediction_is_asked_about(rag_case):
    with pytest.raises(UsageError) as refused:
        read(rag_case("01-gold-as-answer.jsonl"))
    assert "--column answer=prediction --column reference=answer" in str(refused.value)
    stated = {"answer": "prediction", "reference": "answer"}
    foreign = read(rag_case("01-gold-as-answer.jsonl"), columns=stated)
    assert foreign.arena.answers["answer"].iloc[0] == "The bridge opened in 1932 [1]."
    assert foreign.arena.queries["reference"].iloc[0] == "It opened in 1932."


def test_a_label_is_no_answer(rag_case):
    with pytest.raises(UsageError, match="--column answer=actual"):
        read(rag_case("02-result-pass.csv"))


def test_labels_in_a_known_column_are_no_answers_beside_texts_in_another(tmp_path):
    rows = [{**row, "output": row["answer"], "answer": "PASS"} for row in ROWS]
    path = written(tmp_path, rows)
    with pytest.raises(UsageError, match=r"holds labels .* --column answer=output reads the texts"):
        read(path)
    assert answers_of(read(path, columns={"answer": "output"})) == EXPECTED


@pytest.mark.parametrize("name", ["query", "wording"])
def test_ids_in_a_known_column_are_no_questions_beside_texts_in_another(tmp_path, name):
    rows = [{**row, name: row["question"], "question": place} for place, row in enumerate(ROWS)]
    path = written(tmp_path, rows)
    with pytest.raises(UsageError, match=f"--column question={name} --column query_id=question"):
        read(path)
    columns = {"question": name, "query_id": "question"}
    questions = read(path, columns=columns).arena.queries["query"]
    assert set(questions) == {row["question"] for row in ROWS}


def test_of_an_answer_in_parts_all_texts_are_read(tmp_path):
    parts = [{"text": "Carbon dioxide.", "citations": [0]}, {"text": "Plants need it."}]
    path = tmp_path / "parts.jsonl"
    path.write_text(json.dumps({**ROWS[0], "answer": parts}), encoding="utf-8")
    imported = read(path)
    assert imported.arena.answers["answer"].tolist() == ["Carbon dioxide.\n\nPlants need it."]
    assert "parts of the answer" in set(imported.skipped["item"])


def test_columns_that_a_path_lists_are_read(tmp_path):
    rows = [{**row, "manual": "Open it.", "notes": "Save it.", "rest": "Or not."} for row in ROWS]
    imported = read(written(tmp_path, rows), columns={"passages": "[manual, notes]"})
    assert [len(passages) for passages in imported.arena.queries["passages"]] == [2, 2]
    reasons = " ".join(imported.skipped["reason"])
    assert "'rest'" in reasons
    assert "'manual'" not in reasons


@pytest.mark.parametrize("name", ["03-count-as-passages.csv", "04-names-as-passages.csv"])
def test_numbers_and_file_names_are_no_passages(rag_case, name):
    foreign = read(rag_case(name))
    assert all(len(passages) == 0 for passages in foreign.arena.queries["passages"])
    assert "is not read" in " ".join(foreign.skipped["reason"])


def test_a_named_column_of_file_names_holds_no_passages(tmp_path):
    rows = [{**row, "documents": "bridge.pdf"} for row in ROWS]
    foreign = read(written(tmp_path, rows))
    assert all(len(passages) == 0 for passages in foreign.arena.queries["passages"])
    assert any("no passages" in note for note in foreign.notes)


def test_a_column_that_holds_no_passages_is_not_offered_for_them(tmp_path):
    further = {"contexts": 3, "documents": "bridge.pdf", "chunks": "The bridge opened in 1932."}
    foreign = read(written(tmp_path, [{**row, **further} for row in ROWS]))
    assert all(len(passages) == 1 for passages in foreign.arena.queries["passages"])
    assert [note.partition(":")[2] for note in foreign.notes] == [
        " 'contexts' holds numbers",
        " 'documents' holds file names or addresses",
    ]


def test_known_metrics_are_judges_and_others_where_named(rag_case, tmp_path):
    foreign = read(rag_case("06-ragas-a.csv"), rag_case("06-ragas-b.csv"))
    judges = set(foreign.arena.judgments["judge"])
    assert judges == {"faithfulness", "answer_relevancy"}
    of_first = foreign.arena.judgments[foreign.arena.judgments["judge"] == "faithfulness"]
    better = of_first.apply(lambda row: row[f"system_{row['winner']}"], axis=1)
    assert set(better) == {"06-ragas-a"}
    marked = [{**row, "style": place / 2} for place, row in enumerate(ROWS)]
    path = written(tmp_path, marked)
    assert read(path).arena.judgments.empty
    assert "--scores style" in " ".join(read(path).skipped["reason"])
    assert set(read(path, scores=["style"]).arena.judgments["judge"]) == {"style"}


def test_a_named_score_is_one_judge_even_if_its_name_is_known_for_verdicts(tmp_path):
    path = written(tmp_path, [{**row, "score": place} for place, row in enumerate(ROWS)])
    assert set(read(path).arena.judgments["judge"]) == {"unknown"}
    foreign = read(path, scores=["score"])
    assert list(foreign.arena.judgments["judge"]) == ["score", "score"]
    assert not any("unknown" in line for line in foreign.shown)


def test_one_file_without_a_system_is_of_the_system_it_is_named_for(rag_case):
    foreign = read(rag_case("07-one-system.csv"))
    assert foreign.arena.info.systems == ("07-one-system",)
    assert any("the name of the file" in note for note in foreign.notes)


def test_a_row_of_means_is_left_out_and_counted(rag_case):
    foreign = read(rag_case("08-mean-row.csv"))
    assert len(foreign.arena.answers) == 3
    assert "it has neither a question nor an answer" in set(foreign.skipped["reason"])


def test_a_hint_works(rag_case):
    path = rag_case("09-strategy-column.csv")
    with pytest.raises(UsageError, match="--column system=strategy"):
        read(path)
    assert len(read(path, columns={"system": "strategy"}).arena.info.systems) == 2
    path = rag_case("18-hint-promptflow.jsonl")
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


def test_a_file_that_holds_each_row_three_times_is_read(tmp_path):
    assert answers_of(read(written(tmp_path, [*ROWS] * 3))) == EXPECTED


def test_battles_are_sent_to_their_own_reader(tmp_path):
    systems = {"model_a": "x", "model_b": "y"}
    texts = {"response_a": "In the year 1932.", "response_b": "Nobody knows for certain."}
    battle = {"question": "When?", **systems, **texts, "winner": "a"}
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


@pytest.mark.parametrize(
    "column",
    [
        "Context Relevance",
        "faithfulness_score",
        "outputs.gpt_groundedness",
        "answer_correctness/v1/score",
        "f1",
        "sas",
    ],
)
def test_a_known_metric_is_a_judge_whatever_programs_write_around_its_name(tmp_path, column):
    rows = [{**row, column: place / 4} for place, row in enumerate(ROWS)]
    assert set(read(written(tmp_path, rows, ".csv")).arena.judgments["judge"]) == {column}


def test_metrics_in_words_are_judges_and_those_in_records_where_they_are_named(tmp_path):
    rows = [
        {**row, "scored": {"faithfulness": place, "note": "so"}, "groundedness": place % 2 == 0}
        for place, row in enumerate(ROWS)
    ]
    path = written(tmp_path, rows)
    assert set(read(path).arena.judgments["judge"]) == {"groundedness"}
    assert "'scored' is not read" in set(read(path).skipped["reason"])
    foreign = read(path, scores=["scored.faithfulness"])
    assert set(foreign.arena.judgments["judge"]) == {"scored.faithfulness", "groundedness"}


def test_strays_in_a_metric_are_counted(tmp_path):
    rows = [
        {**row, "question": f"{row['question']} ({number})", "faithfulness": number}
        for number in range(6)
        for row in ROWS
    ]
    rows[3]["faithfulness"] = "faithfulness"
    rows += [{"question": None, "system": None, "answer": None, "faithfulness": "mean"}]
    foreign = read(written(tmp_path, rows))
    assert set(foreign.arena.judgments["judge"]) == {"faithfulness"}
    assert len(foreign.arena.judgments) == 11
    reasons = set(foreign.skipped["reason"])
    assert {"'faithfulness' is no score", "it has neither a question nor an answer"} <= reasons


def test_places_judge_only_where_they_are_named_and_the_first_wins(tmp_path):
    rows = [{**row, "position": 1 + (row["system"] == "two")} for row in ROWS]
    path = written(tmp_path, rows)
    assert read(path).arena.judgments.empty
    foreign = read(path, scores=["position"])
    better = foreign.arena.judgments.apply(lambda row: row[f"system_{row['winner']}"], axis=1)
    assert set(better) == {"one"}
    assert any("lowest wins" in note for note in foreign.notes)


def test_the_best_rank_of_the_case_wins(case):
    foreign = read(case("arena", "06_rank_column.csv"), columns={"verdict": "rank"})
    assert any("unknown (the lowest wins)" in note for note in foreign.notes)
    wins = Counter()
    for row in foreign.arena.judgments.to_dict(orient="records"):
        wins[row[f"system_{row['winner']}"]] += 1
    assert [system for system, _ in wins.most_common()] == ["gpt-4", "gpt-3.5", "llama"]


def test_a_verdict_is_a_place_by_the_same_names_as_a_score(tmp_path):
    rows = [{**row, "judged": {"rank": 1 + (row["system"] == "two")}} for row in ROWS]
    foreign = read(written(tmp_path, rows), columns={"verdict": "judged.rank"})
    better = foreign.arena.judgments.apply(lambda row: row[f"system_{row['winner']}"], axis=1)
    assert set(better) == {"one"}


def test_texts_are_no_scores(tmp_path):
    with pytest.raises(UsageError, match="'answer' holds no scores"):
        read(written(tmp_path, ROWS), scores=["answer"])


def test_empty_columns_and_references_by_other_names_are_said(tmp_path):
    rows = [{**row, "faithfulness": None, "true_answers": [row["answer"]]} for row in ROWS]
    reasons = " ".join(read(written(tmp_path, rows)).skipped["reason"])
    assert "'faithfulness' is empty" in reasons
    assert "--column reference=true_answers" in reasons


def test_seconds_are_an_assumption_that_is_said(tmp_path):
    rows = [{**row, "latency": 561.5} for row in ROWS]
    assert any(
        "--column latency_ms=latency" in note for note in read(written(tmp_path, rows)).notes
    )


@pytest.mark.parametrize(
    ("names", "hint"),
    [
        ({"answer": "predicted_answers"}, "--column answer=predicted_answers"),
        ({"answer": "outputs", "question": "inputs"}, "question=inputs --column answer=outputs"),
    ],
)
def test_a_hint_passes_over_references_and_reasons(tmp_path, names, hint):
    frame = pd.DataFrame(ROWS).rename(columns=names)
    frame["true_answers"] = "It opened in the year " + frame.index.map(str)
    frame["why/justification"] = "Because it says so, in line " + frame.index.map(str)
    with pytest.raises(UsageError, match=hint):
        read(written(tmp_path, frame))


def test_a_table_of_scores_has_no_answers(tmp_path):
    rows = [
        {
            "question": f"What is known of bridge {number}?",
            "retrieved_sources": f"Bridges (volume {number}); Rivers",
            "reasoning": f"The answer names bridge {number}.",
            "model_being_judged": f"some-lab/a-model-with-a-long-name-{number % 3}",
            "faithfulness": number / 9,
        }
        for number in range(9)
    ]
    with pytest.raises(UsageError, match="there are no answers in it"):
        read(written(tmp_path, rows))


def test_columns_of_answers_by_system_are_refused_with_the_option_that_reads_them(tmp_path):
    wide = pd.DataFrame({"question": ["When?", "Who?"], "gold": ["1932", "Holt"]})
    wide["plain_answer"] = ["It opened in 1932.", "J. Holt did."]
    wide["careful_answer"] = ["Nobody can say.", "The city did."]
    with pytest.raises(UsageError) as refused:
        read(written(tmp_path, wide))
    option = str(refused.value).partition("--column answer=")[2].partition(";")[0]
    foreign = read(written(tmp_path, wide), columns={"answer": option})
    assert foreign.arena.info.systems == ("plain_answer", "careful_answer")
    assert set(foreign.arena.queries["reference"]) == {"1932", "Holt"}


def test_of_several_arrays_of_records_one_is_asked_for(tmp_path):
    path = tmp_path / "runs.json"
    path.write_text(json.dumps({"cases": ROWS, "runs": ROWS}), encoding="utf-8")
    with pytest.raises(DataError, match=r"jq '\.cases'"):
        read(path)


@pytest.mark.parametrize("cell", [["bridge.pdf", "the old city.docx"], ["d-17", "d-18"], [3, 4]])
def test_lists_of_file_names_ids_and_numbers_hold_no_passages(tmp_path, cell):
    foreign = read(written(tmp_path, [{**row, "contexts": cell, "documents": 5} for row in ROWS]))
    assert all(len(passages) == 0 for passages in foreign.arena.queries["passages"])
    assert len([note for note in foreign.notes if "no passages" in note]) == 2


def test_passages_are_read_where_they_are_texts(tmp_path):
    rows = [{**row, "contexts": 5, "documents": ["It opened in 1932."]} for row in ROWS]
    foreign = read(written(tmp_path, rows))
    assert all(len(passages) == 1 for passages in foreign.arena.queries["passages"])


def test_two_columns_of_labels_may_both_be_the_answers(tmp_path):
    rows = [
        {**row, "answer": "yes", "prediction": ["yes", "no"][i % 2]} for i, row in enumerate(ROWS)
    ]
    with pytest.raises(UsageError, match="--column answer=prediction --column reference=answer"):
        read(written(tmp_path, rows))


def test_a_second_column_of_systems_is_named_where_it_tells_answers_apart(tmp_path):
    rows = [{**row, "model": "gpt-4o", "version": row["system"]} for row in ROWS]
    frame = pd.DataFrame(rows).drop(columns="system")
    with pytest.raises(UsageError, match="--column system=version"):
        read(written(tmp_path, frame))


def test_rows_of_two_answers_are_battles(tmp_path):
    rows = [{"prompt": "When?", "output_1": "1932.", "output_1_model": "x", "output_2": "Never."}]
    with pytest.raises(UsageError, match="import lmarena"):
        read(written(tmp_path, rows))


@pytest.mark.parametrize("name", ["rag_answer", "llm_output", "bot response"])
def test_a_text_whose_name_ends_as_answers_do_competes_with_them(tmp_path, name):
    rows = [{**row, name: f"Nothing is known, {place}."} for place, row in enumerate(ROWS)]
    with pytest.raises(UsageError) as refused:
        read(written(tmp_path, rows, ".csv"))
    assert f"answer={name}" in str(refused.value)
    assert "answer=answer" in str(refused.value)
    with pytest.raises(UsageError, match="answer=answer"):
        read(written(tmp_path, [{**row, "reference": "1932"} for row in rows], ".csv"))


def test_file_names_are_no_answers(tmp_path):
    rows = [{**row, "answer": f"out {n}.txt", "text": row["answer"]} for n, row in enumerate(ROWS)]
    with pytest.raises(UsageError, match="--column answer=text"):
        read(written(tmp_path, rows))


@pytest.mark.parametrize("names", [("reply_0", "reply_1"), ("chosen", "rejected")])
def test_two_sides_of_a_row_are_no_systems(tmp_path, names):
    texts = {names[0]: "It opened in the year 1932.", names[1]: "Nobody knows for certain."}
    rows = [{"prompt": "When?", **texts}]
    with pytest.raises(UsageError, match="import lmarena"):
        read(written(tmp_path, rows))


def test_each_row_of_each_sheet_is_counted(tmp_path):
    path = tmp_path / "book.xlsx"
    table = pd.DataFrame(ROWS[::2]).drop(columns="system")
    with pd.ExcelWriter(path) as book:
        table.to_excel(book, sheet_name="plain", index=False)
        table.assign(answer="So it is.").to_excel(book, sheet_name="tuned", index=False)
    foreign = read(path)
    assert foreign.arena.info.systems == ("plain", "tuned")
    assert foreign.tally["records"] == foreign.tally["answers"] == len(foreign.arena.answers) == 4


KNOWN_NAMES = [
    name for names in field_names("answers").values() for name in names if name not in ROWS[0]
]
NAMES = st.one_of(
    st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12),
    st.sampled_from([*KNOWN_NAMES, *contract()["scores"]["known"], "rank", "metadata.a", "a[0]"]),
)
CONTENTS = st.one_of(
    st.sampled_from([ROWS[0]["answer"], "PASS", "7", "", "d-17", "bridge.pdf", "en", "[]", None]),
    st.text(max_size=20),
    st.integers(0, 3),
    st.booleans(),
    st.lists(st.sampled_from(["It opened in 1932.", "a.pdf", "4"]), max_size=2),
    st.dictionaries(st.sampled_from(["text", "answer", "faithfulness"]), st.integers(0, 2)),
)
OPTIONAL = ("reference", "passages", "history", "cost", "latency", "tokens")


def tables_of(foreign):
    """Return an arena as sets of rows, without what further columns may add to an answer."""
    arena = foreign.arena
    optional = arena.queries.columns.intersection(OPTIONAL)
    questions = set(map(repr, arena.queries.drop(columns=optional).to_dict(orient="records")))
    judgments = set(map(repr, arena.judgments.to_dict(orient="records")))
    return answers_of(foreign), questions, judgments


def names_change(foreign, plain, names):
    """Tell whether a line that is printed names a column, or shows a field that rows lacked."""
    said = "\n".join([*foreign.notes, *foreign.skipped["reason"]])
    if any(name in said for name in names):
        return True
    fields = [{line.partition(":")[0] for line in read.shown} for read in (foreign, plain)]
    # Ids of questions are made up unless a column has them: then the first row shows one.
    made_up = {f"query_id: {key}" for key in plain.arena.queries["query_id"]}
    shown_ids = {line for line in foreign.shown if line.startswith("query_id: ")}
    is_shown = bool(fields[0] - fields[1]) or bool(shown_ids - made_up)
    return answers_of(foreign) == answers_of(plain) and is_shown


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
@given(data=st.data())
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_changes_an_arena_is_said(data, suffix, tmp_path):
    """Any order, further columns of any name and content, other names: the same, or it is said."""
    rows = [dict(row) for row in data.draw(st.permutations(ROWS))]
    for name in data.draw(st.lists(NAMES, max_size=3, unique_by=bare_column)):
        if bare_column(name) in ROWS[0] or not name.strip():
            continue
        for row in rows:
            content = data.draw(CONTENTS)
            # pandas writes a lone carriage return without quotes, which ends a row.
            row[name] = content.replace("\r", "\n") if isinstance(content, str) else content
    extra = [name.strip() for name in rows[0] if name not in ROWS[0]]
    renamed = data.draw(
        st.dictionaries(st.sampled_from(list(ROWS[0])), st.sampled_from(["said", "who", "zz top"]))
    )
    if len(set(renamed.values())) < len(renamed) or set(renamed.values()) & set(extra):
        renamed = {}
    columns = data.draw(st.permutations(list(rows[0])))
    rows = [{renamed.get(name, name): row[name] for name in columns} for row in rows]
    path = written(tmp_path, rows, suffix) if suffix == ".csv" else lines(tmp_path, rows)
    try:
        foreign = read(path)
    except (UsageError, DataError):
        return
    assert foreign.tally["records"] == len(rows)
    plain = read(written(tmp_path, ROWS, name="plain"))
    if tables_of(foreign) != tables_of(plain):
        assert names_change(foreign, plain, [*extra, *renamed.values(), path.stem])


def lines(folder, rows):
    """Write rows as JSON lines, cells of any kind."""
    path = folder / "table.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


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


def test_a_column_that_is_read_in_part_is_named_with_the_part(tmp_path):
    columns = {"question": "inputs.text", "answer": "outputs.answer", "system": "run.name"}
    reasons = read(written(tmp_path, NESTED), columns=columns).skipped["reason"]
    assert "'outputs' is read at outputs.answer alone" in set(reasons)


def test_conversations_are_read_from_csv_too(tmp_path):
    rows = [{**row, "messages": json.dumps(row["messages"])} for row in CONVERSATIONS]
    for row, first in zip(rows, ROWS, strict=True):
        row["metadata"] = first["system"]
    columns = {"question": "messages", "answer": "messages", "system": "metadata"}
    assert answers_of(read(written(tmp_path, rows, ".csv"), columns=columns)) == EXPECTED


def test_a_column_per_system_is_refused_with_both_systems(tmp_path):
    rows = [{"question": r["question"], "gpt-4o": r["answer"], "llama": "So." * 9} for r in ROWS]
    with pytest.raises(UsageError, match="--column answer=gpt-4o,llama;"):
        read(written(tmp_path, rows))


def test_one_text_throughout_is_no_system_beside_columns_of_others(tmp_path):
    rows = []
    for row in ROWS:
        texts = {"gpt-4o": row["answer"], "llama": f"No: {row['answer']}", "note": "So." * 9}
        rows.append({"question": row["question"], **texts})
    with pytest.raises(UsageError, match="--column answer=gpt-4o,llama;"):
        read(written(tmp_path, rows))


def test_a_table_without_a_header_is_refused(tmp_path):
    lines = [f'"{row["question"]}",{row["system"]},"{row["answer"]}"' for row in ROWS]
    path = tmp_path / "bare.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(UsageError, match="begins with the names of its columns"):
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
    [note] = foreign.notes
    assert "need two systems' scores on a question): faithfulness (the highest wins) 0 of 2" in note


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


def test_files_may_name_their_columns_differently(tmp_path):
    one = [{**row, "gold": "1932", "context": "Built in 1932."} for row in ROWS[::2]]
    names = {"question": "query", "answer": "response", "gold": "expected", "context": "contexts"}
    two = pd.DataFrame([{**row, "gold": "1932", "context": "Now."} for row in ROWS[1::2]])
    two = two.rename(columns=names).to_dict(orient="records")
    foreign = read(written(tmp_path, one, name="one"), written(tmp_path, two, name="two"))
    assert answers_of(foreign) == EXPECTED
    passages = foreign.arena.answers["passages"]
    assert [text["text"] for [text] in passages] == ["Built in 1932."] * 2 + ["Now."] * 2
    assert set(foreign.arena.queries["reference"]) == {"1932"}
    [note] = [note for note in foreign.notes if note.startswith("'response' is read as answer in")]
    assert note.endswith("two.jsonl")


def test_a_file_of_questions_is_no_system(tmp_path):
    answers = written(tmp_path, ROWS, name="answers")
    questions = written(tmp_path, [{"question": "When?", "gold": "1932"}], name="questions")
    with pytest.raises(UsageError, match=r"questions.jsonl has no column 'answer'"):
        read(answers, questions)


def test_systems_may_be_paths_in_a_column(tmp_path):
    data = [{"question": "When?", "old": "In 1932.", "new": "Nobody knows."}]
    path = written(tmp_path, [{"data": record} for record in data])
    columns = {"question": "data.question", "answer": "data.old,data.new"}
    foreign = read(path, columns=columns)
    assert foreign.arena.info.systems == ("data.old", "data.new")
    assert set(foreign.arena.answers["answer"]) == {"In 1932.", "Nobody knows."}
    assert foreign.skipped["reason"].str.contains("is read at").all()
    with pytest.raises(UsageError, match=r"at 'data\.nwe'"):
        read(path, columns={"question": "data.question", "answer": "data.old,data.nwe"})


def test_a_second_column_of_answers_is_never_passed_over(tmp_path):
    rows = [{**row, "answer.1": f"{row['answer']} Indeed."} for row in ROWS]
    with pytest.raises(UsageError, match=r"may both be the answers: --column answer=answer.1, or"):
        read(written(tmp_path, rows))


def test_no_copy_of_the_question_is_suggested_as_the_answer(tmp_path):
    rows = []
    for row in ROWS[::2]:
        choices = [{"message": {"content": row["answer"]}}]
        rows.append(
            {"doc": {"query": row["question"]}, "filled": {"text": f"Q: {row['question']}"}}
        )
        rows[-1] |= {"choices": choices}
    path = written(tmp_path, rows)
    with pytest.raises(UsageError) as refused:
        read(path)
    answer = "choices[0].message.content"
    assert f"--column question=doc.query --column 'answer={answer}'" in str(refused.value)
    foreign = read(path, columns={"question": "doc.query", "answer": answer})
    assert list(foreign.arena.answers["answer"]) == [row["answer"] for row in ROWS[::2]]


def test_the_text_within_records_is_named_at_once(tmp_path):
    rows = [{**row, "answer": {"result": {"text": row["answer"]}}} for row in ROWS]
    path = written(tmp_path, rows)
    with pytest.raises(DataError, match=r"--column answer=answer\.result\.text"):
        read(path)
    assert answers_of(read(path, columns={"answer": "answer.result.text"})) == EXPECTED


def test_messages_beside_an_answer_are_suggested_as_the_question(tmp_path):
    rows = []
    for row in ROWS:
        asked = [{"role": "system", "content": "Be brief."}]
        asked += [{"role": "user", "content": row["question"]}]
        rows.append({"messages": asked, "system": row["system"], "answer": row["answer"]})
    path = written(tmp_path, rows)
    with pytest.raises(UsageError, match="--column question=messages"):
        read(path)
    assert answers_of(read(path, columns={"question": "messages"})) == EXPECTED


def test_dates_in_a_workbook_are_texts(tmp_path):
    day = pd.Timestamp("1932-05-01")
    rows = [{"question": "When?", "system": name, "answer": day} for name in ("one", "two")]
    foreign = read(written(tmp_path, rows, ".xlsx"))
    assert list(foreign.arena.answers["answer"]) == ["1932-05-01"] * 2


def test_an_answer_that_reads_as_missing_is_kept_and_counted(tmp_path):
    foreign = read(written(tmp_path, [*ROWS[:3], {**ROWS[3], "answer": "NA"}], ".csv"))
    assert "NA" in set(foreign.arena.answers["answer"])
    assert "'NA' is read as text" in " ".join(foreign.skipped["reason"])


@pytest.mark.parametrize("first", ["sep=;\r\n", ""])
def test_a_table_of_excel_with_semicolons_is_read(tmp_path, first):
    path = tmp_path / "t.csv"
    lines = [f"{row['question']};{row['answer']};{row['system']}\r\n" for row in ROWS]
    header = "Question;Answer (short, cited);System\r\n"
    path.write_text(f"{first}{header}{''.join(lines)}", encoding="utf-8", newline="")
    assert answers_of(read(path, columns={"answer": "Answer (short, cited)"})) == EXPECTED


def test_a_json_table_of_columns_and_rows_is_read(tmp_path):
    path = tmp_path / "table.json"
    pd.DataFrame(ROWS).to_json(path, orient="split", index=False)
    assert answers_of(read(path)) == EXPECTED


@pytest.mark.parametrize(
    ("names", "rows"),
    [
        ([{"name": "question"}, {"name": "answer"}], [["When?", "In 1932."]]),
        (["question", "answer"], 1),
        ([0, 1], [["When?", "In 1932."]]),
        (["question", "answer"], [["When?", "In 1932.", "lost"]]),
        (["question", "answer", "answer"], [["When?", "lost", "In 1932."]]),
    ],
)
def test_json_that_is_no_table_of_columns_and_rows_is_refused(tmp_path, names, rows):
    path = tmp_path / "table.json"
    path.write_text(json.dumps({"columns": names, "data": rows}))
    with pytest.raises(ArenaError, match=r"no array of records|there are no answers in it"):
        read(path)


def test_the_command_for_several_arrays_names_a_file_for_each(tmp_path):
    path = tmp_path / "all.json"
    path.write_text(json.dumps({"gpt-4": ROWS, "llama": ROWS}))
    with pytest.raises(DataError, match=r"""jq '\."gpt-4"' \S+ > gpt-4\.json"""):
        read(path)


def test_columns_of_another_name_are_read_only_where_their_cells_agree(tmp_path):
    one = written(
        tmp_path, [{**row, "context": "It opened then."} for row in ROWS[::2]], name="one"
    )
    files = [{**row, "documents": ["d1.pdf"]} for row in ROWS[1::2]]
    foreign = read(one, written(tmp_path, files, name="files"))
    texts = [passage["text"] for [passage] in foreign.arena.queries["passages"]]
    assert texts == ["It opened then."] * 2
    labels = []
    for text in ("It opened in 1932.", "Nobody can say that."):
        labels.append({"question": "When?", "output": "PASS", "written": text})
    with pytest.raises(UsageError, match=r"labels\.jsonl: 'output' holds labels"):
        read(one, written(tmp_path, labels, name="labels"))
