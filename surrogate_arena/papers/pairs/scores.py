"""The report on judges of pairs: right in both orders, by split; flips, sides, length, circles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from arena.data.tables import plain_records
from arena.data.wording import count_of
from arena.llm import Usage
from arena.quality.bias import length_differences
from arena.quality.cycles import cycles
from arena.rating.traits import LENGTH, answer_traits
from surrogate.board.metaevaluations import MetaEvaluation
from surrogate_arena.papers.pair_accuracy import SCORES, Estimate, score_pairs
from surrogate_arena.papers.pairs.gold_pairs import GoldPairs
from surrogate_arena.papers.pairs.judges import NOT_RECORDED
from surrogate_arena.papers.reports import (
    BY_JUDGE,
    NO_VALUE,
    Report,
    ReportTable,
    failure_notes,
    judge_labels,
    judges_of,
    judges_table,
    metaevaluations,
    named,
    scores_by_part,
    verdict_counts,
)
from surrogate_arena.papers.settings import MetaevalSettings
from surrogate_arena.papers.soft_accuracy import FEWEST_SYSTEMS, soft_pairwise_accuracy

ALL = "all"
"""Name of the row of all splits together."""
PARTS = ("", "_standard_error", "_low", "_high", "_n")
"""Ends of the columns of a score, in the order of the fields of ``Estimate``."""
SOFT = "soft_pairwise_accuracy"
COUNTS = ["n", "failures", "not_asked"]
PAIR_SCORE_COLUMNS = [*BY_JUDGE, "split", *(f"{name}{end}" for name in SCORES for end in PARTS)]
RANKED_COLUMNS = [
    *BY_JUDGE,
    *(f"{SOFT}{end}" for end in PARTS),
    "triples",
    "circular",
    "expected_circular",
]
_HEADINGS = {
    "consistent_accuracy": "right in both orders",
    "accuracy": "right",
    SOFT: "soft pairwise",
    "flip_rate": "flips",
    "share_a": "side A",
    "share_longer": "longer answer",
    "tie_share": "ties",
}


def pair_report(
    gold: GoldPairs, verdicts: pd.DataFrame, settings: MetaevalSettings, usages: Sequence[Usage]
) -> Report:
    """Report on judges of pairs.

    Args:
        gold: The pairs.
        verdicts: As of ``Evaluation``, with the ``question`` and the ``pair`` of each.
        settings: Replicates and seed of the bootstrap.
        usages: What LLMs used.
    """
    scored = verdicts.assign(longer_on_a=_longer_on_a(gold, verdicts))

    def score(rows: pd.DataFrame, _: str) -> dict[str, Any]:
        return {**_scores_of(rows, settings), **verdict_counts(rows)}

    columns = [*PAIR_SCORE_COLUMNS, *COUNTS]
    scores = scores_by_part(scored, "split", score, columns, total=ALL)
    totals = scores[scores["split"] == ALL].reset_index(drop=True)
    rankings = _rankings(gold, verdicts, settings)
    tables = [_accuracy_table(totals, rankings, gold, verdicts), _habit_table(totals, rankings)]
    if scores["split"].nunique() > 2:
        tables.append(_split_table(scores))
    content = {
        "data": gold.name,
        "reference": list(gold.reference),
        "skipped": dict(gold.skipped),
        "scores": plain_records(scores),
        "rankings": plain_records(rankings),
    }
    entries = _metaevaluations(totals, rankings, gold)
    return Report(content, tables, entries, usages, prompts_per_item=2, items="pairs")


def _scores_of(rows: pd.DataFrame, settings: MetaevalSettings) -> dict[str, float]:
    """Score the verdicts that a judge was asked for; columns of ``PAIR_SCORE_COLUMNS``."""
    judged = rows[rows["was_asked"].astype(bool)]
    judged = judged.assign(winner=judged["value"], better_on_a=judged["truth"] == "a")
    scores: dict[str, float] = {}
    for name, estimate in score_pairs(judged, settings.replicates, settings.seed).items():
        scores.update(_columns_of(name, estimate))
    return scores


def _columns_of(name: str, estimate: Estimate) -> dict[str, float]:
    """Return the columns of a score."""
    columns = [f"{name}{end}" for end in PARTS]
    return dict(zip(columns, vars(estimate).values(), strict=True))


def _longer_on_a(gold: GoldPairs, verdicts: pd.DataFrame) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return 1 where the answer on side A is the longer one, -1 the other; 0 if equal or absent."""
    sides = verdicts.rename(columns={"system_a": "first", "system_b": "second"})
    differences = length_differences(sides, answer_traits(gold.arena.answers)[LENGTH])
    return np.sign(np.nan_to_num(differences, nan=0.0))


def _rankings(gold: GoldPairs, verdicts: pd.DataFrame, settings: MetaevalSettings) -> pd.DataFrame:
    """Compare rankings of systems with the reference, and count circles; none for tables."""
    arena = gold.arena
    votes = arena.judgments[arena.judgments["judge"].isin(gold.reference)]
    if len(arena.info.systems) < FEWEST_SYSTEMS or votes.empty:
        return pd.DataFrame(columns=RANKED_COLUMNS)
    rows = []
    for (judge, prompt), judge_verdicts in judges_of(verdicts).items():
        judged = judge_verdicts[judge_verdicts["value"].notna()]
        judged = judged.rename(columns={"value": "winner"})
        if judged.empty:
            continue
        estimate = soft_pairwise_accuracy(judged, votes, settings.replicates, settings.seed)
        circles = cycles(judged)
        row = {"judge": judge, "prompt": prompt, **_columns_of(SOFT, estimate)}
        row["triples"] = circles.triples
        row["circular"] = circles.circular
        row["expected_circular"] = circles.expected
        rows.append(row)
    return pd.DataFrame(rows, columns=RANKED_COLUMNS)


