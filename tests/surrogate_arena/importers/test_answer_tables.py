"""Tables of answers of one's own: columns, marks, pairs, and what is said of faults."""

import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import DataError, UsageError, import_arena, read_answers, read_arena, write_arena
from arena.text.answers import parse_answer
from surrogate_arena.importers.judgments import read_judgments
from surrogate_arena.importers.passages import passages_of

ONE_EACH = (
    "prompt,model,output,score,contexts,ground_truth,seconds\n"
    'Where?,m1,Paris [1],2,"[""Paris is in France."", ""Oslo.""]",In France,9\n'
    "Where?,m2,,1,,In France,0\n"
    "Where?,m3,Nowhere,,,,4\n"
    "Why?,m1,Because,0.5,[1] A plain text,,1\n"
    "Why?,m2,So,0.5,,,1\n"
)


def table(folder, text, name="answers.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_row_an_answer(tmp_path):
    read = import_arena("csv", [table(tmp_path, ONE_EACH)], language="en", judge="grader")
    arena = read.arena
    where, why = arena.queries.to_dict(orient="records")
    assert where["query"] == "Where?"
    assert [passage["text"] for passage in where["passages"]] == ["Paris is in France.", "Oslo."]
    assert [passage["text"] for passage in why["passages"]] == ["[1] A plain text"]
    answers = arena.answers.set_index(["query_id", "system"])["answer"]
    assert answers[where["query_id"], "m2"] == ""
    assert where["reference"] == "In France"
    assert pd.isna(why["reference"])
    assert arena.info.systems == ("m1", "m2", "m3")  # the reference does not compete
    assert arena.info.reference_system is None
    judged = arena.judgments.set_index("query_id")
    assert set(judged["judge"]) == {"grader"}
    first = judged.loc[where["query_id"]]
    assert {first["system_a"], first["system_b"]} == {"m1", "m2"}
    assert first["system_a" if first["winner"] == "a" else "system_b"] == "m1"
    assert judged.loc[why["query_id"], "winner"] == "tie"
    assert "question from 'prompt'" in arena.info.note
    assert read.skipped[["item", "reason", "count"]].values.tolist() == [
        ["column", "'seconds' is no field that is read", 1],
        ["verdict", "it is missing", 1],
    ]


@pytest.mark.parametrize(
    ("contexts", "is_noted"),
    [("One. |Two.", True), ("One.;Two.", True), ("One; two.", False), ('["One.|Two."]', False)],
)
def test_passages_that_may_be_joined_are_noted(tmp_path, contexts, is_noted):
    rows = [{"question": q, "system": "m", "answer": "A.", "contexts": contexts} for q in "pq"]
    pd.DataFrame(rows).to_csv(tmp_path / "answers.csv", index=False)
    read = import_arena("csv", [tmp_path / "answers.csv"])
    assert len(read.arena.queries["passages"][0]) == 1
    assert sum("joined" in note for note in read.notes) == is_noted


def test_a_row_a_pair(tmp_path):
    rows = [
        {"id": 7, "lang": "German", "question": "Wo?", "model_a": "x", "response_a": "hier"}
        | {"model_b": "y", "response_b": "dort", "winner": winner}
        for winner in ("model_a", "tie (bothbad)", None)
    ]
    path = table(tmp_path, json.dumps(rows), "pairs.json")
    read = import_arena("csv", [path], columns={"query_id": "id"})
    arena = read.arena
    assert arena.queries[["query_id", "language", "query"]].values.tolist() == [["7", "de", "Wo?"]]
    assert arena.judgments["winner"].tolist() == ["a", "tie"]
    assert len(arena.answers) == 2
    assert read.skipped["reason"].tolist() == ["it has no winner"]


def test_columns_can_be_named(tmp_path):
    text = "title,who,said,question\nWhere?,m1,Paris,no\n"
    columns = {"question": "title", "system": "who", "answer": "said"}
    read = import_arena("csv", [table(tmp_path, text)], columns=columns)
    assert read.arena.queries["query"].tolist() == ["Where?"]
    assert read.skipped["reason"].tolist() == [
        "'question' is not read; question is read from 'title'"
    ]


def test_results_of_ragas_are_read_a_file_a_system(tmp_path):
    """As its ``to_pandas().to_csv()`` writes them: lists in Python's words, no system."""
    for system in ("gpt-4.1", "gemma"):
        result = {
            "user_input": ["Where is Oslo?"],
            "retrieved_contexts": [["It's in Norway.", 'Called "Oslo".']],
            "response": [f"In Norway, says {system}."],
            "reference": ["Norway"],
            "faithfulness": [0.5 if system == "gemma" else 1.0],
        }
        pd.DataFrame(result).to_csv(tmp_path / f"{system}.csv", index=False)
    paths = sorted(tmp_path.iterdir())
    arena = import_arena("csv", paths, columns={"verdict": "faithfulness"}, language="en").arena
    assert arena.info.systems == ("gemma", "gpt-4.1")
    texts = [passage["text"] for passage in arena.queries["passages"][0]]
    assert texts == ["It's in Norway.", 'Called "Oslo".']
    assert arena.queries["reference"].tolist() == ["Norway"]
    (row,) = arena.judgments.itertuples()
    assert {"a": row.system_a, "b": row.system_b}[row.winner] == "gpt-4.1"
    with pytest.raises(UsageError, match="no column is known for system"):
        import_arena("csv", paths[:1])
    assert import_arena("csv", paths[:1], columns={"system": "file"}).arena.info.systems


def test_every_fault_is_told_with_line_and_column(tmp_path):
    text = (
        "prompt,id,model,output,score,lang,contexts\n"
        "Where?,1,m1,Paris,good,,\n"
        "Whence?,1,m2,Paris,1,,\n"
        "Why?,2,,So,1,,\n"
        "Why?,2,m1,So,1,Klingon,\n"
        'Who?,3,m1,So,1,,"[{""id"": 1}]"\n'
        "Where?,1,m1,Oslo,1,,\n"
    )
    with pytest.raises(DataError) as caught:
        import_arena("csv", [table(tmp_path, text)], columns={"query_id": "id"})
    assert [(problem.line, problem.field) for problem in caught.value.problems] == [
        *[(2, "score"), (3, "prompt"), (4, "model"), (5, "lang"), (6, "contexts"), (7, "model")]
    ]
    text = "question,system,answer\n"
    for name, answer in (("one.csv", "Paris"), ("two.csv", "Oslo")):
        table(tmp_path, f"{text}Where?,m,{answer}\n", name)
    with pytest.raises(DataError, match=r"two.csv:2: system = 'm': has answered .* at .*one.csv:2"):
        import_arena("csv", [tmp_path / "one.csv", tmp_path / "two.csv"])


def records(folder, rows):
    path = folder / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_ids_in_numbers_and_texts_are_the_same(tmp_path):
    rows = [
        {"query_id": query_id, "question": "Where?", "system": system, "answer": "Paris"}
        for system, query_id in {"m1": 1, "m2": 1.0, "m3": "1"}.items()
    ]
    arena = import_arena("csv", [records(tmp_path, rows)]).arena
    assert arena.queries["query_id"].tolist() == ["1"]
    assert len(arena.answers) == 3


def test_a_question_with_an_id_in_some_rows_alone_is_refused(tmp_path):
    rows = [
        {"question": "Where?", "system": "m1", "answer": "Paris"},
        {"query_id": "1", "question": "Where?", "system": "m2", "answer": "Oslo"},
        {"question": "Whence?", "system": "m2", "answer": "Oslo"},
    ]
    with pytest.raises(
        DataError, match="query_id = None: is missing here, and is on line 2"
    ) as caught:
        import_arena("csv", [records(tmp_path, rows)])
    assert len(caught.value.problems) == 1


@given(st.one_of(st.none(), st.text(), st.lists(st.one_of(st.text(), st.integers()))))
def test_any_cell_of_passages_is_read_or_refused(cell):
    try:
        passages = passages_of(cell)
    except ValueError:
        return
    assert all(isinstance(passage["text"], str) for passage in passages)
    assert len({passage["passage_id"] for passage in passages}) == len(passages)


def test_where_contexts_differ_each_answer_has_its_own(tmp_path):
    text = (
        '{"user_input": "Where?", "system": "m1", "response": "Paris [1].", '
        '"retrieved_contexts": ["Paris is in France."]}\n'
        '{"user_input": "Where?", "system": "m2", "response": "Oslo [2].", '
        '"retrieved_contexts": ["Bern.", "Oslo."]}\n'
        '{"user_input": "Why?", "system": "m1", "response": "So.", '
        '"retrieved_contexts": ["Because."]}\n'
        '{"user_input": "Why?", "system": "m2", "response": "So.", '
        '"retrieved_contexts": ["Because."]}\n'
    )
    arena = import_arena("csv", [table(tmp_path, text, "answers.jsonl")]).arena
    shared = {row.query: row.passages for row in arena.queries.itertuples()}
    assert shared["Where?"] == []
    assert [passage["text"] for passage in shared["Why?"]] == ["Because."]
    texts = arena.answers["passages"].map(
        lambda passages: passages and [passage["text"] for passage in passages]
    )
    assert texts.tolist() == [["Paris is in France."], ["Bern.", "Oslo."], None, None]


DOOR = {
    "numpy.csv": (
        "user_input,retrieved_contexts,response,system\n"
        "How high?,['It is 300 m.' 'A lynx.'],300 m [1].,alpha\n",
        ["It is 300 m.", "A lynx."],
    ),
    "documents.csv": (
        "user_input,retrieved_contexts,response,system\n"
        "How high?,\"[Document(metadata={'a': 1}, page_content='It is 300 m.'), "
        "Document(page_content='A lynx.')]\",300 m,alpha\n",
        ["It is 300 m.", "A lynx."],
    ),
    "records.csv": (
        "user_input,retrieved_contexts,response,system\n"
        'How high?,"[{""page_content"": ""It is 300 m.""}, {""content"": ""A lynx.""}]",So,alpha\n',
        ["It is 300 m.", "A lynx."],
    ),
    "none.csv": ("question,contexts,answer,system\nHow high?,None,300 m,alpha\n", []),
    "empty_column.csv": (
        "input,actual_output,context,retrieval_context,system\n"
        'How high?,300 m,,"[""It is 300 m.""]",alpha\n',
        ["It is 300 m."],
    ),
    "goldens.csv": (
        "input,actual_output,retrieval_context,context,system\n"
        "How high?,300 m,It is 300 m.,Buildings|Heights,alpha\n",
        ["It is 300 m."],
    ),
}


@pytest.mark.parametrize("name", DOOR)
def test_what_was_retrieved_becomes_the_passages(name, tmp_path):
    text, expected = DOOR[name]
    read = import_arena("csv", [table(tmp_path, text, name)], language="en")
    (passages,) = read.arena.queries["passages"]
    assert [passage["text"] for passage in passages] == expected


def test_contexts_that_cannot_be_read_are_refused_with_line_and_column(tmp_path):
    text = "question,contexts,answer,system\nHow?,\"['a', 'b\",So,alpha\n"
    with pytest.raises(DataError) as caught:
        import_arena("csv", [table(tmp_path, text)])
    (problem,) = caught.value.problems
    assert (problem.line, problem.field) == (2, "contexts")


def test_the_filled_one_of_two_answer_columns_is_read(tmp_path):
    text = "question,answer,response,system\nHow?,,So.,alpha\nHow?,,Thus.,beta\n"
    read = import_arena("csv", [table(tmp_path, text)])
    assert sorted(read.arena.answers["answer"]) == ["So.", "Thus."]


@pytest.mark.parametrize(
    "text",
    [
        "question,answer,response,system\nHow?,So.,,alpha\nHow?,,Thus.,beta\n",
        "question,query,answer,output,system,model\nHow?,,So.,,alpha,\n,How?,,Thus.,,beta\n",
        "question,answer,output,response,system\nHow?,,So.,,alpha\nHow?,None,,Thus.,beta\n",
    ],
)
def test_columns_that_complement_each_other_are_read_as_one(text, tmp_path):
    path = table(tmp_path, text)
    read = import_arena("csv", [path])
    answers = read.arena.answers.set_index("system")["answer"]
    assert answers.to_dict() == {"alpha": "So.", "beta": "Thus."}
    again = read_answers(path, read.arena.queries).set_index("system")["answer"]
    assert again.to_dict() == answers.to_dict()


def test_an_empty_answer_beside_a_column_of_something_else_stays_empty(tmp_path):
    text = "question,answer,result,system\nHow?,So.,ok,alpha\nHow?,,failed,beta\n"
    read = import_arena("csv", [table(tmp_path, text)])
    assert read.arena.answers.set_index("system")["answer"].to_dict() == {
        "alpha": "So.",
        "beta": "",
    }


@pytest.mark.parametrize("column", ["prediction", "generated_answer", "Response"])
def test_answers_that_all_systems_share_are_not_those_of_the_systems(column, tmp_path):
    text = f"question,answer,{column},model\nHow?,gold,x,m1\nHow?,gold,y,m2\nWhy?,so,z,m1\n"
    path = table(tmp_path, text)
    read = import_arena("csv", [path])
    assert sorted(read.arena.answers["answer"]) == ["x", "y", "z"]
    assert sorted(read_answers(path, read.arena.queries)["answer"]) == ["x", "y", "z"]
    chosen = import_arena("csv", [path], columns={"answer": "answer"})
    assert sorted(chosen.arena.answers["answer"]) == ["gold", "gold", "so"]


REPEATED = "question,system,answer,verdict\nHow?,a,x,1\nHow?,a,y,0\nHow?,b,z,0\nWhy?,a,w,1\n"
PAIRED = (
    "question,system_a,answer_a,system_b,answer_b,winner\n"
    "hi,A,hello,B,good day,a\nhi,A,go away,C,welcome,b\nhi,C,welcome,B,bye,a\nx?,A,1,B,2,b\n"
)


@pytest.mark.parametrize("text", [REPEATED, PAIRED])
def test_a_question_answered_again_is_an_error_that_names_the_choices(text, tmp_path):
    with pytest.raises(DataError) as caught:
        import_arena("csv", [table(tmp_path, text)])
    assert "--repeats first" in caught.value.problems[0].hint
    assert "--repeats each" in caught.value.problems[0].hint
    assert caught.value.problems[0].line == 3


def test_the_first_answer_can_be_kept(tmp_path):
    read = import_arena("csv", [table(tmp_path, REPEATED)], repeats="first")
    assert sorted(read.arena.answers["answer"]) == ["w", "x", "z"]
    assert read.skipped.loc[read.skipped["item"] == "row", "count"].tolist() == [1]
    pairs = import_arena("csv", [table(tmp_path, PAIRED)], repeats="first")
    assert sorted(pairs.arena.answers["answer"]) == ["1", "2", "good day", "hello"]
    assert len(pairs.arena.judgments) == 2
    assert pairs.skipped.loc[pairs.skipped["item"] == "row", "count"].tolist() == [2]


def test_each_asking_can_be_a_question(tmp_path):
    read = import_arena("csv", [table(tmp_path, REPEATED)], repeats="each")
    assert read.arena.queries["query"].tolist() == ["How?", "How?", "Why?"]
    assert len(read.arena.answers) == 4
    pairs = import_arena("csv", [table(tmp_path, PAIRED)], repeats="each").arena
    assert len(pairs.judgments) == 4
    assert len(pairs.queries) == 3
    first, second, _ = pairs.queries["query_id"]
    answered = pairs.answers[pairs.answers["query_id"] == second]
    assert dict(zip(answered["system"], answered["answer"], strict=True)) == {
        "A": "go away",
        "C": "welcome",
        "B": "bye",
    }
    assert second == f"{first}-2"
    with pytest.raises(UsageError, match="first, each"):
        import_arena("csv", [table(tmp_path, PAIRED)], repeats="last")


JUDGED = (
    "question,model,answer,score,rater\n"
    "How?,m1,So.,5,ann\nHow?,m1,So.,2,bob\nHow?,m2,Thus.,4,ann\nHow?,m2,Thus.,3,bob\n"
)


@pytest.mark.parametrize("further", ["", "How?,m2,Thus.,3,bob\n", "How?,m1,So.,,cid\n"])
def test_several_judges_may_mark_the_same_answer(further, tmp_path):
    read = import_arena("csv", [table(tmp_path, JUDGED + further)])
    assert len(read.arena.answers) == 2
    judged = read.arena.judgments
    winners = dict(zip(judged["judge"], wins_of(read), strict=True))
    assert {judge.removeprefix("person:"): name for judge, name in winners.items()} == {
        "ann": "m1",
        "bob": "m2",
    }
    rows = read.skipped[read.skipped["item"] == "row"]
    assert rows["count"].sum() == bool(further)


def test_two_verdicts_of_a_judge_on_an_answer_are_refused(tmp_path):
    with pytest.raises(DataError) as caught:
        import_arena("csv", [table(tmp_path, JUDGED + "How?,m2,Thus.,1,bob\n")])
    assert [problem.line for problem in caught.value.problems] == [6]


@pytest.mark.parametrize("judge", [[1, 2], {"reason": "clear"}, True])
def test_a_judge_without_a_name_is_refused_only_with_its_verdicts(judge, tmp_path):
    row = {"question": "q?", "system": "x", "answer": "1", "judge": judge}
    rows = [row, row, row | {"system": "y"}]
    assert len(import_arena("csv", [records(tmp_path, rows)]).arena.answers) == 2
    marked = [row | {"verdict": 1} for row in rows]
    with pytest.raises(DataError) as caught:
        import_arena("csv", [records(tmp_path, marked)])
    faults = [(problem.line, problem.field) for problem in caught.value.problems]
    assert faults == [(1, "judge"), (2, "judge"), (3, "judge")]


PAIRS = [
    {"question": "q?", "system_a": "x", "answer_a": "1", "system_b": "y", "answer_b": "2"},
    {"question": "r?", "system_a": "x", "answer_a": "1", "system_b": "y", "answer_b": "2"},
]


@pytest.mark.parametrize("as_text", [False, True])
def test_probabilities_without_a_winner_are_soft_verdicts(as_text, tmp_path):
    shares = [(0.8, 0.1), (0.2, 0.3)]
    rows = [
        row | {"probability_a": str(a) if as_text else a, "probability_b": str(b) if as_text else b}
        for row, (a, b) in zip(PAIRS, shares, strict=True)
    ]
    read = import_arena("csv", [records(tmp_path, rows)])
    judged = read.arena.judgments.sort_values("probability_a", ascending=False)
    assert judged["winner"].tolist() == ["a", "tie"]
    assert judged[["probability_a", "probability_b"]].values.tolist() == list(map(list, shares))
    assert read.skipped.empty
    fitted = read_judgments(records(tmp_path, rows))
    assert sorted(fitted["probability_a"]) == [0.2, 0.8]


@pytest.mark.parametrize("shares", [(0.8, 0.7), (-0.1, 0.5), ("much", 0.1), (0.5, None)])
def test_what_are_no_probabilities_is_refused(shares, tmp_path):
    rows = [
        row | dict(zip(("probability_a", "probability_b"), shares, strict=True)) for row in PAIRS
    ]
    with pytest.raises(DataError) as caught:
        import_arena("csv", [records(tmp_path, rows)])
    assert [problem.value for problem in caught.value.problems] == [list(shares)] * len(rows)


def test_pairs_without_a_winner_are_said_to_have_no_verdicts(tmp_path):
    read = import_arena("csv", [records(tmp_path, PAIRS)])
    assert read.arena.judgments.empty
    assert "no verdicts" in " ".join(read.notes)


def test_half_surrogates_are_replaced_and_counted(tmp_path):
    rows = [
        {"question": "q?", "system": "m", "answer": "So \ud83d.", "contexts": ["A \udc00 b.", "c"]},
        {"question": "r?", "system": "m", "answer": "\U0001f600"},
    ]
    path = records(tmp_path, rows)
    read = import_arena("csv", [path])
    assert sorted(read.arena.answers["answer"]) == ["So \ufffd.", "\U0001f600"]
    texts = [passage["text"] for passages in read.arena.queries["passages"] for passage in passages]
    assert texts == ["A \ufffd b.", "c"]
    assert read.skipped["count"].tolist() == [2]
    again = read_answers(path, read.arena.queries)
    assert sorted(again["answer"]) == sorted(read.arena.answers["answer"])


def test_regions_are_left_out_and_counted(tmp_path):
    text = "question,system,answer,language\nq?,s,a,pt-BR\nr?,s,b,zh_CN\nt?,s,c,pt-BR\n"
    read = import_arena("csv", [table(tmp_path, text)])
    assert read.arena.info.languages == ("pt", "zh")
    regions = read.skipped[read.skipped["item"].str.contains("region")]
    assert regions["count"].tolist() == [2, 1]
    with pytest.raises(DataError, match="'ja'"):
        import_arena("csv", [table(tmp_path, text.replace("zh_CN", "jp"))])


def test_a_language_that_is_not_known_is_none_and_counted(tmp_path):
    text = "question,system,answer,language\nq?,s,a,Unknown\nr?,s,b,nan\nt?,s,c,Deutsch\n"
    read = import_arena("csv", [table(tmp_path, text)])
    assert read.arena.info.languages == ("de", "und")
    assert read.skipped["count"].tolist() == [1]


def test_whole_numbers_and_decimals_of_a_column_are_the_same_names(tmp_path):
    text = "question,system,answer\nq?,4,a\nr?,4.0,b\nr?,3.5,c\n"
    assert import_arena("csv", [table(tmp_path, text)]).arena.info.systems == ("3.5", "4")


def test_truth_values_are_answers(tmp_path):
    rows = [{"question": "q?", "system": "m", "answer": True}]
    assert import_arena("csv", [records(tmp_path, rows)]).arena.answers["answer"].tolist() == [
        "TRUE"
    ]


def test_numbers_can_be_names_questions_and_answers(tmp_path):
    rows = [
        {"question": 1, "system": 4, "answer": 300},
        {"question": 1, "system": "4.5", "answer": 3.5},
    ]
    read = import_arena("csv", [records(tmp_path, rows)])
    assert read.arena.info.systems == ("4", "4.5")
    assert sorted(read.arena.answers["answer"]) == ["3.5", "300"]


def test_spaces_at_the_edges_of_names_are_left_out_and_counted(tmp_path):
    text = 'question,system,answer,verdict\nq?,a,x,1\nr?," a",x,"0,5"\nr?,b,y,"0,25"\n'
    read = import_arena("csv", [table(tmp_path, text)])
    assert read.arena.info.systems == ("a", "b")
    assert read.skipped.loc[read.skipped["item"] == "space", "count"].tolist() == [1]
    assert wins_of(read) == ["a"]
    assert "comma" in " ".join(read.notes)


def wins_of(read):
    judged = read.arena.judgments
    return [getattr(row, f"system_{row.winner}") for row in judged.itertuples()]


def test_a_comma_that_may_separate_thousands_is_refused(tmp_path):
    text = 'question,system,answer,verdict\nq?,a,x,"1,234"\nq?,b,y,"2,500"\n'
    with pytest.raises(DataError) as caught:
        import_arena("csv", [table(tmp_path, text)])
    assert [problem.value for problem in caught.value.problems] == ["1,234", "2,500"]


def test_a_comma_is_that_of_the_other_numbers_of_its_column(tmp_path):
    text = "question;system;answer;verdict\nq?;a;x;1,000\nq?;b;y;0,500\n"
    assert wins_of(import_arena("csv", [table(tmp_path, text)])) == ["a"]
    with pytest.raises(DataError):
        import_arena("csv", [table(tmp_path, text.replace("1,000", "1.000,5"))])


def test_the_first_sheet_with_a_table_is_read(tmp_path):
    frame = pd.DataFrame({"question": ["q?"], "model": ["m"], "answer": ["x"]})
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        pd.DataFrame({"note": []}).to_excel(book, sheet_name="cover", index=False)
        frame.to_excel(book, sheet_name="answers", index=False)
    read = import_arena("csv", [tmp_path / "t.xlsx"])
    assert read.arena.info.systems == ("m",)
    assert "'cover'" in " ".join(read.notes)


@pytest.mark.parametrize("text", ["<table><tr><th>a</th></tr></table>", "question\tanswer\nq\ta\n"])
@pytest.mark.parametrize("suffix", ["xls", "xlsx"])
def test_text_that_is_named_as_a_workbook_is_refused_with_a_hint(text, suffix, tmp_path):
    with pytest.raises(DataError) as caught:
        import_arena("csv", [table(tmp_path, text, f"t.{suffix}")])
    assert "not a workbook" in caught.value.problems[0].fault


def test_empty_answers_are_kept_and_said(tmp_path):
    text = "question,system,answer\nq?,a,\nq?,b,N/A\nr?,a,x\n"
    read = import_arena("csv", [table(tmp_path, text)])
    assert sorted(read.arena.answers["answer"]) == ["", "N/A", "x"]
    assert "a 1, b 1" in " ".join(read.notes)


def test_answers_that_were_stored_as_objects_are_opened_and_counted(tmp_path):
    text = (
        "question,system,answer\n"
        "q?,a,content='So.' additional_kwargs={} response_metadata={}\n"
        "q?,b,\"Response(response='So.', source_nodes=[<Node at 0x7f>])\"\n"
        "q?,c,So.\n"
    )
    path = table(tmp_path, text)
    read = import_arena("csv", [path])
    answers = read.arena.answers.set_index("system")["answer"]
    assert (answers["a"], answers["c"]) == ("So.", "So.")
    assert answers["b"].startswith("Response(")
    assert read.skipped["count"].tolist() == [1, 1]
    again = read_answers(path, read.arena.queries).set_index("system")["answer"]
    assert again.to_dict() == answers.to_dict()


def test_soft_preferences_of_alpaca_eval_are_read(tmp_path):
    rows = [
        {"instruction": f"{number}?", "output_1": "a", "generator_1": "base", "output_2": "b"}
        | {"generator_2": "mine", "annotator": "j", "preference": preference}
        for number, preference in enumerate([1.93, 1.02, None])
    ]
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    read = import_arena("csv", [path])
    assert read.arena.judgments["winner"].tolist() == ["b", "a"]
    assert read.arena.judgments["judge"].tolist() == ["j", "j"]
    assert read.skipped.loc[read.skipped["item"] == "judgment", "count"].tolist() == [1]


def test_a_workbook_says_which_sheet_was_read(tmp_path):
    frame = pd.DataFrame({"Question": ["q?"], "Model Name": ["m"], "Answer": ["x"]})
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        frame.to_excel(book, sheet_name="answers", index=False)
        frame.to_excel(book, sheet_name="more", index=False)
    read = import_arena("csv", [tmp_path / "t.xlsx"])
    assert read.arena.info.systems == ("m",)
    assert "'more'" in " ".join(read.notes)


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_lines_above_the_header_are_said_once(mark, tmp_path):
    rows = ["question,system,answer", "q?,m,x", "r?,m,y"]
    text = "Exported 2024\n\n" + "\n".join(row.replace(",", mark) for row in rows) + "\n"
    with pytest.raises(DataError) as caught:
        import_arena("csv", [table(tmp_path, text)])
    assert len(caught.value.problems) == 1
    assert "line 3" in caught.value.problems[0].fault


def test_a_header_stands_above_cells_that_hold_other_delimiters(tmp_path):
    text = "question,system,answer\nq?,m,x; y; z\nr?,m,1; 2; 3\n"
    read = import_arena("csv", [table(tmp_path, text)])
    assert sorted(read.arena.answers["answer"]) == ["1; 2; 3", "x; y; z"]


def test_nothing_read_is_a_failure(tmp_path):
    for text in ("question,system,answer\n", "", "question,system,answer\n,,\n"):
        with pytest.raises(UsageError):
            import_arena("csv", [table(tmp_path, text)])


THOUGHTFUL = (
    "question,system,answer\n"
    "How high?,r1,<think>Passage [2] is about a lynx.</think>It is 300 m high [1].\n"
    "How high?,plain,It is 300 m high [1].\n"
    "How high?,cites,A tag such as <think> is prose [1].\n"
)


def test_thoughts_in_answers_are_said_kept_and_not_measured(tmp_path):
    read = import_arena("csv", [table(tmp_path, THOUGHTFUL)])
    assert "r1 1)" in " ".join(read.notes)
    raw = read.arena.answers.set_index("system")["answer"]
    assert raw["r1"].startswith("<think>")
    assert parse_answer(raw["r1"]) == parse_answer(raw["plain"])
    assert parse_answer(raw["cites"]).text == raw["cites"]


@pytest.mark.parametrize("suffix", ["csv", "json", "parquet", "xlsx"])
def test_numbers_are_the_same_names_in_every_form(suffix, tmp_path):
    frame = pd.DataFrame({"question": ["q", "q"], "model": [4, 3.5], "answer": ["x", "y"]})
    path = tmp_path / f"t.{suffix}"
    save = frame.to_excel if suffix == "xlsx" else getattr(frame, f"to_{suffix}")
    save(path)
    assert import_arena("csv", [path]).arena.info.systems == ("3.5", "4")


def test_a_version_among_other_names_stays_as_it_is(tmp_path):
    text = "question,model,answer\nq,4.0,x\nq,gpt,y\n"
    assert import_arena("csv", [table(tmp_path, text)]).arena.info.systems == ("4.0", "gpt")


def test_numbered_columns_of_passages_are_read_in_their_order(tmp_path):
    table = pd.DataFrame(
        {
            "question": ["Why?", "How?"],
            "system": "s",
            "answer": "So.",
            "Context 10": ["last", None],
            "context_1": ["first", "only"],
            "context_2": ["second", None],
        }
    )
    table.to_csv(tmp_path / "answers.csv", index=False)
    read = import_arena("csv", [tmp_path / "answers.csv"])
    texts = [
        [passage["text"] for passage in passages] for passages in read.arena.queries["passages"]
    ]
    assert sorted(texts) == [["first", "second", "last"], ["only"]]
    assert any("3 columns, 'context_1' to 'Context 10'" in note for note in read.notes)
    new = table.assign(system="new")
    new.to_csv(tmp_path / "new.csv", index=False)
    assert "passages" not in read_answers(tmp_path / "new.csv", read.arena.queries)


def test_documents_that_haystack_printed_are_passages():
    one = "Document(id=3fa, content: 'It's (so), they said.', meta: {'a': 1}, score: 0.5)"
    two = "Document(id=b2, content: 'A lynx.')"
    texts = [passage["text"] for passage in passages_of(f"[{one}, {two}]")]
    assert texts == ["It's (so), they said.", "A lynx."]
    assert [passage["passage_id"] for passage in passages_of(one)] == ["3fa"]
    cut = f"Document(id=b2, content: '{'x' * 100}...')"
    with pytest.raises(ValueError, match="cut after 100 characters"):
        passages_of(f"[{one}, {cut}]")


def test_merged_cells_of_a_workbook_count_for_the_rows_they_cover(tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="writes workbooks")
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    for row in (
        ["question", "system", "answer"],
        ["Why?", "one", "So."],
        [None, "two", "Thus."],
        ["How?", "one", "By hand."],
        [None, "two", "By foot."],
    ):
        sheet.append(row)
    sheet.merge_cells("A2:A3")
    sheet.merge_cells("A4:A5")
    workbook.save(tmp_path / "answers.xlsx")
    read = import_arena("csv", [tmp_path / "answers.xlsx"])
    assert sorted(read.arena.queries["query"]) == ["How?", "Why?"]
    assert len(read.arena.answers) == 4
    assert sum("merged" in note for note in read.notes) == 1


def test_tables_of_answers_keep_criteria(tmp_path):
    marked = pd.DataFrame(
        [
            {"question": "q", "system": system, "answer": system, "criterion": by, "score": mark}
            for by, marks in {"fluency": (1, 2), "tone": (2, 1)}.items()
            for system, mark in zip("xy", marks, strict=True)
        ]
    )
    marked.to_csv(tmp_path / "marked.csv", index=False)
    arena = import_arena("csv", [tmp_path / "marked.csv"]).arena
    write_arena(arena, tmp_path / "arena")
    read = read_arena(tmp_path / "arena")
    assert read.criteria == ("fluency", "tone")
    assert read.judges == ("unknown:fluency", "unknown:tone")
    won = {row["criterion"]: row[f"system_{row['winner']}"] for _, row in read.judgments.iterrows()}
    assert won == {"fluency": "y", "tone": "x"}
