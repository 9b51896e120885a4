"""Reading the table of a study from what a command printed with ``--json``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from arena.errors import DataError, Problem, UsageError


def read_study(
    path: Path | str, name: str, command: str, typed: Callable[[pd.DataFrame], pd.DataFrame]
) -> tuple[pd.DataFrame, str]:
    """Read a study.

    Args:
        path: File.
        name: What to call the study in messages.
        command: What prints it.
        typed: Gives the table its columns and types; raises ``KeyError``, ``TypeError`` or
            ``ValueError`` where it cannot.

    Returns:
        The table and the signature.

    Raises:
        UsageError: If there is no such file.
        DataError: If it is no such study.
    """
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"there is no {name} at {path}; make one with  {command}")
    try:
        content = json.loads(path.read_bytes())
        return typed(pd.DataFrame(content["table"])), str(content["signature"])
    except (KeyError, TypeError, ValueError) as error:
        fault, mend = (
            f"is no {name} ({type(error).__name__}: {error})",
            f"write it anew with  {command}",
        )
        raise DataError([Problem(path.name, None, None, None, fault, mend)]) from error
