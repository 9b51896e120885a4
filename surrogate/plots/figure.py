"""Figures with title, counts and signature, and files of them that are the same every time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.errors import MissingDependencyError, UsageError
from arena.streams import atomic_path
from surrogate.plots.fonts import installed_families, missing_glyphs_said_once
from surrogate.plots.labels import drawable, wrapped

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
    from matplotlib.figure import Figure

    title = _lines(caption.title, width, _TITLE_POINTS * _EM_PER_BOLD_CHARACTER)
    note = _lines(caption.note, width, _FONT_POINTS * _EM_PER_CHARACTER)
    signature = _lines(caption.signature, width, _SIGNATURE_POINTS * _EM_PER_CHARACTER)
    above = _inches(title, _TITLE_POINTS) + _inches(note, _FONT_POINTS) + 1.5 * _MARGIN_INCHES
    below = _inches(signature, _SIGNATURE_POINTS) + 1.5 * _MARGIN_INCHES
    whole = above + height + below
    figure = Figure(figsize=(width, whole), layout="constrained")
    parts = figure.subfigures(3, 1, height_ratios=[above, height, below], squeeze=False)
    left, top = _MARGIN_INCHES / width, 1 - _MARGIN_INCHES / whole
    _write(figure, (left, top), title, "top", fontsize=_TITLE_POINTS, fontweight="bold")
    top -= _inches(title, _TITLE_POINTS) / whole
    _write(figure, (left, top), note, "top", fontsize=_FONT_POINTS, color=MUTED)
    bottom = _MARGIN_INCHES / whole
    _write(figure, (left, bottom), signature, "bottom", fontsize=_SIGNATURE_POINTS, color=MUTED)
    figure.set_label(drawable(caption.title))
    return Sheet(figure, parts[1, 0])


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
    metadata = _metadata(figure, kind)
    with atomic_path(path) as temporary, style(), missing_glyphs_said_once(), _laid_out(figure):
        figure.savefig(temporary, format=kind, dpi=DOTS_PER_INCH, metadata=metadata)


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
