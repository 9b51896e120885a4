"""Tables of other shapes than a row an answer: what is read of them, and what errors say."""

import json

import openpyxl
import pytest

from arena import DataError, UsageError, import_arena, read_answers
from surrogate_arena.importers.judgments import counted_judgments_of

QUESTIONS = ("Why do cats purr?", "How tall is the mill?")
ANSWERS = {"alpha": ("They are calm.", "It is 31 m."), "beta": ("Of joy.", "Tall.")}


def written(folder, name, content):
    path = folder / name
    if name.endswith(".jsonl"):
        content = "\n".join(map(json.dumps, content))
    elif name.endswith(".json"):
        content = json.dumps(content)
    path.write_text(content, encoding="utf-8")
    return path


def answers_in(arena):
    texts = arena.queries.set_index("query_id")["query"]
    rows = arena.answers.to_dict(orient="records")
    return {(texts[row["query_id"]], row["system"]): row["answer"] for row in rows}


EXPECTED = {
    (question, system): texts[number]
    for system, texts in ANSWERS.items()
    for number, question in enumerate(QUESTIONS)
}


def wide(*names):
    rows = [",".join(("question", *names))]
    for number, question in enumerate(QUESTIONS):
        rows.append(",".join((question, *(texts[number] for texts in ANSWERS.values()))))
    return "\n".join(rows)


@pytest.mark.parametrize(
    "names",
    [
        ("answer_alpha", "answer_beta"),
        ("Answer alpha", "Answer beta"),
        ("Answer (alpha)", "Answer (beta)"),
        ("alpha_response", "beta_response"),
        ("alpha.answer", "beta.answer"),
        ("model_answer_alpha", "model_answer_beta"),
        ("Antwort alpha", "Antwort beta"),
    ],
)
def test_a_column_of_answers_for_each_system_is_read(names, tmp_path):
    path = written(tmp_path, "wide.csv", wide(*names))
    read = import_arena("csv", [path], language="en")
    assert answers_in(read.arena) == EXPECTED
    assert "a row holds the answers of 2 systems: alpha, beta" in " ".join(read.notes)
    again = read_answers(path, read.arena.queries)
    assert sorted(again["system"]) == ["alpha", "alpha", "beta", "beta"]


@pytest.mark.parametrize("names", [("GPT-4o", "yi-34b"), ("pro", "Phi 4"), ("Yi", "rag")])
def test_names_of_systems_that_look_like_codes_of_languages_are_systems(names, tmp_path):
    header = ",".join(f"answer {name}" for name in names)
    path = written(tmp_path, "t.csv", f"question,{header}\nq?,x,y\n")
    assert set(import_arena("csv", [path], language="en").arena.info.systems) == set(names)


def test_scores_and_passages_beside_the_answers_of_each_system_are_theirs(tmp_path):
    text = (
        "question,alpha_answer,alpha_score,alpha_contexts,beta_answer,beta_score,beta_contexts\n"
        "q?,x,5,One.,y,3,Two.\n"
    )
    arena = import_arena("csv", [written(tmp_path, "t.csv", text)], language="en").arena
    (verdict,) = arena.judgments.to_dict(orient="records")
    assert verdict[f"system_{verdict['winner']}"] == "alpha"
    passages = arena.answers.set_index("system")["passages"]
    assert [passages[name][0]["text"] for name in ("alpha", "beta")] == ["One.", "Two."]


def test_answers_of_two_systems_with_a_winner_are_pairs(tmp_path):
    text = "question,answer_alpha,answer_beta,better\nq?,x,y,beta\nr?,x,y,A\n"
    arena = import_arena("csv", [written(tmp_path, "t.csv", text)], language="en").arena
    pairs = arena.judgments[["system_a", "system_b", "winner"]].to_numpy().tolist()
    assert sorted(pairs) == [["alpha", "beta", "a"], ["alpha", "beta", "b"]]


@pytest.mark.parametrize(
    "header",
    [
        "question,answer_type,answer_reason",
        "question,answer_1,answer_2",
        "question,answer_a,ideal",
        "question,answer_en,answer_fr",
        "question,expected.answer,outputs.answer",
        "question,response_model,response_status",
    ],
)
def test_other_columns_about_answers_are_no_systems(header, tmp_path):
    path = written(tmp_path, "t.csv", f"{header}\nq?,x,y\n")
    with pytest.raises(UsageError, match="no column is known for"):
        import_arena("csv", [path], language="en")


