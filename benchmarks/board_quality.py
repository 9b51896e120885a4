"""How well surrogates rate systems and questions that they have not seen.

    python benchmarks/tables.py unseen replication
    python benchmarks/board_quality.py FOLDER [--arenas ../shared/data/arenas]

The script writes what both tables are computed from, for ``recomputed.py``: of each arena the
ratings by verdicts and surrogate, by split of the questions, and of those in the table of unseen
systems the features of all answers, and the ratings by each surrogate, by split and fold.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from reliability import ceiling, split_half

from arena import Arena, read_arena
from features import extract
from surrogate.learning.cross_fitting import Repeats
from surrogate.learning.outcomes import Outcome
from surrogate.learning.replication import Replication, replicate
from surrogate.learning.surrogate import find_surrogate
from surrogate_arena.studies.comparison import PairedTaus
from surrogate_arena.studies.scores import Contender
from surrogate_arena.studies.study import Study
from surrogate_arena.studies.untrained import rate_by_score, untrained

Cell = Any
REPEATS, SPLITS = 20, 10
"""Splits of the systems, and of the questions. Twenty of six to nine systems move tau by 0.03,
where its standard error is 0.2."""


SURROGATES = ("default", "random-forest", "linear")
LABELED = ("trec-rag25", "faithjudge", "nomiracl")
"""Arenas whose verdicts compare labels of single answers."""


@cache
def arena_of(folder: Path) -> Arena:
    """Read an arena; labels of single answers have no sides."""
    arena = read_arena(folder)
    if folder.name not in LABELED:
        return arena
    return replace(arena, judgments=arena.judgments.assign(sides="none"))


@cache
def features_of(folder: Path) -> pd.DataFrame:
    """Measure an arena's features once, however many rows need them."""
    return extract(folder)


@cache
def rated_unseen(folder: Path, judge: str | None) -> tuple[Study, dict[str, list[Outcome]]]:
    """Rate systems by surrogates that have not seen them, once for the table and what checks it."""
    study = Study.of(folder, SURROGATES, REPEATS, judge=judge, feature_table=features_of(folder))
    return study, {surrogate.name: study.unseen(surrogate) for surrogate in study.surrogates}


def unseen(folder: Path, judge: str | None) -> list[Cell]:
    """Compare surrogates and the length of answers on systems that no surrogate has seen."""
    study, outcomes = rated_unseen(folder, judge)
    contenders = {name: Contender(rated) for name, rated in outcomes.items()}
    rate = partial(rate_by_score, column="answer_length", draws=None)
    contenders["answer_length"] = untrained(study.languages, rate, outcomes["default"])
    comparison = PairedTaus.of(contenders, study.settings.seed)
    taus = comparison.table.query("language == 'macro'")
    cells: list[Cell] = [[row.tau, row.standard_error] for row in taus.itertuples()]
    differences = comparison.differences([("default", "random-forest")])
    (macro,) = differences.query("language == 'macro'").itertuples()
    cells.append([macro.difference, macro.standard_error])
    cells.append(split_half(study.languages))
    cells.append(float(np.mean([ceiling(data) for data in study.languages])))
    return cells


def replication(folder: Path, judge: str | None, number: int) -> list[Cell]:
    """Rate by some questions of one half, and compare with the verdicts on the other."""
    found = replicated(folder, judge, number)
    summary = found.summary()
    low, high = summary["gain_low"], summary["gain_high"]
    return [
        str(number),
        summary["tau_verdicts"],
        summary["tau"],
        f"{summary['gain']:z.2f} ({low:z.2f} to {high:z.2f})",
        float(found.rows["inside"].astype(float).mean()),
    ]


def replicated(folder: Path, judge: str | None, number: int) -> Replication:
    # The default surrogate and the posterior do not learn from tournaments.
    study = Study.of(
        arena_of(folder), tournaments=2, judge=judge, feature_table=features_of(folder)
    )
    return replicate(study.languages, find_surrogate(), Repeats(SPLITS, 0), number, False)


def predictions(folder: Path, judge: str | None) -> pd.DataFrame:
    """Return the ratings behind ``unseen``: of systems by surrogate, language, split and fold."""
    tables = []
    for surrogate, outcomes in rated_unseen(folder, judge)[1].items():
        for outcome in outcomes:
            folds = outcome.groups.reshape(outcome.predicted.shape)
            for split, (ratings, fold) in enumerate(zip(outcome.predicted, folds, strict=True)):
                key = {"rated_by": surrogate, "language": outcome.language, "split": split}
                rows = {"system": outcome.systems, "fold": fold, "rating": ratings}
                tables.append(pd.DataFrame(rows).assign(**key))
    return pd.concat(tables)


def write_predictions(
    out: Path, arenas: Path, settings: Mapping[str, tuple[str, str | None]]
) -> None:
    """Write features and ratings of arenas, given by key their folder and judge."""
    out.mkdir(parents=True, exist_ok=True)
    for key, (name, judge) in settings.items():
        features_of(arenas / name).to_csv(out / f"{key}.features.csv", index=False)
        predictions(arenas / name, judge).to_csv(out / f"{key}.ratings.csv", index=False)


def write_replications(
    out: Path, arenas: Path, settings: Mapping[str, tuple[str, str | None]], numbers: Sequence[int]
) -> None:
    """Write the ratings behind ``replication``, by the number of questions learned from."""
    out.mkdir(parents=True, exist_ok=True)
    for key, (name, judge) in settings.items():
        tables = [
            replicated(arenas / name, judge, number).ratings.assign(questions=number)
            for number in numbers
        ]
        pd.concat(tables).to_csv(out / f"{key}.replication.csv", index=False)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the ratings behind the tables.")
    parser.add_argument("out", type=Path, help="folder to write")
    parser.add_argument("--arenas", type=Path, default=Path("../shared/data/arenas"))
    options = parser.parse_args()
    from table_rows import ARENAS, NUMBERS, SMALL_ARENAS  # it imports this module

    settings = {key: (name, judge) for key, (name, judge, _) in ARENAS.items()}
    write_replications(options.out, options.arenas, settings, NUMBERS)
    small = {key: settings[key] for key in SMALL_ARENAS}
    write_predictions(options.out, options.arenas, small)


if __name__ == "__main__":
    main()
