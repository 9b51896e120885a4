"""Claims of MEMERAG, whose faithfulness or relevance is judged, and the prompts about them.

The prompt for relevance is ours: none is published.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar, Literal, get_args

from arena.data.errors import checked_choice
from arena.data.languages import named_language
from arena.llm.prompts import (
    PromptTemplate,
    ReplaceablePrompt,
    Variable,
    delimiter_code,
    packaged_prompt,
)
from arena.llm.quotations import own_matches
from arena.llm.replies import Completion, UnparsableError
from arena.llm.requests import Prompt
from arena.text.thoughts import without_thoughts
from surrogate_arena.papers.judges import FunctionJudge, JudgePrompts
from surrogate_arena.papers.memerag.sentences import (
    COARSE_OF_RELEVANCE,
    IRRELEVANT,
    JUDGED,
    JUDGED_RELEVANCE,
    NOT_SUPPORTED,
    RELEVANT,
    SUPPORTED,
)
from surrogate_arena.papers.verdict import Verdict

Quality = Literal["faithfulness", "relevance"]
PromptName = Literal["zero_shot", "cot", "ag", "ag_cot"]
PROMPTS: tuple[PromptName, ...] = get_args(PromptName)
BEST_PROMPT = "ag_cot"

PUBLISHED: Mapping[str, float] = MappingProxyType({"temperature": 0.1, "top_p": 0.1})
"""Fields of the requests (section 5.1)."""

LABELS_OF: Mapping[Quality, tuple[str, str]] = {
    "faithfulness": JUDGED,
    "relevance": JUDGED_RELEVANCE,
}

_PACKAGE = "surrogate_arena.papers.memerag"
_RATIONALE = re.compile(r"<rationale>.*?</rationale>", re.DOTALL | re.IGNORECASE)
_TAGGED = r"<answer>[^<\n]{1,40}</\s?answer\s?>"
_FORMAT = re.compile(rf"{_TAGGED}(?:\s{{0,3}}(?:or|/|\||,)\s{{0,3}}{_TAGGED})+", re.IGNORECASE)
"""Choices of labels, as a reply may repeat them from its prompt."""
_OPENING = re.compile(r"<\s{0,3}answer(?:\s[^<>]{0,80})?>", re.IGNORECASE)
_CLOSING = re.compile(r"<\s{0,3}/\s{0,3}answer\s{0,3}>", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]+")
_NAME_OF_LABEL = re.compile(r"\A(?:final )?(?:answer|label|verdict) ")
_LABEL = re.compile(r"(?P<negation>(?:not|non|un) ?)?supported(?: (?P<rest>.*)|$)")
_RELEVANCE_OF_WORDS: Mapping[str, str] = MappingProxyType(
    {"relevant": RELEVANT}
    | dict.fromkeys(("irrelevant", "not relevant", "unrelated"), IRRELEVANT)
    | {fine.casefold(): coarse for fine, coarse in COARSE_OF_RELEVANCE.items()}
)
_VARIABLES = {
    "language": Variable("English name of the language", "English"),
    "question": Variable("the question", "samplequestion"),
    "context": Variable(
        "the passages, each with text",
        ({"text": "samplepart"},),
        is_required=True,
        also=("passages",),
    ),
    "answer": Variable("the whole answer", "sampleanswer"),
    "answer_segment": Variable(
        "the sentence of it to judge", "samplesentence", is_required=True, also=("sentence",)
    ),
}
FAITHFULNESS_PROMPT = ReplaceablePrompt(
    name="faithfulness",
    asks="Whether passages support a sentence (MEMERAG, appendix H); a template replaces the "
    "whole prompt",
    reply="the last <answer>Supported</answer> or Not Supported; without tags the label alone",
    variables=_VARIABLES,
    package=_PACKAGE,
    packaged_name="task.v1",
)
"""What a user's template may replace, whichever of the four prompts is chosen."""

