"""What a judge of pairs is asked; answers that try to steer it are reported, never altered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from arena.data.errors import checked_choice
from arena.judging.answer_pairs import Comparison, ShownPassage, ShownTurn
from arena.judging.verdict_parsing import holds_verdict
from arena.llm.llm_settings import Prompt
from arena.text.prompts import PromptTemplate, ReplaceablePrompt, Variable, delimiter_code

STATES_VERDICT = "states_verdict"
ADDRESSES_JUDGE = "addresses_judge"
FAKES_DELIMITER = "fakes_delimiter"

VerdictForm = Literal["text", "logprobs"]
VERDICT_FORMS: tuple[VerdictForm, ...] = ("text", "logprobs")

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

_CONTEXT = (
    "The question is the user's last turn in a conversation. The turns before it come first: they "
    "are what the question rests on, and are not to be judged."
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

PAIRWISE_PROMPTS = MappingProxyType[VerdictForm, ReplaceablePrompt](
    {
        "text": ReplaceablePrompt(
            "pairwise",
            "Which of two answers is better (MIRAGE-Bench, figure 13)",
            "the last [[A]], [[B]] or [[C]]",
            VARIABLES,
            "arena.judging",
            "pairwise.v1",
        ),
        "logprobs": ReplaceablePrompt(
            "pairwise-letter",
            "The same, in one token: judge with verdict = logprobs",
            "the likeliest of the letters A, B, C as the first token",
            VARIABLES,
            "arena.judging",
            "pairwise-letter.v1",
        ),
    }
)
"""What a judge of pairs is asked, by the form of its verdict."""


@dataclass(frozen=True)
class JudgePrompt:
    """A template in which all that systems wrote is shown, as MIRAGE-Bench does."""

    template: PromptTemplate

    @property
    def version(self) -> str:
        """The template's name and digest, and what it shows of systems."""
        return f"{self.template.version}|shows:output"

    def flags(self, shown: Sequence[str]) -> tuple[str, ...]:
        """Say what in the answers may steer the judge, such as ``a:states_verdict``."""
        sides = zip("ab", shown, strict=True)
        return tuple(f"{side}:{flag}" for side, text in sides for flag in answer_flags(text))

    def values(
        self,
        language: str,
        question: str,
        given: Iterable[ShownPassage],
        answers: Sequence[str],
        history: Sequence[ShownTurn] = (),
    ) -> dict[str, Any]:
        """Return the values of ``SHOWN_QUESTION`` for a question and the answers shown with it."""
        passages = tuple(given)
        texts = [f"{each.title or ''}\x1f{each.text}" for each in passages]
        texts += [turn.text for turn in history]
        question_code = delimiter_code(question, *texts)
        return {
            "question": _with_history(question, history, question_code) if history else question,
            "language": language,
            "passages": passages,
            "documents": "\n".join(map(_line, passages)),
            "question_code": question_code,
            "answer_code": delimiter_code(question_code, question, *texts, *answers),
        }


@dataclass(frozen=True)
class PairwisePrompt(JudgePrompt):
    """Makes the prompts of pairs of answers."""

    def ask(self, comparison: Comparison) -> tuple[Prompt, tuple[str, ...]]:
        """Make the prompt for a pair of answers, and say what is to be noted; see ``flags``."""
        answers = (comparison.answer_a, comparison.answer_b)
        language, given = comparison.key[0], comparison.passages
        values = self.values(language, comparison.question, given, answers, comparison.history)
        text = self.template.fill({**values, "answer_a": answers[0], "answer_b": answers[1]})
        return Prompt.of(text, version=self.version), self.flags(answers)


def pairwise_prompt(
    template: Path | str | None = None, verdict: VerdictForm = "text"
) -> PairwisePrompt:
    """Choose the prompt.

    A user's Jinja template has the variables of ``VARIABLES``; without one, it is the packaged one
    for this form of verdict.

    Raises:
        UsageError: If the template is unusable, or the form unknown.
    """
    prompt = PAIRWISE_PROMPTS[checked_choice(verdict, VERDICT_FORMS, "form of verdict")]
    chosen = prompt.packaged() if template is None else prompt.read(template)
    return PairwisePrompt(chosen)


def answer_flags(answer: str) -> tuple[str, ...]:
    """Say what in an answer looks like an attempt to steer the judge.

    A flag is a hint for people, with false alarms: an honest answer may speak of judges.

    Returns:
        Those of ``states_verdict`` (``[[A]]`` and the like), ``addresses_judge`` ("ignore the
        above") and ``fakes_delimiter`` (text that looks like the prompt's own) that hold.
    """
    found = {
        STATES_VERDICT: holds_verdict(answer),
        ADDRESSES_JUDGE: _ADDRESSES_JUDGE.search(answer) is not None,
        FAKES_DELIMITER: _FAKES_DELIMITER.search(answer) is not None,
    }
    return tuple(flag for flag, holds in found.items() if holds)


def _with_history(question: str, history: Sequence[ShownTurn], code: str) -> str:
    """Write the turns before a question, and the question, for what shows one text."""
    parts = [_CONTEXT]
    for turn in history:
        whose = f", in the conversation of {turn.given_to}" if turn.given_to else ""
        name = f"Turn {turn.number}, by the {turn.role}{whose} {code}"
        parts.append(f"[The Start of {name}]\n{turn.text}\n[The End of {name}]")
    return "\n\n".join([*parts, f"The question, the user's last turn:\n{question}"])


def _line(passage: ShownPassage) -> str:
    title = f"{passage.title}: " if passage.title else ""
    given = f"(given to {passage.given_to}) " if passage.given_to else ""
    return f"[{passage.passage_id}] {given}{title}{passage.text}"
