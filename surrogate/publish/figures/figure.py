"""What all figures share: their frame with caption and signature, fonts, names, files."""

from __future__ import annotations

import json
import math
import re
import textwrap
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from arena.data.errors import DataError, MissingDependencyError, Problem, UsageError, checked_choice
from arena.data.files import atomic_path, small_file
from surrogate.board.board import Board

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

FORMATS = ("png", "svg")
FONT_FAMILIES = (
    "DejaVu Sans",
    "Noto Sans",
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans CJK KR", "Source Han Sans SC"),
    *("PingFang SC", "Hiragino Sans", "Apple SD Gothic Neo", "Microsoft YaHei", "Malgun Gothic"),
    *("Noto Sans Devanagari", "Noto Sans Bengali", "Noto Sans Telugu", "Nirmala UI"),
    *("Noto Sans Thai", "Noto Sans Arabic", "Noto Sans Symbols2", "Noto Emoji"),
)
"""Families asked for a character one after the other, of those that are installed."""
MUTED = "#595959"
NO_VALUE_GROUND = "#E9E9E9"
DOTS_PER_INCH = 150
LABEL_INCHES = 0.076
"""Width of a Latin character of a label."""
ROW_INCHES = 0.25
"""Height of a row with a label."""
LONGEST_NAME = 44
UNDRAWABLE = "\N{REPLACEMENT CHARACTER}"
JOINERS = frozenset("\u200c\u200d")
"""Needed by Persian, Indic scripts and emoji."""
FONT_POINTS, TITLE_POINTS, SIGNATURE_POINTS = 9.0, 12.0, 7.0
LINE_SPACING = 1.3
MARGIN_INCHES = 0.12
EM_PER_CHARACTER = 0.66
POINTS_PER_INCH = 72
LAYOUT_DECIMALS = 6
STYLE: dict[str, Any] = {
    "text.parse_math": False,
    "font.size": FONT_POINTS,
    "axes.titlesize": FONT_POINTS,
    "axes.labelsize": FONT_POINTS,
    "xtick.labelsize": FONT_POINTS - 1,
    "ytick.labelsize": FONT_POINTS - 1,
    "legend.fontsize": FONT_POINTS - 1,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "figure.dpi": DOTS_PER_INCH,
    "figure.constrained_layout.w_pad": 0.08,
    "svg.fonttype": "path",
    "svg.hashsalt": "surrogate-arena",
}
MISSING_GLYPH = re.compile(r"Glyph (\d+) .*missing from")


class MissingGlyphWarning(UserWarning):
    """Characters of a figure that no installed font has."""


@dataclass(frozen=True)
class Drawing:
    """A figure that can be drawn.

    Attributes:
        name: Name of its file, without suffix.
        draw: Returns it, or raises ``UsageError`` where the board lacks what it shows.
    """

    name: str
    draw: Callable[[], Figure]


@dataclass(frozen=True)
class Caption:
    """What a figure says about itself.

    Attributes:
        title: What it shows.
        note: How to read it, and how many of what it rests on.
        signature: Settings that reproduce it; empty to leave it out.
    """

    title: str
    note: str
    signature: str


@dataclass(frozen=True)
class Sheet:
    """A figure and its part between caption and signature.

    Attributes:
        figure: The whole.
        body: Where axes and legends go.
    """

    figure: Figure
    body: SubFigure


def drawable(text: str) -> str:
    """Replace what has no glyph or turns the direction of text: controls, marks of direction."""
    hidden = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    return "".join(
        UNDRAWABLE if unicodedata.category(mark) in hidden and mark not in JOINERS else mark
        for mark in text
    )


