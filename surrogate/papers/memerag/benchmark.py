"""MEMERAG as a benchmark of judges: sentences that people labeled, prompts, balanced accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
from pydantic import Field

from arena.data.errors import UsageError
from arena.data.tables import plain_records
from arena.data.wording import count_of
from arena.text.prompts import NO_TEMPLATES, ReplaceablePrompt, Templates
from surrogate.papers import evaluation as shared
from surrogate.papers.evaluation import NO_VALUE, Evaluation, Kinds, Report, ReportTable
from surrogate.papers.judges import Judge
from surrogate.papers.memerag import accuracy, claims
from surrogate.papers.memerag.accuracy import BEST, DAGGER, MACRO, SIGNIFICANCE
from surrogate.papers.memerag.claims import Claim, ClaimPrompts, Quality
from surrogate.papers.memerag.sentences import (
    COARSE_OF_RELEVANCE,
    JUDGED,
    SENTENCE_KEY,
    read_memerag,
)
from surrogate.papers.records import VerdictRecord
from surrogate.papers.settings import DEFAULTS, MetaevalSettings

NOTICE = (
    "Human labels: MEMERAG (Cruz Blandón et al., ACL 2025), CC BY-NC 4.0; "
    "for evaluation, not for training."
)
MEMERAG_PROMPTS = (claims.FAITHFULNESS_PROMPT, claims.RELEVANCE_PROMPT)
ALL = "all"

STAR = "*"
_MARKS = {BEST: STAR, DAGGER: DAGGER}
_MARK_NOTES = {
    BEST: f"{STAR} best of its {{}}",
    DAGGER: f"{DAGGER} not statistically different from the best of its {{}} (p > {SIGNIFICANCE})",
}


class LabelVerdict(VerdictRecord):
    """A line of a file of verdicts."""

    language: str
    query_id: str
    sentence_id: int
    truth: str
    fine: str | None = None
    comments: list[str] = Field(default_factory=list)
    value: str | None = None


@dataclass(frozen=True)
class Memerag:
    """Sentences that people could label, for judges of faithfulness or relevance (section 5.1).

    Verdicts have the columns ``SENTENCE_KEY``, ``truth`` and ``fine`` (people's coarse and
    fine-grained label), ``comments`` (their notes), and the label of the judge as ``value``.

    Attributes:
        sentences: As ``read_memerag`` returns them.
        settings: What is judged, how LLMs given by name are asked, how judges are counted.
        templates: Files in the place of ``MEMERAG_PROMPTS``.
        quality: What is judged of a sentence.
    """

    record: ClassVar[type[VerdictRecord]] = LabelVerdict
    replaceable: ClassVar[Sequence[ReplaceablePrompt]] = MEMERAG_PROMPTS
    notice: ClassVar[str] = NOTICE
    sentences: pd.DataFrame
    settings: MetaevalSettings = DEFAULTS
    templates: Templates = NO_TEMPLATES
    quality: Quality = "faithfulness"

    @classmethod
    def read(cls, path: Path, settings: MetaevalSettings, templates: Templates) -> Memerag:
        """Read the sentences of a folder, see ``read_memerag``."""
        return cls(read_memerag(path, settings.languages, settings.columns), settings, templates)

    @property
    def prompts(self) -> list[ClaimPrompts]:
        """How LLMs given by name are asked; with several, each is a judge of its own."""
        own = MEMERAG_PROMPTS[self.quality == "relevance"]
        template = self.templates.replacing(own)
        if template is not None or self.quality == "relevance":
            return [ClaimPrompts(template=template, quality=self.quality)]
        named = self.settings.prompts or (claims.BEST_PROMPT,)
        return [ClaimPrompts(name) for name in (claims.PROMPTS if named == (ALL,) else named)]

    @property
    def kinds(self) -> Kinds:
        """LLMs, with each of the prompts."""
        return {"llm:MODEL": lambda model, make: [make.llm(each, model) for each in self.prompts]}

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

    @property
    def items(self) -> pd.DataFrame:
        """The sentences that are judged, with people's label."""
        return self.judged[[*SENTENCE_KEY, "truth"]]

    def verdicts(self, judge: Judge) -> pd.DataFrame:
        """Let a judge judge every sentence that has a label to hold it against."""
        columns = ["language", "query", "passages", "answer", "sentence"]
        shown = self.judged[columns].itertuples(index=False, name=None)
        items = [replace(Claim(*row), quality=self.quality) for row in shown]
        verdicts = shared.verdict_columns(shared.judge_items(judge, items, "sentences"))
        return self.judged[[*SENTENCE_KEY, "truth", "fine", "comments"]].assign(**verdicts)

    def report(self, evaluation: Evaluation) -> Report:
        """Report balanced accuracy by language, best judges marked.

        Where a judge was asked with several prompts, the best judge of each prompt is marked, and
        in a table of prompts the best prompt of each judge; prompts that several judges were given
        are averaged over judges. Accuracy by fine-grained label is shown of a single language.
        """
        verdicts, settings = evaluation.verdicts, self.settings
        counted = (settings.replicates, settings.seed)
        swaps = (settings.permutations, settings.seed)
        plain = accuracy.score_judges(verdicts, *counted)
        chosen = accuracy.with_prompts(plain)
        within = [] if chosen.empty else ["prompt"]
        scores = accuracy.mark_best(plain, verdicts, *swaps, within)
        of_prompts = accuracy.mark_best(chosen, verdicts, *swaps, ["judge"])
        averages = accuracy.average_over_judges(verdicts, *counted)
        fine = accuracy.fine_grained_accuracy(verdicts)
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
        macro = scores[scores["language"] == MACRO]
        notes = [
            f"{count_of(len(self.judged), 'sentence')} judged",
            *_mark_notes(scores, "column and prompt" if within else "column"),
            *([f"Left out: {count_of(left_out, 'sentence')} {why}"] if left_out else []),
            *shared.left_out_notes(macro, verdicts, "sentences", "label"),
            *(f"Prompt: {prompt}" for prompt in dict.fromkeys(plain["prompt"]) if prompt),
        ]
        title = "Balanced accuracy in percent, with standard errors"
        tables = [shared.judges_table(scores, "language", title, notes, _marked)]
        title = "Prompts: balanced accuracy in percent, averaged over"
        if len(of_prompts):  # table 5
            best = of_prompts[of_prompts["language"] == MACRO]
            marks = _mark_notes(best, "judge")
            tables.append(_by_prompt(best, "judge", f"{title} languages", marks))
        if len(averages):  # table 11
            best = averages.groupby("language")["value"].transform("max")
            marked = averages.assign(mark=(averages["value"] == best).map({True: BEST, False: ""}))
            marks = [_MARK_NOTES[BEST].format("column"), *shared.no_value_notes(averages["reason"])]
            judges = count_of(int(averages["judges"].max()), "judge")
            tables.append(_by_prompt(marked, "language", f"{title} {judges}", marks))
        if verdicts["language"].nunique() == 1 and len(fine):
            tables.append(_fine_table(fine, macro))
        dataset = "memerag" if self.quality == "faithfulness" else "memerag-relevance"
        entries = [
            entry
            for rows in shared.judges_of(scores).values()
            for entry in shared.metaevaluations(
                rows[rows["language"] == MACRO].to_dict("records"),
                *(dataset, "balanced_accuracy", rows.loc[rows["language"] != MACRO, "language"]),
            )
        ]
        return Report(content, tables, entries, evaluation.usages)


