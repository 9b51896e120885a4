"""Records of tools that are battles: two answers, and who won."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from arena.data.types import Record
from surrogate_arena.importers.battles import BattleOptions, battles_of
from surrogate_arena.importers.collected import Collected, Place, PlacedRecord
from surrogate_arena.importers.columnar import ColumnTable
from surrogate_arena.importers.contract import value_at
from surrogate_arena.importers.foreign_arena import ForeignArena, foreign_arena
from surrogate_arena.importers.judgments import skips_of
from surrogate_arena.importers.languages import stated_language
from surrogate_arena.importers.lmarena import add_battles, shown_battle
from surrogate_arena.importers.tool_maps import ToolMap
from surrogate_arena.importers.values import is_value
from surrogate_arena.importers.verdict_values import stated_values


def battles_of_records(
    tool: ToolMap,
    records: Sequence[PlacedRecord],
    collected: Collected,
    columns: Mapping[str, str],
    values: Sequence[str],
    name: str,
    language: str | None,
) -> ForeignArena:
    """Read records as battles: each field is a column of the contract's table of battles.

    Where paths lead to lists, such as several verdicts, each item is a battle.
    """
    paths = {**tool.battles, **columns}
    rows: list[Record] = []
    places: list[Place] = []
    for place, record in records:
        battles = _battles(record, paths)
        rows += battles
        places += [place] * len(battles)
    lines = np.array([place.line for place in places], dtype=np.intp)
    source = " + ".join(dict.fromkeys(place.source for place in places))
    frame = pd.DataFrame(rows, columns=list(paths), dtype=object)
    table = ColumnTable(frame.where(frame.notna(), None), source, known_lines=lines)
    options = BattleOptions(values=stated_values(values), language=stated_language(language))
    read = battles_of(table, options)
    collected.skips.update(skips_of(read, source))
    collected.notes += read.understood
    add_battles(collected, table, read, language)
    arena = foreign_arena(collected, name, source=source, with_judged=True)
    return replace(arena, shown=shown_battle(collected))


def _battles(record: Record, paths: Mapping[str, str]) -> list[Record]:
    cells: dict[str, Any] = {name: value_at(record, path) for name, path in paths.items()}
    lengths = {len(cell) for cell in cells.values() if isinstance(cell, list)}
    battles = []
    for number in range(max(lengths, default=1)):
        battle = {}
        for name, cell in cells.items():
            if isinstance(cell, list):
                cell = cell[number] if number < len(cell) else None
            battle[name] = cell if is_value(cell) else None
        battles.append(battle)
    return battles