def _accuracy_table(
    totals: pd.DataFrame, rankings: pd.DataFrame, gold: GoldPairs, verdicts: pd.DataFrame
) -> ReportTable:
    """Show how right judges are, and say what is missing."""
    table = named(totals)[["judge"]]
    judged = verdicts[verdicts["was_asked"].astype(bool)]
    n_pairs = judged.groupby(BY_JUDGE)["pair"].nunique()
    judges = pd.MultiIndex.from_frame(totals[BY_JUDGE])
    table["pairs"] = n_pairs.reindex(judges, fill_value=0).to_numpy()
    for name in ("consistent_accuracy", "accuracy"):
        table[_HEADINGS[name]] = _cells(totals, name)
    if rankings[SOFT].notna().any():
        ranked = totals[BY_JUDGE].merge(rankings, on=BY_JUDGE, how="left")
        table[_HEADINGS[SOFT]] = _cells(ranked, SOFT)
    source = f"by {', '.join(gold.reference)}" if gold.reference else "by the data"
    title = f"The better answer ({source}), percent with 95% intervals over questions"
    notes = ["Right: a tie counts one half; a reply without a verdict is wrong in both columns."]
    if _HEADINGS[SOFT] in table:
        notes.append("Soft pairwise: agreement on which of two systems is surely better (WMT24).")
    notes += [f"Left out: {count_of(n, 'pair')}: {why}" for why, n in gold.skipped.items()]
    return ReportTable(title, table, [*notes, *_missing_notes(totals, verdicts)])


def _split_table(scores: pd.DataFrame) -> ReportTable:
    """Show how right judges are on each split: in both orders, where pairs were asked in both."""
    name = "consistent_accuracy"
    title = "Right in both orders, percent of pairs with standard errors, by split"
    if scores[name].isna().all():
        name = "accuracy"
        title = "Right, percent of verdicts with standard errors, by split"
    values = scores.assign(
        value=scores[name], standard_error=scores[f"{name}_standard_error"], reason=None
    )
    return judges_table(values, "split", title)


def _habit_table(totals: pd.DataFrame, rankings: pd.DataFrame) -> ReportTable:
    """Show habits of judges that have nothing to do with quality."""
    table = named(totals)[["judge"]]
    for name in ("flip_rate", "share_a", "share_longer", "tie_share"):
        table[_HEADINGS[name]] = _cells(totals, name)
    if rankings["triples"].any():
        ranked = totals[BY_JUDGE].merge(rankings, on=BY_JUDGE, how="left")
        counts = ranked[["circular", "triples", "expected_circular"]].to_numpy(dtype=float)
        table["circles"] = [_circles(*row) for row in counts]
    notes = [
        "Side A, longer answer: percent of decided verdicts, as if the better answer stood on "
        "either side, and were the longer one, equally often: 50 without a preference."
    ]
    if "circles" in table:
        notes.append("Circles: A over B over C over A, of triples; in brackets by the ratings.")
    return ReportTable("Habits, percent with 95% intervals over questions", table, notes)


def _circles(circular: float, triples: float, expected: float) -> str:
    if not triples > 0:
        return NO_VALUE
    return f"{circular:.0f} of {triples:.0f} ({expected:.0f})"


def _cells(table: pd.DataFrame, name: str) -> list[str]:
    """Show a score and its interval in percent."""
    columns = [name, f"{name}_low", f"{name}_high"]
    return [_cell(*row) for row in table[columns].to_numpy(dtype=float)]


def _cell(value: float, low: float, high: float) -> str:
    if not np.isfinite(value):
        return NO_VALUE
    if not np.isfinite(low):
        return f"{100 * value:.1f}"
    return f"{100 * value:.1f} ({100 * low:.0f}–{100 * high:.0f})"


def _missing_notes(totals: pd.DataFrame, verdicts: pd.DataFrame) -> list[str]:
    """Say which verdicts are missing, and where no pair was asked in both orders."""
    names = judge_labels(totals)
    notes = []
    for row in totals.to_dict("records"):
        name = names[row["judge"], row["prompt"]]
        if row["consistent_accuracy_n"] == 0:
            notes.append(f"{name}: no pair in both orders, so flips are not known")
        if row["failures"]:
            failed = count_of(row["failures"], "verdict")
            notes.append(f"{name}: {failed} without a winner, counted as wrong")
        if row["not_asked"]:
            orders = count_of(row["not_asked"], "order of a pair", "orders of pairs")
            notes.append(f"{name}: {orders} without a reply or a record, left out")
    reasons = verdicts[verdicts["failure"] != NOT_RECORDED]
    return [*notes, *failure_notes(reasons, names)]


def _metaevaluations(
    totals: pd.DataFrame, rankings: pd.DataFrame, gold: GoldPairs
) -> list[MetaEvaluation]:
    """Sum up the main scores for an arena's ``metaevaluation.json``."""
    languages = sorted(set(gold.pairs["language"]))
    entries: list[MetaEvaluation] = []
    for table, name in (
        (totals, "consistent_accuracy"),
        (totals, "accuracy"),
        (rankings.assign(failures=0), SOFT),
    ):
        rows: list[Mapping[Any, Any]] = []
        for row in table.to_dict("records"):
            score = {
                "value": row[name],
                "standard_error": row[f"{name}_standard_error"],
                "n": int(row[f"{name}_n"]),
            }
            rows.append({**row, **score})
        entries += metaevaluations(rows, gold.name, name, languages)
    return entries
