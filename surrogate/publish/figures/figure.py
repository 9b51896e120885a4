"""Fonts for names in any script.

matplotlib comes with DejaVu Sans, which has Latin, Greek, Cyrillic, Arabic and Hebrew letters, but
none of the scripts of South and East Asia. The families below fill in where they are installed; a
character that none of them has is drawn as a box, and said.
"""

from __future__ import annotations

import json
import math
import re
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

from arena.data.errors import DataError, MissingDependencyError, Problem, UsageError
from arena.data.files import atomic_path
from surrogate.board.board import Board

FONT_FAMILIES = (
    "DejaVu Sans",
    "Noto Sans",
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans CJK KR", "Source Han Sans SC"),
    *("PingFang SC", "Hiragino Sans", "Apple SD Gothic Neo", "Microsoft YaHei", "Yu Gothic"),
    *("Malgun Gothic", "WenQuanYi Micro Hei", "IPAGothic", "NanumGothic"),
    *("Noto Sans Devanagari", "Noto Sans Bengali", "Noto Sans Telugu", "Nirmala UI", "Lohit Hindi"),
    *("Noto Sans Thai", "Noto Sans Arabic", "Noto Sans Symbols2", "Noto Emoji"),
)
"""Families asked for a character one after the other, of those that are installed."""

_MISSING = re.compile(r"Glyph (\d+) .*missing from")


class MissingGlyphWarning(UserWarning):
    """Characters of a figure that no installed font has."""


def installed_families() -> list[str]:
    """Return those of ``FONT_FAMILIES`` that matplotlib finds."""
    from matplotlib.font_manager import fontManager

    installed = {font.name for font in fontManager.ttflist}
    return [family for family in FONT_FAMILIES if family in installed]


@contextmanager
def missing_glyphs_said_once() -> Iterator[None]:
    """Put matplotlib's warnings, one a character and font, together to one; keep all others."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    missing: dict[str, None] = {}
    for warning in caught:
        found = _MISSING.match(str(warning.message))
        if found:
            missing[chr(int(found[1]))] = None
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    if missing:
        warnings.warn(_message("".join(missing)), MissingGlyphWarning, stacklevel=4)


def _message(characters: str) -> str:
    return (
        f"no installed font has {characters!r}: drawn as boxes; install a font such as Noto Sans "
        f"of that script (families that are looked for: {', '.join(FONT_FAMILIES[:3])} …)"
    )


LONGEST_NAME = 44
UNDRAWABLE = "\N{REPLACEMENT CHARACTER}"

_FULL_WIDTH = 1.8
_CAPITAL = 1.25
_WIDEST = frozenset("MWmw@%—…")
_WIDEST_WIDTH = 1.7
_BREAK_AFTER = frozenset(" |,")
_NO_GLYPH = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = frozenset("\u200c\u200d")
"""Needed by Persian, Indic scripts and emoji."""


def drawable(text: str) -> str:
    """Replace what has no glyph or turns the direction of text: controls, marks of direction."""
    return "".join(
        UNDRAWABLE if unicodedata.category(mark) in _NO_GLYPH and mark not in _JOINERS else mark
        for mark in text
    )


def shortened(text: str, longest: int = LONGEST_NAME) -> str:
    """Cut a long text in its middle, for what tells names apart is often at the end."""
    if len(text) <= longest:
        return text
    head = (longest - 1) * 2 // 3
    return f"{text[:head]}…{text[head + 1 - longest :]}"


def shown_names(names: Iterable[str], longest: int = LONGEST_NAME) -> dict[str, str]:
    """Return how each name is drawn; those that would look the same are numbered."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in dict.fromkeys(names):
        short = shown = shortened(drawable(name), longest)
        number = 1
        while shown in taken:
            number += 1
            shown = f"{short} ({number})"
        found[name] = shown
        taken.add(shown)
    return found


def text_width(text: str) -> float:
    """Estimate the width of a text, as a multiple of that of a usual Latin letter."""
    return sum(map(_mark_width, text))


def _mark_width(mark: str) -> float:
    if unicodedata.east_asian_width(mark) in "WF":
        return _FULL_WIDTH
    if mark in _WIDEST:
        return _WIDEST_WIDTH
    return _CAPITAL if mark.isupper() else 1.0


