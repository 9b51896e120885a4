"""Records in files of JSON: read with checks, written plainly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from arena.data.checks import validation_problems
from arena.data.errors import DataError
from arena.data.files import small_file

Content = TypeVar("Content", bound=BaseModel)


def read_record(kind: type[Content], path: Path, hint: str) -> Content:
    """Read a record; the hint says what to do where it cannot be read.

    Raises:
        DataError: If it is malformed; names each field.
    """
    try:
        return kind.model_validate_json(small_file(path))
    except ValidationError as error:
        problems = validation_problems(error, path.name, None, lambda _: hint)
        raise DataError(problems) from error


def write_record(content: BaseModel, path: Path) -> None:
    """Write a record as JSON."""
    plain = content.model_dump(mode="json")
    text = json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")
