"""How well unseen systems are ranked after few verdicts, and what each part of that is worth.

    python benchmarks/few_verdicts.py ARENAS [--features FOLDER] [--draws 10] [--out FILE]
        [--sizes 3x20,4x20] [--cases rakuda] [--full]

ARENAS holds the arena folders named in ``CASES``, FOLDER feature tables named after them. Each draw
takes k judged systems and q judged questions per language (``3x20``); the surrogate learns from the
verdicts among these, with all answers of the judged systems at hand, and rates all other systems.
Printed is Kendall's tau with their ratings by all verdicts, mean over languages, draws and arenas;
``--full`` leaves systems out of everything in pairs, or in five folds, three times, where there are
more than 12. Variants are paired: differences from the surrogate as it is, with standard errors
over arenas. Weights of other judges (``judge_preferences.py``) are learned without the arena.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
from judge_preferences import Moments, all_moments, learned_weights, study_of

from arena.data.errors import UsageError
from arena.statistics.agreement import kendall_tau
from surrogate.learning.answers_surrogate import AnswersSurrogate
from surrogate.learning.cross_fitting import train_and_rate
from surrogate.learning.language_data import LanguageData

SIZES = ((3, 3), (3, 20), (4, 20), (6, 3), (6, 20), (9, 20))
FEWEST_LEFT_OUT = 2
DEFAULT = "as it is"
NO_PREFERENCES = "no preferences"
NO_RELIABILITY = "no reliability"
NEITHER = "neither"
VARIANTS = (DEFAULT, NO_PREFERENCES, NO_RELIABILITY, NEITHER)
FULL = "full"
MOST_PAIRED = 12
"""More systems than this are left out in folds, not in pairs."""
FOLDS = 5
REPEATS = 3


@dataclass(frozen=True)
class Case:
    """An arena by one judge; ``languages`` are learned from together.

    Answers with passages are not rated by weights of other judges, which need not be left out.
    """

    arena: str
    judge: str | None = None
    languages: tuple[str, ...] = ()
    most_draws: int = 100
    most_folds: int = 100
    has_passages: bool = False

    def __str__(self) -> str:
        """Return the name in tables."""
        parts = [self.arena, *self.languages, self.judge or ""]
        return ", ".join(part for part in parts if part)


CASES = (
    Case("rakuda"),
    Case("crowd-rag", "gpt-4o-combined", has_passages=True),
    Case("crowd-rag", "crowd-gold", has_passages=True),
    Case("mt-bench-ko-en", "gpt-4o-mini", ("en",)),
    Case("mt-bench-ko-en", "gpt-4o-mini", ("ko",)),
    Case("vicuna80", "people"),
    Case("vicuna80", "gpt-4"),
    Case("trec-rag25", has_passages=True),
    Case(
        "nomiracl",
        languages=("ar", "en", "ko", "sw"),
        most_draws=6,
        most_folds=28,
        has_passages=True,
    ),
    Case("faithjudge", most_draws=5, most_folds=5, has_passages=True),
    Case("alpacaeval", "weighted-gpt-4-turbo", most_draws=5, most_folds=5),
)


@dataclass(frozen=True)
class Draw:
    """What a surrogate learns from, and the systems that it rates then."""

    parts: list[LanguageData]
    left_out: list[str]


def few_draws(
    languages: Sequence[LanguageData], n_systems: int, n_questions: int, n_draws: int
) -> Iterator[Draw]:
    """Draw judged systems and questions."""
    systems = sorted({name for data in languages for name in data.systems})
    if len(systems) < n_systems + FEWEST_LEFT_OUT:
        return
    for number in range(n_draws):
        rng = np.random.default_rng([n_systems, n_questions, number])
        judged_systems = set(rng.choice(systems, n_systems, replace=False))
        left_out = [name for name in systems if name not in judged_systems]
        parts = []
        for data in languages:
            questions = data.tournaments.battles.questions
            size = min(n_questions, len(questions))
            drawn = rng.choice(questions, size, replace=False).tolist()
            try:
                parts.append(data.without_systems(left_out).judged_on(drawn))
            except UsageError:
                continue  # no verdict is left in this language
        if parts:
            yield Draw(parts, left_out)


def full_draws(languages: Sequence[LanguageData], most_folds: int) -> Iterator[Draw]:
    """Leave systems out of all verdicts, in pairs (drawn from all of them) or folds."""
    systems = sorted({name for data in languages for name in data.systems})
    folds: list[list[str]] = []
    if len(systems) <= MOST_PAIRED:
        pairs = np.random.default_rng(0).permutation(list(combinations(systems, 2)))
        folds = pairs.tolist()
    else:
        for number in range(REPEATS):
            shuffled = np.random.default_rng(number).permutation(systems)
            folds += [part.tolist() for part in np.array_split(shuffled, FOLDS)]
    for left_out in folds[:most_folds]:
        with suppress(UsageError):  # all verdicts are on one of them
            yield Draw([data.without_systems(left_out) for data in languages], left_out)


def tau_of(surrogate: AnswersSurrogate, draw: Draw, languages: Sequence[LanguageData]) -> float:
    """Return Kendall's tau of left-out systems, mean over languages; NaN without ratings."""
    rows = pd.concat([data.rows(draw.left_out, data.questions) for data in languages])
    rated, _ = train_and_rate(surrogate, draw.parts, rows)
    taus = []
    for data in languages:
        arena_ratings = pd.Series(data.arena_ratings, data.systems).reindex(draw.left_out)
        of_language = rated[rated["language"] == data.language].set_index("system")
        predicted = of_language["rating"].reindex(draw.left_out)
        is_rated = (arena_ratings.notna() & predicted.notna()).to_numpy()
        if is_rated.sum() >= FEWEST_LEFT_OUT:
            taus.append(
                kendall_tau(predicted.to_numpy()[is_rated], arena_ratings.to_numpy()[is_rated])
            )
    return float(np.mean(taus)) if taus else np.nan


