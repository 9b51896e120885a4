"""Relevance as a task of judges: does a sentence have to do with the question (section 5.1)?

The paper invites its readers to judge the dimensions that it does not; relevance has labels for
every sentence, of which two are relevant and one is not (section 3.4). A prompt for it is not
published: this one is ours. Scores are computed as for faithfulness, with relevant as positive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import pandas as pd

from arena.data.errors import UsageError
from arena.data.rows import plain_records
from arena.data.wording import count_of
from arena.llm.replies import UnparsableError
from arena.llm.settings import LlmSettings, Prompt
from arena.text.prompts import PromptTemplate, ReplaceablePrompt, Variable, delimiter_code
from surrogate.metaevaluation.judges import FunctionJudge, Judge, JudgePrompts, Verdict
from surrogate.metaevaluation.memerag.comparison import PERMUTATIONS, mark_best
from surrogate.metaevaluation.memerag.judges import (
    FAITHFULNESS_PROMPT,
    Claim,
    claim_values,
    label_words,
    paper_settings,
)
from surrogate.metaevaluation.memerag.reading import (
    COARSE_OF_RELEVANCE,
    IRRELEVANT,
    NOT_SUPPORTED,
    RELEVANT,
    SENTENCE_KEY,
    SUPPORTED,
)
from surrogate.metaevaluation.memerag.run_file import NOTICE
from surrogate.metaevaluation.memerag.scores import MACRO, REPLICATES, score_judges
from surrogate.metaevaluation.memerag.tables import score_table
from surrogate.metaevaluation.report import (
    Report,
    judges_of,
    left_out_notes,
    metaevaluations,
    no_value_notes,
)
from surrogate.metaevaluation.runner import (
    PYTHON,
    Evaluation,
    JudgeKind,
    judge_items,
    verdict_columns,
)

TASKS = ("faithfulness", "relevance")

DATASET = "memerag-relevance"
LABELS = (RELEVANT, IRRELEVANT)

RELEVANCE_PROMPT = ReplaceablePrompt(
    "relevance",
    "Whether a sentence has to do with the question (MEMERAG, section 3.4): --task relevance",
    "the last <answer>Relevant</answer> or Irrelevant, or one of the three published labels",
    {
        name: Variable(each.meaning, each.sample, name != "context" and each.is_required, each.also)
        for name, each in FAITHFULNESS_PROMPT.variables.items()
    }
    | {"code": Variable("code for delimiters; stands in none of the texts", "samplecode")},
    FAITHFULNESS_PROMPT.package,
    "relevance.v1",
)

_LABEL_OF_WORDS: Mapping[tuple[str, ...], str] = MappingProxyType(
    {
        ("relevant",): RELEVANT,
        ("irrelevant",): IRRELEVANT,
        ("not", "relevant"): IRRELEVANT,
        ("unrelated",): IRRELEVANT,
    }
    | {tuple(fine.casefold().split()): coarse for fine, coarse in COARSE_OF_RELEVANCE.items()}
)


@dataclass(frozen=True, slots=True)
class SentenceInAnswer(Claim):
    """A sentence whose relevance is to be judged, without its human label."""

    def ask(self, judge: FunctionJudge) -> Verdict:
        """Ask for a label, or None where there is none."""
        said = judge.function(self.question, self.passages, self.answer, self.sentence)
        if said is None:
            return Verdict(None, "no_label")
        label = relevance_label(said) if isinstance(said, str) else None
        if label is None:
            expected = f"return {' or '.join(LABELS)}, or None where there is no verdict"
            raise judge.refuse(said, expected)
        return Verdict(label)


@dataclass(frozen=True)
class RelevancePrompts(JudgePrompts[SentenceInAnswer]):
    """How LLMs are asked about relevance.

    Attributes:
        template: What is sent in place of the packaged template.
    """

    template: PromptTemplate | None = None
    retries = 5

    @property
    def version(self) -> str:
        """Name and digest of the template."""
        return (self.template or RELEVANCE_PROMPT.packaged()).version

    def ask(self, item: SentenceInAnswer) -> list[Prompt]:
        """Make the prompt for a sentence."""
        texts = (item.question, *item.passages, item.answer, item.sentence)
        values = {**claim_values(item), "code": delimiter_code(*texts)}
        template = self.template or RELEVANCE_PROMPT.packaged()
        return [Prompt.of(template.fill(values), version=self.version)]

    def settings(self, asked: LlmSettings) -> LlmSettings:
        """Return a model's settings as in the paper: temperature and top_p of 0.1."""
        return paper_settings(asked)

    def read(self, text: str, task: str) -> str:  # noqa: ARG002
        """Read the label of a reply, see ``relevance_label``."""
        label = relevance_label(text)
        if label is None:
            raise UnparsableError(
                f"the reply has no label; expected <answer>{RELEVANT}</answer> or "
                f"<answer>{IRRELEVANT}</answer>"
            )
        return label