def log(system, number):
    return {"question": QUESTIONS[number], "answer": ANSWERS[system][number]}


NESTED = {
    "answers by system": [
        {"question": question, "answers": {name: texts[i] for name, texts in ANSWERS.items()}}
        for i, question in enumerate(QUESTIONS)
    ],
    "records of systems in each question": [
        {
            "instruction": question,
            "completions": [{"model": name, "response": t[i]} for name, t in ANSWERS.items()],
        }
        for i, question in enumerate(QUESTIONS)
    ],
    "records of questions in each system": [
        {"model": name, "results": [log(name, i) for i in range(2)]} for name in ANSWERS
    ],
    "conversations": [
        {
            "model": name,
            "messages": [
                {"role": "user", "content": QUESTIONS[i]},
                {"role": "assistant", "content": ANSWERS[name][i]},
            ],
        }
        for name in ANSWERS
        for i in range(2)
    ],
    "conversations in ShareGPT's manner": [
        {
            "model": name,
            "conversations": [
                {"from": "system", "value": "Be brief."},
                {"from": "human", "value": QUESTIONS[i]},
                {"from": "gpt", "value": ANSWERS[name][i]},
            ],
        }
        for name in ANSWERS
        for i in range(2)
    ],
    "records of inputs and outputs": [
        {"inputs": {"question": QUESTIONS[i]}, "output": {"answer": texts[i]}, "model": name}
        for name, texts in ANSWERS.items()
        for i in range(2)
    ],
    "columns of inputs and outputs": [
        {"inputs.question": QUESTIONS[i], "outputs.answer": texts[i], "metadata.model": name}
        for name, texts in ANSWERS.items()
        for i in range(2)
    ],
    "a system prompt": [
        {"system": "You are a helpful assistant.", "model": name, **log(name, i)}
        for name in ANSWERS
        for i in range(2)
    ],
    "an answer in messages": [
        {"model": name, "question": QUESTIONS[i], "output": [{"role": "assistant", "content": t}]}
        for name, texts in ANSWERS.items()
        for i, t in enumerate(texts)
    ],
}


@pytest.mark.parametrize("shape", NESTED)
def test_records_in_records_are_read(shape, tmp_path):
    path = written(tmp_path, "t.jsonl", NESTED[shape])
    read = import_arena("csv", [path], language="en")
    assert answers_in(read.arena) == EXPECTED
    again = read_answers(path, read.arena.queries)
    assert sorted(again["answer"]) == sorted(EXPECTED.values())


def test_passages_in_the_record_of_an_output_are_read(tmp_path):
    output = {"retrieval_result": [{"id": "7", "contents": "One."}], "pred": "x"}
    rows = [{"question": "q?", "model": "m", "output": output}]
    arena = import_arena("csv", [written(tmp_path, "t.json", rows)], language="en").arena
    assert arena.answers["answer"].tolist() == ["x"]
    assert [passage["text"] for passage in arena.queries["passages"][0]] == ["One."]


@pytest.mark.parametrize("cell", [["x", "y"], {"x": "y"}])
def test_an_answer_that_is_no_text_is_refused_with_where_texts_are(cell, tmp_path):
    rows = [
        {"question": "q?", "model": "m", "answer": cell},
        {"question": "q?", "model": "n", "answer": "x"},
    ]
    path = written(tmp_path, "t.jsonl", rows)
    with pytest.raises(DataError, match=r"--column answer=PATH, of answer\.[0x]"):
        import_arena("csv", [path], language="en")


@pytest.mark.parametrize("write", [json.dumps, str])
def test_questions_and_answers_that_a_program_logged_as_records_are_opened(write, tmp_path):
    rows = []
    for system in ANSWERS:
        for number in range(2):
            row = {"model": system, "input": write({"question": QUESTIONS[number]})}
            row["output"] = write({"answer": ANSWERS[system][number]})
            rows.append({**row, "expected": write({"answer": "Right."})})
    path = written(tmp_path, "t.jsonl", rows)
    read = import_arena("csv", [path], language="en")
    assert answers_in(read.arena) == EXPECTED
    assert set(read.arena.queries["reference"]) == {"Right."}
    counts = read.skipped.set_index("item")["count"]
    assert [counts[f"record around the {field}"] for field in ("question", "answer")] == [4, 4]


def test_an_answer_in_json_to_a_plain_question_stays_the_answer(tmp_path):
    rows = [{"question": "q?", "model": "m", "answer": '{"answer": "x", "sources": [1]}'}]
    arena = import_arena("csv", [written(tmp_path, "t.jsonl", rows)], language="en").arena
    assert arena.answers["answer"].tolist() == [rows[0]["answer"]]