def longest_width(names: Iterable[str]) -> float:
    """Return the ``text_width`` of the widest name; 0 for none."""
    return max(map(text_width, names), default=0.0)


def wrapped(text: str, width: float) -> list[str]:
    """Break a text into lines, after spaces, bars and commas where there are any.

    Args:
        text: Text without line breaks; the lines joined give it again.
        width: Longest line; see ``text_width``.
    """
    lines: list[str] = []
    line = ""
    used = 0.0
    for mark in text:
        while line and used + _mark_width(mark) > width:
            kept = _break(line)
            lines.append(line[:kept])
            line = line[kept:]
            used = text_width(line)
        line += mark
        used += _mark_width(mark)
    return [*lines, line]


def _break(line: str) -> int:
    """Return how much of a full line to keep; all of it where the last break is far back."""
    places = [place + 1 for place, mark in enumerate(line) if mark in _BREAK_AFTER]
    return places[-1] if places and places[-1] > len(line) // 3 else len(line)


if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

FORMATS = ("png", "svg")
DOTS_PER_INCH = 150
MUTED = "#595959"
NO_VALUE_GROUND = "#E9E9E9"
LABEL_INCHES = 0.076
"""Width of a Latin character of a label."""
ROW_INCHES = 0.25
"""Height of a row with a label."""

_FONT_POINTS = 9.0
_TITLE_POINTS = 12.0
_SIGNATURE_POINTS = 7.0
_LINE_SPACING = 1.3
_MARGIN_INCHES = 0.12
_EM_PER_CHARACTER = 0.57
_EM_PER_BOLD_CHARACTER = 0.66
_POINTS_PER_INCH = 72
_LAYOUT_DECIMALS = 6
_STYLE: dict[str, Any] = {
    "text.parse_math": False,
    "font.size": _FONT_POINTS,
    "axes.titlesize": _FONT_POINTS,
    "axes.labelsize": _FONT_POINTS,
    "xtick.labelsize": _FONT_POINTS - 1,
    "ytick.labelsize": _FONT_POINTS - 1,
    "legend.fontsize": _FONT_POINTS - 1,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.8,
    "figure.dpi": DOTS_PER_INCH,
    "figure.constrained_layout.w_pad": 0.08,
    "svg.fonttype": "path",
    "svg.hashsalt": "surrogate-arena",
}


@dataclass(frozen=True)
class Caption:
    """What a figure says about itself.

    Attributes:
        title: What it shows.
        note: How to read it, and how many of what it rests on.
        signature: Settings that reproduce it.
    """

    title: str
    note: str
    signature: str


@contextmanager
def style() -> Iterator[None]:
    """Set how everything made inside looks, whatever the user's settings.

    Raises:
        MissingDependencyError: If matplotlib is not installed.
    """
    try:
        import matplotlib.style
    except ImportError as error:
        raise MissingDependencyError("drawing", "matplotlib", "plots") from error
    settings: Any = {**_STYLE, "font.family": installed_families()}
    with matplotlib.style.context("default"), matplotlib.rc_context(settings):
        yield


@dataclass(frozen=True)
class Sheet:
    """A figure and its part between caption and signature.

    Attributes:
        figure: The whole.
        body: Where axes and legends go.
    """

    figure: Figure
    body: SubFigure


def new_sheet(width: float, height: float, caption: Caption) -> Sheet:
    """Return a figure with its caption; to be called inside ``style``.

    Args:
        width: Width in inches.
        height: Height in inches of the body.
        caption: Title and note above the body, signature below.
    """
    title = _lines(caption.title, width, _TITLE_POINTS * _EM_PER_BOLD_CHARACTER)
    note = _lines(caption.note, width, _FONT_POINTS * _EM_PER_CHARACTER)
    signature = _lines(caption.signature, width, _SIGNATURE_POINTS * _EM_PER_CHARACTER)
    above = _inches(title, _TITLE_POINTS) + _inches(note, _FONT_POINTS) + 1.5 * _MARGIN_INCHES
    below = _inches(signature, _SIGNATURE_POINTS) + 1.5 * _MARGIN_INCHES
    whole = above + height + below
    figure = _shown_figure()(figsize=(width, whole), layout="constrained")
    parts = figure.subfigures(3, 1, height_ratios=[above, height, below], squeeze=False)
    left, top = _MARGIN_INCHES / width, 1 - _MARGIN_INCHES / whole
    _write(figure, (left, top), title, "top", fontsize=_TITLE_POINTS, fontweight="bold")
    top -= _inches(title, _TITLE_POINTS) / whole
    _write(figure, (left, top), note, "top", fontsize=_FONT_POINTS, color=MUTED)
    bottom = _MARGIN_INCHES / whole
    _write(figure, (left, bottom), signature, "bottom", fontsize=_SIGNATURE_POINTS, color=MUTED)
    figure.set_label(drawable(caption.title))
    return Sheet(figure, parts[1, 0])


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


