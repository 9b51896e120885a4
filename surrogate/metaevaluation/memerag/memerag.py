"""MEMERAG as a benchmark of judges: sentences that people labeled, prompts, balanced accuracy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import pandas as pd
from pydantic import BaseModel, ConfigDict

from arena.data.errors import UsageError
from arena.data.rows import plain_records
from arena.data.wording import count_of
from arena.text.prompts import NO_TEMPLATES, Templates
from surrogate.metaevaluation.judges import Judge
from surrogate.metaevaluation.memerag.accuracy import (
    MACRO,
    average_over_judges,
    fine_grained_accuracy,
    score_judges,
)
from surrogate.metaevaluation.memerag.claims import (
    BEST_PROMPT,
    FAITHFULNESS_PROMPT,
    PROMPTS,
    RELEVANCE_PROMPT,
    Claim,
    ClaimPrompts,
    Quality,
)
from surrogate.metaevaluation.memerag.sentences import (
    COARSE_OF_RELEVANCE,
    JUDGED,
    SENTENCE_KEY,
)
from surrogate.metaevaluation.memerag.significance import (
    BEST,
    DAGGER,
    SIGNIFICANCE,
    mark_best,
    with_prompts,
)
from surrogate.metaevaluation.report import (
    NO_VALUE,
    Report,
    ReportTable,
    judge_labels,
    judges_of,
    left_out_notes,
    metaevaluations,
    no_value_notes,
    percent_with_error,
    score_table,
    short_prompt,
)
from surrogate.metaevaluation.runner import (
    LEXICAL,
    PYTHON,
    Evaluation,
    JudgeKind,
    judge_items,
    verdict_columns,
)
from surrogate.metaevaluation.settings import DEFAULTS, MetaevalSettings

NOTICE = (
    "Human labels: MEMERAG (Cruz Blandón et al., ACL 2025), CC BY-NC 4.0; "
    "for evaluation, not for training."
)
MEMERAG_PROMPTS = (FAITHFULNESS_PROMPT, RELEVANCE_PROMPT)
ALL = "all"

STAR = "*"
_MARKS = {BEST: STAR, DAGGER: DAGGER}
_MARK_NOTES = {
    BEST: f"{STAR} best of its {{}}",
    DAGGER: f"{DAGGER} not statistically different from the best of its {{}} (p > {SIGNIFICANCE})",
}


class LabelVerdict(BaseModel):
    """A line of a file of verdicts."""

    model_config = ConfigDict(strict=True, extra="ignore")

    judge: str
    prompt: str
    language: str
    query_id: str
    sentence_id: int
    truth: str
    fine: str | None = None
    value: str | None = None
    failure: str | None = None
    was_asked: bool


@dataclass(frozen=True)
class Memerag:
    """Sentences that people could label, for judges of faithfulness or relevance (section 5.1).

    Verdicts have the columns ``SENTENCE_KEY``, ``truth`` and ``fine`` (people's coarse and
    fine-grained label), and the label that the judge gives as ``value``.

    Attributes:
        sentences: As ``read_memerag`` returns them.
        settings: What is judged, how LLMs given by name are asked, how judges are counted.
        templates: Files in the place of ``MEMERAG_PROMPTS``.
        quality: What is judged of a sentence.
    """

    record: ClassVar[type[BaseModel]] = LabelVerdict
    notice: ClassVar[str] = NOTICE
    sentences: pd.DataFrame
    settings: MetaevalSettings = DEFAULTS
    templates: Templates = NO_TEMPLATES
    quality: Quality = "faithfulness"

    @property
    def name(self) -> str:
        """Name of the data set in an arena's ``metaevaluation.json``."""
        return "memerag" if self.quality == "faithfulness" else "memerag-relevance"

    @property
    def prompts(self) -> list[ClaimPrompts]:
        """How LLMs given by name are asked; with several, each is a judge of its own."""
        own = MEMERAG_PROMPTS[self.quality == "relevance"]
        template = self.templates.replacing(own)
        if template is not None or self.quality == "relevance":
            return [ClaimPrompts(template=template, quality=self.quality)]
        named = self.settings.prompts or (BEST_PROMPT,)
        return [ClaimPrompts(name) for name in (PROMPTS if named == (ALL,) else named)]

    @property
    def kinds(self) -> Sequence[JudgeKind]:
        """LLMs, shared characters (for faithfulness) and functions."""
        llm = JudgeKind(
            "llm:MODEL",
            lambda model, factory: [factory.llm(prompts, model) for prompts in self.prompts],
        )
        return (llm, LEXICAL, PYTHON) if self.quality == "faithfulness" else (llm, PYTHON)

    @cached_property
    def judged(self) -> pd.DataFrame:
        """Sentences with a coarse label that judges are held against, as ``truth``, and ``fine``.

        Raises:
            UsageError: If there is none.
        """
        if self.quality == "faithfulness":
            truth = self.sentences["factuality"].where(self.sentences["factuality"].isin(JUDGED))
            fine = self.sentences["fine_grained_factuality"]
        else:
            fine = self.sentences["relevance"]
            truth = fine.map(COARSE_OF_RELEVANCE)
        known = self.sentences.assign(truth=truth, fine=fine)[truth.notna()]
        if self.settings.limit is not None:
            known = known.groupby("language", sort=False).head(self.settings.limit)
        if known.empty:
            raise UsageError(f"no sentence has a label of {self.quality} to hold judges against")
        return known.reset_index(drop=True)

    def verdicts(self, judge: Judge[Claim]) -> pd.DataFrame:
        """Let a judge judge every sentence that has a label to hold it against."""
        columns = ["language", "query", "passages", "answer", "sentence"]
        shown = self.judged[columns].itertuples(index=False, name=None)
        claims = [replace(Claim(*row), quality=self.quality) for row in shown]
        verdicts = verdict_columns(judge_items(judge, claims, "sentences"))
        return self.judged[[*SENTENCE_KEY, "truth", "fine"]].assign(**verdicts)

    def report(self, evaluation: Evaluation) -> Report:
        """Report balanced accuracy by language, best judges marked.

        Where a judge was asked with several prompts, the best judge of each prompt is marked, and
        in a table of prompts the best prompt of each judge; prompts that several judges were given
        are averaged over judges. Accuracy by fine-grained label is shown of a single language.
        """
        verdicts, settings = evaluation.verdicts, self.settings
        counted = (settings.replicates, settings.seed)
        swaps = (settings.permutations, settings.seed)
        plain = score_judges(verdicts, *counted)
        chosen = with_prompts(plain)
        within = [] if chosen.empty else ["prompt"]
        scores = mark_best(plain, verdicts, *swaps, within)
        of_prompts = mark_best(chosen, verdicts, *swaps, ["judge"])
        averages = average_over_judges(verdicts, *counted)
        fine = fine_grained_accuracy(verdicts)
        left_out = len(self.sentences) - len(self.judged) if settings.limit is None else 0
        content = {
            "scores": plain_records(scores),
            "prompts": plain_records(of_prompts),
            "averages": plain_records(averages),
            "fine_grained": plain_records(fine),
            "left_out": left_out,
            "notice": NOTICE,
        }
        why = "challenging to determine" if self.quality == "faithfulness" else "without a label"
        notes = [
            f"{count_of(len(self.judged), 'sentence')} judged",
            *_mark_notes(scores, "column and prompt" if within else "column"),
            *([f"Left out: {count_of(left_out, 'sentence')} {why}"] if left_out else []),
            *left_out_notes(plain[plain["language"] == MACRO], "sentences", "label"),
            *(f"Prompt: {prompt}" for prompt in dict.fromkeys(plain["prompt"]) if prompt),
        ]
        title = "Balanced accuracy in percent, with standard errors"
        tables = [score_table(scores, "language", title, notes, _marked)]
        tables += [_prompt_table(of_prompts)] if len(of_prompts) else []
        tables += [_average_table(averages)] if len(averages) else []
        is_one = verdicts["language"].nunique() == 1 and len(fine) > 0
        tables += [_fine_table(fine, plain)] if is_one else []
        return Report(content, tables, self._entries(scores), evaluation.usages)

    def _entries(self, scores: pd.DataFrame) -> list[Any]:
        return [
            entry
            for rows in judges_of(scores).values()
            for entry in metaevaluations(
                rows[rows["language"] == MACRO].to_dict("records"),
                self.name,
                "balanced_accuracy",
                rows.loc[rows["language"] != MACRO, "language"].astype(str).tolist(),
            )
        ]


