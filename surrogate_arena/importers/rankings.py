"""Rankings of several systems in a row, read as battles of every two of them.

The battles of one row are one question, so that intervals allow for how they hang together. Of
complete rankings by the model of Plackett and Luce, ratings by pairs estimate the same strengths
(Luce, 1959: who of two is ranked higher follows the model of Bradley and Terry).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.types import Flags, Floats
from arena.data.wording import count_of
from surrogate_arena.importers.columnar import ColumnTable
from surrogate_arena.importers.contract import are_numbers, bare_column, contract, field_names
from surrogate_arena.importers.values import name_text, number_of, opened_or_same

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class _Rankings:
    """N rankings of at most M systems.

    Attributes:
        systems: Their names, shape (N, M); None where there is none.
        ranks: Rank of each, 1 the best, shape (N, M); NaN where it has none.
        columns: Columns that they were read from.
        has_ties: Whether two systems of the same rank tie; else they were not compared.
    """

    systems: npt.NDArray[np.object_]
    ranks: Floats
    columns: tuple[str, ...]
    has_ties: bool = True


def with_battles_of_rankings(
    table: ColumnTable, chosen: Mapping[str, str]
) -> tuple[ColumnTable, str]:
    """Replace rankings by their battles; any other table stays.

    A ranking is numbered columns of systems and of their ranks (``system1Id, system1rank, …``), a
    list of systems in ``ranking``, the best first, in which a list within the list ties, or the
    ``best`` and the ``worst`` of the systems in numbered columns or in a list.

    Args:
        table: The table.
        chosen: Field to the name of its column, as the user states it.

    Returns:
        The table, and what was understood; empty if it holds no rankings.
    """
    fields = field_names("battles")
    columns = {bare_column(str(name)): str(name) for name in table.frame}
    if {"system_a", "winner"} & {*chosen} or columns.keys() & {*fields["winner"]}:
        return table, ""
    rankings = _best_and_worst(table, columns) or _listed(table, columns) or _numbered(table)
    if rankings is None:
        return table, ""
    battles = _battles(rankings)
    row = battles.pop("row").to_numpy()
    frame = table.frame.drop(columns=list(rankings.columns)).iloc[row].reset_index(drop=True)
    frame = frame.assign(**battles)
    if not {"query_id", "question"} & {*chosen} and not columns.keys() & {
        *fields["query_id"],
        *fields["question"],
    }:
        frame["query_id"] = [f"ranking-{number + 1}" for number in row]
    understood = (
        f"{count_of(len(table.frame), 'ranking')} ({', '.join(map(repr, rankings.columns[:2]))}, …)"
        f" read as {count_of(len(frame), 'battle')} of two systems, 1 the best rank"
    )
    return replace(table, frame=frame, known_lines=table.lines[row]), understood


def _battles(rankings: _Rankings) -> pd.DataFrame:
    """Compare every two ranked systems: columns ``row, system_a, system_b, winner``."""
    parts = []
    ranks = np.where(pd.notna(rankings.systems), rankings.ranks, np.nan)
    for first, second in combinations(range(ranks.shape[1]), 2):
        gaps = ranks[:, first] - ranks[:, second]
        is_compared = np.isfinite(gaps) & (rankings.has_ties | (gaps != 0))
        row = np.flatnonzero(is_compared)
        winner = np.select([gaps[row] < 0, gaps[row] > 0], ["a", "b"], "tie")
        part = {
            "row": row,
            "system_a": rankings.systems[row, first],
            "system_b": rankings.systems[row, second],
            "winner": winner.astype(object),
        }
        parts.append(pd.DataFrame(part))
    return pd.concat(parts).sort_values("row", kind="stable", ignore_index=True)


def _groups_of_numbered(frame: pd.DataFrame) -> dict[str, list[str]]:
    """Return the columns that differ in a number alone, three or more, by what they share."""
    groups: dict[str, list[str]] = {}
    for name in map(str, frame):
        if _NUMBER.search(name):
            groups.setdefault(_NUMBER.sub("#", name), []).append(name)
    return {shared: names for shared, names in groups.items() if len(names) > 2}


def _numbered(table: ColumnTable) -> _Rankings | None:
    """Read columns of systems and of their ranks, which have the same numbers.

    Columns ``rank1, rank2, …`` may hold the systems themselves.
    """
    groups = _groups_of_numbered(table.frame)
    is_of_ranks = {shared: _is_named_rank(shared) for shared in groups}
    rank_groups = [names for shared, names in groups.items() if is_of_ranks[shared]]
    name_groups = [names for shared, names in groups.items() if not is_of_ranks[shared]]
    for ranks in rank_groups:
        numbers = [_NUMBER.findall(name) for name in ranks]
        if not any(are_numbers(table.column(name).cells) for name in ranks):
            places = np.array([float(number[0]) for number in numbers])
            return _Rankings(
                _names(table, ranks), np.tile(places, (len(table.frame), 1)), (*ranks,)
            )
        for systems in name_groups:
            if [_NUMBER.findall(name) for name in systems] != numbers:
                continue
            values = np.column_stack([_ranks(table, name) for name in ranks])
            return _Rankings(_names(table, systems), values, (*systems, *ranks))
    return None


def _is_named_rank(shared: str) -> bool:
    words = bare_column(shared.replace("#", " ")).split("_")
    return bool({*contract()["scores"]["ranks"]} & {*words})


def _ranks(table: ColumnTable, name: str) -> Floats:
    """Return the ranks in a column; NaN where there is none, as where it is below 0."""
    ranks = table.column(name).mapped(number_of, np.nan).astype(np.float64).to_numpy()
    return np.where(ranks < 0, np.nan, ranks)


def _names(table: ColumnTable, columns: Sequence[str]) -> npt.NDArray[np.object_]:
    """Return the names of systems in columns, shape (N, M)."""
    return np.column_stack(
        [table.column(name).mapped(lambda cell: str(name_text(cell)).strip()) for name in columns]
    )


def _listed(table: ColumnTable, columns: Mapping[str, str]) -> _Rankings | None:
    """Read lists of systems, the best first."""
    if "ranking" not in columns:
        return None
    lists = [opened_or_same(cell) for cell in table.frame[columns["ranking"]]]
    ranked: list[list[tuple[str, float]]] = []
    for entries in lists:
        if not isinstance(entries, list):
            return None
        row: list[tuple[str, float]] = []
        for rank, entry in enumerate(entries, start=1):
            tied = entry if isinstance(entry, list) else [entry]
            row += [(str(name_text(name)), float(rank)) for name in tied]
        ranked.append(row)
    systems, ranks = _matrices(ranked)
    return _Rankings(systems, ranks, (columns["ranking"],))


def _best_and_worst(table: ColumnTable, columns: Mapping[str, str]) -> _Rankings | None:
    """Read who is best and who is worst of several; the others were not compared."""
    if not {"best", "worst"} <= columns.keys():
        return None
    ends = _names(table, [columns["best"], columns["worst"]])
    used = (columns["best"], columns["worst"])
    for names in _groups_of_numbered(table.frame).values():
        systems = _names(table, names)
        if _hold(systems, ends).all():
            return _Rankings(systems, _ends_first(systems, ends), (*used, *names), has_ties=False)
    for name in map(str, table.frame):
        unranked = []
        for cell in table.frame[name]:
            entries = opened_or_same(cell)
            if isinstance(entries, list):
                unranked.append([(str(name_text(entry)), 0.0) for entry in entries])
        systems, _ = _matrices(unranked)
        if len(unranked) == len(ends) and _hold(systems, ends).all():
            return _Rankings(systems, _ends_first(systems, ends), (*used, name), has_ties=False)
    return None


def _hold(systems: npt.NDArray[np.object_], ends: npt.NDArray[np.object_]) -> Flags:
    """Tell which rows hold their best and their worst system, shape (N,)."""
    has_best = (systems == ends[:, :1]).any(axis=1)
    return np.asarray(has_best & (systems == ends[:, 1:]).any(axis=1))


def _ends_first(systems: npt.NDArray[np.object_], ends: npt.NDArray[np.object_]) -> Floats:
    """Rank the best system 1, the worst 3, and all others 2, shape (N, M)."""
    return np.where(systems == ends[:, :1], 1.0, np.where(systems == ends[:, 1:], 3.0, 2.0))


def _matrices(
    ranked: Sequence[Sequence[tuple[str, float]]],
) -> tuple[npt.NDArray[np.object_], Floats]:
    """Return names and ranks as arrays, shape (N, M) each."""
    n_most = max(map(len, ranked), default=0)
    systems = np.full((len(ranked), n_most), None, dtype=object)
    ranks = np.full((len(ranked), n_most), np.nan)
    for row, entries in enumerate(ranked):
        for place, (name, rank) in enumerate(entries):
            systems[row, place] = name
            ranks[row, place] = rank
    return systems, ranks
