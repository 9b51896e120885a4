"""How LLMs are asked about a claim, and labels in their replies: what counts, what never does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surrogate_arena.papers.memerag.claims import (
    PROMPTS,
    Claim,
    ClaimPrompts,
    label_of_reply,
)

YES, NO = "Supported", "Not Supported"
CLAIM = Claim(
    "en", "Where?", ("A & B < C", '{{ x }} "quoted"'), "It's. So.", "It's <here> & {{ y }}."
)

CASES = [
    ("<answer>Not Supported</answer>", NO),
    ("<ANSWER>**supported**</ANSWER>", YES),
    ("<answer>Ｓｕｐｐｏｒｔｅｄ</answer>", YES),
    ("<answer>Supported: passage 2 says so.</answer>", YES),
    ("<answer>Not Supported (the year is wrong)</answer>", NO),
    ("<answer>Supported", YES),
    ("Not Supported</answer>\n", NO),
    ("< answer >Supported</ answer >", YES),
    ('<answer label="final">Not Supported</answer>', NO),
    ("<answer>Supported</answer> No: <answer>", None),
    ("It would be wrong to call it Supported</answer>", None),
    ("<rationale><answer>Supported</answer></rationale> <answer>Not Supported</answer>", NO),
    ("<think><answer>Supported</answer></think>Not Supported", NO),
    ("It is supported, or is it?\n</think>\nNot Supported", NO),
    ("First <answer>Supported</answer>, no: <answer>Not Supported</answer>", NO),
    ("Not Supported", NO),
    ("", None),
    ("<answer>Supported or Not Supported</answer>", None),
    ("<answer>Supported, though one part is not supported</answer>", None),
    ("<answer>It is not true that it is Supported</answer>", None),
    ("<rationale><answer>Supported</answer></rationale>", None),
    ("Supported? Not Supported?", None),
    ("Passage 2 does not say so.\nNot supported by it", None),
    ("It would be wrong to call it\nSupported", None),
]


@pytest.mark.parametrize("name", PROMPTS)
def test_prompts_show_texts_as_they_are(name):
    system, user = ClaimPrompts(name).prompts_for(CLAIM)[0].messages
    assert (system.role, user.role) == ("system", "user")
    assert user.content == (
        'Evidence Passages:\n1: A & B < C\n\n2: {{ x }} "quoted"\n\n'
        "Answer: It's <here> & {{ y }}.\n\n"
        'Now provided your label directly as "Supported" or "Not Supported".'
    )


@pytest.mark.parametrize(("reply", "label"), CASES)
def test_labels_of_replies(reply, label):
    assert label_of_reply(reply) == label


def test_an_answer_that_was_cut_off_behind_a_tag_has_no_label():
    draft = "Here is my thought process:\n<answer>Supported</answer>?"
    assert label_of_reply(draft, is_cut=True) is None


negations = st.sampled_from(
    ["not", "Not", "NOT", "un", "UN", "Un", "non", "n't", "in no way", "never"]
)
joints = st.sampled_from(["", " ", "  ", "-", "_", "\n", "\t", " - ", "*", "** "])
supported = st.sampled_from(["supported", "Supported", "SUPPORTED", "supported.", "*Supported*"])
wrapped = st.sampled_from(["{}", "<answer>{}</answer>", "<answer> {}", "x <answer>\n{}\n</answer>"])


@given(negations, joints, supported, wrapped)
def test_a_negated_label_is_never_read_as_supported(negation, joint, word, form):
    assert label_of_reply(form.format(negation + joint + word)) != YES


@given(st.text())
def test_any_text_is_one_of_three(text):
    assert label_of_reply(text) in (YES, NO, None)
    assert label_of_reply(f"<answer>{text}</answer>") in (YES, NO, None)
