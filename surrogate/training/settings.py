"""What is taught, by whom, and how it is shown: settings of all kinds of training sets."""

from __future__ import annotations

from types import MappingProxyType
from typing import Literal

from pydantic import Field

from arena.llm.settings import Names
from surrogate.metaevaluation.settings import JudgeOptions


class TrainsetSettings(JudgeOptions):
    """What is taught, by whom, and how it is shown; fields of other kinds are refused."""

    teacher: str = Field(
        default="",
        description="Who is taught: a system (mirage), a judge of the arena (judge, preference), "
        "or llm:MODEL, labels:FILE[#ANNOTATOR], python:MODULE:FUNCTION (grouse).",
    )
    languages: Names = Field(default=(), description="Comma-separated languages. Default: all")
    questions: int | None = Field(
        default=None,
        ge=1,
        description="Questions of each language to train on, those that 'select --questions' "
        "draws. Default: all",
    )
    seed: int = Field(default=0, ge=0, description="Seed of everything random.")
    passage_tokens: int | None = Field(
        default=None, ge=1, description="mirage: tokens of a passage to show. Default: 800"
    )
    context_tokens: int | None = Field(
        default=None, ge=1, description="mirage: tokens of a prompt. Default: 8192"
    )
    tokenizer: str | None = Field(
        default=None, description="mirage: tokenizer.json to count tokens by. Default: 4 bytes"
    )
    expected: str | None = Field(
        default=None,
        description="grouse: system whose answers are expected. Default: the arena's reference",
    )
    systems: Names = Field(
        default=(), description="grouse: comma-separated systems to score. Default: all"
    )
    balance: int | None = Field(
        default=None,
        ge=1,
        description="grouse: keep so many rows, scores as evenly spread as can be.",
    )
    ablate: Names = Field(
        default=(),
        description="grouse: comma-separated, what replies leave out: ground-truth, "
        "justification, chain-of-thought.",
    )
    verdict: Literal["logprobs", "text"] = Field(
        default="logprobs", description="judge: logprobs (the letter alone) or text ([[A]])."
    )
    sides: Literal["drawn", "both", "given"] = Field(
        default="drawn",
        description="judge: drawn (each pair once), both (in both orders) or given.",
    )
    pairs: int | None = Field(
        default=None, ge=1, description="judge, preference: most pairs of a question. Default: all"
    )
    show: Literal["output", "answer"] = Field(
        default="output", description="judge: output (all that a system wrote) or answer."
    )
    longest_answer: int | None = Field(
        default=None, ge=1, description="judge: truncate answers to N characters."
    )
    longest_passage: int | None = Field(
        default=None, ge=1, description="judge: truncate passages to N characters."
    )


SHARED = frozenset({"teacher", "languages", "questions", "seed"})
OF_KINDS = MappingProxyType(
    {
        "mirage": frozenset({"passage_tokens", "context_tokens", "tokenizer"}),
        "grouse": frozenset({"expected", "systems", "balance", "ablate"})
        | frozenset(JudgeOptions.model_fields),
        "judge": frozenset({"verdict", "sides", "pairs", "show"})
        | frozenset({"longest_answer", "longest_passage"}),
        "preference": frozenset({"pairs"}),
    }
)
KINDS = tuple(OF_KINDS)
