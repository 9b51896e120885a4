"""A baseline without any model: how much of a sentence stands in one passage, by characters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from arena.errors import UsageError
from arena.metaevaluation.memerag.claims import Claim, Verdict
from arena.metaevaluation.memerag.labels import NOT_SUPPORTED, SUPPORTED

RUN = 5
THRESHOLD = 0.55

_SPACES = re.compile(r"\s+")


@dataclass(frozen=True)
class LexicalJudge:
    """Calls a sentence supported if enough of its runs of characters stand in one passage.

    Attributes:
        threshold: Share of the runs from which on a sentence is supported, for all languages.
        length: Characters of a run.
    """

    threshold: float = THRESHOLD
    length: int = RUN

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1 or self.length < 1:
            raise UsageError("give a threshold from 0 to 1 and a length of 1 or more")

    @property
    def name(self) -> str:
        """``lexical``."""
        return "lexical"

    @property
    def prompt(self) -> str:
        """The settings."""
        return f"characters:{self.length}|threshold:{self.threshold}"

    def judge(self, claims: Sequence[Claim]) -> list[Verdict]:
        """Judge each claim by itself."""
        return [
            Verdict(SUPPORTED if self.share(each) >= self.threshold else NOT_SUPPORTED)
            for each in claims
        ]

    def share(self, claim: Claim) -> float:
        """Return the share of the sentence's runs that its best passage holds, 0 to 1."""
        runs = character_runs(claim.sentence, self.length)
        held = (set(character_runs(text, self.length)) for text in claim.passages)
        return max((sum(run in known for run in runs) / len(runs) for known in held), default=0.0)


def character_runs(text: str, length: int) -> list[str]:
    """Return the runs of so many characters of a text, case-folded, spaces joined.

    Returns:
        At least one run: a shorter text is a run by itself.
    """
    plain = _SPACES.sub(" ", text.casefold()).strip()
    return [plain[start : start + length] for start in range(len(plain) - length + 1)] or [plain]
