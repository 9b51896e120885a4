"""The checks find at least what three one-line assertions of another tool find.

The assertions are those that a user of promptfoo wrote for answers with known faults: a full stop
at the end, no passage cited that was not given, and words of the language. Run by promptfoo
0.121.20 (``javascript`` assertions, provider ``echo``) on the answers of ``broken``, they fail
for the same 13 of 60 questions as here.
"""

import re

import pytest
from faulty_versions import ERROR, broken, good, other, support_arena

from surrogate.checks.faults import find_faults

GERMAN = re.compile(r"\b(?:Sie|und|zu|das|die|der)\b")


def ends_with_a_stop(answer):
    return re.search(r"[.!?]$", answer.strip()) is not None


def cites_what_was_given(answer, n_passages):
    return all(1 <= int(cited) <= n_passages for cited in re.findall(r"\[(\d+)\]", answer))


def has_its_language(answer, language):
    return (language == "de") == (GERMAN.search(answer) is not None)


def failing(arena):
    """Return the questions whose answers fail an assertion."""
    answers = arena.answers.merge(arena.queries, on=["query_id", "language"])
    names = set()
    for row in answers.itertuples():
        passes = (
            ends_with_a_stop(row.answer)
            and cites_what_was_given(row.answer, len(row.passages))
            and has_its_language(row.answer, row.language)
        )
        if not passes:
            names.add(row.query_id)
    return names


def with_errors(language, number):
    return ERROR if number % 5 == 0 else other(language, number)


def with_nothing(language, number):
    return "" if number % 10 == 3 else other(language, number)


@pytest.mark.parametrize(
    ("write", "count"), [(broken, 13), (with_errors, 12), (with_nothing, 6), (good, 0), (other, 0)]
)
def test_what_assertions_find_is_found(write, count):
    arena = support_arena({"v2": write})
    found = find_faults(arena, arena.answers).found
    assert len(failing(arena)) == count
    assert set(found["query_id"]) == failing(arena)
