"""What verdicts and surrogate say from some questions, against the verdicts on the other half.

    python benchmarks/replication.py ARENA... [--judge ARENA=JUDGE] [--questions 2,3,5,half]
        [--splits 4] [--two-judges] [--feature-table ARENA=FILE] [--jobs 1] [--seed 0]

prints tau of ratings by both and of verdicts alone, the gain with its 95% interval over systems,
and the share of the other half's ratings inside 90% intervals. With ``--two-judges`` every judge
of an arena has few verdicts in turn, and every other one helps with all its verdicts on the same
half: tau without and with that judge, and the paired difference with its standard error over pairs
of judges.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
from judge_options import add_judge_option, pairs_of_names

from arena import read_arena
from features import extract
from surrogate.learning.cross_fitting import Repeats
from surrogate.learning.language_data import LanguageData
from surrogate.learning.replication import replicate
from surrogate.learning.surrogate import find_surrogate
from surrogate_arena.studies.study import Study

FEWEST_TOURNAMENTS = 2
"""The default surrogate and the posterior do not learn from tournaments."""


def main() -> None:
    options = read_options()
    rows = []
    for folder in options.arenas:
        rows.extend(arena_rows(folder, options))
    table = pd.DataFrame(rows)
    print(table.groupby(list(table.columns[:4]), sort=False).mean().round(3).to_string())
    if options.two_judges:
        print(differences(table).round(4).to_string())


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("arenas", type=Path, nargs="+", help="arena folders")
    add_judge_option(parser)
    parser.add_argument("--questions", default="2,3,5,half", help="judged questions of a language")
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--two-judges", action="store_true")
    parser.add_argument("--feature-table", action="append", default=[], help="ARENA=Parquet file")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def arena_rows(folder: Path, options: argparse.Namespace) -> list[dict[str, object]]:
    """Return a row per judge, number of questions and, with two judges, the judge that helps."""
    arena = read_arena(folder)
    tables = dict(pairs_of_names(options.feature_table))
    if folder.name in tables:
        features = pd.read_parquet(tables[folder.name])
    else:
        features = extract(arena, "default", n_jobs=options.jobs)
    chosen = dict(pairs_of_names(options.judge)).get(folder.name)
    judges = arena.judges if options.two_judges or chosen is None else (chosen,)
    languages = {}
    for judge in judges:
        study = Study.of(
            arena,
            judge=judge,
            feature_table=features,
            tournaments=FEWEST_TOURNAMENTS,
            seed=options.seed,
        )
        languages[judge] = study.languages
    pairs = permutations(judges, 2) if options.two_judges else ((judge, "") for judge in judges)
    rows = []
    for judge, helper in pairs:
        for n_questions in options.questions.split(","):
            row: dict[str, object] = {"arena": folder.name, "judge": judge, "helper": helper}
            row["questions"] = n_questions
            row |= replication_scores(languages[judge], n_questions, options)
            if helper:
                with_helper = helped(languages[judge], languages[helper])
                for name, score in replication_scores(with_helper, n_questions, options).items():
                    row[f"{name}_helped"] = score
            rows.append(row)
    return rows


def helped(languages: list[LanguageData], helper: list[LanguageData]) -> list[LanguageData]:
    """Give each language the other judge's verdicts."""
    verdicts = {data.language: data.judgments for data in helper}
    return [replace(data, others=verdicts.get(data.language, pd.DataFrame())) for data in languages]


def replication_scores(
    languages: list[LanguageData], n_questions: str, options: argparse.Namespace
) -> dict[str, float]:
    """Replicate from so many questions; return means over languages and splits."""
    repeats = Repeats(options.splits, options.seed, options.jobs)
    number = None if n_questions == "half" else int(n_questions)
    replication = replicate(languages, find_surrogate(), repeats, number, with_surrogate=False)
    summary = replication.summary()
    names = ("tau", "tau_verdicts", "gain", "gain_low", "gain_high")
    scores = {name: summary[name] for name in names}
    return scores | {"inside": float(replication.rows["inside"].astype(float).mean())}


def differences(table: pd.DataFrame) -> pd.DataFrame:
    """Gain in tau by the other judge: its mean and standard error over pairs of judges."""
    gains = table.assign(gain=table["tau_helped"] - table["tau"])
    summary = gains.groupby(["arena", "questions"])["gain"].agg(["mean", "sem", "count"])
    everywhere = gains.groupby("questions")["gain"].agg(["mean", "sem", "count"])
    everywhere.index = pd.MultiIndex.from_product([["all"], everywhere.index])
    return pd.concat([summary, everywhere]).replace([np.inf], np.nan)


if __name__ == "__main__":
    main()
