"""The past of a board, as pages and feeds show it: ranks over time, what moved, and why."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, TypeAlias

from pydantic import BaseModel, ConfigDict

from arena.data.languages import language_name
from arena.data.wording import all_of, count_of
from surrogate.board.remarks import MOST_NAMED
from surrogate_arena.cli.shown_numbers import decimal, rank_interval
from surrogate_arena.pages.formats import name_parts

WIDTH = 240
HEIGHT = 48
MARGIN = 6
"""Of the drawing of a line, in its own units."""
OVERALL = "overall"
REMOVED = "(removed system)"
"""Stands for a system that has left: it may have been asked to be forgotten."""
LATEST = slice(None, -25, -1)
"""Boards that the table of all ranks has room for, the last one first."""


class Move(BaseModel):
    """A system that moved beyond noise."""

    model_config = ConfigDict(frozen=True)

    system: str
    language: str = OVERALL
    rank_old: float | None = None
    rank_new: float | None = None
    rating_change: float
    p_value: float

    @property
    def sentence(self) -> str:
        """The move in words, without the full stop."""
        rank = "without a rank" if self.rank_new is None else f"rank {self.rank_new:.0f}"
        where = "" if self.language == OVERALL else f"{language_name(self.language)}: "
        before = rank_interval(self.rank_old, self.rank_old)
        way = "up" if self.rating_change > 0 else "down"
        if self.rank_old != self.rank_new:
            rank = f"from rank {before} to {rank_interval(self.rank_new, self.rank_new)}"
        p_value = "p below 0.001" if self.p_value < 0.001 else f"p {self.p_value:.3f}"
        change = decimal(self.rating_change)
        return f"{where}{self.system} moved {way}, {rank} (rating by {change}, {p_value})"


class HistoryEntry(BaseModel):
    """One state of a board: how it stood, and what changed since the one before.

    Attributes:
        name: Its folder's name; the date, and a number where a day has several.
        causes: What its inputs, settings or software differ in from those before.
        time: When it was made, in UTC.
        news: Who is first now, entered or passed whom, as sentences without full stops.
        counts: How many systems moved, as text; empty for the first board.
        standings: System to its overall rank and mean rating.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    date: datetime.date
    time: datetime.time = datetime.time()
    conclusion: str
    news: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    counts: str = ""
    moves: tuple[Move, ...] = ()
    standings: dict[str, tuple[float | None, float | None]]

    @property
    def number(self) -> int:
        """Its place among the boards of its day, from 1."""
        number = self.name.removeprefix(self.date.isoformat()).removeprefix("-")
        return int(number) if number.isdecimal() else 1

    @property
    def moved(self) -> frozenset[str]:
        """Systems whose rating moved over all languages."""
        return frozenset(move.system for move in self.moves if move.language == OVERALL)

    @property
    def sentences(self) -> list[str]:
        """What moved, in words, at most twenty moves."""
        sentences = [move.sentence for move in self.moves[:20]]
        n_further = len(self.moves) - len(sentences)
        if n_further:
            sentences.append(f"{count_of(n_further, 'further move')}; see the table of ranks")
        return sentences


def without_removed(entries: Sequence[HistoryEntry]) -> list[HistoryEntry]:
    """Replace the names of systems that are not on the last board."""
    if not entries:
        return []
    past = {system for entry in entries for system in entry.standings}
    removed = past - entries[-1].standings.keys()

    def shown(text: str) -> str:
        parts = name_parts(text, removed)
        return "".join(REMOVED if part in removed else part for part in parts)

    redacted = []
    for entry in entries:
        moves = [
            move.model_copy(update={"system": REMOVED}) if move.system in removed else move
            for move in entry.moves
        ]
        fields = {
            "conclusion": shown(entry.conclusion),
            "news": tuple(map(shown, entry.news)),
            "causes": tuple(map(shown, entry.causes)),
            "moves": tuple(moves),
        }
        redacted.append(entry.model_copy(update=fields))
    return redacted


Standings: TypeAlias = Mapping[str, tuple[float | None, float | None]]
"""System to its overall rank and mean rating."""


def news_of(old: Standings, new: Standings, *, has_same_languages: bool) -> Iterator[str]:
    """Say who is first now, who entered or left, and who passed whom, without full stops.

    Args:
        old: Of the board before.
        new: Of the board.
        has_same_languages: Whether overall ranks of both are over the same languages.
    """
    before, after = _leaders(old), _leaders(new)
    if before and after:
        if before == after:
            yield "First place unchanged"
        else:
            yield f"First place: {all_of(after)}, before it was {all_of(before)}"
    for system in sorted(new.keys() - old.keys()):
        rank, _ = new[system]
        yield f"{system} entered" + (", predicted" if rank is None else f" at rank {rank:.0f}")
    for system in sorted(_ranks_of(new).keys() & old.keys() - _ranks_of(old).keys()):
        rank, _ = new[system]
        yield f"{system} was judged: rank {rank:.0f}"
    n_left = len(old.keys() - new.keys())
    if n_left:
        yield f"{count_of(n_left, 'system')} left"
    if has_same_languages:
        yield from _passings(_ranks_of(old), _ranks_of(new))


