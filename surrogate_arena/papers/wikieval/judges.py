"""Judges of WikiEval's pairs: functions, shared characters, LLMs that score or rank, Ragas."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import ClassVar

from arena.data.types import Progress
from arena.llm import Budget, Usage
from arena.llm.prompts import (
    NO_TEMPLATES,
    PromptTemplate,
    ReplaceablePrompt,
    Templates,
    Variable,
    delimiter_code,
)
from arena.llm.quotations import own_matches
from arena.llm.replies import Completion, UnparsableError
from arena.llm.requests import Prompt
from arena.llm.statements import stated_match
from arena.text.thoughts import without_thoughts
from features.declare.feature import Item
from features.declare.sample import Missing
from features.models import ModelOptions
from features.models.llm_items import AnswerRelevanceItem, ContextRelevanceItem, FaithfulnessItem
from features.models.llm_rated import QUESTIONS
from features.models.model_folder import ENDPOINT, find_model
from features.models.ragas import (
    QUESTION,
    RAGAS_PROMPTS,
    SENTENCES,
    STATEMENTS,
    VERDICTS,
    load_ragas,
    versions,
)
from features.models.scorer import NOT_REACHED, named_models, value_of_scores
from surrogate_arena.papers.judges import FunctionJudge, JudgePrompts, Value
from surrogate_arena.papers.verdict import Verdict
from surrogate_arena.papers.wikieval.pairs import (
    ANSWER_RELEVANCE,
    COMPARED,
    FAITHFULNESS,
    Criterion,
)

FIRST, SECOND, TIE = "first", "second", "tie"
NO_SCORE = "no_score"
LANGUAGE = "en"
LOWEST, HIGHEST = 0, 10

_NUMBER = r"(-?\d{1,6}+(?:[.,]\d{1,6}+)?+)"
_TAIL = r"(?!\s?[-‐–—~]\s?\d)(?:\s?(?:/|out of)\s?(\d{1,6}))?"
_SCORE = re.compile(
    r"\b(?:score|faithfulness|relevanc[ey])\b\W{0,6}?(?:(?:is|of|as|would be)\W{1,3})?"
    rf"{_NUMBER}{_TAIL}",
    re.IGNORECASE,
)
_OF_TEN = re.compile(rf"{_NUMBER}\s?(?:/|out of)\s?(10)\b", re.IGNORECASE)
_BARE_SCORE = re.compile(rf"[^\w-]{{0,6}}{_NUMBER}{_TAIL}\W{{0,6}}")
_CHOICE = re.compile(
    r"\bbetter\b\W{0,6}(?:is\W{1,3})?(?:(?:answer|context)\W{1,3})?([12])\b", re.IGNORECASE
)
_BOTH = re.compile(
    r"\W{0,4}(?:and|or|,|/|&|=)\W{0,3}(?:(?:answer|context)\W{1,3})?[12]\b", re.IGNORECASE
)
"""Behind a choice that is none, as in ``better: 1 and 2 are equal``."""
_TEXT = r"(?:answer|context)\W{0,3}([12])\b"
_FIRST_PLACE = (
    re.compile(rf"{_TEXT}\W{{0,3}}>\W{{0,3}}(?:answer|context)\W{{0,3}}[12]\b", re.IGNORECASE),
    re.compile(
        rf"^\W{{0,4}}(?:rank\W{{0,3}})?(?:1\W|1st\b|first\b)\W{{0,6}}{_TEXT}",
        re.IGNORECASE | re.MULTILINE,
    ),
    re.compile(
        rf"{_TEXT}\W{{1,6}}(?:is\W{{1,3}})?(?:rank(?:ed)?\W{{0,3}}(?:1\b|first\b|#1)|1st\b|first\b)",
        re.IGNORECASE,
    ),
    re.compile(rf"{_TEXT}\W{{1,3}}is\s(?:the\s)?(?:better|best|more\s\w{{1,20}})\b", re.IGNORECASE),
)
"""Orders that a reply may state: 2 > 1; 1. Answer 2; Answer 2: Rank 1; Answer 2 is better."""

_BARE_CHOICE = re.compile(r"\W{0,6}(?:(?:answer|context)\W{1,3})?([12])\W{0,6}", re.IGNORECASE)

_PACKAGE = "surrogate_arena.papers.wikieval"
_SHOWN = {
    "quality": Variable(
        "what is asked for: faithfulness, answer relevance or context relevance",
        "faithfulness",
    ),
    "definition": Variable("what the quality means, in our words", "sampledefinition"),
    "question": Variable("the question; empty for faithfulness", "samplequestion"),
    "context": Variable("what answers are checked against, for faithfulness", "samplec"),
    "kind": Variable("what the text is: answer or context", "answer"),
    "code": Variable("code for delimiters; found in none of the texts", "samplecode"),
}

SCORE = ReplaceablePrompt(
    name="gpt-score",
    asks="A score from 0 to 10 for one text (Ragas, section 5)",
    reply="the last Score: 7, Faithfulness: 7/10, 7 out of 10, or a bare number",
    variables={**_SHOWN, "text": Variable("the text to score", "samplefirst", is_required=True)},
    package=_PACKAGE,
    packaged_name="gpt-score.v1",
)
RANKING = ReplaceablePrompt(
    name="gpt-ranking",
    asks="Which of two texts is better (Ragas, section 5)",
    reply="Better: 1; or an order: Answer 2 > Answer 1, 1. Answer 2, Answer 2: Rank 1",
    variables={
        **_SHOWN,
        "text": Variable("the first text", "samplefirst", is_required=True),
        "other": Variable("the second text", "sampleother", is_required=True),
    },
    package=_PACKAGE,
    packaged_name="gpt-ranking.v1",
)

DEFINITIONS: Mapping[str, str] = tomllib.loads(
    files(_PACKAGE).joinpath("texts", "definitions.toml").read_text(encoding="utf-8")
)
"""What each quality means, in our words."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two answers or contexts; only faithfulness has a context."""

    criterion: Criterion
    question: str
    context: str | None
    first: str
    second: str

    def ask(self, judge: FunctionJudge) -> Verdict:
        """Ask for a score of each text, if any; the higher is preferred."""
        return higher(self._score(judge, self.first), self._score(judge, self.second))

    def _score(self, judge: FunctionJudge, text: str) -> Verdict:
        score = judge.function(self.criterion, self.question, self.context, text)
        if score is None:
            return Verdict(None, NO_SCORE)
        if not isinstance(score, int | float) or not math.isfinite(score):
            raise judge.refuse(score, "return a finite number, or None if there is no score")
        return Verdict(float(score))