def test_turns_before_a_question_are_its_history(tmp_path):
    turns = [
        {"content": "Hello", "type": "human"},
        {"content": "Hi", "type": "ai"},
        {"content": "And why?", "type": "human"},
    ]
    rows = [{"user_input": turns, "response": "So.", "model": "m"}]
    arena = import_arena("csv", [written(tmp_path, "t.jsonl", rows)], language="en").arena
    (question,) = arena.queries.to_dict(orient="records")
    assert question["query"] == "And why?"
    assert [turn["content"] for turn in question["history"]] == ["Hello", "Hi"]


def test_a_path_in_the_cells_of_a_column_can_be_named(tmp_path):
    rows = [
        {
            "question": "q?",
            "model": "m",
            "output": {"text_of_reply": "x", "found": [{"contents": "One."}]},
        }
    ]
    path = written(tmp_path, "t.json", rows)
    with pytest.raises(UsageError, match=r"texts in them are at output\.text_of_reply"):
        import_arena("csv", [path], language="en")
    columns = {"answer": "output.text_of_reply", "passages": "output.found"}
    arena = import_arena("csv", [path], language="en", columns=columns).arena
    assert arena.answers["answer"].tolist() == ["x"]
    assert [passage["text"] for passage in arena.queries["passages"][0]] == ["One."]
    assert read_answers(path, arena.queries, columns)["answer"].tolist() == ["x"]


@pytest.mark.parametrize(
    ("record", "columns"),
    [
        ({"winner": "x", "loser": "y"}, {}),
        ({"Winner Model": "x", "Loser Model": "y"}, {}),
        ({"model": "x", "opponent": "y", "result": "win"}, {}),
        ({"data": {"model_a": "x", "model_b": "y", "winner": "A"}}, {}),
        ({"chosen": "good", "rejected": "bad", "chosen_model": "x", "rejected_model": "y"}, {}),
        (
            {"models": ["x", "y"], "type": "leftvote"},
            {"system_a": "models.0", "system_b": "models.1", "winner": "type"},
        ),
        (
            {"model": "x", "baseline": "y", "games": [{"score": "A>>B"}]},
            {"system_a": "model", "system_b": "baseline", "winner": "games.0.score"},
        ),
    ],
)
def test_battles_in_other_shapes_are_read(record, columns, tmp_path):
    path = written(tmp_path, "t.jsonl", [record, record])
    table = counted_judgments_of(path, columns=columns).table
    rows = table[["system_a", "system_b", "winner"]].astype(str).to_numpy().tolist()
    assert rows == [["x", "y", "a"]] * 2


def test_each_vote_in_a_list_of_a_battle_counts(tmp_path):
    votes = [{"user": "ann", "winner": "A"}, {"user": "bob", "winner": "tie"}]
    row = {"id": 7, "model_a": "x", "model_b": "y", "votes": votes}
    read = counted_judgments_of(written(tmp_path, "t.json", [row]))
    assert read.table["winner"].tolist() == ["a", "tie"]
    assert read.table["judge"].astype(str).tolist() == ["person:ann", "person:bob"]
    assert read.skipped["reason"].tolist() == ["each record in 'votes' is read as a row"]


def test_the_games_of_a_pair_are_no_votes(tmp_path):
    row = {"model": "x", "baseline": "y", "games": [{"winner": "A"}, {"winner": "A"}]}
    with pytest.raises(DataError, match=r"in them are games\.0\.winner, games\.1\.winner"):
        counted_judgments_of(written(tmp_path, "t.jsonl", [row]))


def test_sides_that_are_not_stated_are_in_the_order_of_names_and_it_is_counted(tmp_path):
    path = written(tmp_path, "t.csv", "winner,loser\ny,x\nx,y\n")
    read = counted_judgments_of(path)
    assert read.table["system_a"].astype(str).tolist() == ["x", "x"]
    assert read.table["winner"].tolist() == ["b", "a"]
    assert read.skipped.loc[read.skipped["item"] == "row", "count"].tolist() == [2]


def test_draws_beside_a_winner_and_a_loser_are_not_read_as_wins(tmp_path):
    path = written(tmp_path, "t.csv", "winner,loser,is_draw\ny,x,True\n")
    with pytest.raises(DataError, match="system_a"):
        counted_judgments_of(path)


