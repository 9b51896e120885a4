"""Some languages, systems or judges of an arena: every table keeps what is of them."""

from dataclasses import replace

import pandas as pd
import pytest

from arena import read_arena, write_arena
from arena.simulation import simulated_arena
from surrogate_arena.generation import SetRules, evaluation_set


@pytest.fixture(scope="module")
def arena():
    """Two languages, two judges, ratings and attributes of systems, and one of no system here."""
    sample = simulated_arena().select(["en", "es"])
    systems = sample.info.systems
    rated = [
        (language, system)
        for language in ("es", "en")
        for system in (systems[0], systems[1], "else")
    ]
    published = pd.DataFrame(rated, columns=["language", "system"]).assign(
        judge="published", rating=0.5, standard_error=0.1
    )
    second = sample.judgments.iloc[::7].assign(judge="second")
    return replace(
        sample,
        judgments=pd.concat([sample.judgments, second], ignore_index=True),
        published_ratings=published,
        attributes=pd.DataFrame({"system": systems, "model": [f"m-{name}" for name in systems]}),
    )


def test_questions_of_one_language_leave_no_ratings_of_another(arena, tmp_path):
    """Those of a language without a question left once stayed, and no such arena could be read."""
    passages = [
        [{**passage, "relevance": 1} for passage in row.passages]
        if row.language == "es"
        else row.passages
        for row in arena.queries.itertuples()
    ]
    easy = replace(arena, queries=arena.queries.assign(passages=passages))
    part, _ = evaluation_set(easy, SetRules(only_hard=True))
    assert part.info.languages == ("en",)
    write_arena(part, tmp_path)
    assert set(read_arena(tmp_path).published_ratings["language"]) == {"en"}
