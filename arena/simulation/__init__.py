"""A simulated arena whose true ranking is known, and the sample that comes with the package."""

from arena.simulation.default_systems import DEFAULT_SYSTEMS
from arena.simulation.factbook import LANGUAGES
from arena.simulation.mixed_systems import mix_systems
from arena.simulation.quality import ErrorCounts, expected_utility, utility
from arena.simulation.questions import QUESTIONS
from arena.simulation.sample import (
    SAMPLE_SEED,
    sample_arena,
    sample_folder,
    sample_truth,
    write_simulation,
)
from arena.simulation.simulator import Simulation, simulate
from arena.simulation.systems import ErrorRates, SystemProfile
from arena.simulation.teacher import DEFAULT_NOISE, TEACHER, TIE_MARGIN

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
