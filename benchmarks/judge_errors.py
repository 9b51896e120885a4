"""How often do tests of judges find a difference where there is none?

    python benchmarks/tables.py nulls

*MEMERAG*: judges that are equally good (75% right), on the questions and labels of the data. Of
half of the answers a judge is right or wrong about all sentences at once, by chance. How often are
two of them found to differ on average over the languages, and how often is one of several marked as
worse than the best in French? *GroUSE*: judges that pass 75% of the checks, half of them in all
languages or in none. How often does the interval of the total miss 75%? *Pairs*: judges of a known
accuracy, half of the questions judged as a whole, with three pairs each. How often does the
interval miss it?
"""

from __future__ import annotations

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

ROUNDS = 2000
OTHERS = 5
"""Other ways are run once in this many rounds."""
ACCURACY = 0.75
ALIKE = 0.5
"""Share of answers, topics or questions that are judged as a whole."""


def right(units: np.ndarray, accuracy: float, rng: np.random.Generator) -> Flags:
    """Draw what a judge is right about: items, shape (N,), some with all others of their unit."""
    n_units = units.max() + 1
    is_alike = rng.random(n_units) < ALIKE
    is_right = rng.random(n_units) < accuracy
    alone = rng.random(len(units)) < accuracy
    return np.where(is_alike[units], is_right[units], alone)


def memerag_verdicts(
    sentences: pd.DataFrame, n_judges: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Return verdicts of judges that are equally good."""
    units = sentences.groupby(QUESTION_KEY).ngroup().to_numpy()
    wrong = sentences["factuality"].map(dict(zip(JUDGED, reversed(JUDGED), strict=True)))
    table = sentences[SENTENCE_KEY].assign(
        truth=sentences["factuality"], prompt="", failure=None, was_asked=True
    )
    parts = []
    for judge in range(n_judges):
        is_right = right(units, ACCURACY, rng)
        value = sentences["factuality"].where(is_right, wrong)
        parts.append(table.assign(judge=str(judge), value=value))
    return pd.concat(parts, ignore_index=True)


def balanced_accuracies(verdicts: pd.DataFrame, language: str) -> pd.DataFrame:
    """Return what ``mark_best`` needs of the scores, in less time than ``score_judges``."""
    is_right = verdicts["value"] == verdicts["truth"]
    keys = [verdicts[name] for name in ("judge", "language", "truth")]
    values = is_right.groupby(keys).mean().groupby("judge").mean()
    return values.rename("value").reset_index().assign(prompt="", language=language)


def memerag(folder: Path, language: str, n_judges: int) -> list[str]:
    """Return how often a judge is called worse than the best, by us and as in the paper."""
    sentences = read_memerag(folder)
    sentences = sentences[sentences["factuality"].isin(JUDGED)]
    if language != MACRO:
        sentences = sentences[sentences["language"] == language]
    rng = np.random.default_rng(0)
    found: dict[bool, list[bool]] = {False: [], True: []}
    for seed in range(ROUNDS):
        verdicts = memerag_verdicts(sentences, n_judges, rng)
        scores = balanced_accuracies(verdicts, language)
        for as_in_paper, is_found in found.items():
            if as_in_paper and seed % OTHERS:
                continue
            settings = MetaevalSettings(permutations=2000, seed=seed, as_in_paper=as_in_paper)
            marked = mark_best(scores, verdicts, settings)
            is_found.append(bool((marked["mark"] == "").any()))
    return [share(is_found) for is_found in found.values()]


def grouse() -> list[str]:
    """Return how often the interval of the total misses, over topics and over questions."""
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
    over_topics = []
    over_questions = []
    for number in range(ROUNDS):
        drawn = checks.assign(passed=right(translations, ACCURACY, rng))
        over_topics.append(misses(pass_rates(drawn).iloc[-1], ACCURACY))
        if number % OTHERS == 0:
            total = pass_rates(drawn.assign(topic=by_question)).iloc[-1]
            over_questions.append(misses(total, ACCURACY))
    return [share(over_topics), share(over_questions)]


def pairs(n_questions: int, accuracy: float) -> list[str]:
    """Return how often the interval of the accuracy misses it."""
    rng = np.random.default_rng(0)
    numbers = np.arange(3 * n_questions)
    missed = []
    for seed in range(ROUNDS):
        is_right = right(numbers // 3, accuracy, rng)
        table = pd.DataFrame({"question": numbers // 3, "pair": numbers, "better_on_a": is_right})
        estimates = score_pairs(table.assign(winner="a", longer_on_a=0), 400, seed)
        missed.append(misses(asdict(estimates["accuracy"]), accuracy))
    return [share(missed), ""]


def misses(row: Mapping[Any, Any], value: float) -> bool:
    """Return whether an interval does not hold a value."""
    return not row["low"] <= value <= row["high"]


def share(values: list[bool]) -> str:
    return f"{np.mean(values):.1%}"
