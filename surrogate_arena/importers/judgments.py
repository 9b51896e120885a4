"""Judgments of any file: our own columns, or battles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from arena.computing.codes import coded_judgments, without_categories
from arena.data.answer_digests import EDITED, outdated_remark
from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.folder import read_arena
from arena.data.schema import CRITERION, INFO_FILE, JUDGMENTS, QUESTION_KEY, VOTER
from arena.rating.biases import TRAIT
from arena.rating.judgments import with_known_columns
from surrogate_arena.importers.battle_traits import trait_lines, with_trait_columns
from surrogate_arena.importers.battles import BattleOptions, ReadBattles, read_battles_file
from surrogate_arena.importers.clone_files import files_below, shown_path
from surrogate_arena.importers.collected import skipped_table
from surrogate_arena.importers.columnar import ColumnTable
from surrogate_arena.importers.contract import NO_COLUMNS
from surrogate_arena.importers.verdict_values import stated_values


class CountedJudgments(NamedTuple):
    """Judgments of a file, and counts of what was left out.

    Attributes:
        table: An arena's ``judgments``, names and ids as categories.
        skipped: Counts of what was left out or changed: ``source, item, reason, count``, sorted.
        understood: Lines on how columns and values were understood.
    """

    table: pd.DataFrame
    skipped: pd.DataFrame
    understood: tuple[str, ...] = ()


def read_judgments(path: Path | str, questions: pd.DataFrame | None = None) -> pd.DataFrame:
    """Read judgments, as the ``table`` of ``counted_judgments_of``."""
    table = _read(Path(path), BattleOptions(languages=_languages_of(questions))).table
    table = without_categories(table)
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
    values: Sequence[str] = (),
    no_sides: bool = False,
    traits: Sequence[str] = (),
    further: Sequence[str] = (),
) -> CountedJudgments:
    """Read judgments."""
    options = BattleOptions(
        columns,
        stated_values(values),
        no_sides=no_sides,
        traits=tuple(traits),
        further=tuple(further),
    )
    counted = _read(Path(path), options)
    return CountedJudgments(coded_judgments(counted.table), counted.skipped, counted.understood)


def _read(path: Path, options: BattleOptions) -> CountedJudgments:
    if path.is_dir() and (path / INFO_FILE).is_file():
        return _of_arena(path, options)
    if not path.exists():
        raise UsageError(f"there is no file {path}")
    tables = []
    skips: dict[tuple[str, str, str], int] = {}
    understood: dict[str, None] = {}
    for file in files_below([path]):
        source = shown_path(file, [path]) if path.is_dir() else path.name
        read = read_battles_file(file, options, source)
        tables.append(read.table)
        skips.update(skips_of(read, source))
        understood.update(dict.fromkeys(read.understood))
    table = tables[0]
    understood[_first_battle(table)] = None
    if len(tables) > 1:
        table = pd.concat(map(without_categories, tables), ignore_index=True)
    table = with_known_columns(table, _added(options))
    return CountedJudgments(table, skipped_table(skips), tuple(understood))


def _first_battle(table: pd.DataFrame) -> str:
    first = table.iloc[0]
    side_a, side_b = first["system_a"], first["system_b"]
    outcome = {"a": f"{side_a} wins", "b": f"{side_b} wins"}.get(str(first["winner"]), "a tie")
    return f"the first battle: {side_a} against {side_b}, {outcome}"


def _added(options: BattleOptions) -> list[str]:
    return [*options.further, *(f"{TRAIT}{name}" for name in options.traits)]


def skips_of(read: ReadBattles, source: str) -> dict[tuple[str, str, str], int]:
    """Count what was left out of a file, by source, item and reason."""
    skips = {(source, "judgment", reason): count for reason, count in read.skipped.items()}
    for column in read.unread:
        skips[source, "column", f"{column!r} is not read"] = 1
    return skips


def _of_arena(folder: Path, options: BattleOptions) -> CountedJudgments:
    arena = read_arena(folder)
    n_outdated = len(arena.outdated)
    if arena.judgments.empty:
        published = ", only published ratings" if len(arena.published_ratings) else ""
        outdated = f"; {outdated_remark(n_outdated).sentence}" if n_outdated else ""
        raise UsageError(f"{folder}: there is no judgment in it{published}{outdated}")
    skips = {(JUDGMENTS.name, "judgment", EDITED): n_outdated}
    judgments = ColumnTable(_with_columns_of_questions(arena, options.further), JUDGMENTS.name)
    with_traits, read = with_trait_columns(judgments, options.traits)
    table = with_known_columns(with_traits.frame, _added(options))
    return CountedJudgments(table, skipped_table(skips), tuple(trait_lines(read)))


def _with_columns_of_questions(arena: Arena, names: Sequence[str]) -> pd.DataFrame:
    judgments = arena.judgments
    questions = arena.queries.set_index(QUESTION_KEY)
    keys = pd.MultiIndex.from_frame(judgments[QUESTION_KEY])
    for name in names:
        if name not in judgments and name in questions:
            values = questions[name].reindex(keys).to_numpy(object)
            judgments = judgments.assign(**{name: values})
    return judgments


def _languages_of(questions: pd.DataFrame | None) -> Mapping[str, str]:
    if questions is None or not {"query_id", "language"} <= set(questions):
        return {}
    if questions["query_id"].duplicated().any():
        return {}
    return dict(zip(questions["query_id"].astype(str), questions["language"], strict=True))
