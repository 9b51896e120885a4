"""The protocol of the forms of judging, and the parts that all prompts show.

Answers that try to steer the judge are reported, never altered.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Self

from arena.data.types import Progress
from arena.judging.answer_pairs import ShownPassage, ShownTurn
from arena.judging.choosing.chosen_pairs import ChosenPairs
from arena.judging.judging_settings import JudgingForm, JudgingSettings
from arena.judging.judging_task import JudgingTask, Outcomes
from arena.judging.verdict_parsing import holds_verdict
from arena.llm.ask import Llm
from arena.llm.llm_settings import LlmSettings
from arena.llm.prompts import PromptTemplate, ReplaceablePrompt, Variable, delimiter_code

STATES_VERDICT = "states_verdict"
ADDRESSES_JUDGE = "addresses_judge"
FAKES_DELIMITER = "fakes_delimiter"

_ADDRESSES_JUDGE = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}"
    r"\b(?:above|previous|prior|preceding|earlier|instructions?|rubric|criteria)\b"
    r"|\b(?:ignoriere|ignorez|ignora|ignore)\b[^.\n]{0,40}\binstru[ck]\w+"
    r"|\bassistant [ab] (?:is|was|gave|wins|provides?d?)\b[^.\n]{0,30}\b(?:better|best|superior)\b"
    r"|\b(?:impartial|fair|dear) (?:judge|evaluator|grader)\b"
    r"|\b(?:judge|evaluator|grader)s?\b[^.\n]{0,30}\b(?:must|should|please|have to)\b"
    r"|\b(?:final )?verdict\s*(?:is|:|=)"
    r"|\b(?:choose|select|prefer|vote for|rate) (?:this|my) (?:answer|response)\b"
    r"|(?:指示|命令|指令|指示事項)を?[^。\n]{0,10}(?:無視|忘れ)"
    r"|(?:忽略|无视|無視)[^。\n]{0,20}(?:指令|指示|说明|說明)",
    re.IGNORECASE,
)
_FAKES_DELIMITER = re.compile(
    r"\[\s{0,3}the (?:start|end) of\b"
    r"|\[\s{0,3}(?:user question|reference documents)\s{0,3}\]"
    r"|<\|[a-z_]{1,40}\|>|<</?SYS>>|\[/?INST\]|</?s>"
    r"|</?(?:answer|assistant|system|user|question|documents?)[_ ]?[ab]?>"
    r"|^#{2,4}\s{0,3}(?:instruction|system|user|assistant)\b",
    re.IGNORECASE | re.MULTILINE,
)

SHOWN_QUESTION = MappingProxyType(
    {
        "question": Variable(
            "the question, turns before it first", "samplequestion", also=("query",)
        ),
        "language": Variable("its language code", "en"),
        "passages": Variable(
            "its passages, each with passage_id, title, text, relevance, and given_to (whose they "
            "are, where systems have their own); may be empty",
            (ShownPassage("samplepart#1", "samplepart", "sampletitle", 1),),
        ),
        "documents": Variable(
            "the same as one text, a line [passage_id] title: text each",
            "[samplepart#1] sampletitle: samplepart",
        ),
        "question_code": Variable(
            "code for delimiters of the question and the passages, the same for all that is asked "
            "of a question",
            "samplecode",
        ),
        "answer_code": Variable(
            "code for delimiters of the answers; found in none of the texts", "othercode"
        ),
    }
)
"""Variables of every prompt about answers to a question."""


class JudgePrompt(ABC):
    """A form of judging: prompts, and how replies become verdicts on pairs.

    Attributes:
        form: Name of the form.
        renews_verdicts: Whether every run makes verdicts again, from tables that people may edit.
    """

    form: ClassVar[JudgingForm]
    renews_verdicts: ClassVar[bool] = False

    @property
    @abstractmethod
    def version(self) -> str:
        """Return what verdicts depend on besides settings and texts, such as the template."""

    @classmethod
    @abstractmethod
    def within(cls, pairs: ChosenPairs, n_calls: int) -> ChosenPairs:
        """Keep the first pairs that so many calls can ask; identical texts take no call."""

    @abstractmethod
    def ask(self, task: JudgingTask, llm: Llm, progress: Progress | None = None) -> Outcomes:
        """Ask the model, and make verdicts of its replies.

        Args:
            task: The pairs to judge.
            llm: The model.
            progress: Called as replies come, with the judge's name.

        Raises:
            UsageError: If the settings or the template cannot be used.
            MissingDependencyError: If the extra ``llm`` is not installed.
        """

    def request_settings(self, settings: LlmSettings) -> LlmSettings:
        """Return the settings with the fields that this form needs."""
        return settings

    def flags(self, answers: Sequence[str]) -> tuple[str, ...]:
        """Name what in the answers may steer the judge, such as ``a:states_verdict``."""
        flags: list[str] = []
        for side, answer in zip("ab", answers, strict=True):
            flags += [f"{side}:{flag}" for flag in answer_flags(answer)]
        return tuple(flags)


@dataclass(frozen=True)
class TemplatePrompt(JudgePrompt):
    """A form with a template, which shows all that systems wrote, as MIRAGE-Bench does."""

    template: PromptTemplate

    replaceable: ClassVar[tuple[ReplaceablePrompt, ...]]

    @classmethod
    @abstractmethod
    def of(cls, settings: JudgingSettings) -> Self:
        """Return the prompt of settings; UsageError if they or a template are faulty."""

    @property
    def version(self) -> str:
        """Return the template's name and digest, and what it shows of systems."""
        return f"{self.template.version}|shows:output"

    def values(
        self,
        language: str,
        question: str,
        passages: Sequence[ShownPassage],
        answers: Sequence[str],
        history: Sequence[ShownTurn] = (),
    ) -> dict[str, Any]:
        """Return ``SHOWN_QUESTION`` for a question and the answers shown with it."""
        context = [f"{passage.title or ''}\x1f{passage.text}" for passage in passages]
        context += [turn.text for turn in history]
        # Two codes: one that all prompts of a question share, so that servers can reuse its
        # beginning, and one that no answer can hold, so that none can forge a delimiter.
        question_code = delimiter_code(question, *context)
        answer_code = delimiter_code(question_code, question, *context, *answers)
        return {
            "question": _with_history(question, history, question_code),
            "language": language,
            "passages": tuple(passages),
            "documents": "\n".join(map(_line, passages)),
            "question_code": question_code,
            "answer_code": answer_code,
        }