def higher(first: Verdict, second: Verdict) -> Verdict:
    """Prefer the text with the higher score, if both have one."""
    if first.value is None or second.value is None:
        reason = first.failure or second.failure or NO_SCORE
        detail = first.detail if first.failure else second.detail
        was_asked = first.was_asked and second.was_asked
        return Verdict(None, reason, was_asked, detail)
    first_score = float(first.value)
    second_score = float(second.value)
    if first_score > second_score:
        return Verdict(FIRST)
    if second_score > first_score:
        return Verdict(SECOND)
    return Verdict(TIE)


@dataclass(frozen=True)
class ScorePrompts(JudgePrompts[Pair]):
    """Asks for a score from 0 to 10 of either text, and prefers the higher (GPT Score)."""

    templates: Templates = NO_TEMPLATES
    kind = "gpt-score"
    max_tokens = 512
    replaceable: ClassVar[ReplaceablePrompt] = SCORE

    @property
    def version(self) -> str:
        """Name and digest of the template."""
        return self.templates.of(self.replaceable).version

    def prompts_for(self, item: Pair) -> list[Prompt]:
        """Ask for two scores; the same score is a tie."""
        template = self.templates.of(SCORE)
        return [_prompt(template, item, text, "") for text in (item.first, item.second)]

    def read(self, completion: Completion, task: str) -> Value:  # noqa: ARG002
        """Read a score, see ``read_score``."""
        return read_score(completion.text or "", completion.is_cut)

    def verdict(self, replies: Sequence[Verdict]) -> Verdict:
        """Prefer the text with the higher score."""
        return higher(*replies)


@dataclass(frozen=True)
class RankingPrompts(ScorePrompts):
    """Asks which text is better (GPT Ranking)."""

    kind = "gpt-ranking"
    replaceable = RANKING

    def prompts_for(self, item: Pair) -> list[Prompt]:
        """Show both texts."""
        return [_prompt(self.templates.of(RANKING), item, item.first, item.second)]

    def read(self, completion: Completion, task: str) -> Value:  # noqa: ARG002
        """Read a choice, see ``read_choice``."""
        return FIRST if read_choice(completion.text or "", completion.is_cut) == 1 else SECOND

    def verdict(self, replies: Sequence[Verdict]) -> Verdict:
        """Take the choice."""
        return replies[0]