def _passings(old: Mapping[str, float], new: Mapping[str, float]) -> Iterator[str]:
    both = sorted(old.keys() & new.keys(), key=lambda system: (new[system], system))
    passed: dict[str, list[str]] = {}
    for system in both:
        behind = [other for other in both if old[other] < old[system] and new[other] > new[system]]
        if behind:
            passed[system] = behind
    for system, behind in list(passed.items())[:MOST_NAMED]:
        ranks = f"from rank {old[system]:.0f} to {new[system]:.0f}"
        if old[system] == new[system]:
            ranks = f"and keeps rank {new[system]:.0f}"
        yield f"{system} passed {all_of(behind)}, {ranks}"


def _ranks_of(standings: Standings) -> dict[str, float]:
    return {system: rank for system, (rank, _) in standings.items() if rank is not None}


def _leaders(standings: Standings) -> list[str]:
    return sorted(system for system, rank in _ranks_of(standings).items() if rank == 1)


class Line(NamedTuple):
    """Ranks over time: ``paths`` connect boards that follow each other; ``text`` has all ranks.

    ``points`` are each board's place across and down, whether its system moved, and its rank.
    """

    paths: tuple[str, ...]
    points: tuple[tuple[float, float, bool, str], ...]
    text: str


def history_view(entries: Sequence[HistoryEntry], systems: Sequence[str]) -> dict[str, Any]:
    """Prepare the page of a board's past, oldest states first; systems that are gone come last."""
    past = {system for entry in entries for system in entry.standings}
    ordered = [*(name for name in systems if name in past), *sorted(past - set(systems))]
    ranks = [rank for entry in entries for rank in _ranks_of(entry.standings).values()]
    last_rank = max(ranks, default=1.0)
    columns = places(entries)
    moved_by_entry = [entry.moved for entry in entries]
    rows = []
    for name in ordered:
        cells = [entry.standings.get(name, (None, None)) for entry in entries]
        ranks_of_system = [rank for rank, _ in cells]
        moved = [name in systems_moved for systems_moved in moved_by_entry]
        row = {
            "system": name if name in systems else REMOVED,
            "first_rank": next((rank for rank in ranks_of_system if rank is not None), None),
            "rank": ranks_of_system[-1],
            "rating": cells[-1][1],
            "ranks": drawn(ranks_of_system, columns, last_rank, moved),
            "cells": cells[LATEST],
        }
        rows.append(row)
    return {
        "rows": rows,
        "entries": without_removed(entries)[::-1],
        "columns": [entry.name for entry in entries][LATEST],
        "width": WIDTH,
        "height": HEIGHT,
    }


def places(entries: Sequence[HistoryEntry]) -> list[float]:
    """Return the horizontal place of each board by its date, 0 to 1."""
    days = [float(entry.date.toordinal()) for entry in entries]
    for index in range(len(days)):
        n_of_day = days.count(days[index])
        # Boards of one day lie within it, in their order.
        days[index] += days[:index].count(days[index]) / n_of_day if n_of_day > 1 else 0
    # None is before the one in front of it.
    days = list(accumulate(days, max))
    span = days[-1] - days[0]
    return [(day - days[0]) / span if span else 1.0 for day in days]


def drawn(
    ranks: Sequence[float | None],
    columns: Sequence[float],
    last_rank: float,
    moved: Sequence[bool],
) -> Line:
    """Draw a system's ranks over time, rank 1 at the top.

    ``moved`` says of each board whether the system moved beyond noise.
    """
    points: dict[int, tuple[float, float, bool, str]] = {}
    for index, rank in enumerate(ranks):
        if rank is None:
            continue
        x = MARGIN + columns[index] * (WIDTH - 2 * MARGIN)
        y = MARGIN + (rank - 1) / max(last_rank - 1, 1) * (HEIGHT - 2 * MARGIN)
        points[index] = (round(x, 1), round(y, 1), moved[index], f"{rank:.0f}")
    paths = []
    for index, following in pairwise(range(len(ranks))):
        if index in points and following in points:
            start, end = points[index], points[following]
            paths.append(f"M{start[0]} {start[1]}L{end[0]} {end[1]}")
    text = ", ".join(point[3] for point in points.values())
    return Line(tuple(paths), tuple(points.values()), text)
