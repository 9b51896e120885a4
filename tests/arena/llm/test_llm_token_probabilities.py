import math

import pytest
from chat_server import completion
from llm_requests import prompts

from arena.llm import LlmSettings, TokenLogprobs
from arena.llm.replies import candidate_masses

DIGITS = set("12345")


def tokens(*places):
    logs = [{name: math.log(chance) for name, chance in place.items()} for place in places]
    return tuple(
        TokenLogprobs(next(iter(place)), next(iter(place.values())), tuple(place.items()))
        for place in logs
    )


def test_spellings_of_a_candidate_add_up():
    (token,) = tokens({" 4": 0.3, "４": 0.3, "1": 0.2})
    assert candidate_masses(token, {"4"}) == pytest.approx({"4": 0.6})


def test_the_chosen_token_counts_though_not_listed():
    token = TokenLogprobs("5", math.log(0.1), (("a", math.log(0.9)),))
    assert candidate_masses(token, DIGITS) == pytest.approx({"5": 0.1})


def test_log_probabilities_travel_through_the_store(ask):
    top = [{"token": "4", "logprob": math.log(0.75)}, {"token": "2", "logprob": -math.inf}]
    content = [{"token": "4", "logprob": math.log(0.75), "top_logprobs": top}]
    settings = LlmSettings(model="m", body={"logprobs": True, "top_logprobs": 5})

    def behave(*_):
        return completion("4", logprobs={"content": content})

    def parse(said):
        return candidate_masses(said.logprobs[0], DIGITS), said.logprobs[0].alternatives[1]

    for calls in (2, 0):
        replies, usage, _ = ask(prompts(2), behave, parse, settings)
        assert [each.value for each in replies] == [({"2": 0.0, "4": 0.75}, ("2", -9999.0))] * 2
        assert usage.calls == calls
