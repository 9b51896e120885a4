"""What is thought and what is answered in a reasoning model's text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.text.thoughts import answer_start, has_thoughts, without_thoughts

MARKS = [
    ("<think>", "</think>"),
    ("<Thinking>\n", "</thinking>\n"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("◁think▷", "◁/think▷"),
    ("[THINK]", "[/THINK]"),
    ("<longcat_think>\n", "\n</longcat_think>\n"),
    ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    ("<|begin_of_thought|>\n", "\n<|end_of_thought|>\n<|begin_of_solution|>"),
    ("<|channel>thought\n", "<channel|>"),
    ("<unused94>thought\n", "<unused95>"),
    ("<analysis>", "</analysis>"),
    ("<scratchpad>\n", "\n</scratchpad>\n"),
    ("<reflection>", "</reflection>"),
    ("<inner_monologue>", "</inner_monologue>"),
    ("<|think|>", "<|/think|>"),
    ("<|think|>", "</think>"),
    ("<think>", "<|/think|>"),
    ("<｜begin▁of▁think｜>", "<｜end▁of▁think｜>"),
    ("< think >", "</ think >"),
    ("&lt;think&gt;", "&lt;/think&gt;"),
    ("<details>\n<summary>Thinking…</summary>\n", "\n</details>\n"),
    ('<details type="reasoning" done="true">\n<summary>1 s</summary>\n> ', "\n</details>\n"),
]
HARMONY = (
    "<|channel|>analysis<|message|>",
    "<|end|><|start|>assistant<|channel|>final<|message|>",
)
PROSE = st.text(alphabet="abc [A].!?,;\n*-", max_size=40)


BEFORE_THOUGHTS = [
    "",
    "\n\n",
    "<|im_start|>assistant\n",
    "\ufeff",
    "<｜Assistant｜>",
    "Assistant:\n",
    "assistant: ",
    "[|assistant|]",
    "<｜begin▁of▁sentence｜><｜Assistant｜>\n",
]
AFTER_ANSWER = ["", "\n", "<|return|>", " <|im_end|>\n", "<｜end▁of▁sentence｜>"]


@pytest.mark.parametrize(("opening", "closing"), [*MARKS, HARMONY])
def test_what_follows_the_thoughts_is_the_answer(opening, closing):
    for before in BEFORE_THOUGHTS:
        text = f"{before}{opening}Perhaps B? Wait.{closing}A is better."
        assert text[answer_start(text) :] == "A is better."
        assert has_thoughts(text)
        for after in AFTER_ANSWER:
            assert without_thoughts(text + after).rstrip() == "A is better.", repr(text + after)


@pytest.mark.parametrize(("opening", "closing"), [*MARKS, HARMONY])
def test_thoughts_that_were_cut_off_leave_no_answer(opening, closing):
    text = f"{opening}So far B. But let me"
    assert without_thoughts(text) == ""
    assert answer_start(text) == len(text)


@given(PROSE, st.sampled_from([*MARKS, HARMONY]), PROSE)
def test_marks_split_a_text(thoughts, marks, answer):
    opening, closing = marks
    assert without_thoughts(f"{opening}{thoughts}{closing}{answer}") == answer.lstrip()


@given(st.sampled_from(MARKS[:8]), PROSE)
def test_a_mark_that_a_text_mentions_is_prose(marks, more):
    opening, closing = (mark.strip() for mark in marks)
    for quote in ("`", '"', "'"):
        text = f"Answer B shows {quote}{closing}{quote} raw.{more}"
        assert without_thoughts(text) == text
    text = f"Answer B shows {opening}hm{closing} raw.{more}"
    assert without_thoughts(text) == text


@given(st.text() | st.text(alphabet="<>/think[]THINK`\"' .\n|a"))
def test_the_answer_is_a_part_of_the_text(text):
    assert 0 <= answer_start(text) <= len(text)
    assert without_thoughts(text) in text


WORDS = (
    *("analysis\n", "assistantfinal ", "Thinking...\n", "...done thinking.", "\n", " ", "A", "[1]"),
    *("Here is my thought process:", "Here's my response:", "assistant:", "analysisA"),
)


@given(st.lists(st.sampled_from(WORDS), max_size=6).map("".join))
def test_a_sign_of_less_in_a_later_paragraph_changes_no_thoughts(text):
    # A text that holds no character of a mark is searched for plain words alone.
    assert min(answer_start(f"{text}\n\nx < y"), len(text)) == answer_start(text)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Okay, maybe B, or not.\n</think>\n\nA.", "A."),
        ("hm</think>It says more.", "It says more."),
        ("Let me see. Done.</think>\nA.", "A."),
        ("</think>\n\nA.", "A."),
        ("so A.\n[/THINK]\n\nA.", "A."),
        ("We compare.<|end|><|start|>assistant<|channel|>final<|message|>A.", "A."),
        ("B shows `<think>hm</think>` raw.\n</think>\n\nA.", "A."),
        ("</think>", ""),
    ],
)
def test_a_closing_mark_alone_ends_thoughts_that_the_template_opened(text, answer):
    assert without_thoughts(text) == answer


@pytest.mark.parametrize(
    "text",
    [
        "B leaves its <think> block in the answer.\n\n[[A]]",
        "B leaves a </think> in it. [[A]]",
        "[[A]], as B's answer ends in </think>.",
        "B shows\n<think>\nhm\n</think>\n\nraw. [[A]]",
        "</think> is left in B. [[A]]",
        "B is bad. </think> is left in it. [[A]]",
        "B shows:\n```\nhm\n</think>\nIt\n```\n[[A]]",
        "It shows 'hm </think>', [[A]]",
        '{"why": "B ends in </think>", "score": 1}',
        '{"why": "hm.</think>It says", "score": 1}',
        "analysis of both answers: A.",
        "Here is my thought process: A is better. [[A]]",
        "",
        "   ",
        "plain",
        "x < y > z",
        "[1] says so </s>",
    ],
)
def test_texts_without_thoughts_stay_as_they_are(text):
    assert without_thoughts(text) == text
    assert not has_thoughts(text)


@pytest.mark.parametrize(
    "thoughts",
    [
        "B shows a <think> block. B?",
        "B shows <think>hm</think> raw. B?",
        "B ends in `</think>`. B?",
        "B ends in </think> alone. B?\n",
    ],
)
def test_thoughts_may_mention_their_marks(thoughts):
    assert without_thoughts(f"<think>{thoughts}</think>\n\nA.") == "A."


def test_blocks_and_leaked_channels():
    assert without_thoughts("<think>a</think>\n<think>b</think>\nc") == "c"
    assert without_thoughts("<think>a</think>B shows <think>x</think>.") == (
        "B shows <think>x</think>."
    )
    assert without_thoughts("analysisWe compare both.assistantfinalA is better.") == "A is better."
    assert without_thoughts("analysisWe compare") == ""
    assert without_thoughts("Here's my thought process: b. Here's my response: A.") == "A."


OPENED_IN_WORDS = [
    ("Here is my thought process:\n", "\nHere is my response:\n"),
    ("Thinking...\n", "\n...done thinking.\n\n"),
    ("analysis\n", "\nassistantfinal\n"),
]


@pytest.mark.parametrize(("opening", "closing"), OPENED_IN_WORDS)
def test_words_open_thoughts_if_others_close_them_or_the_text_was_cut_off(opening, closing):
    for is_cut in (True, False, None):
        assert without_thoughts(f"{opening}B? [[B]]{closing}[[A]]", is_cut) == "[[A]]"
    draft = f"{opening}So far [[B]], but"
    assert without_thoughts(draft, is_cut=True) == ""
    assert without_thoughts(draft, is_cut=False) == draft
    assert without_thoughts(draft) == draft


@pytest.mark.parametrize("text", ["Analysis\n[[A]]", "Thinking of B: [[A]]", "My analysis\n[[A]]"])
def test_other_words_open_no_thoughts_in_a_text_that_was_cut_off(text):
    assert without_thoughts(text, is_cut=True) == text


def test_a_whole_text_may_begin_with_a_tag_that_it_tells_of():
    text = "<think> tags appear in B's answer, A has none.\n\n[[A]]"
    assert without_thoughts(text, is_cut=False) == text
    for draft, is_cut in ((text, True), (text, None), (text.replace("tags", "they"), False)):
        assert without_thoughts(draft, is_cut) == ""
    assert without_thoughts(f"{text}</think>\n[[B]]", is_cut=False) == "[[B]]"


@pytest.mark.parametrize(
    "part",
    [
        "<think>",
        "</think>\n",
        "<think><think>x</think>\n",
        "`</think>`",
        "</think> a",
        " ",
        "<think></think>",
        "x<|im_end|>\n",
        "assistant\n",
        "analysisA",
        "<|channel|>final",
    ],
)
def test_hostile_texts_take_no_long_time(part):
    started = time.process_time()
    without_thoughts("x" + part * 20_000 + "x")
    without_thoughts(part * 20_000)
    # Quadratic work would take minutes of the processor.
    assert time.process_time() - started < 30