def answer_flags(answer: str) -> tuple[str, ...]:
    """Name what in an answer may steer the judge: ``[[A]]``, "ignore the above", delimiters."""
    flags: list[str] = []
    if holds_verdict(answer):
        flags.append(STATES_VERDICT)
    if _ADDRESSES_JUDGE.search(answer):
        flags.append(ADDRESSES_JUDGE)
    if _FAKES_DELIMITER.search(answer):
        flags.append(FAKES_DELIMITER)
    return tuple(flags)


def _with_history(question: str, history: Sequence[ShownTurn], code: str) -> str:
    if not history:
        return question
    parts = [
        "The question is the user's last turn in a conversation. The turns before it come first: "
        "they are what the question rests on, and are not to be judged."
    ]
    for turn in history:
        owner = f", in the conversation of {turn.given_to}" if turn.given_to else ""
        name = f"Turn {turn.number}, by the {turn.role}{owner} {code}"
        parts.append(f"[The Start of {name}]\n{turn.text}\n[The End of {name}]")
    parts.append(f"The question, the user's last turn:\n{question}")
    return "\n\n".join(parts)


def _line(passage: ShownPassage) -> str:
    title = f"{passage.title}: " if passage.title else ""
    owner = f"(given to {passage.given_to}) " if passage.given_to else ""
    return f"[{passage.passage_id}] {owner}{title}{passage.text}"
