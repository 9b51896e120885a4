"""Disagreement of judges: of every two, by language, and by question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from arena.data.judges import is_derived
from arena.data.schema import QUESTION_KEY
from arena.data.types import Floats, Indices
from arena.judging.judge_agreement import shared_by_two
from arena.quality.agreement import (
    MEASURED,
    PAIR,
    QUESTION_PAIR,
    measured_agreement,
    oriented_verdicts,
)
from arena.statistics.bootstrap import generator

BY_QUESTION = [*QUESTION_KEY, "pairs", "disagreement", "expected", "p"]
SHUFFLES = 1000


def shared_verdicts(judgments: pd.DataFrame, reference: Sequence[str], name: str) -> pd.DataFrame:
    """Return pairs of answers that two judges judged; the reference is one judge of that name."""
    table = oriented_verdicts(judgments).astype({"first": str, "second": str, "judge": str})
    table["judge"] = table["judge"].mask(table["judge"].isin(reference), name)
    return shared_by_two(table[(table["judge"] == name) | ~table["judge"].map(is_derived)])


def agreement_by(shared: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Compare verdicts of every two judges by keys: ``MEASURED``, the best agreement first."""
    # The same id in two languages is of two questions.
    shared = shared.assign(query_id=shared["language"] + "\x1f" + shared["query_id"])
    rows = []
    for values, part in shared.groupby(list(keys)):
        random = generator(0, "agreement", *map(str, values))
        measured = measured_agreement(part, part["outcome_other"], random)
        rows.append(dict(zip(keys, values, strict=True)) | measured)
    table = pd.DataFrame(rows, columns=[*keys, *MEASURED])
    return table.sort_values("kappa", ascending=False, kind="stable", ignore_index=True)


def disagreement_by_question(shared: pd.DataFrame) -> pd.DataFrame:
    """Compare the disagreement on each question with that on all others.

    Expected is the disagreement of its judges on the same pairs of systems elsewhere. P-values are
    by shuffling pairs of answers over questions, corrected for their number (Westfall and Young,
    1993: the largest excess of each shuffle).

    Returns:
        Columns ``BY_QUESTION``, the largest excess for its error first.
    """
    items = _items_with_excess(shared)
    questions = items.groupby(QUESTION_KEY)
    table = questions.agg(
        pairs=("differs", "size"),
        disagreement=("differs", "mean"),
        excess=("excess", "mean"),
        variance=("variance", "sum"),
    ).reset_index()
    is_tested = table["variance"].to_numpy() > 0
    errors = np.sqrt(table["variance"].where(is_tested).to_numpy(np.float64))
    numbers = questions.ngroup().to_numpy()
    excess = items["excess"].to_numpy(np.float64)
    scores = np.bincount(numbers, excess, len(table)) / errors
    largest = _largest_shuffled(excess, items["stratum"].to_numpy(), numbers, errors)
    n_as_large = (largest >= scores[:, None] - 1e-9).sum(axis=1)
    table["expected"] = table["disagreement"] - table["excess"]
    table["p"] = np.where(is_tested, (1 + n_as_large) / (1 + SHUFFLES), np.nan)
    order = np.argsort(-np.where(is_tested, scores, -np.inf), kind="stable")
    return table.iloc[order].reset_index(drop=True)[BY_QUESTION]


def _items_with_excess(shared: pd.DataFrame) -> pd.DataFrame:
    """Return pairs of answers by stratum (``language`` and systems): columns ``differs, excess``.

    ``excess`` is the disagreement less what its judges and its stratum have elsewhere, and
    ``variance`` that of the stratum.
    """
    differs = (shared["outcome"] != shared["outcome_other"]).astype(float)
    of_judges = differs.groupby([shared[name] for name in ("language", "judge", "judge_other")])
    shared = shared.assign(differs=differs, excess=differs - of_judges.transform("mean"))
    items = shared.groupby(QUESTION_PAIR)[["differs", "excess"]].mean().reset_index()
    strata = items.groupby(["language", *PAIR])["excess"]
    items["excess"] -= strata.transform("mean")
    items["variance"] = strata.transform("var", ddof=0)
    return items.assign(stratum=strata.ngroup()).sort_values("stratum", kind="stable")


def _largest_shuffled(
    excess: Floats, strata: Indices, questions: Indices, errors: Floats
) -> Floats:
    """Shuffle within sorted strata; return each shuffle's largest score."""
    random = generator(0, "disagreement")
    largest = np.empty(SHUFFLES)
    for shuffle in range(SHUFFLES):
        order = np.lexsort((random.random(len(excess)), strata))
        scores = np.bincount(questions, excess[order], len(errors)) / errors
        largest[shuffle] = np.nanmax(scores, initial=-np.inf)
    return largest
