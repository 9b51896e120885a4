"""The past of a board, as pages and feeds show it: ranks over time, what moved, and why."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, TypeAlias

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

Numbers: TypeAlias = dict[str, list[float | None]]
"""A number of each system, board by board."""


class Move(BaseModel):
    """A system that moved beyond noise, is new, or is gone."""

    model_config = ConfigDict(frozen=True)

    system: str
    verdict: str
    language: str = OVERALL
    rank_old: float | None = None
    rank_new: float | None = None
    rating_change: float | None = None
    p_value: float | None = None

    @property
    def sentence(self) -> str:
        """The move in words, without the full stop."""
        if self.verdict == "gone":
            return f"{self.system} is gone"
        rank = "without a rank" if self.rank_new is None else f"rank {self.rank_new:.0f}"
        if self.verdict == "new":
            return f"{self.system} is new: {rank}"
        where = "" if self.language == OVERALL else f"{language_name(self.language)}: "
        before = rank_interval(self.rank_old, self.rank_old)
        way = "up" if (self.rating_change or 0) > 0 else "down"
        if self.rank_old != self.rank_new:
            rank = f"from rank {before} to {rank_interval(self.rank_new, self.rank_new)}"
        p_value = ""
        if self.p_value is not None:
            p_value = ", p below 0.001" if self.p_value < 0.001 else f", p {self.p_value:.3f}"
        change = decimal(self.rating_change)
        return f"{where}{self.system} moved {way}, {rank} (rating by {change}{p_value})"


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
    is_comparable: bool = True
    standings: dict[str, tuple[float | None, float | None]]

    @property
    def number(self) -> int:
        """Its place among the boards of its day, from 1."""
        number = self.name.removeprefix(self.date.isoformat()).removeprefix("-")
        return int(number) if number.isdecimal() else 1

    @property
    def moved(self) -> frozenset[str]:
        """Systems whose rating moved over all languages."""
        return frozenset(
            move.system
            for move in self.moves
            if move.verdict == "moved" and move.language == OVERALL
        )

    @property
    def sentences(self) -> list[str]:
        """What moved, in words, at most twenty moves."""
        sentences = [move.sentence for move in self.moves[:20]]
        n_further = len(self.moves) - len(sentences)
        if n_further:
            sentences.append(f"{n_further} further systems; see the table of ranks")
        return sentences


def without_removed(entries: Sequence[HistoryEntry]) -> list[HistoryEntry]:
    """Leave names of systems that are on the last board no more out of what entries say."""
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


@dataclass(frozen=True)
class Line:
    """A number over time: ``paths`` connect boards that are comparable; ``text`` has all values.

    ``points`` are each board's place across and down, whether its system moved, and its text.
    """

    paths: tuple[str, ...]
    points: tuple[tuple[float, float, bool, str], ...]
    text: str


def history_view(entries: Sequence[HistoryEntry], systems: Sequence[str]) -> dict[str, Any]:
    """Prepare the page of a board's past, oldest states first; systems that are gone come last."""
    past = {system for entry in entries for system in entry.standings}
    ordered = [*(name for name in systems if name in past), *sorted(past - set(systems))]
    ranks: Numbers = {}
    ratings: Numbers = {}
    for name in ordered:
        standings = [entry.standings.get(name, (None, None)) for entry in entries]
        ranks[name] = [rank for rank, _ in standings]
        ratings[name] = [rating for _, rating in standings]
    rank_lines = _lines(ranks, entries, is_rank=True)
    rating_lines = _lines(ratings, entries, is_rank=False)
    rows = []
    for name in ordered:
        row = {
            "system": name if name in systems else REMOVED,
            "first_rank": _first(ranks[name]),
            "rank": ranks[name][-1],
            "first_rating": _first(ratings[name]),
            "rating": ratings[name][-1],
            "ranks": rank_lines[name],
            "ratings": rating_lines[name],
            "cells": list(zip(ranks[name], ratings[name], strict=True))[LATEST],
        }
        rows.append(row)
    return {
        "rows": rows,
        "entries": without_removed(entries)[::-1],
        "columns": [entry.name for entry in entries][LATEST],
        "width": WIDTH,
        "height": HEIGHT,
    }


def _lines(numbers: Numbers, entries: Sequence[HistoryEntry], *, is_rank: bool) -> dict[str, Line]:
    columns = places(entries)
    bottom, top = _bounds(numbers)
    # Ranks are comparable on any scale; ratings are not, so that their line breaks.
    breaks = [not is_rank and not entry.is_comparable for entry in entries]
    lines = {}
    for name, values in numbers.items():
        moved = [name in entry.moved for entry in entries]
        if is_rank:
            lines[name] = drawn(values, columns, (top, bottom), moved, breaks, 0)
        else:
            lines[name] = drawn(values, columns, (bottom, top), moved, breaks, 2)
    return lines


def _first(values: Sequence[float | None]) -> float | None:
    return next((value for value in values if value is not None), None)


def _bounds(values: Mapping[str, Sequence[float | None]]) -> tuple[float, float]:
    present = [value for row in values.values() for value in row if value is not None]
    return min(present, default=0.0), max(present, default=1.0)


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
    values: Sequence[float | None],
    columns: Sequence[float],
    bounds: tuple[float, float],
    moved: Sequence[bool],
    breaks: Sequence[bool],
    digits: int,
) -> Line:
    """Draw a number over time between its bounds, at the bottom and at the top.

    ``moved`` says of each board whether it moved beyond noise, ``breaks`` whether its scale is new.
    """
    bottom, top = bounds
    points: dict[int, tuple[float, float, bool, str]] = {}
    for index, value in enumerate(values):
        if value is None or not math.isfinite(value):
            continue
        share = (value - bottom) / (top - bottom) if top != bottom else 0.5
        x = MARGIN + columns[index] * (WIDTH - 2 * MARGIN)
        y = HEIGHT - MARGIN - share * (HEIGHT - 2 * MARGIN)
        points[index] = (round(x, 1), round(y, 1), moved[index], decimal(value, digits))
    paths = []
    for index, following in pairwise(range(len(values))):
        if index in points and following in points and not breaks[following]:
            start, end = points[index], points[following]
            paths.append(f"M{start[0]} {start[1]}L{end[0]} {end[1]}")
    text = ", ".join(point[3] for point in points.values())
    return Line(tuple(paths), tuple(points.values()), text)
