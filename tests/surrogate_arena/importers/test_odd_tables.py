"""Tables as people have them: labels and stars, Markdown, workbooks of two kinds, rankings."""

import subprocess
import sys

import pandas as pd
import pytest

from arena import DataError, UsageError, import_arena

QUESTIONS = ["When does it open?", "Who built it?", "How much is a ticket?", "Is it far away?"]
OLD = ["It opens at nine.", "The city built it.", "A ticket is 24 euros.", "It is a short walk."]
NEW = ["At nine, every day.", "Ida Berg built it.", "It costs 24 euros.", "No, take bus seven."]


def answers():
    """Return eight answers of two systems."""
    parts = []
    for system, texts in (("old", OLD), ("new", NEW)):
        parts.append(pd.DataFrame({"question": QUESTIONS, "system": system, "answer": texts}))
    return pd.concat(parts, ignore_index=True)


def winners(foreign):
    """Return the winning system of each verdict."""
    rows = foreign.arena.judgments.to_dict(orient="records")
    return [row.get(f"system_{row['winner']}", "tie") for row in rows]


@pytest.mark.parametrize(
    ("old", "new", "mark"),
    [
        ("1 - poor", "3 - fair", "1"),
        ("2: so-so", "10: perfect", "2"),
        ("2 (weak)", "4.5 (strong)", "2"),
        ("3/5", "7/10", "0.6"),
        ("★★☆☆☆", "★★★★★", "2"),
        ("⭐️", "⭐️⭐️⭐️", "1"),
    ],
)
@pytest.mark.parametrize("options", [{"scores": ["marks"]}, {"columns": {"verdict": "marks"}}])
def test_labels_with_numbers_and_stars_are_scores(tmp_path, old, new, mark, options):
    path = tmp_path / "answers.csv"
    answers().assign(marks=[old] * 4 + [new] * 4).to_csv(path, index=False)
    foreign = import_arena("csv", path, language="en", **options)
    assert winners(foreign) == ["new"] * 4
    assert foreign.shown[-1].endswith(f": {mark}")


@pytest.mark.parametrize("label", ["poor", "2024-01-05", "4 documents", "-", "5 - "])
def test_other_labels_are_no_scores(tmp_path, label):
    path = tmp_path / "answers.csv"
    answers().assign(marks=label, points=3).to_csv(path, index=False)
    with pytest.raises(UsageError, match=r"'marks' holds no scores.*columns of numbers: points"):
        import_arena("csv", path, language="en", scores=["marks"])


@pytest.mark.parametrize("edge", ["| ", ""])
def test_a_markdown_table_is_refused_with_the_command_that_makes_it_one_of_csv(tmp_path, edge):
    rows = answers().to_numpy().tolist()
    lines = [["question", "system", "answer"], ["---", ":---:", "---"], *rows]
    text = "".join(f"{edge}{' | '.join(cells)}{edge[::-1]}\n" for cells in lines)
    path = tmp_path / "my answers.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=r"is a Markdown table, not CSV") as refused:
        import_arena("csv", path, language="en")
    command = refused.value.problems[0].hint
    subprocess.run(command, shell=True, check=True, cwd=tmp_path)
    foreign = import_arena("csv", tmp_path / "table.csv", language="en")
    assert sorted(foreign.arena.answers["answer"]) == sorted(OLD + NEW)
    assert foreign.skipped.empty


