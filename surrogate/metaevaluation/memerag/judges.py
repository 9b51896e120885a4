"""Claims of MEMERAG and their judges: functions, shared characters, entailment, LLMs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Literal, get_args

import numpy as np

from arena.data.errors import checked_choice
from arena.data.languages import named_language
from arena.llm.replies import THOUGHTS, UnparsableError
from arena.llm.settings import LlmSettings, Prompt
from arena.text.prompts import PromptTemplate, ReplaceablePrompt, Variable, packaged_prompt
from features.models import Item, Scores
from features.models.pair_scorer import OUTPUTS
from surrogate.metaevaluation.judges import (
    FunctionJudge,
    JudgePrompts,
    LexicalJudge,
    ModelJudge,
    Verdict,
)
from surrogate.metaevaluation.memerag.reading import (
    JUDGED,
    NOT_SUPPORTED,
    SUPPORTED,
    canonical_label,
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence to judge, without its human labels.

    Attributes:
        language: Language code of question and answer.
        question: The question.
        passages: The passages that the answer was written from.
        answer: The whole answer.
        sentence: The sentence of it that is to be judged.
    """

    language: str
    question: str
    passages: tuple[str, ...]
    answer: str
    sentence: str

    def ask(self, judge: FunctionJudge) -> Verdict:
        """Ask for a label, or None where there is none."""
        said = judge.function(self.question, self.passages, self.answer, self.sentence)
        if said is None:
            return Verdict(None, "no_label")
        label = canonical_label("factuality", said) if isinstance(said, str) else None
        if label not in JUDGED:
            expected = f"return {' or '.join(JUDGED)}, or None where there is no verdict"
            raise judge.refuse(said, expected)
        return Verdict(label)

    def compare(self, judge: LexicalJudge) -> Verdict:
        """Call the sentence supported if one passage holds enough of it."""
        return support(any(judge.holds(self.sentence, text) for text in self.passages))


def support(is_supported: bool) -> Verdict:
    """Return the verdict that a claim is supported, or is not."""
    return Verdict(SUPPORTED if is_supported else NOT_SUPPORTED)


_ENTAILMENT = OUTPUTS.index("entailment")


class NliJudge(ModelJudge[Claim]):
    """Calls a sentence supported if a passage entails it.

    A passage entails a sentence if entailment is the most probable of the three labels (as in
    ALCE, Gao et al., 2023, section 3.3).
    """

    kind = "nli"

    @property
    def prompt(self) -> str:
        """How verdicts are made of probabilities."""
        return "a passage entails the sentence"

    def reads(self, item: Claim) -> list[Item]:
        """Return each passage with the sentence."""
        return [(text, item.sentence) for text in item.passages]

    def verdict(self, item: Claim, scores: Mapping[Item, Scores]) -> Verdict:
        """Look for a passage that entails the sentence."""
        return support(
            any(int(np.argmax(scores[pair])) == _ENTAILMENT for pair in self.reads(item))
        )


PromptName = Literal["zero_shot", "cot", "ag", "ag_cot"]
PROMPTS: tuple[PromptName, ...] = get_args(PromptName)

TEMPERATURE = 0.1
TOP_P = 0.1

_PACKAGE = "surrogate.metaevaluation.memerag"
_VARIABLES = MappingProxyType(
    {
        "language": Variable("English name of the language", "English"),
        "question": Variable("the question", "samplequestion"),
        "context": Variable(
            "the passages, each with text", ({"text": "samplepart"},), True, ("passages",)
        ),
        "answer": Variable("the whole answer", "sampleanswer"),
        "answer_segment": Variable(
            "the sentence of it to judge", "samplesentence", True, ("sentence",)
        ),
    }
)

FAITHFULNESS_PROMPT = ReplaceablePrompt(
    "faithfulness",
    "Whether passages support a sentence (MEMERAG, appendix H); a template is the whole prompt",
    "the last <answer>Supported</answer> or Not Supported, or nothing but the label",
    _VARIABLES,
    _PACKAGE,
    "task.v1",
)
"""What a user's template may replace, whichever of the four prompts is chosen."""


def claim_values(claim: Claim) -> dict[str, object]:
    """Return the values of templates about a sentence."""
    return {
        "language": named_language(claim.language),
        "question": claim.question,
        "context": [{"text": text} for text in claim.passages],
        "answer": claim.answer,
        "answer_segment": claim.sentence,
    }


