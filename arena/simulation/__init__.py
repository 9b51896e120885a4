"""A simulated arena whose true ranking is known, and the sample that comes with the package."""

from arena.simulation.answers import ErrorCounts, expected_utility, utility
from arena.simulation.facts import LANGUAGES, QUESTIONS
from arena.simulation.mixed_systems import mix_systems
from arena.simulation.simulator import (
    DEFAULT_NOISE,
    SAMPLE_SEED,
    TEACHER,
    TIE_MARGIN,
    Simulation,
    sample_arena,
    sample_folder,
    sample_truth,
    simulate,
    write_simulation,
)
from arena.simulation.systems import DEFAULT_SYSTEMS, ErrorRates, SystemProfile

__all__ = [
    "DEFAULT_NOISE",
    "DEFAULT_SYSTEMS",
    "LANGUAGES",
    "QUESTIONS",
    "SAMPLE_SEED",
    "TEACHER",
    "TIE_MARGIN",
    "ErrorCounts",
    "ErrorRates",
    "Simulation",
    "SystemProfile",
    "expected_utility",
    "mix_systems",
    "sample_arena",
    "sample_folder",
    "sample_truth",
    "simulate",
    "utility",
    "write_simulation",
]
