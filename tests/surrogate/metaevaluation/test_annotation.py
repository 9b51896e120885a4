"""The annotation guide: every path to a label, and sheets to fill in."""

from itertools import product

import pandas as pd
import pytest

from arena import UsageError
from surrogate.metaevaluation.memerag.sentences import CHALLENGING, COARSE_OF_FINE
from surrogate.metaevaluation.memerag.sheets import FILLED_COLUMNS, QUESTIONS, annotate, write_sheet


def path_to(label):
    """Answer as it takes to reach a label."""
    answers, wanted = {}, label
    for name, question in reversed(QUESTIONS.items()):
        if wanted in (question["yes"], question["no"]):
            answers[name] = wanted == question["yes"]
            wanted = name
    return answers


def test_every_label_is_reached_by_one_path_of_the_chart():
    reached = {
        annotate(dict(zip(QUESTIONS, answers, strict=True)))
        for answers in product((True, False), repeat=len(QUESTIONS))
    }
    assert reached == {(coarse, fine) for fine, coarse in COARSE_OF_FINE.items()} | {
        (CHALLENGING, None)
    }
    for fine, coarse in COARSE_OF_FINE.items():
        assert annotate(path_to(fine)) == (coarse, fine)


def test_a_path_that_ends_before_its_label_is_refused():
    with pytest.raises(UsageError, match="says_the_same is not answered"):
        annotate({"can_be_determined": True, "all_supported": True})


def test_sheets_go_out_without_labels(small_sentences, tmp_path):
    write_sheet(small_sentences, tmp_path / "anna.csv")
    sheet = pd.read_csv(tmp_path / "anna.csv")
    assert "factuality" not in sheet
    assert sheet.loc[0, "passages"] == "[1] Paris is in France.\n\n[2] Oslo."
    assert sheet[FILLED_COLUMNS].isna().all().all()
    with pytest.raises(UsageError, match=r"anna\.txt: a sheet is a CSV file"):
        write_sheet(small_sentences, tmp_path / "anna.txt")
