"""All figures of a board: which there are, and which of them a board can give."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from arena.data.errors import UsageError
from arena.data.languages import LANGUAGE_CODE
from surrogate.board.board import Board
from surrogate.publish.figures.importances import feature_lollipops, importance_boxes
from surrogate.publish.figures.matrices import draw_win_matrix, rank_heat_map
from surrogate.publish.figures.ratings import draw_ratings, tau_scatter

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Drawing:
    """A figure that can be drawn.

    Attributes:
        name: Name of its file, without suffix.
        draw: Returns it, or raises ``UsageError`` where the board lacks what it shows.
    """

    name: str
    draw: Callable[[], Figure]


Drawings = Callable[[Board, str | None], Iterator[Drawing]]


def _whole_board(name: str, draw: Callable[[Board], Figure]) -> Drawings:
    """One figure, of all languages."""

    def drawings(board: Board, language: str | None) -> Iterator[Drawing]:  # noqa: ARG001
        yield Drawing(name, partial(draw, board))

    return drawings


def _all_or_one(name: str, draw: Callable[[Board, str | None], Figure]) -> Drawings:
    """One figure, of all languages or of one."""

    def drawings(board: Board, language: str | None) -> Iterator[Drawing]:
        yield Drawing(f"{name}-{language}" if language else name, partial(draw, board, language))

    return drawings


def _each(name: str, draw: Callable[[Board, str], Figure]) -> Drawings:
    """A figure a language."""

    def drawings(board: Board, language: str | None) -> Iterator[Drawing]:
        for code in [language] if language else board.languages:
            yield Drawing(f"{name}-{code}", partial(draw, board, code))

    return drawings


KINDS: Mapping[str, Drawings] = MappingProxyType(
    {
        "heatmap": _whole_board("heatmap", rank_heat_map),
        "lollipops": _whole_board("lollipops", feature_lollipops),
        "importances": _all_or_one("importances", importance_boxes),
        "ratings": _each("ratings", draw_ratings),
        "wins": _all_or_one("wins", draw_win_matrix),
        "scatter": _all_or_one("scatter", tau_scatter),
    }
)
"""Kinds of figures of a board."""


def board_drawings(
    board: Board, kinds: Sequence[str] = tuple(KINDS), language: str | None = None
) -> Iterator[Drawing]:
    """List the figures of a board.

    Args:
        board: A board.
        kinds: Some of ``KINDS``.
        language: Language to take in figures of one language; by default each or all of them.

    Raises:
        UsageError: For an unknown kind or language, or a board whose languages are no codes.
    """
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise UsageError(f"there is no figure {unknown[0]!r}; use some of {', '.join(KINDS)}")
    if language is not None and language not in board.languages:
        present = ", ".join(board.languages) or "none"
        raise UsageError(f"the board has no language {language!r}; there is {present}")
    odd = [code for code in board.languages if not re.fullmatch(LANGUAGE_CODE, code)]
    if odd:
        raise UsageError(f"{odd[0]!r} is no language code, so no file can be named after it")
    for kind in dict.fromkeys(kinds):
        yield from KINDS[kind](board, language)
