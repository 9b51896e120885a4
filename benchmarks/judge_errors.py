"""How often do tests of judges find a difference where there is none?

    python benchmarks/judge_errors.py [MEMERAG] [--rounds 2000]

*MEMERAG*: judges that are equally good (75% right), on the questions and labels of the data. Of
some answers a judge is right or wrong about all sentences at once, by chance. How often are two of
them found to differ on average over the languages, and how often is one of several marked as worse
than the best in French? *GroUSE*: judges that pass 75% of the checks, some in all languages or in
none. How often does the interval of the total miss 75%? *Pairs*: judges that guess, some questions
as a whole, with three pairs a question. How often does the interval miss one half?
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from arena.data.schema import QUESTION_KEY
from arena.data.types import Flags
from surrogate_arena.papers.grouse.metrics import METRICS
from surrogate_arena.papers.grouse.scores import pass_rates
from surrogate_arena.papers.grouse.unit_tests import builtin_tests
from surrogate_arena.papers.memerag.accuracy import MACRO, mark_best
from surrogate_arena.papers.memerag.sentences import JUDGED, SENTENCE_KEY, read_memerag
from surrogate_arena.papers.pairs.pair_accuracy import score_pairs
from surrogate_arena.papers.settings import MetaevalSettings

ACCURACY = 0.75
ALIKE = (0.0, 0.5, 1.0)
"""Shares of answers, topics or questions that are judged as a whole."""
OTHERS = 5
"""What is compared with ours is done in each so many rounds."""


def right(
    units: np.ndarray, share_alike: float, accuracy: float, rng: np.random.Generator
) -> Flags:
    """Draw what a judge is right about: items, shape (N,), some with all others of their unit."""
    n_units = units.max() + 1
    is_alike = rng.random(n_units) < share_alike
    is_right = rng.random(n_units) < accuracy
    alone = rng.random(len(units)) < accuracy
    return np.where(is_alike[units], is_right[units], alone)


def memerag_verdicts(
    sentences: pd.DataFrame, n_judges: int, share_alike: float, rng: np.random.Generator
) -> pd.DataFrame:
    """Return verdicts of judges that are equally good."""
    units = sentences.groupby(QUESTION_KEY).ngroup().to_numpy()
    wrong = sentences["factuality"].map(dict(zip(JUDGED, reversed(JUDGED), strict=True)))
    table = sentences[SENTENCE_KEY].assign(
        truth=sentences["factuality"], prompt="", failure=None, was_asked=True
    )
    parts = []
    for judge in range(n_judges):
        is_right = right(units, share_alike, ACCURACY, rng)
        value = sentences["factuality"].where(is_right, wrong)
        parts.append(table.assign(judge=str(judge), value=value))
    return pd.concat(parts, ignore_index=True)


def balanced_accuracies(verdicts: pd.DataFrame, language: str) -> pd.DataFrame:
    """Return what ``mark_best`` needs of the scores, in less time than ``score_judges``."""
    is_right = verdicts["value"] == verdicts["truth"]
    keys = [verdicts[name] for name in ("judge", "language", "truth")]
    values = is_right.groupby(keys).mean().groupby("judge").mean()
    return values.rename("value").reset_index().assign(prompt="", language=language)


def memerag(folder: Path, rounds: int) -> None:
    sentences = read_memerag(folder)
    sentences = sentences[sentences["factuality"].isin(JUDGED)]
    french = sentences[sentences["language"] == "fr"]
    rng = np.random.default_rng(0)
    for data, language, n_judges, share_alike in (
        *((sentences, MACRO, 2, share_alike) for share_alike in ALIKE),
        *((french, "fr", n_judges, 0.5) for n_judges in (2, 4, 8)),
    ):
        found = {True: 0, False: 0}
        n_rounds = {True: 0, False: 0}
        for seed in range(rounds):
            verdicts = memerag_verdicts(data, n_judges, share_alike, rng)
            scores = balanced_accuracies(verdicts, language)
            for as_in_paper in found:
                if as_in_paper and seed % OTHERS:
                    continue
                settings = MetaevalSettings(permutations=2000, seed=seed, as_in_paper=as_in_paper)
                marked = mark_best(scores, verdicts, settings)
                found[as_in_paper] += int((marked["mark"] == "").any())
                n_rounds[as_in_paper] += 1
        print(
            f"MEMERAG, {language}, {n_judges} judges, {share_alike:.0%} of answers as a whole: "
            f"as in the paper {found[True] / n_rounds[True]:.1%}, "
            f"ours {found[False] / n_rounds[False]:.1%}",
            flush=True,
        )


def grouse(rounds: int) -> None:
    tests = pd.DataFrame(
        [(test.test_id, test.test_type, test.topic, test.language) for test in builtin_tests()],
        columns=["test_id", "test_type", "topic", "language"],
    )
    checks = tests.merge(pd.DataFrame({"metric": METRICS}), "cross")
    translations = checks.groupby(["topic", "test_type", "metric"]).ngroup().to_numpy()
    checks = checks.assign(judge="", prompt="", question="", condition="", failure=None, value=1)
    checks = checks.assign(was_asked=True)
    by_question = checks["topic"] + checks["language"]
    rng = np.random.default_rng(0)
    for share_alike in ALIKE:
        over_topics = []
        over_questions = []
        for number in range(rounds):
            drawn = checks.assign(passed=right(translations, share_alike, ACCURACY, rng))
            over_topics.append(misses(pass_rates(drawn).iloc[-1], ACCURACY))
            if number % OTHERS == 0:
                total = pass_rates(drawn.assign(topic=by_question)).iloc[-1]
                over_questions.append(misses(total, ACCURACY))
        print(
            f"GroUSE, {share_alike:.0%} alike in all languages: over questions "
            f"{np.mean(over_questions):.1%}, over topics {np.mean(over_topics):.1%}",
            flush=True,
        )


def pairs(rounds: int) -> None:
    rng = np.random.default_rng(0)
    for n_questions in (10, 80):
        numbers = np.arange(3 * n_questions)
        units = numbers // 3
        for share_alike in ALIKE:
            missed = 0
            for seed in range(rounds):
                is_right = right(units, share_alike, 0.5, rng)
                table = pd.DataFrame({"question": units, "pair": numbers, "better_on_a": is_right})
                estimates = score_pairs(table.assign(winner="a", longer_on_a=0), 400, seed)
                missed += misses(asdict(estimates["accuracy"]), 0.5)
            print(
                f"Pairs, {n_questions} questions, {share_alike:.0%} as a whole: "
                f"{missed / rounds:.1%}",
                flush=True,
            )


def misses(row: Mapping[Any, Any], value: float) -> bool:
    """Return whether an interval does not hold a value."""
    return not row["low"] <= value <= row["high"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("memerag", nargs="?", type=Path, default=Path("../shared/data/memerag"))
    parser.add_argument("--rounds", type=int, default=2000)
    arguments = parser.parse_args()
    pairs(arguments.rounds)
    grouse(arguments.rounds)
    memerag(arguments.memerag, arguments.rounds)
