"""MIRAGE-Bench's published files as an arena."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import pandas as pd

from arena.adapters.files import (
    checked_language,
    columns_of,
    files_below,
    language_of,
    read_foreign_rows,
    shown_path,
    split_of,
    without_language,
)
from arena.adapters.foreign_rows import (
    Adapted,
    ForeignArena,
    Skip,
    ignored_columns,
    joined_rows,
    load_rows,
    missing_columns,
    skipped_table,
)
from arena.adapters.mirage_outputs import AdaptedOutputs, adapt_outputs, adapt_prompts
from arena.data.arena import Arena
from arena.data.errors import DataError, Problem, UsageError
from arena.data.folder import checked_arena
from arena.data.languages import LANGUAGE_CODE
from arena.data.rows import CSV_SUFFIXES, Rows, read_rows
from arena.data.schema import JUDGMENTS as OUR_JUDGMENTS
from arena.data.schema import ArenaInfo, check_table

VERDICTS = MappingProxyType({"A": "a", "B": "b", "Tie": "tie"})
"""Published verdict to our winner; anything else is a failed judgment."""

COLUMNS = MappingProxyType(
    {
        "query_id": "query_id",
        "model_A": "system_a",
        "model_B": "system_b",
        "verdict": "winner",
        "judge": "judge",
        "output": "reason",
    }
)
"""Published column to ours."""


def adapt_judgments(rows: Rows, language: str) -> Adapted:
    """Bring rows of pairwise judgments into the schema of ours.

    A verdict other than A, B or Tie is a failed judgment: it is left out and counted, and never
    becomes a tie.

    Args:
        rows: Columns ``query_id, judge, model_A, model_B, verdict``; the judge's ``output`` is kept
            as ``reason``.
        language: Their language code, which the schema does not hold.
    """
    given = [name for name in COLUMNS if name != "output" or name in rows.table.columns]
    missing = missing_columns(rows, given)
    if missing or not len(rows.table.columns):
        empty = Rows(pd.DataFrame(), pd.Series(dtype=int), rows.source)
        return Adapted(empty, (*rows.problems, *missing), ())
    winners = [
        VERDICTS.get(verdict) if isinstance(verdict, str) else None
        for verdict in rows.table["verdict"]
    ]
    table = rows.table[given].rename(columns=dict(COLUMNS))
    table.insert(1, "language", language)
    table["winner"] = pd.Series(winners, index=table.index, dtype=object)
    decided = table["winner"].notna()
    failed = tuple(
        Skip(rows.source, "judgment", f"its verdict is {_shown(verdict)}")
        for verdict in rows.table.loc[~decided, "verdict"]
    )
    kept = Rows(
        table[decided].astype(object).reset_index(drop=True),
        rows.lines[decided].reset_index(drop=True),
        rows.source,
    )
    return Adapted(kept, rows.problems, (*failed, *ignored_columns(rows, given)))


def _shown(verdict: object) -> str:
    return "null" if verdict is None else repr(verdict)


def unknown_models(judgments: Rows, systems: list[str], outputs: str) -> list[Problem]:
    """List the judged models that have no output at all.

    Args:
        judgments: Adapted judgments.
        systems: Models with outputs.
        outputs: What to call the outputs in the message.
    """
    table = judgments.table
    hint = "add its outputs or correct the name"
    return [
        Problem(
            judgments.source,
            int(judgments.lines.loc[row]),
            published,
            table.at[row, ours],
            f"has no output in {outputs}",
            hint,
        )
        for published, ours in [("model_A", "system_a"), ("model_B", "system_b")]
        if ours in table.columns
        for row in table.index[~table[ours].isin(systems) & table[ours].notna()]
    ]


PROMPTS = "nthakur/mirage-bench"
OUTPUTS = "nthakur/mirage-bench-output"
JUDGMENTS = "nthakur/mirage-bench-pairwise-judgments"

_SOURCE = "MIRAGE-Bench (Thakur et al., NAACL 2025)"
_PUBLISHED_FIELDS = {
    "query": "prompt",
    "passages": "prompt",
    "system": "outputs.model",
    "answer": "outputs.output",
    "system_a": "model_A",
    "system_b": "model_B",
}


@dataclass(frozen=True)
class MirageFiles:
    """The files of one language: JSONL or Parquet, the judgments also CSV.

    Attributes:
        prompts: Questions and passages.
        outputs: Answers and feature scores.
        judgments: Pairwise judgments, or None.
    """

    prompts: Path | str
    outputs: Path | str
    judgments: Path | str | None = None


@dataclass(frozen=True)
class _Language:
    code: str
    prompts: Adapted
    outputs: AdaptedOutputs
    judgments: Adapted | None

    @property
    def parts(self) -> tuple[Adapted, ...]:
        judged = () if self.judgments is None else (self.judgments,)
        return (self.prompts, self.outputs, *judged)


def read_mirage(
    files: Mapping[str, MirageFiles],
    *,
    name: str = "mirage-bench",
    reference_system: str | None = None,
) -> ForeignArena:
    """Read MIRAGE-Bench from local files.

    Args:
        files: Files of each language, by language code.
        name: Name of the arena.
        reference_system: Model whose answers serve as reference.

    Raises:
        UsageError: For an unknown format, an absent file or an unknown reference system.
        DataError: With the problems of all files of all languages.
    """

    def rows_of_language(code: str) -> tuple[Rows, Rows, Rows | None]:
        paths = files[code]
        return (
            _read_nested(paths.prompts),
            _read_nested(paths.outputs),
            None if paths.judgments is None else _read(paths.judgments),
        )

    return _assemble(list(files), rows_of_language, name, reference_system)


Role = Literal["prompts", "outputs", "judgments"]
_ROLES: dict[Role, frozenset[str]] = {
    "outputs": frozenset({"outputs"}),  # may repeat the columns of prompts
    "prompts": frozenset({"prompt", "positive_ids", "negative_ids"}),
    "judgments": frozenset({"model_A", "model_B"}),
}
"""What a file holds, by columns that no other has."""


def read_mirage_clone(
    paths: Sequence[Path | str],
    *,
    language: str | None = None,
    languages: Sequence[str] = (),
    split: str = "dev",
    name: str = "mirage-bench",
    reference_system: str | None = None,
) -> ForeignArena:
    """Read clones of MIRAGE-Bench's data sets, or any folders and files of their schemas.

    What a file holds is told by its columns, its language by its folder or name
    (``en/dev-00000-of-00001.parquet``). Several files of a language and kind, such as the outputs
    of further models, are read together.

    Args:
        paths: Clones of ``nthakur/mirage-bench``, ``nthakur/mirage-bench-output`` and, if any,
            ``nthakur/mirage-bench-pairwise-judgments``.
        language: Language of all files, where names do not tell.
        languages: Languages to read; all there are if left out.
        split: Files named for another split are left out.
        name: Name of the arena.
        reference_system: Model whose answers serve as reference.

    Raises:
        UsageError: If a path is absent, a language is not known, or lacks prompts or outputs.
        DataError: With the problems of all files of all languages.
    """
    found: dict[str, dict[Role, list[Rows]]] = {}
    skips: list[Skip] = []
    unnamed: list[str] = []
    for path in files_below(paths):
        source = shown_path(path, paths)
        code = language_of(path, paths, checked_language(language))
        if split_of(path) not in (None, split):
            skips.append(Skip(source, "file", f"it is of the split {split_of(path)}"))
        elif languages and code is not None and code not in languages:
            skips.append(Skip(source, "file", f"its language, {code}, was not asked for"))
        else:
            rows = read_foreign_rows(path, source)
            role = next((role for role, own in _ROLES.items() if own <= columns_of(rows)), None)
            if role is None and not rows.problems:
                skips.append(Skip(source, "file", "it is no table of MIRAGE-Bench"))
            elif code is None:
                unnamed.append(source)
            else:
                found.setdefault(code, {}).setdefault(role or "prompts", []).append(rows)
    if unnamed:
        raise without_language(unnamed)

    def rows_of_language(code: str) -> tuple[Rows, Rows, Rows | None]:
        tables = found.get(code, {})
        for role in ("prompts", "outputs"):
            if role not in tables:
                raise UsageError(f"there is no file of {role} in {code}; give its clone, too")
        judged = tables.get("judgments")
        prompts, outputs = joined_rows(tables["prompts"]), joined_rows(tables["outputs"])
        return prompts, outputs, joined_rows(judged) if judged else None

    read = _assemble(list(languages) or sorted(found), rows_of_language, name, reference_system)
    skipped = pd.concat([skipped_table(skips), read.skipped], ignore_index=True)
    return replace(read, skipped=skipped)


def load_mirage(
    languages: Sequence[str],
    *,
    split: str = "dev",
    prompts: str = PROMPTS,
    outputs: str = OUTPUTS,
    judgments: str | None = JUDGMENTS,
    name: str = "mirage-bench",
    reference_system: str | None = None,
) -> ForeignArena:
    """Load MIRAGE-Bench by name, from the hub of the optional package ``datasets``.

    Args:
        languages: Language codes, the configurations to load.
        split: Split of each data set.
        prompts: Data set of prompts.
        outputs: Data set of outputs and scores.
        judgments: Data set of pairwise judgments, or None to load none.
        name: Name of the arena.
        reference_system: Model whose answers serve as reference.

    Raises:
        MissingDependencyError: If ``datasets`` is not installed.
        UsageError: If the hub cannot be reached or lacks something, or for an unknown reference
            system.
        DataError: With the problems of all languages.
    """

    def rows_of_language(code: str) -> tuple[Rows, Rows, Rows | None]:
        return (
            load_rows(prompts, code, split),
            load_rows(outputs, code, split),
            None if judgments is None else load_rows(judgments, code, split),
        )

    return _assemble(languages, rows_of_language, name, reference_system)


def _read(path: Path | str) -> Rows:
    path = Path(path)
    return read_rows(path, f"{path.parent.name}/{path.name}".removeprefix("/"))


def _read_nested(path: Path | str) -> Rows:
    if Path(path).name.endswith(CSV_SUFFIXES):
        raise UsageError(f"{path}: CSV cannot hold the lists of this table; use .jsonl or .parquet")
    return _read(path)


def _assemble(
    languages: Sequence[str],
    rows_of_language: Callable[[str], tuple[Rows, Rows, Rows | None]],
    name: str,
    reference_system: str | None,
) -> ForeignArena:
    _check_languages(languages)
    adapted = []
    problems: list[Problem] = []
    for code in languages:
        try:
            adapted.append(_adapt(code, *rows_of_language(code)))
        except DataError as error:
            problems.extend(error.problems)
    problems.extend(p for language in adapted for part in language.parts for p in part.problems)
    systems = _systems(adapted)
    if problems:
        problems.extend(p for language in adapted for p in _malformed_judgments(language))
    else:
        problems = [p for language in adapted for p in _unknown_models(language, systems)]
    if problems:
        raise DataError(problems)
    if reference_system is not None and reference_system not in systems:
        raise UsageError(f"no model {reference_system!r} here; the models are {', '.join(systems)}")
    info = ArenaInfo(
        name=name,
        languages=tuple(languages),
        systems=tuple(systems),
        reference_system=reference_system,
        source=_SOURCE,
    )
    features = pd.concat([language.outputs.features for language in adapted], ignore_index=True)
    return ForeignArena(
        _merged(info, _checked_arenas(info, adapted)),
        skipped_table(skip for lang in adapted for part in lang.parts for skip in part.skips),
        features.sort_values(["language", "system", "query_id"], ignore_index=True),
    )


def _check_languages(languages: Sequence[str]) -> None:
    if not languages:
        raise UsageError("name at least one language, such as 'en'")
    for code in languages:
        if not re.fullmatch(LANGUAGE_CODE, code):
            raise UsageError(f"{code!r} is not a language code; use ISO 639-1, such as 'en'")
    if len(set(languages)) < len(languages):
        raise UsageError(f"a language is named twice in {', '.join(languages)}")


def _adapt(code: str, prompts: Rows, outputs: Rows, judgments: Rows | None) -> _Language:
    return _Language(
        code,
        adapt_prompts(prompts, code),
        adapt_outputs(outputs, code),
        None if judgments is None else adapt_judgments(judgments, code),
    )


def _systems(adapted: Iterable[_Language]) -> list[str]:
    return sorted({model for lang in adapted for model in lang.outputs.rows.table["system"]})


def _malformed_judgments(language: _Language) -> list[Problem]:
    """List what else the check of the whole arena would find wrong with the judgments."""
    if language.judgments is None or language.judgments.rows.table.empty:
        return []
    rows = language.judgments.rows
    found = check_table(rows, OUR_JUDGMENTS)
    return [_as_published(problem) for problem in found]


def _unknown_models(language: _Language, systems: list[str]) -> list[Problem]:
    if language.judgments is None:
        return []
    return unknown_models(language.judgments.rows, systems, language.outputs.rows.source)


def _checked_arenas(info: ArenaInfo, adapted: Sequence[_Language]) -> list[Arena]:
    arenas = []
    problems: list[Problem] = []
    for language in adapted:
        judgments = None if language.judgments is None else language.judgments.rows
        try:
            arenas.append(
                checked_arena(info, language.prompts.rows, language.outputs.rows, judgments)
            )
        except DataError as error:
            problems.extend(_as_published(problem) for problem in error.problems)
    if problems:
        raise DataError(problems)
    return arenas


def _as_published(problem: Problem) -> Problem:
    field = problem.field or ""
    return replace(problem, field=_PUBLISHED_FIELDS.get(field, problem.field))


def _merged(info: ArenaInfo, arenas: Sequence[Arena]) -> Arena:
    return Arena(
        info,
        pd.concat([arena.queries for arena in arenas], ignore_index=True),
        pd.concat([arena.answers for arena in arenas], ignore_index=True),
        pd.concat([arena.judgments for arena in arenas], ignore_index=True),
    )
