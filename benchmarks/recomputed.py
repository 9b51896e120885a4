"""Printed figures computed a second time, by pandas, numpy and scipy alone, from the files.

    python benchmarks/recomputed.py [--arenas ../shared/data/arenas] [--predictions FOLDER]

prints each figure of ``tables.json`` beside the one computed here, with the standard error of their
difference where either is drawn at random, and fails if they are farther apart than the printed
digits and four errors. Errors are the spread of ten repeats.

======================  ==========================================================================
table                   what is computed again
======================  ==========================================================================
pairs                   all: shares by people's majority, their intervals by a bootstrap over
                        questions, soft pairwise accuracy, and that of verdicts turned at random
juries                  all: the best judge, the majority, the jury, and intervals of its gains
constant-judges         all, from the conditions of GroUSE's types
kappas (a guide)        of two people's votes, and of GPT-4 and one vote
unseen                  half of the questions with the other half, on the same halves; ceilings, by
                        an own estimator; tau and its bootstrap error from the surrogates'
                        ratings, and a forest and a regression of scikit-learn trained on the same
                        features and folds
replication             verdicts alone, on the same halves; tau, gain, its interval and the share
                        inside intervals from the ratings by verdicts and surrogate
======================  ==========================================================================

Figures of surrogates need ``--predictions``, written by ``board_quality.py``. The tables ``nulls``,
``gate``, ``refusals``, ``cheaper`` and ``coverage`` are of simulated worlds, whose truth is known.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from recomputed_ceilings import ceilings
from recomputed_judges import CROWD, VICUNA80, constant_judges, juries, kappas, pairs
from recomputed_ratings import half_with_half, verdicts_alone
from recomputed_replication import replication
from recomputed_unseen import unseen
from recomputed_verdicts import Figure, Stored

ROOT = Path(__file__).parents[1]


def figures(arenas: Path, stored: Stored) -> Iterator[Figure]:
    """Yield all figures."""
    yield from constant_judges(stored)
    yield from pairs(arenas / "vicuna80", "people", VICUNA80, stored)
    yield from pairs(arenas / "crowd-rag", "crowd-gold", CROWD, stored)
    yield from kappas(arenas / "vicuna80")
    yield from juries(arenas, stored)
    yield from half_with_half(arenas, stored)
    yield from ceilings(arenas, stored)
    yield from verdicts_alone(arenas, stored)


def of_surrogates(arenas: Path, predictions: Path, stored: Stored) -> Iterator[Figure]:
    """Yield the figures of the arenas that have ratings by surrogates."""
    for path in sorted(predictions.glob("*.ratings.csv")):
        yield from unseen(path.name.removesuffix(".ratings.csv"), arenas, predictions, stored)
    for path in sorted(predictions.glob("*.replication.csv")):
        key = path.name.removesuffix(".replication.csv")
        yield from replication(key, arenas, predictions, stored)


def main() -> None:
    parser = argparse.ArgumentParser(description="Compute printed figures a second time.")
    parser.add_argument("--arenas", type=Path, default=ROOT / "../shared/data/arenas")
    parser.add_argument("--predictions", type=Path, help="what board_quality.py wrote")
    options = parser.parse_args()
    stored = json.loads((ROOT / "benchmarks/tables.json").read_text(encoding="utf-8"))
    n_apart = 0
    found = figures(options.arenas, stored)
    if options.predictions is not None:
        found = chain(found, of_surrogates(options.arenas, options.predictions, stored))
    for figure in found:
        n_apart += not figure.agrees
        numbers = f"{figure.printed:7.2f} {figure.found:7.2f} ± {figure.error:.2f}"
        print(f"{'agrees' if figure.agrees else 'APART'}  {numbers}  {figure.name}", flush=True)
    raise SystemExit(n_apart > 0)


if __name__ == "__main__":
    main()
