"""MEMERAG as a benchmark of judges: what they judge, and what there is to report of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from arena.data.errors import UsageError
from arena.data.rows import plain_records
from arena.statistics.agreement import AgreementReport
from arena.statistics.raters import Coefficient
from surrogate.metaevaluation.judges import Judge
from surrogate.metaevaluation.memerag.comparison import (
    DAGGER,
    PERMUTATIONS,
    JudgeComparison,
    mark_best,
)
from surrogate.metaevaluation.memerag.grounding import GroundingJudge
from surrogate.metaevaluation.memerag.judges import (
    Claim,
    FaithfulnessPrompts,
    NliJudge,
)
from surrogate.metaevaluation.memerag.reading import CHALLENGING, JUDGED, SENTENCE_KEY
from surrogate.metaevaluation.memerag.run_file import NOTICE
from surrogate.metaevaluation.memerag.scores import (
    MACRO,
    REPLICATES,
    fine_grained_accuracy,
    memerag_metaevaluations,
    score_judges,
)
from surrogate.metaevaluation.report import (
    NO_VALUE,
    Report,
    ReportTable,
    judge_rows,
    left_out_notes,
    no_value_notes,
    percent_with_error,
    spaced,
)
from surrogate.metaevaluation.runner import (
    LEXICAL,
    PYTHON,
    Evaluation,
    JudgeKind,
    judge_items,
    verdict_columns,
)

_COEFFICIENTS = ("ac1", "fleiss_kappa", "krippendorff_alpha", "percent_agreement")


@dataclass(frozen=True)
class Memerag:
    """Sentences that people could label, for judges of faithfulness (section 5.1).

    Verdicts have the columns ``SENTENCE_KEY``, ``factuality``, ``fine_grained_factuality``, and
    the label that the judge gives as ``value``.

    Attributes:
        sentences: As ``read_memerag`` returns them.
        limit: Judge the first so many sentences of each language; None for all.
        prompts: How LLMs given by name are asked.
    """

    sentences: pd.DataFrame
    limit: int | None = None
    prompts: FaithfulnessPrompts = field(default_factory=FaithfulnessPrompts)

    @property
    def kinds(self) -> Sequence[JudgeKind]:
        """LLMs, NLI models, the two judges without a model, and functions."""
        return (
            JudgeKind("llm:MODEL", lambda model, factory: factory.llm(self.prompts, model)),
            JudgeKind(
                "nli:MODEL_OR_FOLDER", lambda model, make: NliJudge(model, make.options.models)
            ),
            LEXICAL,
            JudgeKind("grounding", lambda _, __: GroundingJudge()),
            PYTHON,
        )

    def verdicts(self, judge: Judge[Claim]) -> pd.DataFrame:
        """Let a judge judge every sentence that is not challenging to determine."""
        judged = self._judged()
        columns = ["language", "query", "passages", "answer", "sentence"]
        claims = [Claim(*row) for row in judged[columns].itertuples(index=False, name=None)]
        verdicts = verdict_columns(judge_items(judge, claims, "sentences"))
        known = judged[[*SENTENCE_KEY, "factuality", "fine_grained_factuality"]]
        return known.assign(**verdicts)

    def _judged(self) -> pd.DataFrame:
        known = self.sentences[self.sentences["factuality"].isin(JUDGED)]
        if self.limit is not None:
            known = known.groupby("language", sort=False).head(self.limit)
        if known.empty:
            raise UsageError(
                f"there is no sentence to judge; some must be labeled {' or '.join(JUDGED)}"
            )
        return known.reset_index(drop=True)

    def report(
        self,
        evaluation: Evaluation,
        replicates: int = REPLICATES,
        permutations: int = PERMUTATIONS,
        seed: int = 0,
    ) -> Report:
        """Report balanced accuracy by language, best judges marked.

        Args:
            evaluation: What came of ``evaluate_judges``.
            replicates: Bootstrap replicates of standard errors.
            permutations: Random swaps of each significance test.
            seed: Seed of both.
        """
        verdicts = evaluation.verdicts
        scores = mark_best(score_judges(verdicts, replicates, seed), verdicts, permutations, seed)
        challenging = int((self.sentences["factuality"] == CHALLENGING).sum())
        undecided = int(self.sentences["factuality"].isna().sum())
        content = {
            "scores": plain_records(scores),
            "fine_grained": plain_records(fine_grained_accuracy(verdicts)),
            "challenging": challenging,
            "without_majority": undecided,
            "notice": NOTICE,
        }
        table = _score_table(scores, _notes(scores, challenging, undecided))
        entries = memerag_metaevaluations(scores)
        return Report(content, [table], entries, evaluation.usages)


def _score_table(scores: pd.DataFrame, notes: Sequence[str]) -> ReportTable:
    sentences = scores.loc[scores["language"] == MACRO, "sentences"]
    rows = judge_rows(scores, "language", _score)
    return ReportTable(
        "Balanced accuracy in percent, with standard errors",
        ["judge", "prompt", *scores["language"].drop_duplicates(), "sentences"],
        [[*row, count] for row, count in zip(rows, sentences, strict=True)],
        notes,
    )


def _score(row: Mapping[Any, Any]) -> str:
    shown = percent_with_error(row["balanced_accuracy"], row["standard_error"])
    return f"{shown} {DAGGER}" if row["mark"] == DAGGER else shown


def _notes(scores: pd.DataFrame, challenging: int, undecided: int) -> list[str]:
    notes = []
    if (scores["mark"] == DAGGER).any():
        notes.append(f"{DAGGER} not statistically different from the best of its column (p > 0.05)")
    notes.append(f"Left out: {challenging} sentences that are challenging to determine")
    if undecided:
        notes.append(f"Left out: {undecided} sentences without a majority of labels")
    for row in scores[scores["language"] == MACRO].to_dict(orient="records"):
        notes += [f"{row['judge']}: {note}" for note in left_out_notes(row, "sentences", "label")]
    return notes + no_value_notes(scores["reason"])


def comparison_report(comparisons: Sequence[JudgeComparison]) -> Report:
    """Report the tests of pairs of judges, see ``compare_judges``."""
    content = [
        {
            "judge_a": dict(zip(("judge", "prompt"), comparison.judge_a, strict=True)),
            "judge_b": dict(zip(("judge", "prompt"), comparison.judge_b, strict=True)),
            "left_out": comparison.left_out,
            "languages": plain_records(comparison.table),
        }
        for comparison in comparisons
    ]
    return Report(
        {"comparisons": content}, [_comparison_table(comparison) for comparison in comparisons]
    )


def _comparison_table(comparison: JudgeComparison) -> ReportTable:
    table, left_out = comparison.table, comparison.left_out
    columns = [name for name in table if name != "reason" or table[name].notna().any()]
    note = f"{left_out} sentences left out, which one of the two was not asked about"
    return ReportTable(
        f"A: {' '.join(comparison.judge_a)}   B: {' '.join(comparison.judge_b)}",
        [spaced(name) for name in columns],
        [list(row) for row in table[columns].itertuples(index=False, name=None)],
        [note] if left_out else [],
    )


def ratings_report(
    reports: Sequence[tuple[Path, AgreementReport]], field_name: str, coarse: bool
) -> Report:
    """Report how far people agree in each file, see ``read_ratings`` and ``agreement_report``."""
    files = [{"file": str(path)} | report.as_json() for path, report in reports]
    rows = [
        [path.name, report.items, report.items_with_pairs, report.raters]
        + [_with_interval(report.coefficients[name]) for name in _COEFFICIENTS]
        for path, report in reports
    ]
    labels = dict.fromkeys(str(label) for _, report in reports for label in report.categories)
    notes = [f"Labels: {', '.join(labels)}"]
    for path, report in reports:
        reasons = dict.fromkeys(coefficient.reason for coefficient in report.coefficients.values())
        notes += [f"{path.name}: {reason}" for reason in reasons if reason]
    level = "coarse" if coarse else "as labeled"
    table = ReportTable(
        f"Agreement on {field_name}, {level} (95% interval)",
        ["file", "items", "with pairs", "raters", *map(spaced, _COEFFICIENTS)],
        rows,
        notes,
    )
    return Report({"field": field_name, "coarse": coarse, "files": files}, [table])


def _with_interval(coefficient: Coefficient) -> str:
    if coefficient.reason:
        return NO_VALUE
    return f"{coefficient.value:.3f} [{coefficient.low:.3f}, {coefficient.high:.3f}]"
