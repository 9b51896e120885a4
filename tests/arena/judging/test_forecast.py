"""What judging is expected to take and to give."""

import numpy as np
import pytest

from arena.judging.choosing.forecast import Course, forecast_adaptive

N_SYSTEMS = 10
N_VERDICTS = np.arange(0.0, 1_001.0, 10.0)


def falling(n_draws=4):
    """A course on which the expected share of misordered pairs falls with every verdict."""
    shares = 0.5 / (1.0 + N_VERDICTS / 50.0)
    return Course(N_VERDICTS, np.tile(shares, (n_draws, 1)), N_SYSTEMS)


@pytest.mark.parametrize(("calls_a_system", "gain"), [(2, 1.0), (8, 1.0), (12, 1.15), (30, 1.3)])
def test_tau_counts_adaptive_verdicts_as_replays_measured_them(calls_a_system, gain):
    n_calls = calls_a_system * N_SYSTEMS
    shares = np.interp(gain * n_calls, N_VERDICTS, falling().misordered[0])
    assert falling().tau(np.full(4, float(n_calls))) == pytest.approx(1 - 2 * shares)


def test_more_calls_are_never_expected_to_rank_worse():
    taus = []
    for n_pairs in range(0, 500, 20):
        forecast = forecast_adaptive({"en": falling()}, 0.05, n_pairs, 1.1, ["m"])
        assert forecast.low <= forecast.verdicts <= forecast.high <= max(1.1 * n_pairs, 1)
        taus.append(forecast.tau)
    assert taus == sorted(taus)
    assert taus[-1] > 0.75


def test_a_ranking_that_never_settles_takes_all_calls():
    unsettled = Course(N_VERDICTS, np.full((4, len(N_VERDICTS)), 0.3), N_SYSTEMS)
    for n_pairs, n_calls in ((100, 100), (5_000, 1_000)):
        forecast = forecast_adaptive({"en": unsettled}, 0.05, n_pairs, 1.0, ["m"])
        expected = (n_calls, n_calls, n_calls)
        assert (forecast.low, forecast.verdicts, forecast.high) == expected
        assert forecast.tau == pytest.approx(0.4)
