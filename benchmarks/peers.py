"""Other libraries' Bradley-Terry fits on aggregated counts, each used as well as it can be.

A peer turns counts into its own input first (not timed), and fits that (timed). Points of the
first and of the second system go in as weighted wins, so that a tie is half a win for each, and a
cell is two weighted rows at most.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.rating.battles import Battles
from arena.rating.likelihoods import Counts

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[Any]

INSTALL = "pip install evalica arena-rank choix"
FIRST_WON, SECOND_WON, TIE = 1, 2, 0
"""evalica's codes of winners."""
RIDGE = 1e-9


@dataclass(frozen=True)
class Cells:
    """Pairs of systems that met, and the number of systems."""

    first: Integers
    second: Integers
    systems: int

    @property
    def ends(self) -> tuple[Integers, Integers]:
        """Systems of the rows: every cell won by the first, then every cell by the second."""
        return np.tile(self.first, 2), np.tile(self.second, 2)


@dataclass(frozen=True)
class Peer:
    """A library's fit.

    Attributes:
        name: Name in tables.
        agreement: Largest difference of coefficients (logits) its own tolerance explains.
        prepare: Turn points of the first system and battles, each of shape (M,), into its input.
        fit: Fit that input; returns coefficients in logits, shape (S,).
    """

    name: str
    agreement: float
    prepare: Callable[[Cells, Floats, Floats], Any]
    fit: Callable[[Any], Floats]


def load(module: str) -> Any:  # noqa: ANN401
    """Import a peer.

    Raises:
        SystemExit: If it is not installed; says how to.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0].replace("_", "-")
        raise SystemExit(
            f"{package} cannot be imported ({error}). In an environment of its own: {INSTALL}; "
            "or choose among the peers with --peers"
        ) from error


def choix_peer() -> Peer:
    choix = load("choix")

    def prepare(cells: Cells, points: Floats, met: Floats) -> Floats:
        matrix = np.zeros((cells.systems, cells.systems))
        matrix[cells.first, cells.second] = points
        matrix[cells.second, cells.first] = met - points
        return matrix

    return Peer("choix, dense", 1e-6, prepare, choix.ilsr_pairwise_dense)


def evalica_peers() -> list[Peer]:
    """Return evalica by its public function, and by the Rust core below it (not public)."""
    evalica, core = load("evalica"), load("evalica._brzo")

    def prepare(cells: Cells, points: Floats, met: Floats) -> dict[str, Any]:
        rows = len(cells.first)
        side_a, side_b = (side.tolist() for side in cells.ends)
        winners = [FIRST_WON] * rows + [SECOND_WON] * rows
        weights = np.concatenate([points, met - points]).tolist()
        return _evalica_input(side_a, side_b, winners, weights, cells.systems)

    def public(rows: dict[str, Any]) -> Floats:
        index = pd.RangeIndex(rows["total"])
        found = evalica.bradley_terry(*_evalica_lists(rows), index, rows["weights"])
        return np.asarray(np.log(found.scores.sort_index().to_numpy()))

    def below(rows: dict[str, Any]) -> Floats:
        settings = {"win_weight": 1.0, "tie_weight": 0.5, "tolerance": 1e-6, "limit": 100}
        return np.asarray(np.log(core.bradley_terry(**rows, **settings)[0]))

    return [
        Peer("evalica", 2e-5, prepare, public),
        Peer("evalica, Rust core", 2e-5, prepare, below),
    ]


def _evalica_input(
    side_a: list[int], side_b: list[int], winners: list[int], weights: list[float], total: int
) -> dict[str, Any]:
    rows: dict[str, Any] = {"xs": side_a, "ys": side_b, "winners": winners}
    return rows | {"weights": weights, "total": total}


def _evalica_lists(rows: dict[str, Any]) -> list[list[int]]:
    return [rows["xs"], rows["ys"], rows["winners"]]


def evalica_battles(battles: Battles) -> dict[str, Any]:
    """Turn single battles into evalica's input."""
    winners = np.array([FIRST_WON, SECOND_WON, TIE])[battles.winner].tolist()
    side_a, side_b = battles.side_a.tolist(), battles.side_b.tolist()
    return _evalica_input(side_a, side_b, winners, [1.0] * len(winners), len(battles.systems))


def evalica_bootstrap(rows: dict[str, Any], rounds: int) -> Floats:
    """Bootstrap single battles by evalica's own function (percentiles; its BCa is quadratic)."""
    evalica = load("evalica")
    found = evalica.bootstrap(
        evalica.bradley_terry,
        *_evalica_lists(rows),
        index=pd.RangeIndex(rows["total"]),
        n_resamples=rounds,
        bootstrap_method="percentile",
        random_state=0,
    )
    return np.asarray(np.log(found.distribution.sort_index(axis=1).to_numpy()))


def arena_rank_peer() -> Peer:
    jnp = load("jax.numpy")
    load("arena_rank.models.bradley_terry")

    def prepare(cells: Cells, points: Floats, met: Floats) -> Any:  # noqa: ANN401
        rows = len(cells.first)
        outcomes = np.repeat([1.0, 0.0], rows)
        return _arena_rank_dataset(cells, outcomes, np.concatenate([points, met - points]))

    def fit(dataset: Any) -> Floats:  # noqa: ANN401
        model = _arena_rank_model(dataset.n_competitors)
        return np.asarray(jnp.asarray(model.fit(dataset).params["ratings"]))

    return Peer("arena-rank", 1e-2, prepare, fit)


def _arena_rank_model(systems: int) -> Any:  # noqa: ANN401
    """Return a model whose ratings are logits around 0.

    Its ridge on the information of the sandwich, 1e-5 a battle, would narrow intervals by percents
    where battles are many; a smaller one only keeps the matrix regular.
    """
    module = load("arena_rank.models.bradley_terry")
    scale = {"scale": math.log(10.0), "base": 10.0, "init_rating": 0.0}
    return module.BradleyTerry(systems, **scale, hessian_reg=RIDGE)


def _arena_rank_dataset(cells: Cells, outcomes: Floats, counts: Floats) -> Any:  # noqa: ANN401
    jnp = load("jax.numpy")
    dataset = load("arena_rank.utils.data_utils").PairDataset
    times = len(counts) // len(cells.first)
    ends = np.column_stack([np.tile(cells.first, times), np.tile(cells.second, times)])
    kept = counts > 0
    weights = jnp.asarray(counts[kept])
    return dataset(
        competitors=list(range(cells.systems)),
        pairs=jnp.asarray(ends[kept].astype(np.int32)),
        outcomes=jnp.asarray(outcomes[kept]),
        counts=weights,
        weights=jnp.ones_like(weights),
        opt_weights=weights,
    )


def arena_rank_battles(battles: Battles) -> Callable[[], Floats]:
    """Return a function that counts single battles and fits them by arena-rank."""
    dataset = load("arena_rank.utils.data_utils").PairDataset
    names = pd.Categorical.from_codes
    table = pd.DataFrame(
        {
            "model_a": names(battles.side_a, list(battles.systems)),
            "model_b": names(battles.side_b, list(battles.systems)),
            "winner": names(battles.winner, ["model_a", "model_b", "tie"]),
        }
    ).astype(str)
    peer = arena_rank_peer()
    return lambda: peer.fit(dataset.from_pandas(table))


def points(counts: Counts) -> tuple[Floats, Floats]:
    """Return points of the first system (a tie is half) and battles, each of shape (R, M)."""
    return counts.points.T, counts.battles.T
