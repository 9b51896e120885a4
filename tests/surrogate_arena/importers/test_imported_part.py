"""Some languages, systems or judges of an arena: every table keeps what is of them."""

from dataclasses import replace

import pandas as pd
import pytest

from arena import read_arena
from arena.simulation import simulated_arena
from surrogate_arena.importers import ForeignArena, write_import


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


def test_an_arena_without_systems_that_are_apart_can_be_read(arena, tmp_path):
    """Their attributes once stayed, and no such arena could be read."""
    apart = [name for name in arena.info.systems if name != arena.info.reference_system][:2]
    written = write_import(ForeignArena(arena, pd.DataFrame()), tmp_path / "kept", apart)
    assert set(pd.read_json(written.apart, lines=True)["system"]) == set(apart)
    assert not set(read_arena(tmp_path / "kept").attributes["system"]) & set(apart)
