"""Judgments from any file: our own columns, or LMArena's battles."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
import pyarrow as pa

from arena.data.answer_digests import EDITED, outdated_sentence
from arena.data.errors import DataError, UsageError
from arena.data.folder import read_arena
from arena.data.schema import CRITERION, INFO_FILE, JUDGMENTS, VOTER
from arena.rating.judgments import with_known_columns
from arena.statistics.codes import coded_judgments, without_categories
from surrogate_arena.importers.battle_rows import NO_LANGUAGES, BattleOptions, BattleReader
from surrogate_arena.importers.coded_tables import CodedParquet, CodedRows, CodedTable
from surrogate_arena.importers.collected import Collected
from surrogate_arena.importers.column_battles import judgments_by_column
from surrogate_arena.importers.column_judgments import NeedsRowsError
from surrogate_arena.importers.columns import NO_COLUMNS
from surrogate_arena.importers.lmarena import foreign_of_battles
from surrogate_arena.importers.tables import read_table


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
    table = without_categories(_read(Path(path), options).table)
    columns = {}
    for name in (CRITERION, VOTER):
        if name in table:
            # A row without one has None, as in other optional columns.
            texts = table[name].astype(object)
            columns[name] = texts.where(texts.notna(), None)
    return table.assign(**columns)


def counted_judgments_of(
    path: Path | str,
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
        columns: Field to the name of its column, where its own name is not known.
        drop_flagged: As for ``read_battles``.

    Raises:
        UsageError: If the file is absent, of unknown format, or holds no judgments.
        DataError: With every problem: unknown winners, missing values, systems against themselves.
    """
    counted = _read(Path(path), BattleOptions(columns, drops_flagged=drop_flagged))
    return replace(counted, table=coded_judgments(counted.table))


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
        skipped.skip(JUDGMENTS.name, "judgment", EDITED, count=len(arena.outdated))
        return CountedJudgments(with_known_columns(arena.judgments), skipped.skipped())
    if not path.exists():
        raise UsageError(f"there is no file {path}")
    table = _coded_table(path) if path.is_file() else None
    if table is not None:
        # Whoever reads the rows names the lines at fault, and says what is wrong with the file.
        with suppress(NeedsRowsError, pa.ArrowException, OSError, UnicodeDecodeError):
            reader = BattleReader(Collected(), options)
            judgments = judgments_by_column(table, reader)
            return CountedJudgments(judgments, reader.collected.skipped())
    return judgments_by_row(path, options)


def _coded_table(path: Path) -> CodedTable | None:
    """Open a file whose columns can be read as codes; None if rows tell what is wrong with it."""
    with suppress(DataError, OSError, pa.ArrowException):
        if path.suffix.lower() == ".parquet":
            return CodedParquet(path, path.name)
        rows = read_table(path, path.name)
        return None if rows.problems else CodedRows(rows)
    return None


def judgments_by_row(path: Path, options: BattleOptions) -> CountedJudgments:
    """Read judgments row by row, which takes a minute per million and names the lines of faults.

    Args:
        path: A file, or a folder of them.
        options: How to read.

    Raises:
        UsageError, DataError: As for ``counted_judgments_of``.
    """
    name = path.name
    collected = Collected()
    reader = BattleReader(collected, options)
    for _, rows in collected.files([path]):
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
