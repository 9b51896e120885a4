"""Judgments from any file: our own columns, or LMArena's battles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from arena.adapters.battle_rows import NO_LANGUAGES, BattleOptions, BattleReader
from arena.adapters.collected import Collected
from arena.adapters.columns import NO_COLUMNS
from arena.adapters.lmarena import foreign_of_battles
from arena.adapters.plain_judgments import (
    is_read_as_written,
    plain_judgments,
    sample_of_all_texts,
)
from arena.data.answer_digests import EDITED, outdated_sentence
from arena.data.codes import coded_judgments, without_categories
from arena.data.errors import ArenaError, UsageError
from arena.data.folder import read_arena
from arena.data.judgments import with_known_columns
from arena.data.rows import Rows
from arena.data.schema import INFO_FILE, JUDGMENTS


@dataclass(frozen=True)
class CountedJudgments:
    """Judgments of a file, and what was left out of it.

    Attributes:
        table: Columns ``query_id, language, system_a, system_b, winner, judge``, and those of
            ``criterion``, ``chosen``, ``probability_a``, ``probability_b``, ``voter``,
            ``weight``, ``both_bad`` and ``repeat`` that it has; one row per judgment, names and
            ids as categories.
        skipped: Counts of what was left out or changed: ``source, item, reason, count``, sorted.
    """

    table: pd.DataFrame
    skipped: pd.DataFrame


def read_judgments(path: Path | str, questions: pd.DataFrame | None = None) -> pd.DataFrame:
    """Read judgments, as ``counted_judgments_of`` does, without what was left out.

    Raises:
        UsageError: If the file is absent, of unknown format, or holds no judgments.
        DataError: With every problem: unknown winners, missing values, systems against themselves.
    """
    options = BattleOptions(languages=_languages_of(questions))
    return without_categories(_read(Path(path), options).table)


def counted_judgments_of(
    path: Path | str,
    questions: pd.DataFrame | None = None,
    *,
    columns: Mapping[str, str] = NO_COLUMNS,
    drop_flagged: bool = False,
) -> CountedJudgments:
    """Read judgments.

    Args:
        path: Arena folder; or file in any row format, with the columns of ``judgments`` or those
            of battles (``model_a, model_b, winner``), or other names that ``columns.toml`` lists.
            Without ``query_id`` every row is a question of its own; without ``language`` it is
            ``und``; without a judge it is ``unknown``.
        questions: Columns ``query_id, language``: rows of a file without a language have that of
            their question, where its id alone says which.
        columns: Field to the name of its column, where its own name is not known.
        drop_flagged: As for ``read_battles``.

    Raises:
        UsageError: If the file is absent, of unknown format, or holds no judgments.
        DataError: With every problem: unknown winners, missing values, systems against themselves.
    """
    options = BattleOptions(columns, languages=_languages_of(questions), drops_flagged=drop_flagged)
    read = _read(Path(path), options)
    return replace(read, table=coded_judgments(read.table))


def _read(path: Path, options: BattleOptions) -> CountedJudgments:
    """Read judgments: those of large plain files as categories, all others as texts."""
    if path.is_dir() and (path / INFO_FILE).is_file():
        arena = read_arena(path)
        if arena.judgments.empty:
            published = ", only published ratings" if len(arena.published_ratings) else ""
            n_outdated = len(arena.outdated)
            outdated = f"; {outdated_sentence(n_outdated)}" if n_outdated else ""
            raise UsageError(f"{path}: there is no judgment in it{published}{outdated}")
        skipped = Collected()
        for _ in range(len(arena.outdated)):
            skipped.skip(JUDGMENTS.name, "judgment", EDITED)
        return CountedJudgments(with_known_columns(arena.judgments), skipped.skipped())
    if not path.exists():
        raise UsageError(f"there is no file {path}")
    plain = None if options.columns else plain_judgments(path)
    if plain is not None:
        sample = sample_of_all_texts(plain, path.name)
        # What cells mean is read text by text: a file whose texts stay as they are needs no more.
        # Where one is at fault, all rows are read, so that messages name their lines.
        with suppress(ArenaError):
            read = _read_files(Collected(), [sample], path.name, options)
            if read.skipped.empty and is_read_as_written(sample, read.table):
                return replace(read, table=plain)
    collected = Collected()
    files = (rows for _, rows in collected.files([path]))
    return _read_files(collected, files, path.name, options)


def _read_files(
    collected: Collected, files: Iterable[Rows], name: str, options: BattleOptions
) -> CountedJudgments:
    """Read judgments row by row.

    Args:
        collected: What was read so far, and what was wrong.
        files: Rows of files.
        name: What messages call them.
        options: How to read.
    """
    reader = BattleReader(collected, options)
    for rows in files:
        for battle in reader.battles_of(replace(rows, source=name)):
            _, query_id = battle.key
            collected.question(battle.place, battle.key, query_id, [], may_repeat=True)
    if not reader.n_rows and not collected.problems:
        raise UsageError(f"{name}: there is no judgment in it")
    foreign = foreign_of_battles(collected, "battles")
    if foreign.arena.judgments.empty:
        raise UsageError(f"{name}: there is no judgment in it")
    return CountedJudgments(with_known_columns(foreign.arena.judgments), foreign.skipped)


def _languages_of(questions: pd.DataFrame | None) -> Mapping[str, str]:
    """Return the language of each question by its id; none where ids do not say which."""
    if questions is None or not {"query_id", "language"} <= set(questions):
        return NO_LANGUAGES
    if questions["query_id"].duplicated().any():
        return NO_LANGUAGES
    return dict(zip(questions["query_id"].astype(str), questions["language"], strict=True))
