"""Labels in replies: what counts, and what never does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.llm.replies import UnparsableError
from surrogate.metaevaluation.memerag.rating_files import parse_label, read_label

YES, NO = "Supported", "Not Supported"

CASES = [
    ("<answer>Supported</answer>", YES),
    ("<answer>Not Supported</answer>", NO),
    ("<answer> not supported </answer>", NO),
    ("<answer>\nNOT SUPPORTED\n</answer>", NO),
    ("<answer>Not  Supported.</answer>", NO),
    ("<answer>not_supported</answer>", NO),
    ("<answer>Not-Supported</answer>", NO),
    ("<answer>NotSupported</answer>", NO),
    ("<answer>unsupported</answer>", NO),
    ("<answer>Unsupported!</answer>", NO),
    ("<answer>un-supported</answer>", NO),
    ("<answer>Non-supported</answer>", NO),
    ("<answer>not\nsupported</answer>", NO),
    ('<answer>"Not Supported"</answer>', NO),
    ("<answer>**Supported**</answer>", YES),
    ("<ANSWER>supported</ANSWER>", YES),
    ("<answer>Ｓｕｐｐｏｒｔｅｄ</answer>", YES),
    ("<answer>Supported: passage 2 says so.</answer>", YES),
    ("<answer>Not Supported (the year is wrong)</answer>", NO),
    ("<answer>Supported", YES),
    ("<answer>Not Supported</ answer>", NO),
    ("<rationale>It is supported.</rationale>\n<answer>Not Supported</answer>", NO),
    ("<rationale><answer>Supported</answer></rationale> <answer>Not Supported</answer>", NO),
    ("<think><answer>Supported</answer></think>Not Supported", NO),
    ("First <answer>Supported</answer>, no: <answer>Not Supported</answer>", NO),
    ("<answer>Not Supported</answer> Correction: <answer>Supported</answer>", YES),
    ("Not Supported", NO),
    (" supported.\n", YES),
    ("", None),
    ("<answer></answer>", None),
    ("<answer>Yes</answer>", None),
    ("<answer>Partially supported</answer>", None),
    ("<answer>Not fully supported</answer>", None),
    ("<answer>Supported or Not Supported</answer>", None),
    ("<answer>Supported / unsupported</answer>", None),
    ("<answer>Supported, though one part is not supported</answer>", None),
    ("<answer>isn't supported</answer>", None),
    ("<answer>Supportedness</answer>", None),
    ("<answer>It is not true that it is Supported</answer>", None),
    ("The answer is Supported.", None),
    ("The sentence is Not Supported because", None),
    ("<think>Supported <answer>Supported</answer>", None),
    ("<rationale><answer>Supported</answer></rationale>", None),
    ("Supported? Not Supported?", None),
]


@pytest.mark.parametrize(("reply", "label"), CASES)
def test_labels_of_replies(reply, label):
    assert parse_label(reply) == label


def test_a_reply_without_a_label_is_unparsable():
    with pytest.raises(UnparsableError, match="expected <answer>Supported</answer>"):
        read_label("I cannot say.")


negations = st.sampled_from(
    ["not", "Not", "NOT", "un", "UN", "Un", "non", "n't", "in no way", "never"]
)
joints = st.sampled_from(["", " ", "  ", "-", "_", "\n", "\t", " - ", "*", "** "])
supported = st.sampled_from(["supported", "Supported", "SUPPORTED", "supported.", "*Supported*"])
wrapped = st.sampled_from(["{}", "<answer>{}</answer>", "<answer> {}", "x <answer>\n{}\n</answer>"])


@given(negations, joints, supported, wrapped)
def test_a_negated_label_is_never_read_as_supported(negation, joint, word, form):
    assert parse_label(form.format(negation + joint + word)) != YES


@given(st.text(), st.text(), st.sampled_from([YES, NO]))
def test_the_last_tags_decide(before, after, label):
    reply = f"{before.replace('<', '')} <answer>{label}</answer> {after.replace('<', '')}"
    assert parse_label(reply) == label


@given(st.text())
def test_any_text_is_one_of_three(text):
    assert parse_label(text) in (YES, NO, None)
    assert parse_label(f"<answer>{text}</answer>") in (YES, NO, None)
