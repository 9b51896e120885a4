"""Tables whose columns are named for systems or for voters: read only where that is certain."""

import openpyxl
import pytest

from arena import DataError, UsageError, import_arena, read_answers
from surrogate_arena.importers.judgments import counted_judgments_of


def written(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_columns_named_for_models_alone_hold_their_answers(tmp_path):
    text = (
        "query_id,question,topic,gpt-4o,Claude 3.5 Sonnet,mistral,reference\n"
        "1,Why do cats purr?,cats,They are calm.,Of joy.,,Calm.\n"
        "2,How tall is the mill?,mills,It is 31 m.,Tall.,Yes,31 m.\n"
        "3,Is it old?,mills,No idea.,It is.,Of course it is.,Yes.\n"
        "4,Is it open?,mills,Ask there.,I think so.,It depends.,Yes.\n"
    )
    path = written(tmp_path, "t.csv", text)
    read = import_arena("csv", [path], language="en")
    assert read.arena.info.systems == ("Claude 3.5 Sonnet", "gpt-4o", "mistral")
    answers = read.arena.answers.set_index(["query_id", "system"])["answer"]
    assert answers["3", "mistral"] == "Of course it is."
    assert set(read.arena.queries["reference"]) == {"Calm.", "31 m.", "Yes."}
    assert "answers of 3 systems: gpt-4o, Claude 3.5 Sonnet, mistral" in " ".join(read.notes)
    assert set(read_answers(path, read.arena.queries)["system"]) == set(read.arena.info.systems)


@pytest.mark.parametrize(
    ("header", "first", "second"),
    [
        ("question,title,body", "A cat,A long story", "A mill,Another one"),  # no models
        ("question,gpt-4o,gemma,ours", "It is,It was,It may", "So be it,No idea,Well"),
        ("question,gpt-4o,gemma", "0.5,0.25", "1,0.75"),
        ("question,gpt-4o,gemma", "correct,incorrect", "incorrect,correct"),
        ("question,gpt-4o,gemma", "good,poor", "good,poor"),  # categories
        ("question,gpt-4o,gemma", "2026-05-01,2026-05-02", "2026-05-03,2026-05-04"),
        ("question,gpt-4o comment,gemma comment", "It is,It was", "So be it,No idea"),
        ("question,query,gpt-4o,gemma", "r?,It is,It was", "s?,So be it,No idea"),
        ("question,gpt-4o,gemma,score", "It is,It was,3", "So be it,No idea,4"),
        ("question,gpt-4o,gemma,winner", "It is,It was,gemma", "So be it,No idea,gemma"),
    ],
)
def test_columns_that_may_be_no_answers_are_not_guessed(header, first, second, tmp_path):
    path = written(tmp_path, "t.csv", f"{header}\nq?,{first}\nt?,{second}\n")
    with pytest.raises(UsageError, match="no column is known for"):
        import_arena("csv", [path], language="en")


def votes_of(path):
    table = counted_judgments_of(path).table
    columns = ["query_id", "judge", "system_a", "system_b", "winner"]
    return table[columns].astype(str).to_numpy().tolist()


def test_columns_named_for_people_hold_their_votes(tmp_path):
    header = "question,system_a,system_b,voter Anna,voter Ben,rater 3"
    text = f"{header}\nq?,x,y,A,tie,left\nr?,y,x,B,,B\n"
    path = written(tmp_path, "t.csv", text)
    assert votes_of(path) == [
        ["t.csv:2", "person:voter Anna", "x", "y", "a"],
        ["t.csv:2", "person:voter Ben", "x", "y", "tie"],
        ["t.csv:2", "rater 3", "x", "y", "a"],
        ["t.csv:3", "person:voter Anna", "y", "x", "b"],
        ["t.csv:3", "rater 3", "y", "x", "b"],
    ]
    said = " ".join(counted_judgments_of(path).skipped["reason"])
    assert "votes of 3 people: voter Anna, voter Ben, rater 3" in said


@pytest.mark.parametrize(
    ("header", "votes"),
    [
        ("rater 1", "A"),
        ("rater 1,rater 2", "A,no idea which"),
        ("rater 1,rater 2,rater 3", "A,B,no idea which"),
        ("rater 1,rater 2", "A,1"),
        ("rater 1,helpfulness", "A,B"),
        ("anna,ben", "A,B"),
        ("warmth,taste", "A,B"),
        ("judge 1,judge 2", "A,B"),
        ("game_1,game_2", "A,B"),
        ("original,swapped", "A,B"),
        ("rater 1,rater 2,judge", "A,B,gpt-4o"),
    ],
)
def test_columns_that_may_be_no_votes_of_people_are_not_guessed(header, votes, tmp_path):
    rows = f"question,system_a,system_b,{header}\nq?,x,y,{votes}\n"
    rows += f"r?,x,y,{votes.replace('no idea which', 'B')}\n"
    with pytest.raises(DataError, match="--column winner=NAME"):
        counted_judgments_of(written(tmp_path, "t.csv", rows))


def test_columns_of_verdicts_that_may_be_qualities_are_votes_once_they_are_named_so(tmp_path):
    rows = "question,system_a,system_b,anna,ben\nq?,x,y,A,B\n"
    path = written(tmp_path, "t.csv", rows)
    with pytest.raises(DataError, match="begin them with 'voter '"):
        counted_judgments_of(path)
    path.write_text(rows.replace("anna,ben", "voter anna,voter ben"))
    assert [row[1] for row in votes_of(path)] == ["person:voter anna", "person:voter ben"]


def test_the_question_is_the_instruction_and_the_input_that_it_is_about(tmp_path):
    text = (
        "instruction,input,output,model\nSum it up.,A long text.,Short.,m\nSay hello.,,Hello.,m\n"
    )
    path = written(tmp_path, "t.csv", text)
    read = import_arena("csv", [path], language="en")
    assert read.arena.queries["query"].tolist() == ["Sum it up.\n\nA long text.", "Say hello."]
    assert "the question of 1 row is 'instruction' and 'input'" in " ".join(read.notes)
    assert len(read_answers(path, read.arena.queries)) == 2
    chosen = import_arena("csv", [path], language="en", columns={"question": "instruction"})
    assert chosen.arena.queries["query"].tolist() == ["Sum it up.", "Say hello."]


def test_an_instruction_beside_a_question_is_not_joined_to_it(tmp_path):
    text = "question,instruction,input,output,model\nq?,Be brief.,x,Short.,m\n"
    arena = import_arena("csv", [written(tmp_path, "t.csv", text)], language="en").arena
    assert arena.queries["query"].tolist() == ["q?"]


def test_marks_may_be_points_of_the_most_that_there_are(tmp_path):
    text = 'question,model,answer,rating\nq?,m,x,4/5\nq?,n,y,"3,5 / 5"\nq?,o,z,-\n'
    arena = import_arena("csv", [written(tmp_path, "t.csv", text)], language="en").arena
    (verdict,) = arena.judgments.to_dict(orient="records")
    assert verdict[f"system_{verdict['winner']}"] == "m"


@pytest.mark.parametrize("other", ["3", "6/5", "4/0", "1/2/2026"])
def test_points_beside_marks_of_another_scale_are_refused(other, tmp_path):
    text = f"question,model,answer,rating\nq?,m,x,4/5\nq?,n,y,{other}\n"
    with pytest.raises(DataError, match="is not a number"):
        import_arena("csv", [written(tmp_path, "t.csv", text)], language="en")


def workbook(folder, sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in (["question", "answer"], *rows):
            sheet.append(row)
    book.save(folder / "t.xlsx")
    return folder / "t.xlsx"


def test_sheets_with_the_same_questions_are_systems(tmp_path):
    sheets = {"alpha": [["q?", "x"], ["r?", "y"]], "gpt-4o": [["q?", "z"], ["r?", "y"]]}
    read = import_arena("csv", [workbook(tmp_path, sheets)], language="en")
    assert read.arena.info.systems == ("alpha", "gpt-4o")
    assert sorted(read.arena.answers["answer"]) == ["x", "y", "y", "z"]
    said = " ".join(read.notes)
    assert "the sheets are 2 systems: alpha, gpt-4o" in said
    assert "not read" not in said


@pytest.mark.parametrize(
    "sheets",
    [
        {"alpha": [["q?", "x"]], "beta": [["r?", "y"]]},  # parts of a table
        {"alpha": [["q?", "x"]], "beta": [["q?", "x"]]},  # copies
        {"alpha": [["q?", "x"]], "beta": []},
        {"Sheet1": [["q?", "x"]], "Sheet2": [["q?", "y"]]},
        {"English": [["q?", "x"]], "German": [["q?", "y"]]},
    ],
)
def test_sheets_that_may_be_no_systems_are_not_guessed(sheets, tmp_path):
    with pytest.raises(UsageError, match="not read: "):
        import_arena("csv", [workbook(tmp_path, sheets)], language="en")
