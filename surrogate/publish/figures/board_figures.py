"""All figures: those of a board, and those of the files that studies wrote."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from arena.data.errors import UsageError, checked_choice
from arena.data.files import small_file
from arena.data.languages import LANGUAGE_CODE
from surrogate.board.board import Board
from surrogate.metaevaluation.records import JSONL_SUFFIXES
from surrogate.publish.figures.figure import Drawing
from surrogate.publish.figures.importances import (
    feature_lollipops,
    importance_boxes,
    importance_intervals,
    read_importances,
)
from surrogate.publish.figures.judge_runs import run_drawings
from surrogate.publish.figures.matrices import draw_win_matrix, rank_heat_map
from surrogate.publish.figures.ratings import draw_ratings
from surrogate.publish.figures.studies import (
    read_replication,
    read_sampling,
    replication_curves,
    sampling_curves,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    }
)
"""Kinds of figures of a board."""


def board_drawings(
    board: Board,
    kinds: Sequence[str] = tuple(KINDS),
    language: str | None = None,
    signature: bool = True,
) -> Iterator[Drawing]:
    """List the figures of a board.

    Args:
        board: A board.
        kinds: Some of ``KINDS``.
        language: Language to take in figures of one language; by default each or all of them.
        signature: Whether figures print the board's signature.

    Raises:
        UsageError: For an unknown kind or language, or a board whose languages are no codes.
    """
    for kind in kinds:
        checked_choice(kind, list(KINDS), "figure")
    if language is not None:
        checked_choice(language, board.languages, "language of this board")
    odd = [code for code in board.languages if not re.fullmatch(LANGUAGE_CODE, code)]
    if odd:
        raise UsageError(f"{odd[0]!r} is no language code, so no file can be named after it")
    if not signature:
        summary = board.summary.model_copy(update={"signature": ""})
        board = replace(board, summary=summary)
    for kind in dict.fromkeys(kinds):
        yield from KINDS[kind](board, language)


def study_drawings(path: Path, language: str | None = None) -> Iterator[Drawing]:
    """List the figures of a file of ``validate --json`` or ``metaeval --out``.

    Args:
        path: The file; what it holds says which study it is.
        language: Language to take; by default the mean over languages.

    Raises:
        UsageError: If it is none of these.
        DataError: If it is damaged.
    """
    if path.name.endswith(JSONL_SUFFIXES):
        yield from run_drawings(path)
        return
    try:
        columns = {*json.loads(small_file(path))["table"][0]}
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):
        raise UsageError(
            f"{path} is no study; write one with  validate --json  or  metaeval --out"
        ) from None
    part = f"-{language}" if language else ""
    if "design" in columns:
        yield Drawing("sampling", partial(sampling_curves, *read_sampling(path)))
    elif "tau_verdicts" in columns:
        table = read_replication(path)
        yield Drawing(f"replication{part}", partial(replication_curves, *table, language=language))
    else:
        table = read_importances(path)
        draw = partial(importance_intervals, *table, language=language)
        yield Drawing(f"importance-intervals{part}", draw)
