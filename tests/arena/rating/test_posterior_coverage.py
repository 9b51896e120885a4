"""What intervals hold where verdicts choose what is judged next, by simulation."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "adaptive_coverage.py"


@pytest.fixture(scope="module")
def study():
    spec = importlib.util.spec_from_file_location("adaptive_coverage", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["adaptive_coverage"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["adaptive_coverage"]


@pytest.mark.slow
@pytest.mark.parametrize(("systems", "arenas"), [(12, 24), (30, 14)])
@pytest.mark.parametrize("design", ["adaptive", "adaptive, prior"])
def test_posterior_intervals_hold_what_they_state(study, systems, arenas, design):
    found = study.coverage(systems, arenas, design).groupby("ratings").mean()
    # Intervals of one arena go wrong together: over so many, shares have a standard error of .02.
    assert 0.84 < found.at["posterior 90%", "inside"] < 0.96
    assert 0.90 < found.at["posterior 95%", "inside"] < 0.99
    assert 0.75 < found.at["posterior 95%", "slope"] < 1.1
    likelihood = found.loc["likelihood 95%"]
    assert likelihood["inside"] < 0.88  # what the posterior is for
    assert likelihood["error"] > 1.3 * found.at["posterior 95%", "error"]