def _marked(row: Mapping[Any, Any]) -> str:
    shown = shared.percent_with_error(row["value"], row["standard_error"])
    return f"{shown} {_MARKS[row['mark']]}" if row["mark"] else shown


def _mark_notes(scores: pd.DataFrame, group: str) -> list[str]:
    known = set(scores["mark"])
    return [note.format(group) for mark, note in _MARK_NOTES.items() if mark in known]


def _by_prompt(scores: pd.DataFrame, column: str, title: str, notes: Sequence[str]) -> ReportTable:
    """Show scores a row a prompt (tables 5 and 11)."""
    cells = scores.assign(cell=[_marked(row) for row in scores.to_dict("records")])
    table = shared.wide_table(cells, column, "prompt")
    return ReportTable(title, table.assign(prompt=table["prompt"].map(shared.short_prompt)), notes)


def _fine_table(fine: pd.DataFrame, scores: pd.DataFrame) -> ReportTable:
    """Show the accuracy by fine-grained label of one language, of coarse ones, balanced (13)."""
    counts = shared.named(fine)[["judge", "truth", "fine", "sentences", "errors"]]
    parts = []
    for coarse, part in counts.groupby("truth", sort=False):
        sums = part.groupby("judge", sort=False)[["sentences", "errors"]].sum().reset_index()
        parts += [part, sums.assign(fine=f"all {str(coarse).casefold()}")]
    cells = pd.concat(parts)
    cells["cell"] = [f"{100 * (1 - share):.1f}" for share in cells["errors"] / cells["sentences"]]
    table = shared.wide_table(cells, "judge", "fine").rename(columns={"fine": "label"})
    table.insert(1, "sentences", cells.groupby("fine", sort=False)["sentences"].max().to_numpy())
    known = dict(zip(shared.named(scores)["judge"], scores["value"], strict=True))
    last = {name: shared.percent_with_error(known[name]) for name in counts["judge"].unique()}
    last |= {"label": "balanced accuracy", "sentences": NO_VALUE}
    title = f"Accuracy in percent by fine-grained label: {fine['language'].iloc[0]}"
    return ReportTable(title, pd.concat([table, pd.DataFrame([last])], ignore_index=True))
