"""Fits, bootstraps and intervals of millions of single battles: ours beside peers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

import numpy as np
import peers
from peer_rows import ROUNDS, SAMPLED, Row, Settings, compared, extrapolated, gap, report
from workloads import Floats, repeated, simulated_battles

from arena.rating.battles import Battles
from arena.rating.bradley_terry import fit_bradley_terry, solve
from arena.rating.intervals import RatingModel, bootstrap
from arena.rating.likelihoods import Counts
from arena.rating.pairs import WinCounts

LARGEST_FROM_BATTLES = 2_000_000
MILLION = 1_000_000


def crowd(settings: Settings, title: str, size: int, systems: int) -> None:
    """Fit and bootstrap many single battles."""
    battles = simulated_battles(size, systems, seed=0)
    counts = battles.count()
    title = f"{title}: {size // MILLION} million battles, {systems} systems"
    report(f"{title}; one fit on counts", single_fits(settings, counts))
    report(f"{title}; one fit from battles, counting included", from_battles(settings, battles))
    report(f"{title}; {ROUNDS} bootstrap replicates", bootstraps(settings, counts))


def single_fits(settings: Settings, counts: WinCounts) -> Iterable[Row]:
    won, met = peers.points(counts.totals)
    cells = peers.Cells(counts.pairs.first, counts.pairs.second, counts.pairs.n_systems)
    fit, ours = repeated(
        lambda: fit_bradley_terry(won, met, cells.first, cells.second, cells.systems, ridge=0.0),
        2 * settings.repeats,
    )
    yield Row("ours, fit_bradley_terry", ours)
    for peer in settings.fitters(cells.systems):
        prepared = peer.prepare(cells, won[0], met[0])
        found, seconds = repeated(partial(peer.fit, prepared), settings.repeats)
        yield Row(peer.name, seconds, gap(found, fit.coefficients), peer.agreement)


def fit_battles(battles: Battles) -> Floats:
    return RatingModel(battles.count()).fit().coefficients


def from_battles(settings: Settings, battles: Battles) -> Iterable[Row]:
    fitted, ours = repeated(partial(fit_battles, battles), settings.repeats)
    yield Row("ours, from integer codes", ours)
    if "evalica" in settings.libraries:
        rows = peers.evalica_battles(battles)
        for peer in peers.evalica_peers():
            found, seconds = repeated(partial(peer.fit, rows), 1)
            yield Row(f"{peer.name}, from lists", seconds, gap(found, fitted), peer.agreement)
        del rows
    if "arena-rank" in settings.libraries:
        yield arena_rank_from_battles(battles)


def arena_rank_from_battles(battles: Battles) -> Row:
    size = min(len(battles), LARGEST_FROM_BATTLES)
    part = replace(
        battles,
        side_a=battles.side_a[:size],
        side_b=battles.side_b[:size],
        winner=battles.winner[:size],
        n_questions=size,
    )
    found, seconds = repeated(peers.arena_rank_battles(part), 1)
    times = len(battles) / size
    note = f"{size // MILLION} million battles measured, extrapolated linearly"
    return Row(
        "arena-rank, from a table",
        seconds * times,
        gap(found, fit_battles(part)),
        peers.arena_rank_peer().agreement,
        note if times > 1 else "",
    )


def bootstraps(settings: Settings, counts: WinCounts) -> Iterable[Row]:
    _, ours = repeated(partial(bootstrapped, counts, ROUNDS), settings.repeats)
    yield Row("ours, fit, draws and batched fits", ours)
    _, draws = repeated(partial(drawn, counts, ROUNDS), 1)
    yield Row("  of that, draws", draws)
    sampled = first_replicates(counts, SAMPLED)
    expected = solve(RatingModel(counts).problem(sampled)).coefficients
    cells = peers.Cells(counts.pairs.first, counts.pairs.second, counts.pairs.n_systems)
    for peer in settings.fitters(cells.systems):
        seconds, difference = compared(peer, cells, peers.points(sampled), expected)
        yield extrapolated(peer, seconds, difference, SAMPLED)


def bootstrapped(counts: WinCounts, rounds: int) -> Floats:
    model = RatingModel(counts)
    parameters = model.fit().parameters[0]
    return bootstrap(model, parameters, rounds, np.random.default_rng(1)).covariance


def drawn(counts: WinCounts, rounds: int) -> int:
    blocks = counts.resampled(rounds, np.random.default_rng(1))
    return sum(block.wins.shape[1] for block in blocks)


def first_replicates(counts: WinCounts, size: int) -> Counts:
    return next(counts.resampled(size, np.random.default_rng(1))).take(slice(size))
