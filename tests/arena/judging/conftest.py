"""Judges at a server of the tests' own."""

import pytest

pytest.importorskip("openai", reason="needs the extra llm")

from arena.judging import LlmJudge
from arena.llm import LlmSettings


@pytest.fixture
def judge_at():
    def judge_at(server, model="test-judge", **fields):
        quick = {"timeout_s": 5.0, "retries": 1}
        asked = LlmSettings(model=model, base_url=server.url, api_key_env=None, **quick)
        return LlmJudge(asked, **fields)

    return judge_at
