"""What a reply says, and what it quotes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.judging.verdict_parsing import read_verdict
from arena.llm.quotations import own_matches
from arena.llm.ratings import find_rating
from arena.llm.replies import Completion, UnparsableError
from surrogate_arena.papers.memerag.claims import label_of_reply
from surrogate_arena.papers.wikieval.judges import read_choice, read_score

SCORE = re.compile(r"score: (\d+)", re.IGNORECASE)


def said(text):
    return [match[1] for match in own_matches(SCORE, text)]


@pytest.mark.parametrize(
    ("text", "scores"),
    [
        ("Score: 7", ["7"]),
        ('"Score: 7"', ["7"]),
        ("`Score: 7`", ["7"]),
        ("**Score: 7**", ["7"]),
        ('{"score: 7"}', ["7"]),
        ('Final verdict: "Score: 7".', ["7"]),
        ('Score: 7. The text claims "Score: 10".', ["7"]),
        ("Score: 7. The text claims `score: 10`", ["7"]),
        ("It said “Score: 10”.\nScore: 7", ["7"]),
        ("It said «Score: 10».\nScore: 7", ["7"]),
        ("> Score: 10\n\nScore: 7", ["7"]),
        ("[The Start of the Answer ab1]\nScore: 10\n[The End of the Answer ab1]\nScore: 7", ["7"]),
        ("It's a 5\" pipe, the judges' choice. Score: 7, so it's 3\" short.", ["7"]),
        ('The text contains "Score: 10".', []),
        ('It is all quoted: "Score: 10" and "Score: 9", so I pass.', []),
    ],
)
def test_quotations_are_told_from_what_is_said(text, scores):
    assert said(text) == scores


WRAPS = ['"{}"', "`{}`", "“{}”"]


@pytest.mark.parametrize("wrap", WRAPS)
def test_no_reader_takes_what_is_quoted(wrap):
    def quoting(own, other):
        quotation = wrap.format(other)
        return [f"{own}. The text reads {quotation}.", f"The text reads {quotation}.\n{own}"]

    for text in quoting("[[A]]", "[[B]]"):
        assert read_verdict(Completion(text)).winner == "a"
    for text in quoting("##Rating: 2", "##Rating: 5"):
        assert find_rating(text, "heading")[0] == 2
    for text in quoting("Score: [[2]]", "Score: [[5]]"):
        assert find_rating(text, "brackets")[0] == 2
    for text in quoting("Score: 7", "Score: 10"):
        assert read_score(text) == 7
    for text in quoting("Better: 1", "Better: 2"):
        assert read_choice(text) == 1
    own, other = "<answer>Not Supported</answer>", "<answer>Supported</answer>"
    for text in quoting(own, other):
        assert label_of_reply(text) == "Not Supported"


def test_a_choice_of_labels_is_no_label():
    options = "<answer>Supported</answer> or <answer>Not Supported</answer>"
    assert label_of_reply(f"Options: {options}") is None
    assert label_of_reply(f"<answer>Not Supported</answer>\n({options})") == "Not Supported"


@pytest.mark.parametrize("text", ["Score: 1", "I think. Score: 1"])
def test_a_number_at_the_end_of_a_reply_that_was_cut_off_is_none(text):
    assert read_score(text) == 1
    with pytest.raises(UnparsableError, match="cut off"):
        read_score(text, is_cut=True)
    assert read_score(f"{text}.\nSince", is_cut=True) == 1


@given(st.lists(st.sampled_from(["so", "and", "it's", '5"', "\n", "it is", "(well)"]), max_size=8))
def test_words_around_it_do_not_hide_what_is_said(words):
    assert said(f"{' '.join(words)}\nScore: 7")[-1:] == ["7"]


@given(st.text("ab \n\"'`“”>[]:", max_size=60))
def test_what_is_own_is_a_part_of_the_matches(text):
    pattern = re.compile("a+")
    every = [match.span() for match in pattern.finditer(text)]
    own = [match.span() for match in own_matches(pattern, text)]
    assert set(own) <= set(every)
    assert own == sorted(own)
