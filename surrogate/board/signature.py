"""A board's signature, taken apart, and the command that makes the board again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

from arena.data.errors import ArenaError
from arena.rating.bradley_terry import DEFAULT_RIDGE
from surrogate.board.summary import BoardSummary
from surrogate.learning.regressors import DEFAULT_LEARNER

MEANINGS: Mapping[str, str] = {
    "judge": "Whose judgments the surrogate learned from",
    "features": "What is measured on every answer",
    "model": "The learner that predicts a system's rating from its features",
    "rows": "One training row a system, or one a question",
    "tournaments": "Bootstrapped tournaments a language",
    "questions": "Questions drawn for a tournament, with replacement; at most the number judged",
    "ties": "How ties count: half a win each, or dropped",
    "ridge": "Precision of the prior on the arena's coefficients",
    "holdout": "Systems kept out of training",
    "seed": "Seed of everything random",
    "version": "Version of surrogate-arena",
}

_NEXT_FIELD = re.compile(r"\|(?=(?:" + "|".join(MEANINGS) + r"):)")


@dataclass(frozen=True)
class SignatureField:
    """A setting of the signature with what it means."""

    name: str
    value: str
    meaning: str


def signature_fields(signature: str) -> list[SignatureField]:
    """Take a signature apart; values may hold any character, bars included."""
    fields = []
    for part in _NEXT_FIELD.split(signature):
        name, _, value = part.partition(":")
        fields.append(SignatureField(name, value, MEANINGS.get(name, "")))
    return fields


@dataclass(frozen=True)
class Reproduction:
    """How to make a board again.

    Attributes:
        command: The command, quoted for a POSIX shell.
        cautions: What the command line cannot say, as sentences.
    """

    command: str
    cautions: list[str]


def reproduction(summary: BoardSummary) -> Reproduction:
    """Return the command that makes a board again, from its signature."""
    settings = {field.name: field.value for field in signature_fields(summary.signature)}
    arguments = ["surrogate-arena", "board", _arena_argument(summary), "--out", "board"]
    for name in ("judge", "tournaments", "questions", "holdout", "ties", "rows", "seed"):
        if name in settings:
            arguments += [f"--{name}", settings[name]]
    if settings.get("model", DEFAULT_LEARNER) != DEFAULT_LEARNER:
        arguments += ["--model", settings["model"]]
    arguments += _features(summary)
    return Reproduction(" ".join(map(shlex.quote, arguments)), _cautions(summary, settings))


def _arena_argument(summary: BoardSummary) -> str:
    place = PurePath(summary.arena_folder or "").name
    return place if place not in {"", ".."} else summary.arena


def _features(summary: BoardSummary) -> list[str]:
    if features_are_declared(summary):
        return ["--features", ",".join(summary.features)]
    return ["--feature-table", "features.parquet"]


def features_are_declared(summary: BoardSummary) -> bool:
    """Tell whether the features can be asked for by name, or came from a table."""
    from features.measures.registry import parse_features

    try:
        declared = parse_features(",".join(summary.features))
    except (ArenaError, ValueError):
        return False
    return tuple(map(str, declared)) == summary.features


def _cautions(summary: BoardSummary, settings: Mapping[str, str]) -> list[str]:
    cautions = [
        "The arena is not included: run the command beside its folder. The arena is the "
        f"same if its fingerprint is {summary.fingerprint}."
    ]
    if not features_are_declared(summary):
        cautions.append(
            "Its features were given as a table; features.parquet of the board folder holds them."
        )
    if settings.get("ridge", f"{DEFAULT_RIDGE:g}") != f"{DEFAULT_RIDGE:g}":
        cautions.append(
            f"The ridge {settings['ridge']} cannot be chosen on the command line: "
            "use surrogate.build_board(…, ridge=…) in Python."
        )
    return cautions
