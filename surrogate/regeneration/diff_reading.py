"""What a comparison reads of a board folder; what an older board lacks is empty."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from pydantic import ValidationError

from arena.errors import DataError, UsageError
from arena.records import validation_problems
from surrogate.board_folder import ARENA_FILE, BOARD_FILE, OVERALL_FILE, SUMMARY_FILE
from surrogate.summary import BoardSummary

RATING_COLUMNS = ["language", "system", "rank", "rating", "low", "high", "note"]

_TEXTS = {"language": "str", "system": "str", "note": "str"}


@dataclass(frozen=True)
class ComparedBoard:
    """A board as far as it is compared.

    Attributes:
        arena: Arena ratings: ``language, system, rank, rating, low, high, note``.
        synthetic: Synthetic ratings, the same columns; low and high NaN on boards without them.
        overall: Ranks over all languages.
        settings: The signature's fields, with ``arena`` and a digest of its questions.
        levels: Language to the level of the synthetic ratings' intervals.
    """

    arena: pd.DataFrame
    synthetic: pd.DataFrame
    overall: pd.DataFrame
    settings: dict[str, str]
    levels: dict[str, float]

    @property
    def tournaments(self) -> int | None:
        """Tournaments that the arena's intervals rest on; None if the signature has none."""
        count = self.settings.get("tournaments", "")
        return int(count) if count.isdecimal() else None

    @property
    def languages(self) -> set[str]:
        """Languages it ranks systems in."""
        return set(self.synthetic["language"])


def read_compared(folder: Path | str) -> ComparedBoard:
    """Read a board folder for a comparison.

    Raises:
        UsageError: If the folder holds no board.
        DataError: If ``summary.json`` is malformed.
    """
    folder = Path(folder)
    wanted = (BOARD_FILE, ARENA_FILE, OVERALL_FILE, SUMMARY_FILE)
    absent = [name for name in wanted if not (folder / name).is_file()]
    if absent:
        raise UsageError(
            f"{folder} holds no board: {', '.join(absent)} is missing; "
            "make one with  surrogate-arena board ARENA --out DIR"
        )
    summary = _read_summary(folder / SUMMARY_FILE)
    settings = {"arena": summary.arena, "content": summary.fingerprint}
    return ComparedBoard(
        _ratings(folder / ARENA_FILE),
        _ratings(folder / BOARD_FILE),
        _read_table(folder / OVERALL_FILE),
        settings | _fields(summary.signature),
        {name: item.interval.level for name, item in summary.languages.items()},
    )


def _read_summary(path: Path) -> BoardSummary:
    try:
        return BoardSummary.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise DataError(
            validation_problems(error, path.name, None, lambda _: "build the board anew")
        ) from error


def _read_table(path: Path) -> pd.DataFrame:
    columns = pd.read_csv(path, nrows=0).columns
    dtypes = {name: kind for name, kind in _TEXTS.items() if name in columns}
    table = pd.read_csv(path, dtype=dtypes, keep_default_na=False, na_values=[""])
    return table.fillna({"note": ""}) if "note" in columns else table


def _ratings(path: Path) -> pd.DataFrame:
    table = _read_table(path)
    older = {name: np.nan for name in ("low", "high") if name not in table}
    return table.assign(**older)[RATING_COLUMNS]


def _fields(signature: str) -> dict[str, str]:
    """Take a signature such as ``judge:gpt-4o|seed:0`` apart; a field may stand several times."""
    fields: dict[str, str] = {}
    last = ""
    for part in signature.split("|"):
        name, colon, value = part.partition(":")
        if not (colon and name.isidentifier()):
            name, value = last, part  # a bar in a name
        fields[name] = f"{fields[name]}|{value}" if name in fields else value
        last = name
    return fields