def _marked(row: Mapping[Any, Any]) -> str:
    shown = percent_with_error(row["value"], row["standard_error"])
    return f"{shown} {_MARKS[row['mark']]}" if row["mark"] else shown


def _mark_notes(scores: pd.DataFrame, group: str) -> list[str]:
    known = set(scores["mark"])
    return [note.format(group) for mark, note in _MARK_NOTES.items() if mark in known]


def _prompt_table(scores: pd.DataFrame) -> ReportTable:
    """Show prompts by judge, averaged over languages, marks within a judge (table 5)."""
    macro = scores[scores["language"] == MACRO]
    title = "Prompts: balanced accuracy in percent, averaged over languages"
    return _by_prompt(macro, "judge", title, _marked, _mark_notes(macro, "judge"))


def _average_table(averages: pd.DataFrame) -> ReportTable:
    """Show prompts by language, averaged over judges (table 11)."""
    best = averages.groupby("language")["value"].transform("max")
    marked = averages.assign(mark=(averages["value"] == best).map({True: BEST, False: ""}))
    judges = int(averages["judges"].max())
    title = f"Prompts: balanced accuracy in percent, averaged over {count_of(judges, 'judge')}"
    notes = [_MARK_NOTES[BEST].format("column"), *no_value_notes(averages["reason"])]
    return _by_prompt(marked, "language", title, _marked, notes)


