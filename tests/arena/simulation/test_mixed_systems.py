"""Simulated systems between the default ones."""

import pytest

from arena.data.errors import UsageError
from arena.simulation import DEFAULT_SYSTEMS, mix_systems, simulate
from arena.simulation.systems import ERRORS


def test_error_rates_lie_between_those_of_default_systems():
    for error in ERRORS:
        rates = [getattr(system, error) for system in DEFAULT_SYSTEMS]
        mixed = [getattr(system, error) for system in mix_systems(50, 3)]
        assert min(rates) <= min(mixed) <= max(mixed) <= max(rates)


def test_further_systems_change_none_before_and_seeds_differ():
    assert mix_systems(9, 1)[:4] == mix_systems(4, 1)
    assert mix_systems(4, 1) != mix_systems(4, 2)


def test_mixed_systems_can_be_simulated():
    simulation = simulate(mix_systems(3, 0), languages=("en",), questions=2)
    assert sorted(simulation.arena.info.systems) == ["mixed-000", "mixed-001", "mixed-002"]


@pytest.mark.parametrize(("count", "seed"), [(0, 0), (3, -1)])
def test_numbers_out_of_range_are_refused(count, seed):
    with pytest.raises(UsageError, match="use at least 1 and at least 0"):
        mix_systems(count, seed)
