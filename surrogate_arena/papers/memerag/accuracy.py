"""Balanced accuracy of judges on MEMERAG, and tests of which are better.

``BAcc = (TP / (TP + FN) + TN / (TN + FP)) / 2`` (appendix F); languages weigh alike (section 5.1).
A judge that gave no label was wrong; sentences it was not asked about are left out.

A paired permutation test compares judges (appendix E): swapping two judges' verdicts on a unit
changes the sign of its share in their difference. Units of tests and of the bootstrap are
questions; ``as_in_paper`` they are sentences, and p-values are not corrected for the number of
tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.schema import QUESTION_KEY
from arena.data.types import Floats
from arena.statistics.bootstrap import generator, resampled_sums
from arena.statistics.significance import holm_adjusted
from surrogate_arena.papers.memerag.sentences import (
    FINE_LABELS,
    JUDGED,
    JUDGED_RELEVANCE,
    SENTENCE_KEY,
)
from surrogate_arena.papers.reports import BY_JUDGE, judges_of, verdict_counts
from surrogate_arena.papers.settings import DEFAULTS, MetaevalSettings
from surrogate_arena.studies.scores import spread

MACRO = "macro"
SIGNIFICANCE = 0.05
BEST, DAGGER = "best", "†"


class _Estimate(NamedTuple):
    """The value, its bootstrap replicates, and why there is none."""

    value: float
    replicates: Floats
    reason: str | None = None

    def row(self) -> dict[str, object]:
        # A draw without a sentence of one label has no balanced accuracy.
        error = spread(self.replicates)
        return {"value": self.value, "standard_error": error, "reason": self.reason}


def score_judges(verdicts: pd.DataFrame, settings: MetaevalSettings = DEFAULTS) -> pd.DataFrame:
    """Compute balanced accuracy of each judge, with bootstrap errors over questions.

    Returns:
        Columns ``judge, prompt, language, value, standard_error, reason, n, failures, not_asked``;
        ``macro`` is the mean of the languages. Without sentences of one label there is a reason
        instead of a value.
    """
    rows = []
    for (judge, prompt), judge_verdicts in judges_of(verdicts).items():
        for language, estimate in _estimates(judge_verdicts, settings).items():
            row = {"judge": judge, "prompt": prompt, "language": language}
            part = judge_verdicts
            if language != MACRO:
                part = judge_verdicts[judge_verdicts["language"] == language]
            rows.append({**row, **estimate.row(), **verdict_counts(part)})
    return pd.DataFrame(rows)


def average_over_judges(
    verdicts: pd.DataFrame, settings: MetaevalSettings = DEFAULTS
) -> pd.DataFrame:
    """Average the balanced accuracy that several judges reach with the same prompt (table 11).

    Returns:
        Columns ``prompt, language, judges, value, standard_error, reason``.
    """
    rows = []
    with_prompt = verdicts[verdicts["prompt"] != ""]
    for prompt, part in with_prompt.groupby("prompt", sort=False):
        if part["judge"].nunique() < 2:
            continue
        # A judge need not have been asked about every language.
        n_judges = part.groupby("language")["judge"].nunique().to_dict()
        n_judges[MACRO] = part["judge"].nunique()
        for language, estimate in _estimates(part, settings).items():
            row = {"prompt": prompt, "language": language, "judges": n_judges[language]}
            rows.append({**row, **estimate.row()})
    return pd.DataFrame(rows)


def _units(settings: MetaevalSettings) -> list[str]:
    return list(SENTENCE_KEY if settings.as_in_paper else QUESTION_KEY)


def _estimates(verdicts: pd.DataFrame, settings: MetaevalSettings) -> dict[str, _Estimate]:
    estimates = {}
    for language, part in verdicts.groupby("language", sort=False):
        estimates[str(language)] = _estimate(part, settings)
    reasons = [estimate.reason for estimate in estimates.values() if estimate.reason]
    # Section 5.1: languages weigh alike, however many sentences they have.
    estimates[MACRO] = _Estimate(
        value=float(np.mean([estimate.value for estimate in estimates.values()])),
        replicates=np.mean([estimate.replicates for estimate in estimates.values()], axis=0),
        reason=reasons[0] if reasons else None,
    )
    return estimates


def _estimate(verdicts: pd.DataFrame, settings: MetaevalSettings) -> _Estimate:
    is_relevance = verdicts["truth"].isin(JUDGED_RELEVANCE).any()
    labels = JUDGED_RELEVANCE if is_relevance else JUDGED
    language = str(verdicts["language"].iloc[0])
    judged = verdicts[verdicts["was_asked"]]
    keys = [judged[name] for name in [*_units(settings), *BY_JUDGE]]
    marks = _marks(judged, positive=labels[0])
    counts = marks.groupby(keys, sort=False).sum().unstack(BY_JUDGE, fill_value=0)
    for label, name in zip(labels, ("positive", "negative"), strict=True):
        if counts.empty or not counts[name].sum().all():
            reason = f"no sentence of {language} that was judged is labeled {label}"
            return _Estimate(np.nan, np.full(settings.replicates, np.nan), reason)
    random = generator(settings.seed, "balanced accuracy", "sentence", language)
    resampled = resampled_sums(counts, settings.replicates, random)
    sums = pd.DataFrame(resampled, columns=counts.columns)
    value = float(_mean_balanced(counts.sum().to_frame().T)[0])
    return _Estimate(value, _mean_balanced(sums))


def _marks(judged: pd.DataFrame, positive: str) -> pd.DataFrame:
    """Return columns that sum to TP + FN, TP, TN + FP and TN (appendix F)."""
    is_positive = judged["truth"] == positive
    is_correct = judged["value"] == judged["truth"]
    columns = {
        "positive": is_positive,
        "true_positive": is_positive & is_correct,
        "negative": ~is_positive,
        "true_negative": ~is_positive & is_correct,
    }
    return pd.DataFrame(columns)


def _mean_balanced(sums: pd.DataFrame) -> Floats:
    # BAcc = (TP / (TP + FN) + TN / (TN + FP)) / 2 (appendix F); a draw without one label has none.
    recall = sums["true_positive"] / sums["positive"]
    specificity = sums["true_negative"] / sums["negative"]
    return np.asarray(((recall + specificity) / 2).mean(axis=1, skipna=False), dtype=np.float64)


def fine_grained_accuracy(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Compute the accuracy of each judge by fine-grained label, in the order of table 4.

    ``share_of_errors`` is the label's share of the judge's errors on sentences of the same coarse
    label.

    Returns:
        Columns ``judge, prompt, language, truth, fine, sentences, errors, accuracy,
        share_of_errors``.
    """
    judged = verdicts[verdicts["was_asked"] & verdicts["fine"].notna()]
    judged = judged.assign(wrong=judged["value"] != judged["truth"])
    groups = [*BY_JUDGE, "language", "truth"]
    table = judged.groupby([*groups, "fine"], sort=False)["wrong"].agg(["size", "sum"])
    table = table.rename(columns={"size": "sentences", "sum": "errors"}).reset_index()
    # A judge without an error has no shares: where() turns its total of 0 into a missing value.
    totals = table.groupby(groups, sort=False)["errors"].transform("sum")
    table = table.assign(
        accuracy=1 - table["errors"] / table["sentences"],
        share_of_errors=table["errors"] / totals.where(totals > 0),
        group=table.groupby(groups, sort=False).ngroup(),
        label_index=table["fine"].map(FINE_LABELS.index),
    )
    table = table.sort_values(["group", "label_index"], ignore_index=True)
    return table.drop(columns=["group", "label_index"])