def _by_prompt(
    scores: pd.DataFrame,
    column: str,
    title: str,
    cell: Callable[[Mapping[Any, Any]], str],
    notes: Sequence[str],
) -> ReportTable:
    columns = list(scores[column].drop_duplicates())
    rows: list[list[object]] = []
    for prompt, part in scores.groupby("prompt", sort=False):
        known = {row[column]: cell(row) for row in part.to_dict("records")}
        rows.append([short_prompt(prompt), *(known.get(name, NO_VALUE) for name in columns)])
    return ReportTable(title, ["prompt", *columns], rows, notes)


def _fine_table(fine: pd.DataFrame, scores: pd.DataFrame) -> ReportTable:
    """Show the accuracy by fine-grained label of one language (table 13)."""
    language = str(fine["language"].iloc[0])
    of_judge = judges_of(fine)
    rows = [*_fine_rows(fine, of_judge)]
    known = {
        key: percent_with_error(part.loc[part["language"] == language, "value"].iloc[0])
        for key, part in judges_of(scores).items()
    }
    rows.append(["balanced accuracy", NO_VALUE, *(known[key] for key in of_judge)])
    header = ["label", "sentences", *judge_labels(fine).values()]
    return ReportTable(f"Accuracy in percent by fine-grained label: {language}", header, rows)


def _fine_rows(
    fine: pd.DataFrame, of_judge: Mapping[tuple[str, str], pd.DataFrame]
) -> Iterator[list[object]]:
    for coarse, part in fine.groupby("truth", sort=False):
        labels = list(part["fine"].drop_duplicates())
        groups = [
            *((label, [label]) for label in labels),
            (f"all {str(coarse).casefold()}", labels),
        ]
        for name, wanted in groups:
            counts = part[part["fine"].isin(wanted)].groupby("fine")["sentences"].max()
            cells = [_accuracy(rows[rows["fine"].isin(wanted)]) for rows in of_judge.values()]
            yield [name, int(counts.sum()), *cells]


def _accuracy(rows: pd.DataFrame) -> str:
    if rows.empty:
        return NO_VALUE
    return f"{100 * (1 - rows['errors'].sum() / rows['sentences'].sum()):.1f}"
