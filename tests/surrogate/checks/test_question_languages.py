"""Questions in another language than the arena says."""

from dataclasses import replace

import pytest

from arena.simulation import simulated_arena
from surrogate.checks.languages import language_remarks


@pytest.fixture
def questions():
    simulated = simulated_arena()
    by_language = {
        language: list(simulated.queries.loc[simulated.queries["language"] == language, "query"])
        for language in ("en", "es")
    }

    def arena_with(n_spanish):
        english = simulated.select(["en"])
        texts = by_language["en"]
        mixed = [*by_language["es"][:n_spanish], *texts[n_spanish:]]
        return replace(english, queries=english.queries.assign(query=mixed))

    return arena_with


def test_questions_in_their_language_have_no_remark(questions):
    assert not list(language_remarks(questions(0)))
    # Fewer than five may be names and loan words.
    assert not list(language_remarks(questions(4)))


def test_questions_in_another_language_are_counted(questions):
    [remark] = language_remarks(questions(12))
    assert str(remark) == "12 of 24 questions do not look like en; most of them look like es"
