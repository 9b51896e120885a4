"""How far any surrogate could get: tau of ratings without sampling noise with those by verdicts.

    python benchmarks/ceilings.py ARENAS [--features FOLDER]

ARENAS and FOLDER are those of ``few_verdicts.py``. The verdicts on some questions rate systems with
an error, so that even the ratings behind them agree with these imperfectly. Printed is the expected
Kendall's tau of the two, mean over languages: of the ratings by all verdicts, and of those by half
of the questions, which ``replication.py`` compares with. The ratings behind are drawn from their
posterior by the verdicts alone, which shrinks the ratings as far as their spread is noise.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from few_verdicts import CASES
from judge_preferences import study_of

from arena.data.errors import UsageError
from arena.statistics.agreement import kendall_taus
from surrogate.learning.language_data import LanguageData
from surrogate.learning.observations import joint_posterior, observe
from surrogate.learning.training import training_ratings

DRAWS = 1000
SPLITS = 5


def ceiling(data: LanguageData) -> float:
    """Return the expected tau of a language's ratings with those behind the verdicts."""
    observed = observe(training_ratings({data.language: data.tournaments}), around=1.0)
    ratings = observed[data.language].ratings
    no_kernels = np.zeros((0, len(ratings), len(ratings)))
    posterior = joint_posterior(observed, no_kernels)[data.language]
    draws = posterior.draws(np.random.default_rng(0), DRAWS)
    return float(np.nanmean(kendall_taus(ratings[None], draws)))


def half_ceiling(data: LanguageData) -> float:
    """Return the same of halves of the questions, mean over splits."""
    questions = data.tournaments.battles.questions
    ceilings = []
    for split in range(SPLITS):
        shuffled = np.random.default_rng(split).permutation(questions)
        try:
            ceilings.append(ceiling(data.judged_on(shuffled[: len(questions) // 2].tolist())))
        except UsageError:  # no verdict is left
            continue
    return float(np.mean(ceilings)) if ceilings else np.nan


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("arenas", type=Path, help="folder of arena folders")
    parser.add_argument("--features", type=Path, help="folder of feature tables")
    options = parser.parse_args()
    rows = []
    for case in CASES:
        study = study_of(options.arenas, case.arena, case.judge, options.features)
        languages = study.languages
        if case.languages:
            languages = [data for data in languages if data.language in case.languages]
        rows.append(
            {
                "case": str(case),
                "all": np.mean([ceiling(data) for data in languages]),
                "half": np.mean([half_ceiling(data) for data in languages]),
            }
        )
        print(pd.DataFrame(rows[-1:]).round(3).to_string(index=False, header=False), flush=True)
    table = pd.DataFrame(rows)
    by_arena = table.groupby(table["case"].str.split(",").str[0])[["all", "half"]].mean()
    print(by_arena.mean().round(3).to_string())


if __name__ == "__main__":
    main()
