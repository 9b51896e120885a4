"""MEMERAG as a benchmark of judges: sentences that people labeled, prompts, balanced accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import Field

from arena.data.errors import UsageError
from arena.data.schema import QUESTION_KEY
from arena.data.tables import plain_records
from arena.data.wording import count_of
from arena.llm.prompts import Templates
from arena.quality.judge_report import MetaEvaluation
from surrogate_arena.papers.evaluation import (
    Benchmark,
    Evaluation,
    Kinds,
    llms_with,
)
from surrogate_arena.papers.memerag import accuracy, claims
from surrogate_arena.papers.memerag.accuracy import BEST, DAGGER, MACRO, SIGNIFICANCE
from surrogate_arena.papers.memerag.claims import Claim, ClaimPrompts, Quality
from surrogate_arena.papers.memerag.sentences import (
    COARSE_OF_RELEVANCE,
    JUDGED,
    SENTENCE_KEY,
    read_memerag,
)
from surrogate_arena.papers.records import VerdictRecord
from surrogate_arena.papers.reports import (
    NO_VALUE,
    Report,
    judges_of,
    judges_table,
    left_out_notes,
    metaevaluations,
    named,
    no_value_notes,
    percent_with_error,
    score_cell,
    short_prompt,
    wide_table,
)
from surrogate_arena.papers.settings import MetaevalSettings
from surrogate_arena.studies.study_table import StudyTable

NOTICE = (
    "Human labels: MEMERAG (Cruz Blandón et al., ACL 2025), CC BY-NC 4.0; "
    "for evaluation, not for training."
)
TITLE = "Balanced accuracy in percent, with standard errors"
PROMPTS_TITLE = "Prompts: balanced accuracy in percent, averaged over"
MEMERAG_PROMPTS = (claims.FAITHFULNESS_PROMPT, claims.RELEVANCE_PROMPT)
ALL = "all"

STAR = "*"
_MARKS = {BEST: STAR, DAGGER: DAGGER}
_MARK_NOTES = {
    BEST: f"{STAR} highest of its {{}}",
    DAGGER: f"{DAGGER} not shown to be worse than the highest of its {{}} (p > {SIGNIFICANCE})",
}
_UNITS_NOTE = (
    "Errors and tests are of questions; p-values are corrected for all pairs of judges (Holm)"
)
_PAPER_NOTE = "As in the paper, errors and tests are of sentences; p-values are not corrected"


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
class Memerag(Benchmark):
    """Sentences that people could label, for judges of faithfulness or relevance (section 5.1).

    Verdicts have people's coarse label as ``truth``, the ``fine`` one, and ``comments``.
    """

    record = LabelVerdict
    key = tuple(SENTENCE_KEY)
    replaceable = MEMERAG_PROMPTS
    noun = "sentences"
    notice = NOTICE
    sentences: pd.DataFrame
    quality: Quality = "faithfulness"

    @classmethod
    def read(cls, path: Path, settings: MetaevalSettings, templates: Templates) -> Memerag:
        """Read the sentences of a folder, see ``read_memerag``."""
        sentences = read_memerag(path, settings.languages)
        return cls(sentences, settings=settings, templates=templates)

    @property
    def prompts(self) -> list[ClaimPrompts]:
        """Prompts for LLMs given by name, each a judge of its own."""
        replaceable = claims.FAITHFULNESS_PROMPT
        if self.quality == "relevance":
            replaceable = claims.RELEVANCE_PROMPT
        template = self.templates.replacing(replaceable)
        if template is not None or self.quality == "relevance":
            return [ClaimPrompts(template=template, quality=self.quality)]
        names = self.settings.prompts or (claims.BEST_PROMPT,)
        if names == (ALL,):
            names = claims.PROMPTS
        return [ClaimPrompts(name) for name in names]

    @property
    def kinds(self) -> Kinds:
        """LLMs, with each of the prompts."""
        return {"llm:MODEL": llms_with(*self.prompts)}

    @cached_property
    def judged(self) -> pd.DataFrame:
        """Sentences with a coarse label, as ``truth``, and ``fine``."""
        if self.quality == "faithfulness":
            truth = self.sentences["factuality"].where(self.sentences["factuality"].isin(JUDGED))
            fine = self.sentences["fine_grained_factuality"]
        else:
            fine = self.sentences["relevance"]
            truth = fine.map(COARSE_OF_RELEVANCE)
        labeled = self.sentences.assign(truth=truth, fine=fine)[truth.notna()]
        labeled = self.settings.limited(labeled, "language")
        if labeled.empty:
            raise UsageError(f"no sentence has a label of {self.quality} to hold judges against")
        return labeled.reset_index(drop=True)

    @property
    def items(self) -> pd.DataFrame:
        """The sentences that are judged, with people's labels and notes."""
        return self.judged[[*SENTENCE_KEY, "truth", "fine", "comments"]]

    @cached_property
    def tasks(self) -> list[Claim]:
        """Tasks of a judge: every sentence with a label."""
        columns = ["language", "query", "passages", "answer", "sentence"]
        shown = self.judged[columns].itertuples(index=False, name=None)
        return [replace(Claim(*row), quality=self.quality) for row in shown]

    def report(self, evaluation: Evaluation) -> Report:
        """Report balanced accuracy by language, best judges marked.

        Several prompts are compared; a single language has accuracy by fine-grained label.
        """
        verdicts = evaluation.verdicts
        settings = self.settings
        scores = accuracy.marked_scores(verdicts, settings)
        # Table 5 compares prompts of the same model.
        with_prompts = accuracy.with_prompts(scores)
        of_prompts = accuracy.mark_best(with_prompts, verdicts, settings, ["judge"])
        averages = accuracy.average_over_judges(verdicts, settings)
        fine = accuracy.fine_grained_accuracy(verdicts)
        content = {
            "scores": plain_records(scores),
            "prompts": plain_records(of_prompts),
            "averages": plain_records(averages),
            "fine_grained": plain_records(fine),
            "left_out": self._n_left_out,
            "notice": NOTICE,
        }
        notes = self._notes(scores, verdicts, "column and prompt" if len(of_prompts) else "column")
        tables = [judges_table(scores, "language", TITLE, notes, _marked)]
        if len(of_prompts):
            tables.append(_table_5(of_prompts))
        if len(averages):
            tables.append(_table_11(averages))
        if verdicts["language"].nunique() == 1 and len(fine):
            tables.append(_fine_table(fine, scores[scores["language"] == MACRO]))
        return Report(content, tables, self._entries(scores), evaluation.usages)

    @property
    def _n_left_out(self) -> int:
        if self.settings.limit is not None:
            # With a limit, sentences are left out by choice and not for want of a label.
            return 0
        return len(self.sentences) - len(self.judged)

    def _notes(self, scores: pd.DataFrame, verdicts: pd.DataFrame, group: str) -> list[str]:
        units = _PAPER_NOTE if self.settings.as_in_paper else _UNITS_NOTE
        n_judged = count_of(len(self.judged), "sentence")
        n_questions = count_of(len(self.judged[QUESTION_KEY].drop_duplicates()), "question")
        notes = [f"{n_judged} judged, on {n_questions}", *_mark_notes(scores, group), units]
        if self._n_left_out:
            reason = "without a label"
            if self.quality == "faithfulness":
                # The benchmark removes sentences that people found challenging (section 5.1).
                reason = "challenging to determine"
            notes.append(f"Left out: {count_of(self._n_left_out, 'sentence')} {reason}")
        macro = scores[scores["language"] == MACRO]
        notes += left_out_notes(macro, verdicts, "sentences", "label")
        notes += [f"Prompt: {prompt}" for prompt in scores["prompt"].unique() if prompt]
        return notes

    def _entries(self, scores: pd.DataFrame) -> list[MetaEvaluation]:
        dataset = "memerag" if self.quality == "faithfulness" else "memerag-relevance"
        entries = []
        for rows in judges_of(scores).values():
            is_macro = rows["language"] == MACRO
            entries += metaevaluations(
                rows[is_macro].to_dict("records"),
                dataset,
                "balanced_accuracy",
                rows.loc[~is_macro, "language"],
            )
        return entries