def error_shares(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Spread each judge's errors over fine-grained labels (figure 5).

    Returns:
        Columns ``judge, prompt, fine, sentences, errors, share``.
    """
    fine = fine_grained_accuracy(verdicts)
    counts = fine.groupby([*BY_JUDGE, "fine"], sort=False)[["sentences", "errors"]].sum()
    totals = counts.groupby(BY_JUDGE, sort=False)["errors"].transform("sum")
    return counts.assign(share=counts["errors"] / totals.where(totals > 0)).reset_index()


def _correct(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return which judge (columns) was right on which sentence (rows); NaN where not asked."""
    asked = verdicts[verdicts["was_asked"].astype(bool)]
    asked = asked.assign(correct=(asked["value"] == asked["truth"]).astype(float))
    keys = [*SENTENCE_KEY, "truth"]
    correct = asked.set_index([*keys, *BY_JUDGE])["correct"].unstack(BY_JUDGE)
    if correct.index.droplevel("truth").has_duplicates:
        raise UsageError("the judges have other human labels; compare on the same data")
    return correct[list(judges_of(asked))]


def _p_values(
    correct: pd.DataFrame, language: str, settings: MetaevalSettings
) -> dict[tuple[int, int], float]:
    """Return the p-value of every pair of columns; NaN where it is not defined."""
    if language != MACRO:
        correct = correct.xs(language, level="language", drop_level=False)
    units = _units(settings)
    pairs = list(combinations(correct.columns, 2))
    terms = [_difference_terms(correct[list(pair)].dropna(), units) for pair in pairs]
    # Units that one of the judges was not asked about add nothing.
    table = pd.concat(terms, axis=1, sort=True).fillna(0.0)
    random = generator(settings.seed, "permutation test", language)
    p_values = permutation_p_values(table.to_numpy(), settings.permutations, random)
    is_defined = [bool(len(part)) and bool(part.notna().all()) for part in terms]
    p_values = np.where(is_defined, p_values, np.nan)
    if not settings.as_in_paper:
        p_values = holm_adjusted(p_values)
    return dict(zip(pairs, p_values, strict=True))


def _difference_terms(correct: pd.DataFrame, units: list[str]) -> pd.Series:
    """Return what each unit adds to the difference in balanced accuracy (appendix E).

    NaN where a language has no sentence with one of the labels.
    """
    first, second = correct.columns
    gains = correct[first] - correct[second]
    # Balanced accuracy is half the mean per true label, so a sentence moves the difference by
    # 1 / (2 * sentences with its label); swapping its verdicts changes the sign (appendix E).
    n_labels = 2
    by_label = gains.groupby(["language", "truth"])
    n_sentences = by_label.transform("size")
    n_languages = gains.index.get_level_values("language").nunique()
    terms = gains / (n_labels * n_sentences * n_languages)
    if by_label.ngroups < n_labels * n_languages:
        terms *= np.nan
    return terms.groupby(units).sum(min_count=1)


def permutation_p_values(terms: Floats, permutations: int, random: np.random.Generator) -> Floats:
    """Return two-sided p-values of sums, (K,), of terms (N, K) whose signs are random."""
    # The identity must count as a hit although sums of floats differ in their last digits.
    rounding = 1e-12
    observed = np.abs(terms.sum(axis=0)) - rounding
    # In parts, so that signs of shape (permutations, units) fit into memory.
    cells_at_once = 4_000_000
    at_once = max(1, cells_at_once // max(len(terms), 1))
    hits = np.zeros(terms.shape[1])
    for start in range(0, permutations, at_once):
        size = min(at_once, permutations - start)
        signs = random.integers(0, 2, size=(size, len(terms)), dtype=np.int8) * 2.0 - 1.0
        hits += (np.abs(signs @ terms) >= observed).sum(axis=0)
    return np.asarray((1 + hits) / (1 + permutations))


def mark_best(
    scores: pd.DataFrame,
    verdicts: pd.DataFrame,
    settings: MetaevalSettings = DEFAULTS,
    within: Sequence[str] = (),
) -> pd.DataFrame:
    """Mark in each language, and on average, the best judge and those not shown to be worse.

    The same sentences say which judge is best, so p-values are corrected for all pairs of judges.

    Args:
        scores: Result of ``score_judges``.
        verdicts: What was scored.
        settings: ``permutations``, ``seed`` and ``as_in_paper`` count.
        within: Columns of groups: ``["judge"]`` for the best prompt of each model (table 5),
            ``["prompt"]`` for the best model with each prompt (figure 2).

    Returns:
        The scores with a ``p_value`` against the best, and a ``mark``: ``best``, ``†`` where p >
        0.05, or nothing.
    """
    correct = _correct(verdicts)
    marked = scores.assign(p_value=float("nan"), mark="")
    # Each group has a best judge of its own, which the others of the group are tested against.
    for (language, *_), rows in scores.groupby(["language", *within], sort=False):
        scored = rows[rows["value"].notna()]
        if len(scored) < 2:
            continue
        best = scored["value"].idxmax()
        marked.loc[best, "mark"] = BEST
        order = [best, *scored.index.drop(best)]
        judges = list(scored.loc[order, BY_JUDGE].itertuples(index=False, name=None))
        part = correct[judges].set_axis(order, axis=1)
        p_values = _p_values(part, language, settings)
        for (first, other), p_value in p_values.items():
            if first != best:
                continue
            marked.loc[other, "p_value"] = p_value
            if not p_value <= SIGNIFICANCE:
                marked.loc[other, "mark"] = DAGGER
    return marked


def marked_scores(verdicts: pd.DataFrame, settings: MetaevalSettings = DEFAULTS) -> pd.DataFrame:
    """Score judges, and mark the best; of several prompts, those of each prompt, too.

    Returns:
        As ``mark_best``.
    """
    scores = score_judges(verdicts, settings)
    # Figure 2 compares models that have the same prompt.
    within = ["prompt"] if len(with_prompts(scores)) else []
    return mark_best(scores, verdicts, settings, within)


def with_prompts(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of judges that were asked with several prompts."""
    return scores[scores.groupby("judge")["prompt"].transform("nunique") > 1]