def taus_of(
    draws: Iterator[Draw],
    languages: Sequence[LanguageData],
    weights: dict[str, float],
    *,
    has_passages: bool,
) -> Iterator[dict[str, float]]:
    """Yield the tau of every variant, a record per draw."""
    unweighted = AnswersSurrogate(preferences={})
    surrogates = {
        DEFAULT: AnswersSurrogate(preferences=weights),
        NO_PREFERENCES: unweighted,
        NO_RELIABILITY: AnswersSurrogate(preferences=weights),
        NEITHER: unweighted,
    }
    same_with_passages = {NO_PREFERENCES: DEFAULT, NEITHER: NO_RELIABILITY}
    for draw in draws:
        taus: dict[str, float] = {}
        for variant, surrogate in surrogates.items():
            if has_passages and variant in same_with_passages:
                continue
            is_changed = variant in (NO_RELIABILITY, NEITHER)
            path = "surrogate.learning.answers_surrogate.rating_reliability"
            with patch(path, return_value=1.0) if is_changed else nullcontext():
                taus[variant] = tau_of(surrogate, draw, languages)
        for variant, same in same_with_passages.items():
            taus.setdefault(variant, taus[same])
        yield taus


def measured(case: Case, options: argparse.Namespace, moments: Sequence[Moments]) -> pd.DataFrame:
    """Return the mean tau of every variant, a row per size."""
    study = study_of(options.arenas, case.arena, case.judge, options.features)
    languages = study.languages
    if case.languages:
        languages = [data for data in languages if data.language in case.languages]
    weights = learned_weights(moments, without=[case.arena])
    n_draws = min(options.draws, case.most_draws)
    all_draws = {}
    for n_systems, n_questions in options.sizes:
        name = f"{n_systems}x{n_questions}"
        all_draws[name] = few_draws(languages, n_systems, n_questions, n_draws)
    if options.full:
        all_draws[FULL] = full_draws(languages, case.most_folds)
    rows = []
    for name, draws in all_draws.items():
        taus = taus_of(draws, languages, weights, has_passages=case.has_passages)
        table = pd.DataFrame(list(taus), columns=list(VARIANTS))
        if len(table):
            means = table.mean().to_dict()
            rows.append({"case": str(case), "size": name, "draws": len(table), **means})
    return pd.DataFrame(rows)


def report(table: pd.DataFrame) -> str:
    """Tabulate tau by size, and the differences of variants from the surrogate as it is."""
    # Languages and judges of an arena are not independent: an arena counts once.
    arenas = table["case"].str.split(",").str[0].rename("arena")
    by_arena = table.groupby(["size", arenas], sort=False)[list(VARIANTS)].mean()
    lines = []
    for size, part in by_arena.groupby(level="size", sort=False):
        losses = part.rsub(part[DEFAULT], axis=0)
        means = pd.DataFrame({"tau": part.mean(), "worth": losses.mean(), "error": losses.sem()})
        lines.append(f"{size}, {len(part)} arenas\n{means.T.round(3).to_string()}")
    return "\n\n".join([*lines, table.round(2).to_string(index=False)])


def _sizes(text: str) -> list[tuple[int, ...]]:
    sizes = []
    for part in text.split(","):
        if part:
            sizes.append(tuple(int(number) for number in part.split("x", 1)))
    return sizes


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("arenas", type=Path, help="folder of arena folders")
    parser.add_argument("--features", type=Path, help="folder of feature tables")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--sizes", type=_sizes, default=SIZES, help="such as 3x20,6x20")
    parser.add_argument("--cases", help="only those whose name contains this")
    parser.add_argument("--full", action="store_true", help="all verdicts, too")
    parser.add_argument("--out", type=Path, help="CSV file to write")
    options = parser.parse_args()
    moments = all_moments(options.arenas, options.features)
    tables = []
    for case in CASES:
        if options.cases and options.cases not in str(case):
            continue
        tables.append(measured(case, options, moments))
        print(tables[-1].round(3).to_string(index=False), flush=True)
    table = pd.concat(tables, ignore_index=True)
    if options.out is not None:
        table.to_csv(options.out, index=False)
    print(report(table))


if __name__ == "__main__":
    main()
