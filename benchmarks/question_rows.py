"""Tournaments over questions of a small arena: ours beside peers."""

from __future__ import annotations

from functools import partial

import numpy as np
import peers
from peer_rows import ROUNDS, SAMPLED, Row, Settings, compared, extrapolated, linearly, report
from workloads import Floats, Questions, repeated, simulated_questions

from arena.rating.battles import Battles
from arena.rating.bradley_terry import fit_bradley_terry

SYSTEMS, QUESTIONS = 19, 100


def small(settings: Settings) -> None:
    """Bootstrapped tournaments over questions, from per-question win counts."""
    held = simulated_questions(SYSTEMS, QUESTIONS, ROUNDS, seed=0)
    fitted, ours = repeated(partial(fit_tournaments, held), 4 * settings.repeats)
    rows = [Row("ours, weighted counts and batched fit", ours)]
    cells = peers.Cells(held.first, held.second, SYSTEMS)
    counts = tournament_counts(held)
    for peer in settings.fitters(SYSTEMS):
        taken = slice(SAMPLED if peer.name == "arena-rank" else ROUNDS)
        chosen = counts[0][taken], counts[1][taken]
        seconds, difference = compared(peer, cells, chosen, fitted[taken])
        rows.append(extrapolated(peer, seconds, difference, len(chosen[0])))
    if "evalica" in settings.libraries:
        rows.append(evalica_on_battles(held))
    report(f"small: {ROUNDS} tournaments, {QUESTIONS} questions, {SYSTEMS} systems", rows)


def tournament_counts(held: Questions) -> tuple[Floats, Floats]:
    weights = held.draws.astype(np.float64)
    return weights @ held.wins, weights @ np.ones_like(held.wins)


def fit_tournaments(held: Questions) -> Floats:
    won, met = tournament_counts(held)
    return fit_bradley_terry(won, met, held.first, held.second, SYSTEMS, ridge=0.0).coefficients


def evalica_on_battles(held: Questions) -> Row:
    """Time evalica's own bootstrap, which resamples battles (so no coefficients to compare)."""
    won = held.wins.ravel().astype(bool)
    side_a, side_b = (np.tile(side, QUESTIONS) for side in (held.first, held.second))
    names = tuple(map(str, range(SYSTEMS)))
    winner = np.where(won, 0, 1)
    battles = Battles(names, side_a, side_b, winner, None, len(winner))
    rows = peers.evalica_battles(battles)
    _, seconds = repeated(lambda: peers.evalica_bootstrap(rows, SAMPLED), 1)
    return Row("evalica.bootstrap over battles", seconds * ROUNDS / SAMPLED, note=linearly(SAMPLED))