def paper_settings(asked: LlmSettings) -> LlmSettings:
    """Return a model's settings as in the paper: temperature and top_p of 0.1."""
    return asked.model_copy(update={"temperature": TEMPERATURE}).sending(top_p=TOP_P)


@dataclass(frozen=True)
class FaithfulnessPrompts(JudgePrompts[Claim]):
    """One of the paper's four prompts.

    Attributes:
        name: Which one.
        template: What is sent in place of all of it; ``FAITHFULNESS_PROMPT.read`` reads one.
    """

    name: str = "ag_cot"
    template: PromptTemplate | None = None
    retries: ClassVar[int] = 5

    def __post_init__(self) -> None:
        checked_choice(self.name, PROMPTS, "prompt")

    @property
    def version(self) -> str:
        """Names and digests of the templates."""
        if self.template is not None:
            return self.template.version
        system = packaged_prompt(_PACKAGE, f"{self.name}.v1", ())
        return f"{system.version}+{FAITHFULNESS_PROMPT.packaged().version}"

    def ask(self, item: Claim) -> list[Prompt]:
        """Make the prompt for a claim."""
        task = self.template or FAITHFULNESS_PROMPT.packaged()
        user = task.fill(claim_values(item))
        if self.template is not None:
            return [Prompt.of(user, version=self.version)]
        system = packaged_prompt(_PACKAGE, f"{self.name}.v1", ()).fill({})
        return [Prompt.of(user, system, self.version)]

    def settings(self, asked: LlmSettings) -> LlmSettings:
        """Return a model's settings as in the paper: temperature and top_p of 0.1."""
        return paper_settings(asked)

    def read(self, text: str, task: str) -> str:  # noqa: ARG002
        """Read the label of a reply, see ``parse_label``."""
        label = parse_label(text)
        if label is None:
            raise UnparsableError(
                f"the reply has no label; expected <answer>{SUPPORTED}</answer> "
                f"or <answer>{NOT_SUPPORTED}</answer>"
            )
        return label


_REASONING = re.compile(rf"{THOUGHTS.pattern}|<rationale>.*?</rationale>", THOUGHTS.flags)
_OPENING = re.compile(r"<answer>", re.IGNORECASE)
_CLOSING = re.compile(r"</\s*answer\s*>", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]+")
_NEGATIVE = ("unsupported", "notsupported", "nonsupported")
_SEPARATED_NEGATIVE = (("not", "supported"), ("non", "supported"), ("un", "supported"))
_ROOT = "support"


def parse_label(text: str) -> str | None:
    """Read the label of a reply.

    The last ``<answer>`` counts, outside of thoughts and rationales; where no tag was written, the
    whole reply may be the label. What stands there must begin with one of the labels and hold no
    further word on support: ``Not Supported``, ``unsupported``, ``**Supported**.``; case, marks
    and line breaks do not matter. Anything else is no label, never a guess.

    Args:
        text: What the model replied.

    Returns:
        ``Supported``, ``Not Supported`` or None.
    """
    words, may_explain = label_words(text)
    label, length = _leading_label(words)
    rest = words[length:]
    if rest and (not may_explain or any(_ROOT in word for word in rest)):
        return None
    return label


def label_words(text: str) -> tuple[list[str], bool]:
    """Return the words of a reply's answer, case-folded, and whether tags stand around it.

    The last ``<answer>`` counts, outside of thoughts and rationales; where no tag was written, the
    whole reply may be the answer.
    """
    said = _REASONING.sub(" ", text)
    openings = list(_OPENING.finditer(said))
    stated = said[openings[-1].end() :] if openings else said
    inside = _CLOSING.split(stated, maxsplit=1)[0] if openings else stated
    found = _LETTERS.findall(unicodedata.normalize("NFKC", inside))
    return [word.casefold() for word in found], bool(openings)


def _leading_label(words: list[str]) -> tuple[str | None, int]:
    """Return the label that words begin with, and how many words it takes."""
    if tuple(words[:2]) in _SEPARATED_NEGATIVE:
        return NOT_SUPPORTED, 2
    if words[:1] and words[0] in _NEGATIVE:
        return NOT_SUPPORTED, 1
    if words[:1] == ["supported"]:
        return SUPPORTED, 1
    return None, 0
