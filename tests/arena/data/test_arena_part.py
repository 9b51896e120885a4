"""Some languages, systems or judges of an arena: every table keeps what is of them."""

import pytest
from simulations import full_arena

from arena import UsageError, read_arena, write_arena


@pytest.fixture(scope="module")
def arena():
    return full_arena()


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
