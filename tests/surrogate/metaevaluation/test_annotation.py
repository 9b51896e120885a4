"""The annotation guide: every path to a label, and sheets out and back."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import DataError, UsageError
from surrogate.metaevaluation.memerag.sentences import CHALLENGING, COARSE_OF_FINE
from surrogate.metaevaluation.memerag.sheets import (
    QUESTIONS,
    annotate,
    annotation_sheet,
    next_question,
    read_sheet,
    write_sheet,
)

YES, NO = "Supported", "Not Supported"


def path_to(label):
    """Answer as it takes to reach a label."""
    answers, wanted = {}, label
    for question in reversed(QUESTIONS.values()):
        if wanted in (question.yes, question.no):
            answers[question.name] = wanted == question.yes
            wanted = question.name
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


@given(st.dictionaries(st.sampled_from(list(QUESTIONS)), st.booleans()))
def test_answers_lead_to_a_question_or_a_label(answers):
    question = next_question(answers)
    if question is None:
        assert annotate(answers)[0] in (YES, NO, CHALLENGING)
    else:
        assert question.name not in answers
        with pytest.raises(UsageError, match=f"{question.name} is not answered"):
            annotate(answers)


def filled(sentences, labels, relevance="Directly answers the question"):
    sheet = annotation_sheet(sentences).astype(object)
    for row, label in enumerate(labels):
        for name, answer in path_to(label).items() if label else ():
            sheet.loc[row, name] = "Yes" if answer else "no"
    return sheet.assign(relevance=relevance)


def test_sheets_go_out_without_labels_and_come_back_with_them(small_sentences, tmp_path):
    sheet = annotation_sheet(small_sentences)
    assert "factuality" not in sheet
    assert sheet.loc[0, "passages"] == "[1] Paris is in France.\n\n[2] Oslo."
    labels = ["Contradiction", CHALLENGING, "Direct paraphrase", None, "Other", "Other mistake"]
    write_sheet(filled(small_sentences, labels), tmp_path / "anna.csv")
    found = read_sheet(tmp_path / "anna.csv")
    assert found["fine_grained_factuality"].tolist() == [
        *("Contradiction", None, "Direct paraphrase", None, "Other", "Other mistake")
    ]
    assert found["factuality"].tolist() == [NO, CHALLENGING, YES, None, YES, NO]
    assert set(found["relevance"]) == {"Directly answers the question"}
    assert found["query_id"].tolist() == small_sentences["query_id"].tolist()


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("all_supported", "maybe", r"anna\.csv:2: all_supported = 'maybe': is no answer"),
        ("says_the_same", "", "says_the_same = None: is not answered; answer: Do the passages"),
        ("relevance", "relevant", "relevance = 'relevant': is no label"),
        ("query_id", "", "query_id = None: is missing"),
    ],
)
def test_unusable_sheets_are_refused(small_sentences, tmp_path, column, value, message):
    sheet = filled(small_sentences.head(1), ["Direct paraphrase"])
    sheet.loc[0, column] = value
    write_sheet(sheet, tmp_path / "anna.csv")
    with pytest.raises(DataError, match=message):
        read_sheet(tmp_path / "anna.csv")
