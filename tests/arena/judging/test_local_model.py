"""A real model, small enough for a test: the plumbing holds, whatever it thinks."""

import pandas as pd
import pytest
from judged_systems import build_arena, judge_arena
from local_model import LocalModel, missing_package

from arena.judging import LlmJudge, choose_pairs
from arena.llm import LlmSettings

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        missing_package() is not None, reason=f"needs {missing_package()}; see CONTRIBUTING.md"
    ),
]

ANSWERS = {
    ("q0", "good"): "Paris is the capital of France, on the Seine.",
    ("q0", "poor"): "I like trains. ★ कोई जवाब नहीं",
}


@pytest.fixture(scope="module")
def settings():
    with LocalModel() as model:
        quick = {"concurrency": 2, "timeout_s": 120.0, "api_key_env": None}
        yield LlmSettings(model="smollm2-135m", base_url=model.url, **quick)


def test_every_pair_ends_as_a_verdict_or_a_counted_failure(settings, store):
    arena = build_arena(ANSWERS, questions=2, systems=("good", "poor"))
    judge = LlmJudge(settings, verdict="logprobs")
    pairs = choose_pairs(arena, both_orders=True)
    judged = judge_arena(arena, judge, pairs, store)
    summary = judged.summary
    assert sum(summary.verdicts.values()) + sum(summary.usage.failures.values()) == len(pairs) == 4
    assert summary.usage.sent == 4
    assert summary.usage.tokens_in > 400
    assert summary.usage.tokens_out >= 4
    assert judged.judgments["winner"].isin(["a", "b", "tie"]).all()

    again = judge_arena(arena, judge, pairs, store)
    assert again.summary.usage.sent == 0
    pd.testing.assert_frame_equal(again.judgments, judged.judgments)
