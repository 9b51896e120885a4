"""An LLM as a judge: which model, asked how and where, and how its replies are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TypedDict

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from arena.data.errors import DataError, UsageError
from arena.data.schema import validation_problems
from arena.judging.prompt import PairwisePrompt, VerdictForm, pairwise_prompt
from arena.judging.replies import ALTERNATIVES, Winner, read_letter, read_verdict
from arena.llm.replies import Completion, UnparsableError
from arena.llm.settings import Endpoint, ModelSettings
from arena.llm.usage import Price

CUT_OFF = "cut_off"

_ONE_TOKEN = 1


class StoredVerdict(TypedDict):
    """What is read from a reply, as it is kept in the store."""

    winner: Winner
    shares: dict[Winner, float] | None
    flags: list[str]


@dataclass(frozen=True)
class LlmJudge:
    """A judge.

    Attributes:
        settings: Model, temperature and so on.
        endpoint: Where it is asked.
        verdict: ``text``: the last of ``[[A]]``, ``[[B]]``, ``[[C]]`` in the reply.
            ``logprobs``: the likeliest of the letters A, B, C as the reply's first token; one
            token is asked for, whatever the settings say.
        prompt: What it is asked; the packaged prompt for this form of verdict by default.
        name: Its name in the ``judge`` column; the model's by default.
    """

    settings: ModelSettings
    endpoint: Endpoint = field(default_factory=Endpoint)
    verdict: VerdictForm = "text"
    prompt: PairwisePrompt | None = None
    name: str = ""

    @property
    def judge(self) -> str:
        """Name in the ``judge`` column."""
        return self.name or self.settings.model

    @property
    def asked_by(self) -> PairwisePrompt:
        """The prompt in use."""
        return self.prompt or pairwise_prompt(verdict=self.verdict)

    @property
    def asked_settings(self) -> ModelSettings:
        """The settings in use: one token with log-probabilities where these are read."""
        if self.verdict == "text":
            return self.settings
        if self.settings.logprobs is None:
            return replace(self.settings, logprobs=ALTERNATIVES, max_tokens=_ONE_TOKEN)
        return replace(self.settings, max_tokens=_ONE_TOKEN)

    def read(self, completion: Completion) -> StoredVerdict:
        """Read the verdict of a reply.

        Raises:
            UnparsableError: If there is none, which makes the judgment INVALID.
        """
        if self.verdict == "logprobs":
            letter = read_letter(completion)
            return StoredVerdict(
                winner=letter.winner,
                shares={name: round(share, 6) for name, share in letter.shares.items()},
                flags=list(letter.flags),
            )
        found = read_verdict(completion.text or "")
        cut = (CUT_OFF,) if completion.finish_reason == "length" else ()
        if found.winner is None:
            why = "the reply was cut off before a verdict" if cut else "the reply has no verdict"
            raise UnparsableError(f"{why}; expected [[A]], [[B]] or [[C]]")
        return StoredVerdict(winner=found.winner, shares=None, flags=[*found.flags, *cut])


FAMILIES = MappingProxyType(
    {
        "OpenAI": r"gpt-?[345](?!all)|gpt-oss|chatgpt|openai|(?<![a-z0-9])o[134](?![a-z0-9])",
        "Anthropic": r"claude|anthropic",
        "Google": r"gemini|gemma|google|palm-?2|(?<![a-z])bard(?![a-z])",
        "Meta": r"llama|(?<![a-z])meta(?![a-z])|vicuna|alpaca",
        "Qwen": r"qwen|qwq",
        "Mistral": r"mi[sx]tral|ministral|codestral|magistral|pixtral",
        "Cohere": r"cohere|command-?(?:r|a|light|nightly)|(?<![a-z])aya(?![a-z])",
        "DeepSeek": r"deepseek",
        "Microsoft": r"(?<![a-z])phi-?[1-9]|microsoft|wizardlm",
        "xAI": r"grok|(?<![a-z])xai(?![a-z])",
        "Zhipu": r"(?<![a-z])(?:chat)?glm|zhipu",
        "01.AI": r"(?<![a-z])yi-|01-ai",
    }
)
"""Name of each family to a pattern of its models' names."""

_PATTERNS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in FAMILIES.items()}

SHOWN_SYSTEMS = 5


def model_families(name: str) -> frozenset[str]:
    """Return the families that a model's name speaks of; a distilled model may have two."""
    return frozenset(family for family, pattern in _PATTERNS.items() if pattern.search(name))


def self_preference_warnings(judge: str, systems: Iterable[str]) -> Iterator[str]:
    """Warn where a judge is of one family with systems it judges.

    Judges prefer answers of their own kind (Panickssery et al., 2024, "LLM evaluators recognize
    and favor their own generations").
    """
    contestants = sorted(systems)
    for family in sorted(model_families(judge)):
        kin = [system for system in contestants if family in model_families(system)]
        if kin:
            more = f" and {len(kin) - SHOWN_SYSTEMS} more" if len(kin) > SHOWN_SYSTEMS else ""
            yield (
                f"{judge} judges its own family ({family}: {', '.join(kin[:SHOWN_SYSTEMS])}{more});"
                " it may prefer it: compare with a judge of another family"
            )


_EXAMPLE = '{"gpt-4o": {"tokens_in": 2.5, "tokens_out": 10}}'


class _Price(BaseModel):
    model_config = ConfigDict(extra="forbid")

    tokens_in: float = Field(ge=0, allow_inf_nan=False)
    tokens_out: float = Field(ge=0, allow_inf_nan=False)


_PRICES = TypeAdapter(dict[str, _Price])


def read_prices(path: Path | str) -> dict[str, Price]:
    """Read what models cost.

    Args:
        path: JSON, each model's price per million tokens in any one currency:
            ``{"gpt-4o": {"tokens_in": 2.5, "tokens_out": 10}}``.

    Raises:
        UsageError: If there is no such file.
        DataError: If it holds something else.
    """
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"there is no file of prices at {path}")
    try:
        read = _PRICES.validate_json(path.read_bytes())
    except ValidationError as error:
        problems = validation_problems(error, path.name, None, lambda _: f"write {_EXAMPLE}")
        raise DataError(problems) from error
    return {model: Price(price.tokens_in, price.tokens_out) for model, price in read.items()}
