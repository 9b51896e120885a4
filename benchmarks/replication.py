"""What verdicts of one judge say with all of another's, against the verdicts on the other half.

    python benchmarks/tables.py two-judges

Every judge of an arena has few verdicts in turn, and every other one helps with all its verdicts on
the same half of the questions: tau without and with that judge, and the paired difference with its
standard error over pairs of judges.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from arena import read_arena
from features import extract
from surrogate.learning.cross_fitting import Repeats
from surrogate.learning.language_data import LanguageData
from surrogate.learning.replication import replicate
from surrogate.learning.surrogate import find_surrogate
from surrogate_arena.studies.study import Study

Cell = Any
FEWEST_TOURNAMENTS = 2
"""The default surrogate and the posterior do not learn from tournaments."""
SPLITS = 4
NUMBERS = (3, 10)


def two_judges(folder: Path) -> list[Cell]:
    """Return, after each number of questions, tau alone, tau with the other judge, and the gain."""
    languages = languages_by_judge(folder)
    cells: list[Cell] = []
    for number in NUMBERS:
        taus = []
        for judge, helper in permutations(languages, 2):
            alone = tau(languages[judge], number)
            taus.append((alone, tau(helped(languages[judge], languages[helper]), number)))
        table = pd.DataFrame(taus, columns=["alone", "helped"])
        gains = table["helped"] - table["alone"]
        cells += [*table.mean(), [float(gains.mean()), float(gains.sem())]]
    return cells


@cache
def languages_by_judge(folder: Path) -> dict[str, list[LanguageData]]:
    arena = read_arena(folder)
    features = extract(arena)
    languages = {}
    for judge in arena.judges:
        study = Study.of(arena, judge=judge, feature_table=features, tournaments=FEWEST_TOURNAMENTS)
        languages[judge] = study.languages
    return languages


def helped(languages: list[LanguageData], helper: list[LanguageData]) -> list[LanguageData]:
    """Give each language the other judge's verdicts."""
    verdicts = {data.language: data.judgments for data in helper}
    return [replace(data, others=verdicts.get(data.language, pd.DataFrame())) for data in languages]


def tau(languages: list[LanguageData], number: int) -> float:
    """Replicate from a number of questions; mean over languages and splits."""
    found = replicate(languages, find_surrogate(), Repeats(SPLITS, 0), number, False)
    return float(np.float64(found.summary()["tau"]))