def test_a_workbook_of_answers_and_votes_is_refused_with_the_commands_that_split_it(tmp_path):
    pytest.importorskip("python_calamine")
    path = tmp_path / "book.xlsx"
    votes = pd.DataFrame({"question": QUESTIONS, "winner": ["old", "new", "new", "tie"]})
    with pd.ExcelWriter(path) as book:
        answers().to_excel(book, sheet_name="answers", index=False)
        votes.to_excel(book, sheet_name="votes", index=False)
    with pytest.raises(DataError, match=r"'votes' holds verdicts, and") as refused:
        import_arena("csv", path, language="en")
    hint = refused.value.problems[0].hint
    assert hint.endswith("import csv answers.csv --verdicts votes.csv")
    split = hint.partition("each sheet: ")[2].partition("; then")[0]
    split = split.replace("python", sys.executable, 1)
    subprocess.run(split, shell=True, check=True, cwd=tmp_path)
    files = {"paths": tmp_path / "answers.csv", "verdicts": tmp_path / "votes.csv"}
    assert len(import_arena("csv", **files, language="en").arena.judgments) == 4


def test_a_further_sheet_of_answers_may_have_a_column_of_outcomes(tmp_path):
    pytest.importorskip("python_calamine")
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        answers().head(4).to_excel(book, sheet_name="old", index=False)
        later = answers().tail(4).assign(outcome=["good", "bad", "good", "bad"])
        later.to_excel(book, sheet_name="new", index=False)
    foreign = import_arena("csv", path, language="en")
    assert sorted(foreign.arena.answers["answer"]) == sorted(OLD + NEW)
    assert "outcome" in " ".join(foreign.skipped["reason"])


def test_means_in_a_sheet_of_their_own_are_left_out(tmp_path):
    pytest.importorskip("python_calamine")
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        answers().to_excel(book, sheet_name="data", index=False)
        means = pd.DataFrame({"system": ["old", "new"], "mean": [3, 4]})
        means.to_excel(book, sheet_name="summary", index=False)
    foreign = import_arena("csv", path, language="en")
    assert foreign.arena.info.systems == ("old", "new")
    assert foreign.tally == {"records": 10, "answers": 8, "left out": 2}


def test_a_ranking_of_systems_is_no_system_of_its_own(tmp_path):
    path = tmp_path / "ranked.csv"
    cells = {"question": QUESTIONS, "old": OLD, "new": NEW}
    ranking = ["old>new", "new>old", "new > old", "old=new"]
    pd.DataFrame(cells | {"ranking": ranking}).to_csv(path, index=False)
    with pytest.raises(UsageError, match=r"--column answer=old,new;"):
        import_arena("csv", path, language="en")


def test_several_columns_of_votes_are_all_named(tmp_path):
    path = tmp_path / "votes.csv"
    sides = {"question": QUESTIONS, "model_a": "old", "model_b": "new"}
    votes = {"ann": ["A", "B", "A", "B"], "bob": ["B", "tie", "A", "A"]}
    pd.DataFrame(sides | votes).to_csv(path, index=False)
    with pytest.raises(UsageError, match=r"'ann' \(A, B\) or 'bob' \(B, tie, A\).*sheet'"):
        import_arena("lmarena", path, language="en")


def test_a_row_with_two_short_answers_is_not_said_to_hold_none(tmp_path):
    path = tmp_path / "sides.csv"
    sides = {"Left system": ["old", "new"] * 2, "Right system": ["new", "old"] * 2}
    texts = {"Left answer": OLD, "Right answer": NEW, "Better": ["Left", "Right"] * 2}
    pd.DataFrame({"Question": QUESTIONS} | sides | texts).to_csv(path, index=False)
    with pytest.raises(UsageError, match=r"holds two answers, Left answer and Right answer"):
        import_arena("csv", path, language="en")


def test_a_judge_may_be_a_file(tmp_path):
    for judge, mark in (("ann", 1), ("bob", 2)):
        marks = [mark] * 4 + [3 - mark] * 4
        answers().assign(score=marks).to_csv(tmp_path / f"{judge}.csv", index=False)
    with pytest.raises(DataError, match="judge=file"):
        import_arena("csv", tmp_path, language="en")
    columns = {"judge": "file", "verdict": "score"}
    judgments = import_arena("csv", tmp_path, language="en", columns=columns).arena.judgments
    assert judgments.groupby("judge").size().to_dict() == {"ann": 4, "bob": 4}
