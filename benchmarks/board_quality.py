"""How well surrogates rate systems and questions that they have not seen.

python benchmarks/tables.py unseen replication
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from reliability import ceiling, split_half

from arena import Arena, read_arena
from features import extract
from surrogate.learning.cross_fitting import Repeats
from surrogate.learning.replication import replicate
from surrogate.learning.surrogate import find_surrogate
from surrogate_arena.studies import Study, compare

Cell = Any
REPEATS, SPLITS = 20, 10
"""Splits of the systems, and of the questions. Twenty of six to nine systems move tau by 0.03,
where its standard error is 0.2."""


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


def unseen(folder: Path, judge: str | None) -> list[Cell]:
    """Compare surrogates and the length of answers on systems that no surrogate has seen."""
    options = {"judge": judge, "feature_table": features_of(folder)}
    study = compare(
        *(folder, ["default", "random-forest", "linear"]),
        scores=["answer_length"],
        against="default",
        repeats=REPEATS,
        **options,
    )
    taus = study.table.query("language == 'macro'")
    cells: list[Cell] = [[row.tau, row.standard_error] for row in taus.itertuples()]
    forest = study.differences.query("language == 'macro' and rated_by == 'random-forest'")
    cells.append([-forest["difference"].iloc[0], forest["standard_error"].iloc[0]])
    languages = Study.of(folder, **options).languages
    cells.append(split_half(languages))
    cells.append(float(np.mean([ceiling(data) for data in languages])))
    return cells


def replication(folder: Path, judge: str | None, number: int) -> list[Cell]:
    """Rate by some questions of one half, and compare with the verdicts on the other."""
    # The default surrogate and the posterior do not learn from tournaments.
    study = Study.of(
        arena_of(folder), tournaments=2, judge=judge, feature_table=features_of(folder)
    )
    found = replicate(study.languages, find_surrogate(), Repeats(SPLITS, 0), number, False)
    summary = found.summary()
    low, high = summary["gain_low"], summary["gain_high"]
    return [
        str(number),
        summary["tau_verdicts"],
        summary["tau"],
        f"{summary['gain']:z.2f} ({low:z.2f} to {high:z.2f})",
        float(found.rows["inside"].astype(float).mean()),
    ]
