"""MIRAGE-Bench's published files as an arena."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import pandas as pd

from arena.data.errors import DataError, UsageError
from arena.data.rows import Rows
from features.models.hub import hub
from surrogate_arena.importers.clone_files import (
    checked_language,
    files_below,
    language_of,
    shown_path,
    without_language,
)
from surrogate_arena.importers.collected import Collected
from surrogate_arena.importers.foreign_arena import ForeignArena, foreign_arena
from surrogate_arena.importers.tables import read_table
from surrogate_arena.papers.mirage.published_rows import add_judgments, add_outputs, add_prompts

Role = Literal["prompts", "outputs", "judgments"]
Tables = Mapping[str, Mapping[Role, Sequence[Rows]]]

NAME = "mirage-bench"
DATA_SETS = tuple(f"nthakur/{NAME}{part}" for part in ("", "-output", "-pairwise-judgments"))
"""Prompts, outputs and judgments on the Hugging Face hub."""
_SOURCE = "MIRAGE-Bench (Thakur et al., NAACL 2025)"
_NAMES = {
    "query": "prompt",
    "passages": "prompt",
    "system": "outputs.model",
    "answer": "outputs.output",
    "system_a": "model_A",
    "system_b": "model_B",
}
_ROLES: dict[Role, frozenset[str]] = {
    "outputs": frozenset({"outputs"}),  # may repeat the columns of prompts
    "prompts": frozenset({"prompt", "positive_ids", "negative_ids"}),
    "judgments": frozenset({"model_A", "model_B", "verdict"}),
}
"""What a file holds, by columns that no other has."""


def read_mirage(
    paths: Sequence[Path | str],
    *,
    language: str | None = None,
    languages: Sequence[str] = (),
    name: str = NAME,
    download: bool = False,
) -> ForeignArena:
    """Read clones of MIRAGE-Bench's data sets, or any folders and files of their schemas.

    A file's columns identify its contents, its folder or name the language
    (``en/dev-00000-of-00001.parquet``).

    Args:
        paths: Clones of ``nthakur/mirage-bench``, ``-output`` and ``-pairwise-judgments``.
        language: Language of all files, where names do not tell.
        languages: Languages to read; empty for all.
        name: Name of the arena.
        download: Read them from the hub, or its local cache, too.

    Returns:
        The arena, its published features, and what was left out.
    """
    if download:
        paths = [*paths, *_downloaded(languages)]
    if not paths:
        raise UsageError("name clones of MIRAGE-Bench's data sets, or set download=true")
    collected = Collected(names=_NAMES)
    tables: dict[str, dict[Role, list[Rows]]] = {code: {} for code in languages}
    unnamed: list[str] = []
    for path in files_below(paths):
        try:
            rows = read_table(path, shown_path(path, paths))
        except DataError as error:
            collected.problems += error.problems
            continue
        code = language_of(path, paths, checked_language(language))
        role = next((role for role, columns in _ROLES.items() if columns <= set(rows.table)), None)
        if languages and code is not None and code not in languages:
            collected.skip(rows.source, "file", f"its language, {code}, was not asked for")
        elif role is None and not rows.problems:
            collected.skip(rows.source, "file", "it is not a table of MIRAGE-Bench")
        elif code is None:
            unnamed.append(rows.source)
        else:
            tables.setdefault(code, {}).setdefault(role or "prompts", []).append(rows)
    if unnamed:
        raise without_language(unnamed)
    return _arena(collected, dict(sorted(tables.items())), name)


def _downloaded(languages: Sequence[str]) -> list[Path]:
    fetch = hub("downloading MIRAGE-Bench", "hub").snapshot_download
    patterns = [f"{code}/*" for code in languages] or None
    try:
        return [
            Path(fetch(name, repo_type="dataset", allow_patterns=patterns)) for name in DATA_SETS
        ]
    except (OSError, ValueError) as error:
        raise UsageError(f"MIRAGE-Bench cannot be downloaded: {error}") from error


def _arena(collected: Collected, tables: Tables, name: str) -> ForeignArena:
    features = []
    for code, rows_by_role in tables.items():
        for role in ("prompts", "outputs"):
            if role not in rows_by_role and not collected.problems:
                raise UsageError(f"there is no file of {role} in {code}; give its clone, too")
        for rows in rows_by_role.get("prompts", ()):
            add_prompts(collected, rows, code)
        features += [add_outputs(collected, rows, code) for rows in rows_by_role.get("outputs", ())]
        for rows in rows_by_role.get("judgments", ()):
            add_judgments(collected, rows, code)
    table = None
    if features:
        table = pd.concat(features, ignore_index=True)
        table = table.sort_values(["language", "system", "query_id"], ignore_index=True)
    return foreign_arena(collected, name, source=_SOURCE, features=table)