def _prompt(template: PromptTemplate, pair: Pair, text: str, other: str) -> Prompt:
    # As in the paper, faithfulness is judged by the context, relevance by the question.
    question = "" if pair.criterion == FAITHFULNESS else pair.question
    context = pair.context or ""
    values = {
        "code": delimiter_code(question, context, text, other),
        "quality": pair.criterion.replace("_", " "),
        "definition": DEFINITIONS[pair.criterion],
        "question": question,
        "context": context,
        "kind": COMPARED[pair.criterion],
        "text": text,
        "other": other,
    }
    return Prompt.of(template.fill(values), version=template.version)


def read_score(text: str, is_cut: bool | None = None) -> float:
    """Read ``Score: 7``, ``Faithfulness: 7`` or ``7 out of 10``, or a bare number."""
    text = without_thoughts(text, is_cut)
    if _BARE_SCORE.fullmatch(text):
        pattern = _BARE_SCORE
    else:
        pattern = _SCORE if own_matches(_SCORE, text) else _OF_TEN
    last = stated_match(pattern, text, lambda match: match[1], "score", is_cut=is_cut)
    if is_cut and not text[last.end(1) :].strip():
        raise UnparsableError("the reply was cut off within the score")
    value = float(last[1].replace(",", "."))
    if not LOWEST <= value <= HIGHEST or last[2] not in (None, str(HIGHEST)):
        raise UnparsableError(f"the score is {last[0].strip()!r}; expected {LOWEST} to {HIGHEST}")
    return value


def read_choice(text: str, is_cut: bool | None = None) -> int:
    """Read the last ``Better: 1`` or ``Better: 2``, a bare number, or an order of the texts."""
    text = without_thoughts(text, is_cut)
    matches = own_matches(_CHOICE, text)
    last = matches[-1] if matches else _BARE_CHOICE.fullmatch(text)
    if last is not None and not _BOTH.match(text, last.end()):
        return int(last[1])
    for order in _FIRST_PLACE:
        choices = {match[1] for match in own_matches(order, text)}
        if len(choices) == 1:
            return int(choices.pop())
        if choices:
            break
    raise UnparsableError("the reply does not say which is better: 1 or 2")


@dataclass(frozen=True)
class RagasJudge:
    """Prefers the text with the higher faithfulness, answer relevance or context relevance.

    ``model`` is ``LLM with EMBEDDER``, see ``features.models.scorer.named_models``.
    """

    model: str
    options: ModelOptions
    budget: Budget = field(default_factory=Budget, repr=False, compare=False)
    progress: Progress | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        embedder = named_models(self.model)[1]
        if not embedder.startswith(ENDPOINT):
            find_model(embedder, self.options.download)  # before any judge is paid

    @property
    def usages(self) -> Sequence[Usage]:
        """Calls and tokens, one entry per stage."""
        return self.budget.usages

    @property
    def name(self) -> str:
        """``ragas:`` and the LLM."""
        return f"ragas:{named_models(self.model)[0]}"

    @property
    def prompt(self) -> str:
        """Names and digests of the templates, the embedding model, the number of questions."""
        embedder = "/".join(Path(named_models(self.model)[1]).parts[-2:])
        template_names = versions(*RAGAS_PROMPTS, templates=self.options.templates)
        return f"{template_names}|embedder:{embedder}|questions:{QUESTIONS}"

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """Measure both texts of each pair."""
        scorer = load_ragas(self.model, self.options)
        llm = replace(scorer.llm, budget=self.budget, stage=self.name, progress=self.progress)
        scorer = replace(scorer, llm=llm)
        items = [self._item(pair, text) for pair in pairs for text in (pair.first, pair.second)]
        scores = [_verdict(value_of_scores(row)) for row in scorer.score(items)]
        # The scores of a pair's two texts follow each other.
        return list(map(higher, scores[::2], scores[1::2]))

    def _item(self, pair: Pair, text: str) -> Item:
        templates = self.options.templates
        if pair.criterion == FAITHFULNESS:
            template_names = templates.signature([STATEMENTS.name, VERDICTS.name])
            return FaithfulnessItem(template_names, pair.question, text, (pair.context or "",)).item
        if pair.criterion == ANSWER_RELEVANCE:
            is_e5 = "e5" in Path(named_models(self.model)[1]).name.casefold().split("-")
            template_names = templates.signature([QUESTION.name])
            label = "query: " if is_e5 else ""
            return AnswerRelevanceItem(template_names, QUESTIONS, label, pair.question, text).item
        template_names = templates.signature([SENTENCES.name])
        return ContextRelevanceItem(template_names, LANGUAGE, pair.question, (text,)).item


def _verdict(measured: float | Missing) -> Verdict:
    if isinstance(measured, Missing):
        return Verdict(None, measured.reason, was_asked=measured != NOT_REACHED)
    return Verdict(measured)
