"""Failures that the command ``judge`` counts are those that are known of the judge later."""

import contextlib
import json

import pytest

from arena import read_arena, write_arena
from arena.quality.judge_label import report_judge
from surrogate_arena.cli.judging_records import read_judging_records


@pytest.mark.slow
def test_failures_are_those_of_the_judges_run(run, small_arena, tmp_path, capsys):
    pytest.importorskip("openai", reason="needs the extra llm")
    from chat_server import ChatServer, completion

    def without_some_verdicts(prompt, _):
        return completion("[[A]]" if len(prompt) % 3 else "cannot say", usage=(200, 5))

    write_arena(small_arena, tmp_path)
    options = ["--questions", 2, "--pairs", 5, "--audit", 1, "--json"]
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(ChatServer(without_some_verdicts))
        endpoint = ["--model", "local", "--base-url", server.url]
        assert run("judge", tmp_path, *endpoint, *options) == 0
    (summary,) = json.loads(capsys.readouterr().out)["judges"]
    judging_records = read_judging_records(tmp_path, "local")
    assert judging_records.failures == summary["failures"]
    assert sum(judging_records.failures.values()) == summary["invalid"] > 0
    assert read_judging_records(tmp_path, "other").failures == {}
    arena = read_arena(tmp_path)
    report = report_judge(arena, "local", judging_records)
    assert report.label.is_one_sided  # this judge says A whenever it says something
