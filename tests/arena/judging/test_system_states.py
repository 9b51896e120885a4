"""States of systems, as they are written to an arena folder."""

import pytest
from simulations import small_simulation

from arena import read_arena, write_arena
from arena.data.errors import UsageError
from arena.data.systems import HELD, LISTED
from arena.judging.appending import set_state


def test_a_state_keeps_what_else_is_stated_of_systems(tmp_path):
    folder = tmp_path
    write_arena(small_simulation(range(4), ["en"], questions=2).arena, folder)
    reference, one, other, *_ = read_arena(folder).info.systems
    (folder / "systems.csv").write_text(f"system,model\n{one},llama\n")
    set_state(folder, [other], HELD)
    attributes = read_arena(folder, has_unlisted=True).attributes.set_index("system")
    assert attributes.loc[one, "model"] == "llama"
    assert attributes.loc[other, "state"] == HELD
    assert read_arena(folder).info.reference_system == reference
    with pytest.raises(UsageError, match="is the reference of all others"):
        set_state(folder, [reference], HELD)
    with pytest.raises(UsageError, match="unknown system"):
        set_state(folder, ["nobody"], HELD)
    set_state(folder, [other], LISTED)
    assert other in read_arena(folder).info.systems