def shown_names(names: Iterable[str], longest: int = LONGEST_NAME) -> dict[str, str]:
    """Return how each name is drawn: cut in its middle; those that look the same are numbered."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(names):
        short = shown = drawable(name)
        if len(short) > longest:
            head = (longest - 1) * 2 // 3
            short = shown = f"{short[:head]}…{short[head + 1 - longest :]}"
        number = 1
        while shown in found.values():
            number += 1
            shown = f"{short} ({number})"
        found[name] = shown
    return found


def label_inches(names: Iterable[str]) -> float:
    """Return the width in inches of the widest name as a label; 0 for none."""
    wide = (
        (1.8 if unicodedata.east_asian_width(mark) in "WF" else 1.1 for mark in name)
        for name in names
    )
    return LABEL_INCHES * max(map(sum, wide), default=0.0)


@contextmanager
def style() -> Iterator[None]:
    """Set how everything made inside looks, whatever the user's settings.

    Raises:
        MissingDependencyError: If matplotlib is not installed.
    """
    try:
        import matplotlib.style
        from matplotlib.font_manager import fontManager
    except ImportError as error:
        raise MissingDependencyError("drawing", "matplotlib", "plots") from error
    installed = {font.name for font in fontManager.ttflist}
    families = [family for family in FONT_FAMILIES if family in installed]
    settings: Any = {**STYLE, "font.family": families}
    with matplotlib.style.context("default"), matplotlib.rc_context(settings):
        yield


def new_sheet(width: float, height: float, caption: Caption) -> Sheet:
    """Return a figure with its caption; to be called inside ``style``.

    Args:
        width: Width in inches.
        height: Height in inches of the body.
        caption: Title and note above the body, signature below.
    """
    texts = (caption.title, caption.note, caption.signature)
    sizes = (TITLE_POINTS, FONT_POINTS, SIGNATURE_POINTS)
    lines = [_lines(text, width, points) for text, points in zip(texts, sizes, strict=True)]
    title, note, signature = (
        len(part) * points * LINE_SPACING / POINTS_PER_INCH
        for part, points in zip(lines, sizes, strict=True)
    )
    above, below = title + note + 1.5 * MARGIN_INCHES, signature + 1.5 * MARGIN_INCHES
    whole = above + height + below
    figure = _shown_figure()(figsize=(width, whole), layout="constrained")
    parts = figure.subfigures(3, 1, height_ratios=[above, height, below], squeeze=False)
    top, bottom = 1 - MARGIN_INCHES / whole, MARGIN_INCHES / whole
    places = (
        (top, "top", "bold"),
        (top - title / whole, "top", "normal"),
        (bottom, "bottom", "normal"),
    )
    for part, points, (place, side, weight) in zip(lines, sizes, places, strict=True):
        figure.text(
            MARGIN_INCHES / width,
            place,
            "\n".join(part),
            va=side,
            fontsize=points,
            fontweight=weight,
            color="black" if weight == "bold" else MUTED,
            linespacing=LINE_SPACING,
            parse_math=False,
        ).set_in_layout(False)
    figure.set_label(drawable(caption.title))
    return Sheet(figure, parts[1, 0])


def _lines(text: str, width: float, points: float) -> list[str]:
    room = int((width - 2 * MARGIN_INCHES) * POINTS_PER_INCH / (points * EM_PER_CHARACTER))
    lines = textwrap.wrap(drawable(text).replace("|", "| "), max(room, 10))  # after bars, too
    return [line.replace("| ", "|") for line in lines]


@cache
def _shown_figure() -> type[Figure]:
    """Return matplotlib's figure, that notebooks show even where pyplot was not imported."""
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        def _repr_png_(self) -> bytes:
            stream = BytesIO()
            _write_file(self, stream, "png")
            return stream.getvalue()

    return ShownFigure


