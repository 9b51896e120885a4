"""The prompt that asks which of two answers is better (MIRAGE-Bench, figure 13)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from arena.errors import UsageError
from arena.judging.answer_flags import side_flags
from arena.judging.comparisons import Comparison, ShownPassage
from arena.llm.prompts import Prompt
from arena.prompts.fences import fence_code
from arena.prompts.templates import PromptTemplate, packaged_prompt, read_template

VerdictForm = Literal["text", "logprobs"]
VERDICT_FORMS: tuple[VerdictForm, ...] = ("text", "logprobs")

PACKAGED_TEMPLATES: MappingProxyType[VerdictForm, str] = MappingProxyType(
    {"text": "pairwise.v1", "logprobs": "pairwise-letter.v1"}
)
VARIABLES = MappingProxyType(
    {
        "question": "the question",
        "language": "its language code",
        "passages": "its passages, each with passage_id, title, text, relevance; may be empty",
        "answer_a": "the answer on side A, citations included",
        "answer_b": "the answer on side B",
        "question_code": "code for delimiters of the question and the passages, the same for all "
        "pairs of a question",
        "answer_code": "code for delimiters of the answers; stands in none of the texts",
    }
)
"""Variables of a template, with their meaning."""

TRIMMED = "trimmed"

_CUT = "…"
_SAMPLE = Comparison(
    ("en", "q", "s", "t"), "q", (ShownPassage("p", "text", "title", 1),), "sampleone", "sampletwo"
)


@dataclass(frozen=True, slots=True)
class AskedPair:
    """A prompt and what is to be noted about it.

    Attributes:
        prompt: What is sent.
        flags: What in the answers may steer the judge (see ``answer_flags``), and ``trimmed``.
    """

    prompt: Prompt
    flags: tuple[str, ...]


@dataclass(frozen=True)
class PairwisePrompt:
    """Makes the prompts of one template.

    Attributes:
        template: The template.
        longest_answer: Characters of an answer that are shown; None for all.
        longest_passage: Characters of a passage that are shown; None for all.
    """

    template: PromptTemplate
    longest_answer: int | None = None
    longest_passage: int | None = None

    def __post_init__(self) -> None:
        for longest in (self.longest_answer, self.longest_passage):
            if longest is not None and longest < 1:
                raise UsageError(f"cannot trim texts to {longest} characters; give 1 or more")

    @property
    def version(self) -> str:
        """The template's name and digest, and how texts are trimmed."""
        limits = (("answers", self.longest_answer), ("passages", self.longest_passage))
        cuts = [f"{name}:{longest}" for name, longest in limits if longest is not None]
        return "|".join([self.template.version, *cuts])

    def ask(self, comparison: Comparison) -> AskedPair:
        """Make the prompt for a pair of answers.

        Raises:
            UsageError: If the template cannot be filled.
        """
        shown = self._trimmed(comparison)
        flags = side_flags(shown.answer_a, shown.answer_b)
        if shown != comparison:
            flags = (*flags, TRIMMED)
        return AskedPair(Prompt.of(self._text(shown), version=self.version), flags)

    def _text(self, shown: Comparison) -> str:
        passages = [f"{each.title or ''}\x1f{each.text}" for each in shown.passages]
        question_code = fence_code(shown.question, *passages)
        values: dict[str, Any] = {
            "question": shown.question,
            "language": shown.key[0],
            "passages": shown.passages,
            "answer_a": shown.answer_a,
            "answer_b": shown.answer_b,
            "question_code": question_code,
            "answer_code": fence_code(
                question_code, shown.question, *passages, shown.answer_a, shown.answer_b
            ),
        }
        return self.template.fill(values)

    def _trimmed(self, comparison: Comparison) -> Comparison:
        return replace(
            comparison,
            passages=tuple(
                replace(passage, text=_trimmed(passage.text, self.longest_passage))
                for passage in comparison.passages
            ),
            answer_a=_trimmed(comparison.answer_a, self.longest_answer),
            answer_b=_trimmed(comparison.answer_b, self.longest_answer),
        )


def pairwise_prompt(
    template: Path | str | None = None,
    verdict: VerdictForm = "text",
    longest_answer: int | None = None,
    longest_passage: int | None = None,
) -> PairwisePrompt:
    """Choose the prompt.

    Args:
        template: A user's Jinja template, with the variables of ``VARIABLES``; None takes the
            one that comes with the package for this form of verdict.
        verdict: ``text`` (an explanation, then ``[[A]]``, ``[[B]]`` or ``[[C]]``) or ``logprobs``
            (the next token is A, B or C).
        longest_answer: Characters of an answer to show; None for all.
        longest_passage: Characters of a passage to show; None for all.

    Raises:
        UsageError: If the template is unusable, or a form or a length unknown.
    """
    if verdict not in VERDICT_FORMS:
        raise UsageError(f"unknown form of verdict {verdict!r}; use one of text, logprobs")
    if template is None:
        chosen = _packaged(PACKAGED_TEMPLATES[verdict])
    else:
        chosen = read_template(template, VARIABLES)
        _check_shows_answers(chosen)
    return PairwisePrompt(chosen, longest_answer, longest_passage)


@cache
def _packaged(name: str) -> PromptTemplate:
    return packaged_prompt("arena.judging", name, tuple(VARIABLES))


def _check_shows_answers(template: PromptTemplate) -> None:
    text = PairwisePrompt(template).ask(_SAMPLE).prompt.messages[0].content
    absent = [name for name in ("answer_a", "answer_b") if str(getattr(_SAMPLE, name)) not in text]
    if absent:
        raise UsageError(f"the template {template.version} does not show {' and '.join(absent)}")


def _trimmed(text: str, longest: int | None) -> str:
    if longest is None or len(text) <= longest:
        return text
    return text[:longest] + _CUT
