"""Some languages, systems or judges of an arena: every table keeps what is of them."""

from dataclasses import replace

import pandas as pd
import pytest

from arena import UsageError, read_arena, write_arena
from arena.simulation import simulated_arena


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


def test_languages_are_kept_in_every_table(arena, tmp_path):
    spanish = arena.select(["es"])
    assert spanish.info.languages == ("es",)
    assert arena.select("es").info.languages == ("es",)
    tables = (spanish.queries, spanish.answers, spanish.judgments, spanish.published_ratings)
    assert all(set(table["language"]) == {"es"} for table in tables)
    assert len(spanish.published_ratings) == 3  # of a system that is not here, too
    assert spanish.info.systems == arena.info.systems
    write_arena(spanish, tmp_path)
    assert read_arena(tmp_path).info == spanish.info


def test_systems_and_judges_are_kept_in_every_table(arena, tmp_path):
    names = [arena.info.reference_system, *arena.info.systems[2:5]]
    part = arena.select(systems=names, judges=["second"])
    assert set(part.info.systems) == set(part.answers["system"]) == set(names)
    assert {*part.judgments["system_a"], *part.judgments["system_b"]} <= set(names)
    assert part.judges == ("second",)
    assert set(part.attributes["system"]) == set(names)
    write_arena(part, tmp_path)
    assert set(read_arena(tmp_path).attributes["system"]) == set(names)
    assert arena.select().answers.equals(arena.answers)


@pytest.mark.parametrize(
    ("chosen", "error"),
    [
        (
            {"languages": ["en", "ess"]},
            "no language .*`languages`.*did you mean .es.",
        ),
        ({"systems": ["SIM-CEDAR-PR"]}, "did you mean 'sim-cedar-pro'"),
        ({"judges": ["secnd"]}, "did you mean 'second'"),
        ({"systems": ["sim-cedar-pro"]}, "is the reference"),
    ],
)
def test_unknown_names_are_told_and_the_reference_stays(arena, chosen, error):
    with pytest.raises(UsageError, match=error):
        arena.select(**chosen)