def relevance_label(text: str) -> str | None:
    """Read the label of a reply.

    The last ``<answer>`` counts, or the whole reply where no tag was written. It must be a label,
    coarse or one of the paper's three, and nothing else.

    Returns:
        ``Relevant``, ``Irrelevant`` or None.
    """
    words, _ = label_words(text)
    return _LABEL_OF_WORDS.get(tuple(words))


@dataclass(frozen=True)
class MemeragRelevance:
    """Sentences with labels of relevance, for judges of it.

    Verdicts have the columns ``SENTENCE_KEY``, ``relevance`` (coarse), ``fine_grained_relevance``,
    and the label that the judge gives as ``value``.

    Attributes:
        sentences: As ``read_memerag`` returns them.
        limit: Judge the first so many sentences of each language; None for all.
        prompts: How LLMs given by name are asked.
    """

    sentences: pd.DataFrame
    limit: int | None = None
    prompts: RelevancePrompts = field(default_factory=RelevancePrompts)

    @property
    def kinds(self) -> Sequence[JudgeKind]:
        """LLMs and functions."""
        return (
            JudgeKind("llm:MODEL", lambda model, factory: factory.llm(self.prompts, model)),
            PYTHON,
        )

    def verdicts(self, judge: Judge[SentenceInAnswer]) -> pd.DataFrame:
        """Let a judge judge every sentence that has a label."""
        known = self.sentences[self.sentences["relevance"].notna()]
        if self.limit is not None:
            known = known.groupby("language", sort=False).head(self.limit)
        if known.empty:
            raise UsageError("there is no sentence to judge; some must have a label of relevance")
        judged = known.reset_index(drop=True)
        columns = ["language", "query", "passages", "answer", "sentence"]
        items = [
            SentenceInAnswer(*row) for row in judged[columns].itertuples(index=False, name=None)
        ]
        verdicts = verdict_columns(judge_items(judge, items, "sentences"))
        fine = judged["relevance"]
        human = {"relevance": fine.map(COARSE_OF_RELEVANCE), "fine_grained_relevance": fine}
        return judged[SENTENCE_KEY].assign(**human, **verdicts)

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
        scores = relevance_scores(evaluation.verdicts, replicates, permutations, seed)
        unlabeled = int(self.sentences["relevance"].isna().sum())
        content = {
            "task": "relevance",
            "scores": plain_records(scores),
            "without_label": unlabeled,
            "notice": NOTICE,
        }
        notes = [f"Left out: {count_of(unlabeled, 'sentence')} without a label of relevance"]
        for row in scores[scores["language"] == MACRO].to_dict(orient="records"):
            notes += [f"{row['judge']}: {n}" for n in left_out_notes(row, "sentences", "label")]
        table = score_table(scores, "column", [*notes, *no_value_notes(scores["reason"])])
        entries = []
        named = scores.rename(columns={"balanced_accuracy": "value", "sentences": "n"})
        for rows in judges_of(named).values():
            is_macro = rows["language"] == MACRO
            languages = rows.loc[~is_macro, "language"].astype(str).tolist()
            macro = rows[is_macro].to_dict("records")
            entries += metaevaluations(macro, DATASET, "balanced_accuracy", languages)
        return Report(content, [table], entries, evaluation.usages)


def relevance_scores(
    verdicts: pd.DataFrame,
    replicates: int = REPLICATES,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> pd.DataFrame:
    """Compute balanced accuracy of each judge and mark the best; see ``score_judges``.

    Args:
        verdicts: Of ``MemeragRelevance``, see ``evaluate_judges``.
        replicates: Bootstrap replicates of standard errors.
        permutations: Random swaps of each significance test.
        seed: Seed of both.

    Returns:
        As ``mark_best`` returns them, with ``relevant`` (sentences) in the place of ``supported``.
    """
    # The same statistics of two labels: those of faithfulness stand for those of relevance.
    as_named = {RELEVANT: SUPPORTED, IRRELEVANT: NOT_SUPPORTED}
    coded = verdicts.assign(
        factuality=verdicts["relevance"].map(as_named), value=verdicts["value"].map(as_named)
    )
    scores = mark_best(score_judges(coded, replicates, seed), coded, permutations, seed)
    reasons = scores["reason"]
    for label in LABELS[::-1]:
        reasons = reasons.str.replace(f"labeled {as_named[label]}", f"labeled {label}", regex=False)
    return scores.assign(reason=reasons).rename(columns={"supported": "relevant"})