def _table_5(of_prompts: pd.DataFrame) -> StudyTable:
    macro = of_prompts[of_prompts["language"] == MACRO]
    notes = _mark_notes(macro, "judge")
    return _by_prompt(macro, "judge", f"{PROMPTS_TITLE} languages", notes)


def _table_11(averages: pd.DataFrame) -> StudyTable:
    best = averages.groupby("language")["value"].transform("max")
    marked = averages.assign(mark="")
    marked.loc[averages["value"] == best, "mark"] = BEST
    notes = [_MARK_NOTES[BEST].format("column"), *no_value_notes(averages["reason"])]
    judges = count_of(int(averages["judges"].max()), "judge")
    return _by_prompt(marked, "language", f"{PROMPTS_TITLE} {judges}", notes)


def _marked(row: Mapping[Any, Any]) -> str:
    cell = score_cell(row)
    if row["mark"]:
        cell += f" {_MARKS[row['mark']]}"
    return cell


def _mark_notes(scores: pd.DataFrame, group: str) -> list[str]:
    marks = set(scores["mark"])
    return [note.format(group) for mark, note in _MARK_NOTES.items() if mark in marks]


def _by_prompt(scores: pd.DataFrame, column: str, title: str, notes: Sequence[str]) -> StudyTable:
    cells = scores.assign(cell=[_marked(row) for row in scores.to_dict("records")])
    table = wide_table(cells, column, "prompt")
    named_prompts = table.assign(prompt=table["prompt"].map(short_prompt))
    return StudyTable(named_prompts, title=title, notes=notes)


def _fine_table(fine: pd.DataFrame, scores: pd.DataFrame) -> StudyTable:
    counts = named(fine)[["judge", "truth", "fine", "sentences", "errors"]]
    parts = []
    # Below the fine-grained labels of each coarse label stands their sum, as in table 13.
    for coarse, part in counts.groupby("truth", sort=False):
        sums = part.groupby("judge", sort=False)[["sentences", "errors"]].sum().reset_index()
        parts += [part, sums.assign(fine=f"all {str(coarse).casefold()}")]
    cells = pd.concat(parts)
    cells["cell"] = [f"{100 * (1 - share):.1f}" for share in cells["errors"] / cells["sentences"]]
    table = wide_table(cells, "judge", "fine").rename(columns={"fine": "label"})
    table.insert(1, "sentences", cells.groupby("fine", sort=False)["sentences"].max().to_numpy())
    last = {"label": "balanced accuracy", "sentences": NO_VALUE}
    balanced = named(scores).set_index("judge")["value"]
    for judge in counts["judge"].unique():
        last[judge] = percent_with_error(balanced[judge])
    title = f"Accuracy in percent by fine-grained label: {fine['language'].iloc[0]}"
    return StudyTable(pd.concat([table, pd.DataFrame([last])], ignore_index=True), title=title)