RELEVANCE_PROMPT = ReplaceablePrompt(
    name="relevance",
    asks="Whether a sentence has to do with the question (MEMERAG, section 3.4)",
    reply="the last <answer>Relevant</answer> or Irrelevant, or one of the three published labels",
    variables={
        **_VARIABLES,
        "context": replace(_VARIABLES["context"], is_required=False),
        "code": Variable("code for delimiters; found in none of the texts", "samplecode"),
    },
    package=_PACKAGE,
    packaged_name="relevance.v1",
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer, without its human labels, and the quality to judge."""

    language: str
    question: str
    passages: tuple[str, ...]
    answer: str
    sentence: str
    quality: Quality = "faithfulness"

    def ask(self, judge: FunctionJudge) -> Verdict:
        """Ask for a label, or None if there is none."""
        returned = judge.function(self.question, self.passages, self.answer, self.sentence)
        if returned is None:
            return Verdict(None, "no_label")
        label = label_of_reply(returned, self.quality) if isinstance(returned, str) else None
        if label is None:
            labels = " or ".join(LABELS_OF[self.quality])
            raise judge.refuse(returned, f"return {labels}, or None if there is no verdict")
        return Verdict(label)


@dataclass(frozen=True)
class ClaimPrompts(JudgePrompts[Claim]):
    """One of the paper's prompts, or a user's template."""

    name: str = BEST_PROMPT
    template: PromptTemplate | None = None
    quality: Quality = "faithfulness"
    retries: ClassVar[int] = 5
    published: ClassVar[Mapping[str, float]] = PUBLISHED

    def __post_init__(self) -> None:
        checked_choice(self.name, PROMPTS, "prompt")

    @property
    def _system(self) -> PromptTemplate | None:
        # Only the paper's prompts have a system message (appendix H).
        if self.template is not None or self.quality == "relevance":
            return None
        return packaged_prompt(_PACKAGE, f"{self.name}.v1", ())

    @property
    def _task(self) -> PromptTemplate:
        if self.template is not None:
            return self.template
        if self.quality == "relevance":
            return RELEVANCE_PROMPT.packaged()
        return FAITHFULNESS_PROMPT.packaged()

    @property
    def version(self) -> str:
        """Names and digests of the templates."""
        templates = (self._system, self._task)
        return "+".join(template.version for template in templates if template is not None)

    def prompts_for(self, item: Claim) -> list[Prompt]:
        """Make the prompt for a claim."""
        values = {
            "language": named_language(item.language),
            "question": item.question,
            "context": [{"text": text} for text in item.passages],
            "answer": item.answer,
            "answer_segment": item.sentence,
        }
        if self.quality == "relevance":
            texts = (item.question, *item.passages, item.answer, item.sentence)
            values["code"] = delimiter_code(*texts)
        system = None if self._system is None else self._system.fill({})
        return [Prompt.of(self._task.fill(values), system, self.version)]

    def read(self, completion: Completion, task: str) -> str:  # noqa: ARG002
        """Read the label of a reply, see ``label_of_reply``."""
        label = label_of_reply(completion.text or "", self.quality, completion.is_cut)
        if label is None:
            expected = " or ".join(f"<answer>{name}</answer>" for name in LABELS_OF[self.quality])
            raise UnparsableError(f"the reply has no label; expected {expected}")
        return label


def label_of_reply(
    text: str, quality: Quality = "faithfulness", is_cut: bool | None = None
) -> str | None:
    """Read the label of a reply; anything unclear is no label, never a guess.

    The last ``<answer>`` outside of thoughts, rationales and quotations counts, or else the whole
    reply, if it is a label. A tag's text must begin with a label and hold no further word on
    support; of relevance it must be a label, coarse or one of the paper's three.
    """
    reply = _RATIONALE.sub(" ", without_thoughts(text, is_cut))
    reply = _FORMAT.sub(" ", reply)
    openings = own_matches(_OPENING, reply)
    stated = reply[openings[-1].end() :] if openings else reply
    words = _words(_CLOSING.split(stated, maxsplit=1)[0])
    # Without a tag some models name the label: "Answer: Supported".
    return _label_of(_NAME_OF_LABEL.sub("", words, count=1), quality, is_tagged=bool(openings))


def _words(text: str) -> str:
    return " ".join(_LETTERS.findall(unicodedata.normalize("NFKC", text))).casefold()


def _label_of(words: str, quality: Quality, is_tagged: bool) -> str | None:
    if quality == "relevance":
        return _RELEVANCE_OF_WORDS.get(words)
    label = _LABEL.match(words)
    if label is None:
        return None
    rest = label["rest"] or ""
    if rest and not is_tagged:
        return None
    if "support" in rest:
        # "Supported and not supported" takes back what it begins with.
        return None
    return NOT_SUPPORTED if label["negation"] else SUPPORTED
