"""The report on judges of pairs: right in both orders, by split; flips, sides, length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
import pandas as pd

from arena.data.tables import plain_records
from arena.data.wording import count_of
from arena.llm import Usage
from arena.rating.biases import answer_lengths, values_of_side
from surrogate_arena.papers.pairs.gold_pairs import GoldPairs
from surrogate_arena.papers.pairs.judges import NOT_RECORDED
from surrogate_arena.papers.pairs.pair_accuracy import Estimate, score_pairs
from surrogate_arena.papers.pairs.soft_accuracy import (
    soft_accuracy_by_chance,
    soft_pairwise_accuracy,
)
from surrogate_arena.papers.reports import (
    Report,
    interval_cell,
    judges_of,
    judges_table,
    left_out_notes,
    metaevaluations,
    named,
    verdict_counts,
    wide_table,
)
from surrogate_arena.papers.settings import MetaevalSettings
from surrogate_arena.studies.study_table import StudyTable

ALL = "all"
"""Name of the rows of all splits together."""
CONSISTENT, RIGHT = "consistent_accuracy", "accuracy"
SOFT, BY_CHANCE = "soft_pairwise_accuracy", "soft_pairwise_accuracy_by_chance"
_HEADINGS = {
    CONSISTENT: "right in both orders",
    RIGHT: "right",
    SOFT: "soft pairwise",
    BY_CHANCE: "by chance",
    "flip_rate": "flips",
    "share_a": "side A",
    "share_longer": "longer answer",
    "tie_share": "ties",
}
_NOTES = (
    "Right: a tie counts one half; a reply without a verdict is wrong in both columns.",
    "Soft pairwise: agreement on which of two systems is surely better (WMT24). By chance: the "
    "same of the judge's verdicts turned at random, with the range of 95% of the flips.",
    "Side A, longer answer: of decided verdicts, as if the better answer stood on either side, and "
    "were the longer one, equally often: 50 without a preference.",
)


def pair_report(
    gold: GoldPairs, verdicts: pd.DataFrame, settings: MetaevalSettings, usages: Sequence[Usage]
) -> Report:
    """Report on judges of pairs, whose verdicts have a ``question`` and a ``pair``."""
    scores = _pair_scores(gold, verdicts, settings)
    totals = scores[scores["split"] == ALL]
    tables = [_totals_table(totals, gold, verdicts)]
    if scores["split"].nunique() > 2:
        by_split = scores[scores["score"] == CONSISTENT].assign(reason=None)
        title = "Right in both orders, percent of pairs with standard errors, by split"
        if by_split["value"].isna().all():
            by_split = scores[scores["score"] == RIGHT].assign(reason=None)
            title = "Right, percent of verdicts with standard errors, by split"
        tables.append(judges_table(by_split, "split", title))
    content = {
        "data": gold.name,
        "reference": list(gold.reference),
        "skipped": dict(gold.skipped),
        "scores": plain_records(scores),
    }
    languages = sorted(set(gold.pairs["language"]))
    entries = []
    for name in (CONSISTENT, RIGHT, SOFT):
        rows = totals[totals["score"] == name].to_dict("records")
        entries += metaevaluations(rows, gold.name, name, languages)
    return Report(content, tables, entries, usages)


def _pair_scores(
    gold: GoldPairs, verdicts: pd.DataFrame, settings: MetaevalSettings
) -> pd.DataFrame:
    judgments = gold.arena.judgments
    votes = judgments[judgments["judge"].isin(gold.reference)]
    rows = []
    for (judge, prompt), judge_verdicts in judges_of(_with_sides(gold, verdicts)).items():
        for split, part in [*judge_verdicts.groupby("split", sort=False), (ALL, judge_verdicts)]:
            key = {"judge": judge, "prompt": prompt, "split": split, **verdict_counts(part)}
            votes_on_systems = votes if split == ALL else votes[:0]
            for name, estimate in _estimates(part, votes_on_systems, settings).items():
                rows.append({**key, "score": name, **asdict(estimate)})
    return pd.DataFrame(rows)


def _estimates(
    verdicts: pd.DataFrame, votes: pd.DataFrame, settings: MetaevalSettings
) -> dict[str, Estimate]:
    judged = verdicts[verdicts["was_asked"].astype(bool)]
    estimates = score_pairs(judged, settings.replicates, settings.seed)
    decided = judged[judged["winner"].notna()]
    # Soft pairwise accuracy is there where an arena's votes rank systems.
    if len(votes) and len(decided):
        soft = soft_pairwise_accuracy(decided, votes, settings.replicates, settings.seed)
        if np.isfinite(soft.value):
            estimates[SOFT] = soft
            estimates[BY_CHANCE] = soft_accuracy_by_chance(decided, votes, seed=settings.seed)
    return estimates


def _with_sides(gold: GoldPairs, verdicts: pd.DataFrame) -> pd.DataFrame:
    lengths = answer_lengths(gold.arena.answers)
    of_a, of_b = (values_of_side(verdicts, side, lengths) for side in ("system_a", "system_b"))
    return verdicts.assign(
        winner=verdicts["value"],
        better_on_a=verdicts["truth"] == "a",
        longer_on_a=np.sign(np.nan_to_num(of_a - of_b, nan=0.0)),
    )


def _totals_table(totals: pd.DataFrame, gold: GoldPairs, verdicts: pd.DataFrame) -> StudyTable:
    cells = named(totals).assign(cell=[interval_cell(row) for row in totals.to_dict("records")])
    table = wide_table(cells, "score")
    judged = verdicts[verdicts["was_asked"].astype(bool)]
    counts = named(judged).groupby("judge")[["pair", "question"]].nunique()
    counts = counts.reindex(table["judge"], fill_value=0)
    table = table.assign(pairs=counts["pair"].to_numpy(), questions=counts["question"].to_numpy())
    shown = [name for name in _HEADINGS if name in table]
    table = table[["judge", "pairs", "questions", *shown]].rename(columns=_HEADINGS)
    source = f"by {', '.join(gold.reference)}" if gold.reference else "by the data"
    title = f"The better answer ({source}), percent with 95% intervals over questions"
    notes = [*_NOTES]
    notes += [f"Left out: {count_of(n, 'pair')}: {why}" for why, n in gold.skipped.items()]
    reasons = verdicts[verdicts["failure"] != NOT_RECORDED]
    notes += left_out_notes(totals[totals["score"] == RIGHT], reasons, "verdicts", "winner")
    return StudyTable(table, title=title, notes=notes)
