"""An LLM as a judge: which model, asked how and where, and how its replies are read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypedDict

from arena.judging.letter_verdicts import ALTERNATIVES, read_letter
from arena.judging.pairwise_prompt import PairwisePrompt, VerdictForm, pairwise_prompt
from arena.judging.verdicts import Winner, read_verdict
from arena.llm.completions import Completion
from arena.llm.failures import UnparsableError
from arena.llm.settings import Endpoint, ModelSettings

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
