"""Rows of a table in, one prompt a row, parsed values out."""

from dataclasses import replace

import pytest
from chat_server import broken, completion

from arena.data.errors import UsageError
from arena.llm import Budget, Prompt, UnparsableError, ask_table, read_text


def number_in(completion):
    word = completion.text.split()[-1]
    if not word.isdecimal():
        raise UnparsableError("no number")
    return int(word)


def test_each_row_gets_what_its_prompt_brought(serve, llm_at):
    server = serve(lambda prompt, _: broken() if "2" in prompt else completion(prompt))
    llm = llm_at(server, retries=0)
    asked = ask_table([1, 2, 3, "x"], lambda row: Prompt.of(f"say {row}"), number_in, llm)
    assert asked.values == [1, None, 3, None]
    assert [reply.reason for reply in asked.replies] == [None, "server_error", None, "unparsable"]
    assert [reply.was_asked for reply in asked.replies] == [True, False, True, True]
    assert [row for row, _ in asked] == [1, 2, 3, "x"]
    assert asked.usage.failures == {"server_error": 1, "unparsable": 1}
    table = asked.table()
    assert list(table["value"]) == asked.values
    assert list(table["detail"])[3] == "no number"
    assert table["key"].str.len().eq(64).all()


def test_stages_share_a_budget_and_note_their_usage(serve, llm_at):
    server = serve()
    llm = llm_at(server, max_calls=5)
    first = ask_table(range(3), lambda row: Prompt.of(f"first {row}"), read_text, llm)
    other = replace(llm, settings=llm.settings.model_copy(update={"model": "n"}))
    second = ask_table(range(4), lambda row: Prompt.of(f"second {row}"), read_text, other)
    assert [reply.reason for reply in first.replies] == [None] * 3
    assert [reply.reason for reply in second.replies] == [None, None, "over_budget", "over_budget"]
    assert not second.replies[-1].was_asked
    assert [usage.sent for usage in llm.budget.usages] == [3, 2]
    assert llm.budget.calls_left == 0
    assert sum(server.asked.values()) == 5
    again = ask_table(range(3), lambda row: Prompt.of(f"first {row}"), read_text, llm)
    assert again.usage.from_store == 3
    with pytest.raises(UsageError, match="max_calls is -1"):
        Budget(-1)


def test_a_table_without_rows_asks_nothing(serve, llm_at):
    asked = ask_table([], lambda row: Prompt.of(row), read_text, llm_at(serve()))
    assert (asked.values, asked.usage.prompts) == ([], 0)
