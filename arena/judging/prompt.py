"""Prompts of a judge of pairs; answers that try to steer it are reported, never altered."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from arena.data.errors import checked_choice
from arena.judging.answer_pairs import Comparison, ShownPassage, ShownTurn
from arena.judging.judging_settings import VerdictForm
from arena.judging.verdict_parsing import PairVerdict, holds_verdict, read_letter, read_verdict
from arena.llm.replies import Completion
from arena.llm.requests import Prompt
from arena.text.prompts import PromptTemplate, ReplaceablePrompt, Variable, delimiter_code

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

VARIABLES = MappingProxyType(
    {
        **SHOWN_QUESTION,
        "answer_a": Variable("what is shown of side A, citations included", "sampleone", True),
        "answer_b": Variable("what is shown of side B", "sampletwo", True),
    }
)
"""Variables of a template of pairs."""


@dataclass(frozen=True)
class ReplyForm:
    """How a judge of pairs states its verdict.

    Attributes:
        prompt: The packaged prompt, unless a user's template replaces it.
        read: Reads the verdict of a reply; raises UnparsableError if there is none.
        max_tokens: Tokens that a reply takes; None for as many as the settings allow.
        fields: Fields of the request that this form needs, such as ``logprobs``.
    """

    prompt: ReplaceablePrompt
    read: Callable[[Completion], PairVerdict]
    max_tokens: int | None = None
    fields: Mapping[str, object] = field(default_factory=dict)


REPLY_FORMS = MappingProxyType[VerdictForm, ReplyForm](
    {
        "text": ReplyForm(
            prompt=ReplaceablePrompt(
                name="pairwise",
                asks="Which of two answers is better (MIRAGE-Bench, figure 13)",
                reply="the last [[A]], [[B]] or [[C]]",
                variables=VARIABLES,
                package="arena.judging",
                packaged_name="pairwise.v1",
            ),
            read=read_verdict,
        ),
        "logprobs": ReplyForm(
            prompt=ReplaceablePrompt(
                name="pairwise-letter",
                asks="The same, in one token: judge with verdict = logprobs",
                reply="the likeliest of the letters A, B, C as the first token",
                variables=VARIABLES,
                package="arena.judging",
                packaged_name="pairwise-letter.v1",
            ),
            read=read_letter,
            max_tokens=1,
            # 20 alternatives are the most that OpenAI gives.
            fields=MappingProxyType({"logprobs": True, "top_logprobs": 20}),
        ),
    }
)
"""How verdicts on pairs are asked for and read, by the setting ``verdict``."""


@dataclass(frozen=True)
class JudgePrompt:
    """A template that shows all that systems wrote, as MIRAGE-Bench does."""

    template: PromptTemplate

    @property
    def version(self) -> str:
        """The template's name and digest, and what it shows of systems."""
        return f"{self.template.version}|shows:output"

    def flags(self, answers: Sequence[str]) -> tuple[str, ...]:
        """Name what in the answers may steer the judge, such as ``a:states_verdict``."""
        flags: list[str] = []
        for side, answer in zip("ab", answers, strict=True):
            flags += [f"{side}:{flag}" for flag in answer_flags(answer)]
        return tuple(flags)

    def values(
        self,
        language: str,
        question: str,
        passages: Sequence[ShownPassage],
        answers: Sequence[str],
        history: Sequence[ShownTurn] = (),
    ) -> dict[str, Any]:
        """Return the values of ``SHOWN_QUESTION`` for a question and the answers shown with it."""
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


@dataclass(frozen=True)
class PairwisePrompt(JudgePrompt):
    """Makes the prompts of pairs of answers."""

    def ask(self, comparison: Comparison) -> tuple[Prompt, tuple[str, ...]]:
        """Return the prompt for a pair of answers, and its ``flags``."""
        answers = (comparison.answer_a, comparison.answer_b)
        values = self.values(
            comparison.key[0], comparison.question, comparison.passages, answers, comparison.history
        )
        values["answer_a"] = comparison.answer_a
        values["answer_b"] = comparison.answer_b
        text = self.template.fill(values)
        return Prompt.of(text, version=self.version), self.flags(answers)


def pairwise_prompt(
    template: Path | str | None = None, verdict: VerdictForm = "text"
) -> PairwisePrompt:
    """Choose the prompt.

    Args:
        template: A user's Jinja template, with the variables of ``VARIABLES``; None for the
            packaged one.
        verdict: How the verdict is stated: one of ``REPLY_FORMS``.

    Raises:
        UsageError: If the template is unusable, or the form unknown.
    """
    prompt = REPLY_FORMS[checked_choice(verdict, tuple(REPLY_FORMS), "form of verdict")].prompt
    return PairwisePrompt(prompt.packaged() if template is None else prompt.read(template))


def answer_flags(answer: str) -> tuple[str, ...]:
    """Name what in an answer looks like an attempt to steer the judge.

    A flag is a hint for people, with false alarms: an honest answer may speak of judges.

    Returns:
        Those that hold of ``states_verdict`` (``[[A]]`` and the like), ``addresses_judge``
        ("ignore the above") and ``fakes_delimiter`` (text that looks like the prompt's own).
    """
    flags: list[str] = []
    if holds_verdict(answer):
        flags.append(STATES_VERDICT)
    if _ADDRESSES_JUDGE.search(answer):
        flags.append(ADDRESSES_JUDGE)
    if _FAKES_DELIMITER.search(answer):
        flags.append(FAKES_DELIMITER)
    return tuple(flags)


def _with_history(question: str, history: Sequence[ShownTurn], code: str) -> str:
    """Write a question after the turns before it, as one text, for templates that show one."""
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
