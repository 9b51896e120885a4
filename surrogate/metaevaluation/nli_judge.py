"""Natural-language inference as a judge of faithfulness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from arena.metaevaluation.memerag.claims import Claim, Verdict
from arena.metaevaluation.memerag.labels import NOT_SUPPORTED, SUPPORTED
from features.models import ModelOptions, load_scorer
from features.models.nli import OUTPUTS

_ENTAILMENT = OUTPUTS.index("entailment")


@dataclass(frozen=True)
class NliJudge:
    """Calls a sentence supported if a passage entails it.

    A passage entails a sentence if entailment is the most probable of the three labels (as in
    ALCE, Gao et al., 2023, section 3.3).

    Attributes:
        model: Folder of the model, or its name on the Hugging Face hub.
        options: How to run it.
    """

    model: str
    options: ModelOptions = field(default_factory=ModelOptions)

    @property
    def name(self) -> str:
        """``nli:`` and the model."""
        return f"nli:{self.model}"

    @property
    def prompt(self) -> str:
        """How verdicts are made of probabilities."""
        return "a passage entails the sentence"

    def judge(self, claims: Sequence[Claim]) -> list[Verdict]:
        """Judge claims; each distinct pair of passage and sentence is scored once.

        Raises:
            UsageError: See ``features.models.load_scorer``.
            MissingDependencyError: If a package that the model needs is not installed.
        """
        pairs = [(text, claim.sentence) for claim in claims for text in claim.passages]
        distinct = list(dict.fromkeys(pairs))
        if not distinct:
            return [Verdict(NOT_SUPPORTED)] * len(claims)
        scores = load_scorer("nli", self.model, self.options).score(distinct)
        entailed = {
            pair: int(np.argmax(row)) == _ENTAILMENT
            for pair, row in zip(distinct, scores, strict=True)
        }
        return [
            _verdict(any(entailed[text, each.sentence] for text in each.passages))
            for each in claims
        ]


def _verdict(supported: bool) -> Verdict:
    return Verdict(SUPPORTED if supported else NOT_SUPPORTED)
