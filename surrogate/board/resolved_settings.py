"""The settings of a board as they were resolved: what reproduces it, and its signature."""

from __future__ import annotations

import json

from pydantic import Field

from arena.data import __version__
from surrogate.board.settings import NONE, BoardSettings, Names

OMITTED_DEFAULTS = ("criterion", "by", "hard_verdicts")
"""Settings that a signature holds only where they are not the default ones."""


class ResolvedSettings(BoardSettings):
    """Everything that reproduces a board: its settings, with what they lead to in its arena.

    As text they are the signature of its board: fields ``name:value`` between bars.
    """

    judge: str = Field(description="Whose judgments the surrogate learned from.")
    other_judges: Names = Field(
        default=(),
        description="Judges whose verdicts help to predict the ratings, and are shown as well.",
    )
    features: Names = Field(default=(), description="Features measured on every answer.")
    metaevaluation: tuple[str, ...] = Field(
        default=(), description="How well the judge agrees with people."
    )
    holdout: Names = Field(default=(), description="Systems kept out of training.")
    temperatures: dict[str, float] = Field(
        default={},
        description="By what logits are divided, of each judge whose probabilities count.",
    )
    version: str = Field(default=__version__, description="Version of surrogate-arena.")

    def __str__(self) -> str:
        return "|".join(f"{name}:{text}" for name, text, _ in self.fields())

    def fields(self) -> list[tuple[str, str, str]]:
        """Return the name, value and meaning of every field; a meta-evaluation is one each."""
        names = ["judge"]
        if self.other_judges:
            names.append("other_judges")
        if self.temperatures:
            names.append("temperatures")
        names += ["metaevaluation", *BoardSettings.model_fields, "version"]
        fields: dict[tuple[str, str, str], None] = {}  # an ordered set: judge is named twice
        for name in names:
            value = getattr(self, name)
            if name in OMITTED_DEFAULTS and value == BoardSettings.model_fields[name].default:
                continue
            meaning = type(self).model_fields[name].description or ""
            texts = value if name == "metaevaluation" else [_text(value)]
            for text in texts:
                fields[name, text, meaning] = None
        return list(fields)

    def toml(self) -> str:
        """Return the settings that are not the default ones, as ``board --config`` reads them."""
        values = {name: getattr(self, name) for name in BoardSettings.model_fields}
        if self.ratings == "consensus":
            del values["judge"]  # it stands for nobody
        elif self.other_judges:
            values["judge"] = ",".join((self.judge, *self.other_judges))
        chosen = BoardSettings(**values).model_dump(mode="json", exclude_defaults=True)
        lines = []
        for name, value in chosen.items():
            lines.append(f"{name} = {json.dumps(value, ensure_ascii=False)}")
        return "\n".join(lines)


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(value) or NONE
    if isinstance(value, dict):
        return ",".join(f"{name}={number:g}" for name, number in value.items())
    return str(value)
