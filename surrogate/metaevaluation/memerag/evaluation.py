"""MEMERAG as a benchmark of judges: what they judge, and what there is to report of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from arena.data.errors import UsageError
from arena.data.rows import plain_records
from arena.data.wording import count_of
from surrogate.metaevaluation.judges import Judge
from surrogate.metaevaluation.memerag.comparison import (
    PERMUTATIONS,
    JudgeComparison,
    mark_best,
    with_prompts,
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
    REPLICATES,
    average_over_judges,
    fine_grained_accuracy,
    memerag_metaevaluations,
    score_judges,
)
from surrogate.metaevaluation.memerag.tables import (
    average_table,
    fine_grained_tables,
    left_out,
    prompt_table,
    score_table,
)
from surrogate.metaevaluation.report import Report, ReportTable, spaced
from surrogate.metaevaluation.runner import (
    LEXICAL,
    PYTHON,
    Evaluation,
    JudgeKind,
    judge_items,
    verdict_columns,
)


@dataclass(frozen=True)
class Memerag:
    """Sentences that people could label, for judges of faithfulness (section 5.1).

    Verdicts have the columns ``SENTENCE_KEY``, ``factuality``, ``fine_grained_factuality``, and
    the label that the judge gives as ``value``.

    Attributes:
        sentences: As ``read_memerag`` returns them.
        limit: Judge the first so many sentences of each language; None for all.
        prompts: How LLMs given by name are asked; with several, each is a judge of its own.
    """

    sentences: pd.DataFrame
    limit: int | None = None
    prompts: Sequence[FaithfulnessPrompts] = (FaithfulnessPrompts(),)

    @property
    def kinds(self) -> Sequence[JudgeKind]:
        """LLMs, NLI models, the two judges without a model, and functions."""
        return (
            JudgeKind(
                "llm:MODEL",
                lambda model, make: [make.llm(prompts, model) for prompts in self.prompts],
            ),
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
        fine_grained: bool = False,
    ) -> Report:
        """Report balanced accuracy by language, best judges marked.

        Where a judge was asked with several prompts, the best judge of each prompt is marked, and
        in a table of prompts the best prompt of each judge; prompts that several judges were given
        are averaged over judges.

        Args:
            evaluation: What came of ``evaluate_judges``.
            replicates: Bootstrap replicates of standard errors.
            permutations: Random swaps of each significance test.
            seed: Seed of both.
            fine_grained: Show the accuracy by fine-grained label as well.
        """
        verdicts = evaluation.verdicts
        plain = score_judges(verdicts, replicates, seed)
        chosen = with_prompts(plain)
        within = [] if chosen.empty else ["prompt"]
        scores = mark_best(plain, verdicts, permutations, seed, within)
        of_prompts = mark_best(chosen, verdicts, permutations, seed, ["judge"])
        averages = average_over_judges(verdicts, replicates, seed)
        fine = fine_grained_accuracy(verdicts)
        challenging = int((self.sentences["factuality"] == CHALLENGING).sum())
        content = {
            "scores": plain_records(scores),
            "prompts": plain_records(of_prompts),
            "averages": plain_records(averages),
            "fine_grained": plain_records(fine),
            "challenging": challenging,
            "notice": NOTICE,
        }
        column = "column and prompt" if within else "column"
        tables = [
            score_table(scores, column, left_out(plain, challenging)),
            *([] if of_prompts.empty else [prompt_table(of_prompts)]),
            *([] if averages.empty else [average_table(averages)]),
            *(fine_grained_tables(fine, plain) if fine_grained else ()),
        ]
        entries = memerag_metaevaluations(scores)
        return Report(content, tables, entries, evaluation.usages)


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
    note = f"{count_of(left_out, 'sentence')} left out, which one of the two was not asked about"
    return ReportTable(
        f"A: {' '.join(comparison.judge_a)}   B: {' '.join(comparison.judge_b)}",
        [spaced(name) for name in columns],
        [list(row) for row in table[columns].itertuples(index=False, name=None)],
        [note] if left_out else [],
    )
