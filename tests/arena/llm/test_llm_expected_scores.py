import math

import pytest
from chat_server import completion
from llm_requests import prompts

from arena.llm import Completion, ModelSettings, TokenLogprobs, UnparsableError, expected_score

DIGITS = {str(number): float(number) for number in range(1, 6)}


def tokens(*places):
    logs = [{name: math.log(chance) for name, chance in place.items()} for place in places]
    return tuple(
        TokenLogprobs(next(iter(place)), next(iter(place.values())), tuple(place.items()))
        for place in logs
    )


def answer(*places):
    return Completion("…", logprobs=tokens(*places))


def test_scores_are_weighted_by_probability():
    score = expected_score(answer({"4": 0.5, "5": 0.25, "no": 0.25}), DIGITS)
    assert score.value == pytest.approx((4 * 0.5 + 5 * 0.25) / 0.75)
    assert score.mass == pytest.approx(0.75)
    assert score.place == 0


def test_spaces_around_candidates_add_up():
    score = expected_score(answer({" 4": 0.3, "4": 0.3, "1": 0.2}), DIGITS)
    assert score.value == pytest.approx((4 * 0.6 + 0.2) / 0.8)


def test_the_place_is_the_first_or_the_last_candidate():
    said = answer({"Of": 1.0}, {"3": 1.0}, {"parts": 1.0}, {"5": 0.9, "1": 0.1})
    assert expected_score(said, DIGITS).value == 3
    assert expected_score(said, DIGITS, "last").value == pytest.approx(4.6)
    assert expected_score(said, DIGITS, "last").place == 3


def test_the_chosen_token_counts_though_not_listed():
    said = Completion("5", logprobs=(TokenLogprobs("5", math.log(0.1), (("a", math.log(0.9)),)),))
    assert expected_score(said, DIGITS).value == 5
    assert expected_score(said, DIGITS).mass == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (Completion("4"), "has no log-probabilities"),
        (answer({"no": 1.0}), "none of 1, 2, 3, 4, 5"),
        (Completion("", logprobs=()), "none of"),
    ],
)
def test_what_has_no_score_is_unparsable(said, words):
    with pytest.raises(UnparsableError, match=words):
        expected_score(said, DIGITS)


def test_log_probabilities_travel_through_the_store(ask):
    top = [{"token": "4", "logprob": math.log(0.75)}, {"token": "2", "logprob": -math.inf}]
    content = [{"token": "4", "logprob": math.log(0.75), "top_logprobs": top}]
    settings = ModelSettings("m", logprobs=5)

    def behave(*_):
        return completion("4", logprobs={"content": content})

    def parse(said):
        return expected_score(said, DIGITS).value, said.logprobs[0].alternatives[1]

    for calls in (2, 0):
        replies, usage, _ = ask(prompts(2), behave, parse, settings)
        assert [each.value for each in replies] == [(4.0, ("2", -9999.0))] * 2
        assert usage.calls == calls
