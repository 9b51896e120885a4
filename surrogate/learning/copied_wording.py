"""Wording that an unjudged system shares with judged ones: rated as theirs, not predicted.

Predictions are learned from systems that see no verdicts on answers like their own; a copy sees
those on its original's.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from arena.data.types import Flags, Floats
from arena.statistics.significance import finite_means, mean_of
from surrogate.learning.answer_texts import sums_of_rows
from surrogate.learning.peers import PeerView
from surrogate.learning.training_data import SMALLEST

MOSTLY_COPIED = 0.5
"""Share of another system's wording, beyond what is usual, that makes a disguised copy of it."""


def copied_shares(view: PeerView, field_view: PeerView, is_rated: Flags) -> Floats:
    """Return the share of each answer's wording that is a rated system's, (Q, M, N).

    It is how far their cosine is beyond the largest between two rated answers to the question, or
    beyond the mean of these where that is larger; 0 for a system's own answers.
    """
    cosines = np.where(view.is_self | ~is_rated, 0.0, np.minimum(view.cosines, 1.0))
    among_rated = field_view.cosines[:, is_rated][:, :, is_rated]
    largest = (among_rated * ~np.eye(is_rated.sum(), dtype=bool)).max(axis=(1, 2))
    is_compared = largest > 0.0
    if not is_compared.any():
        return np.zeros_like(cosines)
    usual = np.clip(largest, largest[is_compared].mean(), 1.0)[:, None, None]
    shares = np.maximum(cosines - usual, 0.0) / np.maximum(1.0 - usual, SMALLEST)
    return np.asarray(shares / np.maximum(shares.sum(axis=2, keepdims=True), 1.0))


def uncopied_part(view: PeerView, shares: Floats) -> PeerView:
    """Return the view of what is left of each answer without the shares (Q, M, N) of others'."""
    questions, systems, peers = np.nonzero(shares)
    if not len(questions):
        return view
    uncopied = np.where(view.answered, 1.0 - shares.sum(axis=2).T, 0.0)
    centered = view.values - finite_means(view.peer_values)
    weights = uncopied[:, :, None] * np.isfinite(centered)
    peer_vectors = view.peer_texts.vectors()
    places = questions * len(peer_vectors.answered) + peers
    copied = peer_vectors.rows.take(places)
    factors = np.repeat(shares[questions, systems, peers], copied.lengths)
    copied = replace(copied, values=copied.values * factors)
    profiles = sums_of_rows(peer_vectors._replace(rows=copied), systems, len(view.systems))
    n_answers = np.maximum(view.answered.sum(axis=1), 1)
    return replace(
        view,
        uncopied=uncopied,
        means=mean_of((weights * np.nan_to_num(centered)).sum(axis=1), weights.sum(axis=1)),
        profiles=view.profiles - profiles / n_answers[:, None],
    )


def beside_originals(
    ratings: Floats, view: PeerView, field_view: PeerView, rated: Floats, shares: Floats
) -> Floats:
    """Add the ratings of the originals, by the shares copied, to those of the rest, (M,).

    Disguised copies are rated at most as their original. ``rated`` are the peers' ratings, shrunk
    by noise, (N,), or NaN.
    """
    is_rated = np.isfinite(rated)
    centered = rated[is_rated] - rated[is_rated].mean()
    n_answers = np.maximum(view.answered.sum(axis=1), 1)
    weights = shares[:, :, is_rated].sum(axis=0) / n_answers[:, None]
    moved = ratings + weights @ centered
    cosines = np.where(view.is_self, 0.0, view.mean_cosines)[:, is_rated]
    among_field = np.where(field_view.is_self, 0.0, field_view.mean_cosines)
    among_rated = among_field[np.ix_(is_rated, is_rated)]
    known = _in_known_wording(cosines, among_rated, view.is_self[:, is_rated])
    is_self = np.eye(len(among_rated), dtype=bool)
    known_among = _in_known_wording(among_rated, among_rated, is_self)
    for copied in (weights, _excess(cosines, among_rated), _excess(known, known_among)):
        of_nearest = centered[copied.argmax(axis=1)]
        is_copy = copied.max(axis=1) > MOSTLY_COPIED
        moved = np.where(is_copy, np.minimum(moved, of_nearest), moved)
    return np.asarray(moved)


def _excess(likeness: Floats, among_rated: Floats) -> Floats:
    """Return how far likeness is beyond any among rated systems, 1 at most, shape (M, N)."""
    usual = float(among_rated.max())
    return np.maximum(likeness - usual, 0.0) / max(1.0 - usual, SMALLEST)


def _in_known_wording(cosines: Floats, among_rated: Floats, is_self: Flags) -> Floats:
    """Divide cosines by the share of known wording, shape (M, N): strange words disguise copies."""
    with_others = cosines.sum(axis=1, keepdims=True) - cosines
    of_originals = among_rated.sum(axis=1) - is_self @ among_rated
    shares = np.ones_like(cosines)
    np.divide(with_others, of_originals, out=shares, where=of_originals > SMALLEST)
    return np.minimum(cosines / np.clip(shares, SMALLEST, 1.0), 1.0)
