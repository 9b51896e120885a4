"""Log-probabilities as servers send them, and the letters in them."""

import pytest

from arena.judging.verdict_parsing import read_letter
from arena.llm import Completion, UnparsableError
from arena.llm.token_logprobs import read_logprobs


def entry(token, logprob=0.0, **alternatives):
    listed = [{"token": name, "logprob": chance} for name, chance in alternatives.items()]
    return {"token": token, "logprob": logprob, "top_logprobs": listed}


def test_a_malformed_alternative_leaves_the_others():
    (token,) = read_logprobs({"content": [entry("B", -0.2, A=-1.8, x=None, B=-0.2)]})
    assert dict(token.alternatives) == {"A": -1.8, "B": -0.2}


@pytest.mark.parametrize(
    "value", [None, [], {}, {"tokens": ["A"]}, {"content": [{"token": "A", "logprob": None}]}]
)
def test_what_holds_no_probabilities_is_none(value):
    assert read_logprobs(value) is None


def letter(text, *entries):
    return read_letter(Completion(text, logprobs=read_logprobs({"content": list(entries)}))).winner


def test_letters_in_thoughts_are_no_verdicts():
    thoughts = [entry("<think>"), entry("A", -0.1, A=-0.1, B=-3.0), entry(" is", -0.5)]
    rest = [entry("</think>"), entry("\n\n"), entry("B", -0.1, B=-0.1, A=-3.0)]
    assert letter("B", *thoughts, *rest) == "b"
    assert letter("<think>A is</think>\n\nB", *thoughts, *rest) == "b"
    assert letter("B", *thoughts[1:], entry("\n"), rest[-1]) == "b"
    with pytest.raises(UnparsableError):
        letter("", *thoughts)


def test_a_letter_with_a_space_or_words_after_it_is_found():
    assert letter("A", entry(" A", -0.1, A=-0.1)) == "a"
    assert letter("B is better", entry("B", -0.1), entry(" is"), entry(" better")) == "b"