def test_chosen_and_rejected_answers_are_pairs(tmp_path):
    row = {"prompt": "q?", "chosen": [{"role": "assistant", "content": "good"}]}
    row |= {"rejected": "bad", "chosen_model": "y", "rejected_model": "x"}
    arena = import_arena("csv", [written(tmp_path, "t.jsonl", [row])], language="en").arena
    assert answers_in(arena) == {("q?", "y"): "good", ("q?", "x"): "bad"}
    assert arena.judgments[["system_a", "winner"]].to_numpy().tolist() == [["x", "b"]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Thema,System,Text\na,b,c\n", "for question, answer (system from 'System')"),
        ("Thema,System,Text\na,b,c\n", "--column question=Thema"),
        (
            "question,gpt-4o,gemma\nq?,x,y\n",
            "begin their names with 'answer ', such as 'answer gpt",
        ),
        ("query_id,system,answer\n1,x,y\n", "add a column question"),
        ("model_a,model_b,winner\nx,y,a\n", "'import lmarena'"),
        ("question,answer\nq?,x\n", "--column system=file (the name of each file)"),
        ("question,answer_a,answer_b,winner\nq?,x,y,a\n", "add columns system_a and system_b"),
        (
            'id,sample\n1,"{""topic"": {""name"": ""x""}}"\n',
            "texts in them are at sample.topic.name",
        ),
    ],
)
def test_which_columns_are_missing_is_said_with_what_helps(text, said, tmp_path):
    with pytest.raises(UsageError) as caught:
        import_arena("csv", [written(tmp_path, "t.csv", text)], language="en")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "record",
    [
        {"htmlPath": "/t", "observations": [], "input": {"q": "q?"}, "output": {"answer": "x"}},
        {"promptIdx": 0, "vars": {"question": "q?"}, "response": {"output": "x"}},
    ],
)
def test_exports_of_tools_are_not_read_as_tables_but_named(record, tmp_path):
    path = written(tmp_path, "t.jsonl", [{**record, "model": "m"}])
    with pytest.raises(UsageError, match="this looks like"):
        import_arena("csv", [path], language="en")


def test_sheets_that_were_not_read_are_named_where_columns_are_missing(tmp_path):
    book = openpyxl.Workbook()
    for sheet in (book.active, book.create_sheet("second")):
        sheet.append(["question", "answer"])
        sheet.append(["q?", "x"])
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(UsageError, match="not read: 'second'"):
        import_arena("csv", [tmp_path / "t.xlsx"], language="en")


def test_the_header_of_a_workbook_may_stand_below_a_title(tmp_path):
    book = openpyxl.Workbook()
    for row in (["Results of May"], [], ["Question", "Model", "Answer", "Rating (1-5)"]):
        book.active.append(row)
    for system in ANSWERS:
        for number in range(2):
            book.active.append([QUESTIONS[number], system, ANSWERS[system][number], 4 + number])
    book.save(tmp_path / "t.xlsx")
    read = import_arena("csv", [tmp_path / "t.xlsx"], language="en")
    assert answers_in(read.arena) == EXPECTED
    assert len(read.arena.judgments) == 2
    assert "the header is row 3" in " ".join(read.notes)


@pytest.mark.parametrize(
    ("better", "worse"),
    [("True", "False"), ("pass", "FAIL"), ("Yes", "no"), ("80%", "7.5%"), ("Correct", "incorrect")],
)
def test_verdicts_may_be_truth_values_and_percentages(better, worse, tmp_path):
    text = f"question,model,answer,verdict\nq?,m,x,{better}\nq?,n,y,{worse}\nq?,o,z,-\n"
    read = import_arena("csv", [written(tmp_path, "t.csv", text)], language="en")
    (verdict,) = read.arena.judgments.to_dict(orient="records")
    assert verdict[f"system_{verdict['winner']}"] == "m"
    assert read.skipped.loc[read.skipped["item"] == "verdict", "count"].tolist() == [1]


def test_a_row_for_each_metric_of_an_answer_is_a_verdict_by_it(tmp_path):
    text = "question,model,answer,metric_name,metric_value\n"
    for system, score in (("m", 0.5), ("n", 0.75)):
        text += f"q?,{system},x,faithfulness,{score}\nq?,{system},x,relevance,{1 - score}\n"
    arena = import_arena("csv", [written(tmp_path, "t.csv", text)], language="en").arena
    assert set(arena.judgments["criterion"]) == {"faithfulness", "relevance"}
