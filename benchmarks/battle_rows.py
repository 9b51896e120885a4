"""Fits, bootstraps and intervals of millions of single battles: ours beside peers."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
import peers
from peer_rows import ROUNDS, SAMPLED, Row, Settings, compared, extrapolated, gap, report
from workloads import Floats, repeated, simulated_codes

from arena.rating.battle_codes import BattleCodes
from arena.rating.bradley_terry import RatingModel, fit_bradley_terry
from arena.rating.likelihoods import Counts
from arena.rating.outcomes import Outcomes, count_outcomes
from arena.rating.uncertainty import bootstrap, sandwich

MODEL = RatingModel(ties="half", ridge=0.0)
LARGEST_FROM_BATTLES = 2_000_000
SANDWICH_AGREEMENT = 1e-4
MILLION = 1_000_000


def crowd(settings: Settings, title: str, battles: int, systems: int) -> None:
    """Fit and bootstrap many single battles."""
    codes = simulated_codes(battles, systems, seed=0)
    outcomes = count_outcomes(codes)
    title = f"{title}: {battles // MILLION} million battles, {systems} systems"
    report(f"{title}; one fit on counts", single_fits(settings, outcomes))
    report(f"{title}; one fit from battles, counting included", from_battles(settings, codes))
    report(f"{title}; {ROUNDS} bootstrap replicates", bootstraps(settings, outcomes))
    if "arena-rank" in settings.libraries:
        report(f"{title}; fit and sandwich intervals", sandwiches(settings, outcomes))


def single_fits(settings: Settings, outcomes: Outcomes) -> Iterable[Row]:
    systems = len(outcomes.systems)
    won, met = peers.points(outcomes.totals)
    cells = (outcomes.first, outcomes.second, systems)
    fit, ours = repeated(
        lambda: fit_bradley_terry(won, met, *cells, ridge=0.0), 2 * settings.repeats
    )
    yield Row("ours, fit_bradley_terry", ours)
    for peer in settings.fitters(systems):
        prepared = peer.prepare(peers.Cells(*cells), won[0], met[0])
        found, seconds = repeated(partial(peer.fit, prepared), settings.repeats)
        yield Row(peer.name, seconds, gap(found, fit.coefficients), peer.agreement)


def fit_codes(codes: BattleCodes) -> Floats:
    outcomes = count_outcomes(codes)
    return MODEL.fit(outcomes, outcomes.totals).coefficients


def from_battles(settings: Settings, codes: BattleCodes) -> Iterable[Row]:
    fitted, ours = repeated(partial(fit_codes, codes), settings.repeats)
    yield Row("ours, from integer codes", ours)
    if "evalica" in settings.libraries:
        battles = peers.evalica_battles(codes)
        for peer in peers.evalica_peers():
            found, seconds = repeated(partial(peer.fit, battles), 1)
            yield Row(f"{peer.name}, from lists", seconds, gap(found, fitted), peer.agreement)
        del battles
    if "arena-rank" in settings.libraries:
        yield arena_rank_from_battles(codes)


def arena_rank_from_battles(codes: BattleCodes) -> Row:
    size = min(len(codes.winner), LARGEST_FROM_BATTLES)
    part = BattleCodes(
        codes.systems, codes.side_a[:size], codes.side_b[:size], codes.winner[:size], None, size
    )
    found, seconds = repeated(peers.arena_rank_battles(part), 1)
    times = len(codes.winner) / size
    note = f"{size // MILLION} million battles measured, extrapolated linearly"
    return Row(
        "arena-rank, from a table",
        seconds * times,
        gap(found, fit_codes(part)),
        peers.arena_rank_peer().agreement,
        note if times > 1 else "",
    )


def bootstraps(settings: Settings, outcomes: Outcomes) -> Iterable[Row]:
    _, ours = repeated(partial(bootstrapped, outcomes, ROUNDS), settings.repeats)
    yield Row("ours, fit, draws and batched fits", ours)
    _, draws = repeated(partial(drawn, outcomes, ROUNDS), 1)
    yield Row("  of that, draws", draws)
    counts = first_replicates(outcomes, SAMPLED)
    expected = MODEL.fit(outcomes, counts).coefficients
    systems = len(outcomes.systems)
    cells = peers.Cells(outcomes.first, outcomes.second, systems)
    for peer in settings.fitters(systems):
        seconds, difference = compared(peer, cells, peers.points(counts), expected)
        yield extrapolated(peer, seconds, difference, SAMPLED)


def bootstrapped(outcomes: Outcomes, rounds: int) -> Floats:
    fit = MODEL.fit(outcomes, outcomes.totals)
    random = np.random.default_rng(1)
    return bootstrap(outcomes, MODEL, fit.parameters[0], rounds, random).replicates


def drawn(outcomes: Outcomes, rounds: int) -> int:
    return sum(len(counts.wins) for counts in outcomes.resampled(rounds, np.random.default_rng(1)))


def first_replicates(outcomes: Outcomes, size: int) -> Counts:
    return next(outcomes.resampled(size, np.random.default_rng(1))).take(np.arange(size))


def sandwiches(settings: Settings, outcomes: Outcomes) -> Iterable[Row]:
    found, ours = repeated(partial(sandwich_widths, outcomes), settings.repeats)
    yield Row("ours", ours)
    theirs, seconds = repeated(peers.arena_rank_sandwich(outcomes), min(settings.repeats, 3))
    difference = float(np.abs(theirs / found - 1.0).max())
    yield Row("arena-rank", seconds, difference, SANDWICH_AGREEMENT, "relative, of half widths")


def sandwich_widths(outcomes: Outcomes) -> Floats:
    fit = MODEL.fit(outcomes, outcomes.totals)
    found = sandwich(outcomes, MODEL, fit.parameters[0], np.random.default_rng(0))
    return np.asarray((found.high - found.low) / 2)