def panels(sheet: Sheet, count: int, columns: int, **sharing: Any) -> Sequence[Axes]:  # noqa: ANN401
    """Add a grid of axes, and return the first ``count`` of them; the rest are taken away."""
    rows = -(-count // columns)
    grid = sheet.body.subplots(rows, columns, squeeze=False, **sharing).ravel()
    for spare in grid[count:]:
        spare.remove()
    return list(grid[:count])


def legend(sheet: Sheet, handles: Mapping[str, Artist], columns: int) -> None:
    """Put a legend above the axes.

    Args:
        sheet: The figure.
        handles: What is drawn, by its name.
        columns: Entries side by side, at most.
    """
    sheet.body.legend(
        list(handles.values()),
        list(handles),
        loc="outside upper left",
        ncols=min(max(columns, 1), len(handles)),
        handlelength=1.6,
    )


def save(figure: Figure, path: Path | str) -> None:
    """Write a figure as PNG or SVG; the same figure gives the same bytes.

    A character that no installed font has is drawn as a box, with a ``MissingGlyphWarning``.

    Args:
        figure: A figure of this package.
        path: Target; its suffix, ``.png`` or ``.svg``, is the format. Its folder must exist.

    Raises:
        UsageError: For another suffix, or if the folder does not exist.
    """
    path = Path(path)
    kind = checked_choice(path.suffix.lower().removeprefix("."), FORMATS, "format of figures")
    with atomic_path(path) as temporary:
        _write_file(figure, temporary, kind)


def svg_text(figure: Figure) -> str:
    """Return a figure as an SVG element that an HTML page can hold."""
    stream = BytesIO()
    _write_file(figure, stream, "svg")
    text = stream.getvalue().decode()
    return text[text.index("<svg") :]


def _write_file(figure: Figure, target: Path | BytesIO, kind: str) -> None:
    """Write title, and neither date nor version; missing glyphs are one warning."""
    left_out = {"png": ("Software",), "svg": ("Date", "Creator")}[kind]
    metadata: dict[str, Any] = {"Title": str(figure.get_label()), **dict.fromkeys(left_out)}
    with style(), _one_warning(), _laid_out(figure):
        figure.savefig(target, format=kind, dpi=DOTS_PER_INCH, metadata=metadata)


@contextmanager
def _one_warning() -> Iterator[None]:
    """Put matplotlib's warnings, one a character and font, together to one; keep all others."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    missing = ""
    for warning in caught:
        if found := MISSING_GLYPH.match(str(warning.message)):
            missing += chr(int(found[1]))
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    if missing:
        characters = "".join(dict.fromkeys(missing))
        message = f"no installed font has {characters!r}: drawn as boxes; install a Noto Sans"
        warnings.warn(message, MissingGlyphWarning, stacklevel=4)


@contextmanager
def _laid_out(figure: Figure) -> Iterator[None]:
    """Fix the layout, rounded: its solver's last digits differ from run to run."""
    from matplotlib.transforms import Bbox

    engine = figure.get_layout_engine()
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for part in figure.subfigs:
        part.bbox_relative.set_points(part.bbox_relative.get_points().round(LAYOUT_DECIMALS))
    for axes in figure.axes:
        axes.set_position(Bbox(axes.get_position().get_points().round(LAYOUT_DECIMALS)))
    try:
        yield
    finally:
        figure.set_layout_engine(engine)


def language_rows(table: pd.DataFrame, language: str | None) -> pd.DataFrame:
    """Return the rows of a language; all of them for None.

    Raises:
        UsageError: If there are none of that language.
    """
    if language is None:
        return table
    checked_choice(language, judged_languages(table), "language of this figure")
    return table[table["language"] == language]


def judged_languages(table: pd.DataFrame) -> list[str]:
    """Return the languages of a table, sorted."""
    return sorted(map(str, table["language"].unique()))


def order_of(
    board: Board, language: str | None, systems: Iterable[str], column: str = "arena_rank"
) -> list[str]:
    """Order systems by rank, those without one by name behind them.

    Args:
        board: A board.
        language: Language whose ranks count; None for those over all languages.
        systems: Systems to order; repetitions do not count.
        column: ``arena_rank`` for ranks by verdicts alone, ``rank`` for those of the board.
    """
    ranked = board.overall
    if language is not None:
        ranked = board.ratings[board.ratings["language"] == language]
    ranks = ranked.set_index("system")[column].astype(float).fillna(math.inf)
    return sorted(set(map(str, systems)), key=lambda name: (ranks.get(name, math.inf), name))


def read_study(
    path: Path | str, name: str, command: str, typed: Callable[[pd.DataFrame], pd.DataFrame]
) -> tuple[pd.DataFrame, str]:
    """Read a study that a command printed as JSON.

    Args:
        path: File.
        name: What to call the study in messages.
        command: What prints it.
        typed: Gives the table its columns and types; raises ``KeyError``, ``TypeError`` or
            ``ValueError`` where it cannot.

    Returns:
        The table and the signature.

    Raises:
        UsageError: If there is no such file.
        DataError: If it is no such study.
    """
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"there is no {name} at {path}; make one with  {command}")
    try:
        content = json.loads(small_file(path))
        return typed(pd.DataFrame(content["table"])), str(content["signature"])
    except (KeyError, TypeError, ValueError) as error:
        fault = f"is no {name} ({type(error).__name__}: {error})"
        hint = f"write it again with  {command}"
        raise DataError([Problem(path.name, None, None, None, fault, hint)]) from error
