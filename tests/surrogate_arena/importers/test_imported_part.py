"""Systems kept apart from an imported arena: no table of it knows them."""

import pandas as pd
from simulations import full_arena

from arena import read_arena
from surrogate_arena.importers import ForeignArena, write_import


def test_an_arena_without_systems_that_are_apart_can_be_read(tmp_path):
    """Their attributes once stayed, and no such arena could be read."""
    arena = full_arena()
    apart = [name for name in arena.info.systems if name != arena.info.reference_system][:2]
    written = write_import(ForeignArena(arena, pd.DataFrame()), tmp_path / "kept", apart)
    assert set(pd.read_json(written.apart, lines=True)["system"]) == set(apart)
    assert not set(read_arena(tmp_path / "kept").attributes["system"]) & set(apart)
