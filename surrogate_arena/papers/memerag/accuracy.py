"""How right judges are on MEMERAG, and which of them are better: balanced accuracy and tests.

``BAcc = (TP / (TP + FN) + TN / (TN + FP)) / 2`` (appendix F); languages weigh alike (section 5.1).
A judge that gave no label was wrong; sentences it was not asked about are left out.

Two judges are compared by a paired permutation test (appendix E). Swapping two verdicts on a
sentence changes the difference in balanced accuracy by a fixed amount: a replicate is a sum of
these amounts with random signs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.types import Floats
from arena.statistics.bootstrap import generator, resampled_sums
from surrogate_arena.papers.memerag.sentences import (
    FINE_LABELS,
    JUDGED,
    JUDGED_RELEVANCE,
    SENTENCE_KEY,
)
from surrogate_arena.papers.reports import BY_JUDGE, judges_of, standard_error, verdict_counts

MACRO = "macro"
REPLICATES = 1000
PERMUTATIONS = 10_000
SIGNIFICANCE = 0.05
BEST, DAGGER = "best", "†"


class _Estimate(NamedTuple):
    """The value, its bootstrap replicates, and why there is none."""

    value: float
    replicates: Floats
    reason: str | None = None

    def row(self) -> dict[str, object]:
        # A draw without a sentence of one label has no balanced accuracy.
        error = standard_error(self.replicates)
        return {"value": self.value, "standard_error": error, "reason": self.reason}


def score_judges(
    verdicts: pd.DataFrame, replicates: int = REPLICATES, seed: int = 0
) -> pd.DataFrame:
    """Compute balanced accuracy of each judge, with bootstrap errors; judges share the draws.

    There is a row per language, and one for ``macro``, the mean of the languages. A value is
    missing, with a reason, where a language lacks sentences of one label.
    """
    labels = _judged_labels(verdicts)
    rows = []
    for (judge, prompt), judge_verdicts in judges_of(verdicts).items():
        for language, estimate in _estimates(judge_verdicts, labels, replicates, seed).items():
            row = {"judge": judge, "prompt": prompt, "language": language}
            counts = verdict_counts(_of_language(judge_verdicts, language))
            rows.append({**row, **estimate.row(), **counts})
    return pd.DataFrame(rows)


def _of_language(verdicts: pd.DataFrame, language: str) -> pd.DataFrame:
    if language == MACRO:
        return verdicts
    return verdicts[verdicts["language"] == language]


def average_over_judges(
    verdicts: pd.DataFrame, replicates: int = REPLICATES, seed: int = 0
) -> pd.DataFrame:
    """Average the balanced accuracy that several judges reach with the same prompt (table 11).

    Judges share the draws of the bootstrap.
    """
    labels = _judged_labels(verdicts)
    rows = []
    with_prompt = verdicts[verdicts["prompt"] != ""]
    for prompt, prompt_verdicts in with_prompt.groupby("prompt", sort=False):
        judges = judges_of(prompt_verdicts).values()
        if len(judges) < 2:
            continue
        estimates_by_judge = [_estimates(part, labels, replicates, seed) for part in judges]
        for language in estimates_by_judge[0]:
            # A judge need not have been asked about every language.
            estimates = [judge[language] for judge in estimates_by_judge if language in judge]
            row = {"prompt": prompt, "language": language, "judges": len(estimates)}
            rows.append({**row, **_mean(estimates).row()})
    return pd.DataFrame(rows)


def _judged_labels(verdicts: pd.DataFrame) -> tuple[str, str]:
    if verdicts["truth"].isin(JUDGED_RELEVANCE).any():
        return JUDGED_RELEVANCE
    return JUDGED


def _estimates(
    verdicts: pd.DataFrame, labels: Sequence[str], replicates: int, seed: int
) -> dict[str, _Estimate]:
    estimates = {}
    for language, part in verdicts.groupby("language", sort=False):
        estimates[str(language)] = _estimate(part, labels, replicates, seed)
    # Section 5.1: languages weigh alike, however many sentences they have.
    estimates[MACRO] = _mean(list(estimates.values()))
    return estimates


def _estimate(
    verdicts: pd.DataFrame, labels: Sequence[str], replicates: int, seed: int
) -> _Estimate:
    judged = verdicts[verdicts["was_asked"]]
    language = str(verdicts["language"].iloc[0])
    absent = [label for label in labels if label not in set(judged["truth"])]
    if absent:
        reason = f"no sentence of {language} that was judged is labeled {absent[0]}"
        return _Estimate(np.nan, np.full(replicates, np.nan), reason)
    is_positive = (judged["truth"] == labels[0]).to_numpy()
    is_correct = (judged["value"] == judged["truth"]).to_numpy()
    # Sums of these four columns give TP + FN, TP, TN + FP and TN (appendix F).
    columns = [is_positive, is_positive & is_correct, ~is_positive, ~is_positive & is_correct]
    parts: Floats = np.column_stack(columns).astype(np.float64)
    # The seed names no judge: all judges share the draws, so their differences are paired.
    random = generator(seed, "balanced accuracy", "sentence", language)
    value = float(_balanced(parts.sum(axis=0)[None])[0])
    return _Estimate(value, _balanced(resampled_sums(parts, replicates, random)))


def _balanced(sums: Floats) -> Floats:
    # BAcc = (TP / (TP + FN) + TN / (TN + FP)) / 2 (appendix F), shape (draws,).
    with np.errstate(invalid="ignore"):
        balanced: Floats = (sums[:, 1] / sums[:, 0] + sums[:, 3] / sums[:, 2]) / 2
    return balanced


def _mean(estimates: Sequence[_Estimate]) -> _Estimate:
    reasons = [estimate.reason for estimate in estimates if estimate.reason]
    return _Estimate(
        value=float(np.mean([estimate.value for estimate in estimates])),
        replicates=np.mean([estimate.replicates for estimate in estimates], axis=0),
        reason=reasons[0] if reasons else None,
    )


def fine_grained_accuracy(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Compute the accuracy of each judge by fine-grained label, in the order of table 4.

    ``share_of_errors`` is the label's share of the judge's errors on sentences of the same coarse
    label.
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
    """Tell how the errors of each judge are spread over fine-grained labels (figure 5)."""
    fine = fine_grained_accuracy(verdicts)
    counts = fine.groupby([*BY_JUDGE, "fine"], sort=False)[["sentences", "errors"]].sum()
    totals = counts.groupby(BY_JUDGE, sort=False)["errors"].transform("sum")
    return counts.assign(share=counts["errors"] / totals.where(totals > 0)).reset_index()


def compare_judges(
    verdicts_a: pd.DataFrame,
    verdicts_b: pd.DataFrame,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> pd.DataFrame:
    """Test whether two judges differ in balanced accuracy, by language and on average.

    Sentences count that both were asked about. P-values are two-sided; NaN where no sentence has
    one of the labels.
    """
    rows = []
    for language, terms in _difference_terms(verdicts_a, verdicts_b).items():
        p_value = permutation_p_value(terms, permutations, seed, language)
        row = {"language": language, "difference": terms.sum(), "p_value": p_value}
        rows.append({**row, "sentences": len(terms)})
    return pd.DataFrame(rows)


def _difference_terms(verdicts_a: pd.DataFrame, verdicts_b: pd.DataFrame) -> dict[str, Floats]:
    """Return what each sentence adds to the difference in balanced accuracy (appendix E).

    By language, and for ``macro``; NaN where no sentence has one of the labels.
    """
    joint = _joint(verdicts_a, verdicts_b)
    labels = set(_judged_labels(verdicts_a))
    terms_by_language: dict[str, Floats] = {}
    for language, part in joint.groupby("language", sort=False):
        # Balanced accuracy is half the mean per true label, so a sentence moves the difference by
        # 1 / (2 * sentences with its label); swapping its verdicts changes the sign (appendix E).
        gains = part["correct_a"].astype(float) - part["correct_b"].astype(float)
        sizes = part.groupby("truth_a")["correct_a"].transform("size")
        terms = 0.5 * gains / sizes
        if not labels <= set(part["truth_a"]):
            # Balanced accuracy is not defined without sentences of both labels.
            terms = gains * np.nan
        terms_by_language[str(language)] = terms.to_numpy()
    all_terms = np.concatenate(list(terms_by_language.values()))
    return {**terms_by_language, MACRO: all_terms / len(terms_by_language)}


def permutation_p_value(terms: Floats, permutations: int, seed: int, key: str) -> float:
    """Return the two-sided p-value of a sum whose terms may have either sign.

    NaN where a term is. Each ``key`` has random numbers of its own.
    """
    if np.isnan(terms).any():
        return float("nan")
    # Swapping equal verdicts changes nothing: only sentences that differ count.
    moving = terms[terms != 0]
    if not len(moving):
        return 1.0
    random = generator(seed, "permutation test", key)
    # The identity must count as a hit although sums of floats differ in their last digits.
    rounding = 1e-12
    observed = abs(moving.sum()) - rounding
    # In parts, so that signs of shape (permutations, sentences) fit into memory.
    cells_at_once = 4_000_000
    at_once = max(1, cells_at_once // len(moving))
    hits = 0
    for start in range(0, permutations, at_once):
        size = min(at_once, permutations - start)
        signs = random.integers(0, 2, size=(size, len(moving)), dtype=np.int8) * 2.0 - 1.0
        hits += int((np.abs(signs @ moving) >= observed).sum())
    return (1 + hits) / (1 + permutations)


def mark_best(
    scores: pd.DataFrame,
    verdicts: pd.DataFrame,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    within: Sequence[str] = (),
) -> pd.DataFrame:
    """Mark in each language, and on average, the best judge and those that may be as good.

    Scores get a ``p_value`` of the test against the best, and a ``mark``: ``best``, ``†`` where p >
    0.05, or nothing. ``within`` names columns of groups: ``["judge"]`` finds the best prompt of
    each model (table 5), ``["prompt"]`` the best model with each prompt (figure 2).
    """
    verdicts_by_judge = judges_of(verdicts)
    marked = scores.assign(p_value=float("nan"), mark="")
    # Each group has a best judge of its own, which the others of the group are tested against.
    for (language, *_), rows in scores.groupby(["language", *within], sort=False):
        scored = rows[rows["value"].notna()]
        if len(scored) < 2:
            continue
        parts = {}
        for index, judge, prompt in scored[BY_JUDGE].itertuples():
            parts[index] = _of_language(verdicts_by_judge[judge, prompt], language)
        best = scored["value"].idxmax()
        marked.loc[best, "mark"] = BEST
        for other in scored.index.drop(best):
            terms = _difference_terms(parts[best], parts[other])[language]
            p_value = permutation_p_value(terms, permutations, seed, language)
            marked.loc[other, "p_value"] = p_value
            if p_value > SIGNIFICANCE:
                marked.loc[other, "mark"] = DAGGER
    return marked


def with_prompts(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of judges that were asked with several prompts."""
    return scores[scores.groupby("judge")["prompt"].transform("nunique") > 1]


def _joint(verdicts_a: pd.DataFrame, verdicts_b: pd.DataFrame) -> pd.DataFrame:
    parts = []
    for verdicts in (verdicts_a, verdicts_b):
        judged = verdicts[verdicts["was_asked"].astype(bool)]
        correct = (judged["value"] == judged["truth"]).to_numpy()
        parts.append(judged[[*SENTENCE_KEY, "truth"]].assign(correct=correct))
    joint = parts[0].merge(parts[1], on=SENTENCE_KEY, suffixes=("_a", "_b"))
    if joint.empty:
        raise UsageError("the two judges have no sentence in common; judge the same ones")
    if (joint["truth_a"] != joint["truth_b"]).any():
        raise UsageError("the two judges have other human labels; compare on the same data")
    return joint
