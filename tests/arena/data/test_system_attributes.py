"""The table of what systems are made of."""

import gzip
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from simulations import small_simulation

from arena import read_arena, write_arena
from arena.data.errors import DataError
from arena.data.folder import read_unlisted
from arena.data.systems import HELD, LISTED, WITHDRAWN


@pytest.fixture
def folder(tmp_path):
    write_arena(small_simulation(range(4), ["en"], questions=2).arena, tmp_path)
    return tmp_path


def write(folder, text, name="systems.csv"):
    (folder / name).write_text(text)


def systems(folder):
    return json.loads((folder / "arena.json").read_text())["systems"]


def test_attributes_are_texts_and_come_back_as_written(folder, tmp_path):
    one, other = systems(folder)[:2]
    write(folder, f"system,model,size\n{other},llama,8\n{one},,70\n")
    arena = read_arena(folder)
    attributes = arena.attributes.set_index("system")
    assert attributes.loc[other].tolist() == ["llama", "8"]
    assert attributes.loc[one, "model"] is None
    write_arena(arena, tmp_path / "again")
    pd.testing.assert_frame_equal(read_arena(tmp_path / "again").attributes, arena.attributes)
    write_arena(replace(arena, attributes=arena.attributes[["system"]]), tmp_path / "again")
    assert not (tmp_path / "again" / "systems.csv").exists()


def test_what_is_wrong_is_said(folder):
    one = systems(folder)[0]
    lines = [
        {"system": one, "model": "llama"},
        {"system": one, "model": ["a", "b"]},
        {"system": "nobody", "model": None},
    ]
    write(folder, "".join(json.dumps(line) + "\n" for line in lines), "systems.jsonl")
    with pytest.raises(DataError) as error:
        read_arena(folder)
    problems = [(problem.line, problem.field, problem.fault) for problem in error.value.problems]
    assert (2, "system", "this system is already on line 1") in problems
    assert (3, "system", "is not among the systems of arena.json") in problems
    assert (2, "model", "is neither a text nor a number") in problems


def test_amounts_of_systems_are_numbers_of_0_or_more(folder):
    one, other = systems(folder)[:2]
    write(folder, f"system,cost,currency,latency\n{other},0.002,USD,fast\n{one},-1,USD,\n")
    with pytest.raises(DataError) as error:
        read_arena(folder)
    problems = [(problem.line, problem.field, problem.fault) for problem in error.value.problems]
    assert problems == [(2, "latency", "is not an amount"), (3, "cost", "is not an amount")]


def test_amounts_of_answers_are_checked_typed_and_come_back(folder, tmp_path):
    arena = read_arena(folder)
    costs = [0.5 if number % 2 else None for number in range(len(arena.answers))]
    currency = pd.Series("USD", arena.answers.index, dtype=object)
    arena = replace(arena, answers=arena.answers.assign(cost=costs, currency=currency))
    write_arena(arena, tmp_path / "again")
    again = read_arena(tmp_path / "again").answers
    assert again["cost"].dtype == float
    pd.testing.assert_frame_equal(again, arena.answers)
    first = arena.answers.index == 0
    dear = replace(arena, answers=arena.answers.assign(cost=np.where(first, 1.5e9, 0.0)))
    write_arena(dear, tmp_path / "dear")
    with pytest.raises(DataError, match=r"cost.*is not an amount"):
        read_arena(tmp_path / "dear")
    broken = replace(arena, answers=arena.answers.assign(latency=-1))
    write_arena(broken, tmp_path / "broken")
    with pytest.raises(DataError, match=r"latency.*is not an amount"):
        read_arena(tmp_path / "broken")


@pytest.mark.parametrize("amount", ["1e999", "1e300", "1e-300", "true"])
def test_amounts_without_bounds_are_refused_with_their_line(folder, amount):
    (packed,) = folder.glob("answers.*")
    lines = gzip.decompress(packed.read_bytes()).decode().splitlines()
    packed.unlink()
    lines[1] = f'{lines[1][:-1]}, "cost": {amount}}}'
    write(folder, "\n".join(lines), "answers.jsonl")
    with pytest.raises(DataError) as error:
        read_arena(folder)
    (problem,) = error.value.problems
    assert (problem.line, problem.field, problem.fault) == (2, "cost", "is not an amount")


def test_held_and_withdrawn_systems_are_read_only_where_asked_for(folder):
    reference, held, withdrawn, *others = systems(folder)
    answers = set(read_arena(folder).answers["system"])
    write(folder, f"system,state\n{held},{HELD}\n{withdrawn},{WITHDRAWN}\n")
    arena = read_arena(folder)
    others = [reference, *others]
    assert list(arena.info.systems) == others
    for name in ("system_a", "system_b"):
        assert set(arena.judgments[name]) <= set(others)
    assert set(read_arena(folder, has_unlisted=True).answers["system"]) == answers
    assert read_unlisted(folder) == {held: HELD, withdrawn: WITHDRAWN}
    write(folder, f"system,state\n{held},{LISTED}\n{withdrawn},{WITHDRAWN}\n")
    assert set(read_arena(folder).info.systems) == {held, *others}


def test_an_unknown_state_is_refused(folder):
    write(folder, f"system,state\n{systems(folder)[1]},gone\n")
    with pytest.raises(DataError, match="is no state; write listed, held, withdrawn"):
        read_arena(folder)
