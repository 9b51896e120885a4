"""Verdicts as a file, ``--out`` of ``metaeval``: to compare, and to draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from arena.data.errors import DataError, Problem, UsageError
from arena.data.files import atomic_path
from arena.data.rows import plain_table
from arena.data.schema import validation_problems
from surrogate.metaevaluation.report import BY_JUDGE, judges_of


class JudgeVerdicts(BaseModel):
    """Verdicts of one judge, a list a column; subclasses add the columns."""

    model_config = ConfigDict(strict=True, extra="forbid")

    judge: str
    prompt: str

    @classmethod
    def columns(cls) -> list[str]:
        """Return the names of the columns, without the judge's."""
        return [name for name in cls.model_fields if name not in BY_JUDGE]

    @model_validator(mode="after")
    def _columns_match(self) -> JudgeVerdicts:
        lengths = {len(getattr(self, name)) for name in self.columns()}
        if lengths == {0} or len(lengths) > 1:
            raise ValueError("the columns of a judge have different lengths, or none")
        return self


class RunContent(BaseModel):
    """Content of a file; subclasses say of which data set, and how its verdicts look."""

    model_config = ConfigDict(strict=True, extra="ignore")

    notice: str = ""
    version: Literal[1] = 1
    judges: list[Any]


def _no_hint(_: str) -> str | None:
    """Leave a fault with the usual hint."""


@dataclass(frozen=True)
class RunFile:
    """How the verdicts of one benchmark are written and read.

    Attributes:
        command: What writes such files, such as ``metaeval memerag``.
        content: The whole file.
        record: The verdicts of one judge in it.
        types: Types of columns; others hold objects.
        hint: Says for a place in the file how to fix it; None for the usual hint.
    """

    command: str
    content: type[RunContent]
    record: type[JudgeVerdicts]
    types: Mapping[str, type]
    hint: Callable[[str], str | None] = field(default=_no_hint)

    @property
    def columns(self) -> list[str]:
        """Columns of a table of verdicts."""
        return [*BY_JUDGE, *self.record.columns()]

    def write(self, verdicts: pd.DataFrame, path: Path | str) -> None:
        """Write verdicts to a JSON file, atomically; the same verdicts give the same bytes.

        Args:
            verdicts: With the columns ``columns``.
            path: Target; its folder must exist.

        Raises:
            UsageError: If the folder does not exist.
        """
        judges = [
            self.record(judge=judge, prompt=prompt, **self._lists(rows))
            for (judge, prompt), rows in judges_of(verdicts).items()
        ]
        text = self.content(judges=judges).model_dump_json(indent=None)
        with atomic_path(Path(path)) as temporary:
            temporary.write_text(text + "\n", encoding="utf-8")

    def read(self, path: Path | str) -> pd.DataFrame:
        """Read the verdicts of a file.

        Returns:
            Columns ``columns``, one row a judge and item.

        Raises:
            UsageError: If there is no such file.
            DataError: If it is no such file.
        """
        path = Path(path)
        usual = f"write it again with {self.command} --out"
        if not path.is_file():
            raise UsageError(f"there is no run at {path}; make one with {self.command} --out")
        try:
            content = self.content.model_validate_json(path.read_bytes())
        except ValidationError as error:
            problems = validation_problems(
                error, path.name, None, lambda place: self.hint(place) or usual
            )
            raise DataError(problems) from error
        if not content.judges:
            raise DataError([Problem(path.name, None, "judges", [], "is an empty list", usual)])
        return pd.concat([self._table(judge) for judge in content.judges], ignore_index=True)

    def _lists(self, rows: pd.DataFrame) -> dict[str, Any]:
        plain = plain_table(rows[self.record.columns()])
        return {str(name): values.tolist() for name, values in plain.items()}

    def _table(self, judge: JudgeVerdicts) -> pd.DataFrame:
        columns = {
            name: pd.Series(getattr(judge, name), dtype=self.types.get(name, object))
            for name in self.record.columns()
        }
        table = pd.DataFrame(columns).assign(judge=judge.judge, prompt=judge.prompt)
        return table[self.columns]