def label_inches(characters: float) -> float:
    """Return the width of a label in inches."""
    return LABEL_INCHES * characters


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
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise UsageError(f"{path.name}: figures are written as {' or '.join(FORMATS)}")
    with atomic_path(path) as temporary:
        _write_file(figure, temporary, kind)


def _write_file(figure: Figure, target: Path | BytesIO, kind: str) -> None:
    metadata = _metadata(figure, kind)
    with style(), missing_glyphs_said_once(), _laid_out(figure):
        figure.savefig(target, format=kind, dpi=DOTS_PER_INCH, metadata=metadata)


@contextmanager
def _laid_out(figure: Figure) -> Iterator[None]:
    """Fix the layout, rounded: its solver's last digits differ from run to run."""
    from matplotlib.transforms import Bbox

    engine = figure.get_layout_engine()
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for part in figure.subfigs:
        part.bbox_relative.set_points(part.bbox_relative.get_points().round(_LAYOUT_DECIMALS))
    for axes in figure.axes:
        place = axes.get_position().get_points().round(_LAYOUT_DECIMALS)
        axes.set_position(Bbox(place))
    try:
        yield
    finally:
        figure.set_layout_engine(engine)


def _metadata(figure: Figure, kind: str) -> dict[str, str | None]:
    """Return the title for readers who cannot see, and leave out date and version."""
    left_out = {"png": ("Software",), "svg": ("Date", "Creator")}[kind]
    return {"Title": str(figure.get_label()), **dict.fromkeys(left_out)}


def _lines(text: str, width: float, character_points: float) -> list[str]:
    room = (width - 2 * _MARGIN_INCHES) * _POINTS_PER_INCH
    return wrapped(drawable(text), room / character_points)


def _inches(lines: Sequence[str], points: float) -> float:
    return len(lines) * points * _LINE_SPACING / _POINTS_PER_INCH


def _write(
    figure: Figure,
    place: tuple[float, float],
    lines: Sequence[str],
    alignment: str,
    **font: Any,  # noqa: ANN401
) -> None:
    text = figure.text(
        *place, "\n".join(lines), va=alignment, linespacing=_LINE_SPACING, parse_math=False, **font
    )
    text.set_in_layout(False)


def language_rows(table: pd.DataFrame, language: str | None) -> pd.DataFrame:
    """Return the rows of a language; all of them for None.

    Raises:
        UsageError: If there are none of that language.
    """
    if language is None:
        return table
    present = judged_languages(table)
    if language not in present:
        raise UsageError(
            f"the board has no language {language!r} here; there is {', '.join(present) or 'none'}"
        )
    return table[table["language"] == language]


def judged_languages(table: pd.DataFrame) -> list[str]:
    """Return the languages of a table, sorted."""
    return sorted(str(language) for language in table["language"].unique())


def order_of(
    board: Board, language: str | None, systems: Iterable[str], column: str = "arena_rank"
) -> Sequence[str]:
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
    ranks = {
        str(system): float(rank)
        for system, rank in zip(ranked["system"], ranked[column], strict=True)
        if pd.notna(rank)
    }
    names = {str(system) for system in systems}
    return sorted(names, key=lambda system: (ranks.get(system, math.inf), system))


def read_study(
    path: Path | str, name: str, command: str, typed: Callable[[pd.DataFrame], pd.DataFrame]
) -> tuple[pd.DataFrame, str]:
    """Read a study.

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
        content = json.loads(path.read_bytes())
        return typed(pd.DataFrame(content["table"])), str(content["signature"])
    except (KeyError, TypeError, ValueError) as error:
        fault, hint = (
            f"is no {name} ({type(error).__name__}: {error})",
            f"write it again with  {command}",
        )
        raise DataError([Problem(path.name, None, None, None, fault, hint)]) from error
