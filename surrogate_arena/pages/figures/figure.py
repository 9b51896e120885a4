"""The frame that all figures share: title, caption and legend, fonts, matrices, files."""

from __future__ import annotations

import logging
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arena.data.errors import MissingDependencyError, UsageError, checked_choice
from arena.data.types import Floats
from arena.data.wording import short_digest
from arena.data.writing import atomic_path
from surrogate_arena.pages.formats import SEQUENTIAL, text_on

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


FORMATS = ("png", "svg", "pdf")
MUTED = "#595959"
NO_VALUE_GROUND = "#E9E9E9"
DOTS_PER_INCH = 150
ROW_INCHES = 0.25
"""Height of a row with a label."""
LONGEST_NAME = 44
UNDRAWABLE = "\N{REPLACEMENT CHARACTER}"
HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
JOINERS = frozenset("\u200c\u200d")
"""Needed by Persian, Indic scripts and emoji."""
FONT_POINTS, TITLE_POINTS, CAPTION_POINTS = 9.0, 11.0, 7.5
CAPTION: Any = {"x": 0.01, "ha": "left", "fontsize": CAPTION_POINTS, "color": MUTED}
CAPTION |= {"linespacing": 1.2}
SIGNATURE = "Signature"
CHARACTERS_AN_INCH = {TITLE_POINTS: 9.0, CAPTION_POINTS: 15.0}
"""Of a line of text that is wrapped."""
STYLE: Any = {
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
    "pdf.fonttype": 42,  # journals refuse Type 3 fonts
    "svg.hashsalt": "surrogate-arena",
}


FONT_FAMILIES = (
    "DejaVu Sans",
    "Noto Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans CJK KR",
    "Source Han Sans SC",
    "PingFang SC",
    "Hiragino Sans",
    "Apple SD Gothic Neo",
    "Microsoft YaHei",
    "Malgun Gothic",
    "Noto Sans Devanagari",
    "Noto Sans Bengali",
    "Noto Sans Gurmukhi",
    "Noto Sans Gujarati",
    "Noto Sans Oriya",
    "Noto Sans Tamil",
    "Noto Sans Telugu",
    "Noto Sans Kannada",
    "Noto Sans Malayalam",
    "Noto Sans Sinhala",
    "Nirmala UI",
    "Noto Sans Thai",
    "Noto Sans Khmer",
    "Noto Sans Myanmar",
    "Noto Sans Ethiopic",
    "Noto Sans Arabic",
    "Noto Sans Symbols2",
    "Noto Emoji",
)
"""Families asked for a character one after the other, of those that are installed."""


class Drawing(NamedTuple):
    """The name of a figure's file without suffix, and what draws it."""

    name: str
    draw: Callable[[], Figure]


class Caption(NamedTuple):
    """What a figure shows, how to read it, and what reproduces it."""

    title: str
    note: str
    signature: str = ""


def drawable(text: str) -> str:
    """Replace what has no glyph or turns the direction of text."""
    return "".join(
        UNDRAWABLE if unicodedata.category(mark) in HIDDEN and mark not in JOINERS else mark
        for mark in text
    )


def shown_names(names: Iterable[str]) -> dict[str, str]:
    """Return how each name is drawn: cut in its middle, and unlike all others."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(map(str, names)):
        short = shown = drawable(name)
        if len(short) > LONGEST_NAME:
            head = (LONGEST_NAME - 1) * 2 // 3
            short = shown = f"{short[:head]}…{short[head + 1 - LONGEST_NAME :]}"
        number = 1
        while shown in found.values():
            number += 1
            shown = f"{short} ({number})"
        found[name] = shown
    return found


def label_inches(names: Iterable[str]) -> float:
    """Return the width in inches of the widest name as a label."""
    inches_a_letter = 0.076  # of a Latin one, as a mean
    widths = [0.0]
    for name in shown_names(names).values():
        # Ideographs are wider; all have some room.
        letters = [1.8 if unicodedata.east_asian_width(mark) in "WF" else 1.1 for mark in name]
        widths.append(inches_a_letter * sum(letters))
    return max(widths)


@contextmanager
def style() -> Iterator[None]:
    """Set how everything made inside looks, whatever the user's settings."""
    try:
        import matplotlib.style
        from matplotlib.font_manager import fontManager
    except ImportError as error:
        raise MissingDependencyError("drawing", "matplotlib", "plots") from error
    # It says of every font in the list that it has no bold: titles take the next best.
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    installed = {font.name for font in fontManager.ttflist}
    families = [family for family in FONT_FAMILIES if family in installed]
    with matplotlib.style.context("default"), matplotlib.rc_context(STYLE):
        matplotlib.rcParams["font.family"] = families
        yield


def captioned_figure(
    caption: Caption,
    width: float,
    height: float,
    panels: int = 1,
    **sharing: Any,  # noqa: ANN401 - of matplotlib's subplots
) -> tuple[Figure, list[Axes]]:
    """Return a figure with its caption, and its panels; within ``style``."""
    from matplotlib.figure import Figure

    title = _wrapped(caption.title, width, TITLE_POINTS)
    below = _wrapped(caption.note, width, CAPTION_POINTS)
    below += [f"{SIGNATURE} {short_digest(caption.signature)}"] if caption.signature else []
    inches_a_line = 0.14
    text = inches_a_line * (1.5 * len(title) + len(below) + 2)
    figure = Figure(figsize=(width, height + text), layout="constrained")
    figure.suptitle("\n".join(title), x=0.01, ha="left", fontsize=TITLE_POINTS, weight="bold")
    figure.supxlabel("\n".join(below), **CAPTION)
    figure.set_label(f"{drawable(caption.title)}\n{caption.signature}")  # see save
    body: Any = figure.subfigures()  # a legend outside of it stands below the title
    grid = body.subplots(1, panels, squeeze=False, **sharing).ravel()
    return figure, list(grid)


def _wrapped(text: str, width: float, points: float) -> list[str]:
    return textwrap.wrap(drawable(text), max(int(width * CHARACTERS_AN_INCH[points]), 20))


def legend(figure: Figure, handles: Mapping[str, Artist]) -> None:
    """Put a legend above the panels: what is drawn, by its name."""
    figure.subfigs[0].legend(
        list(handles.values()),
        list(handles),
        loc="outside upper left",
        ncols=len(handles),
        handlelength=1.6,
    )


def draw_matrix(
    axes: Axes,
    shades: Floats,
    texts: Sequence[Sequence[str]],
    rows: Iterable[str],
    columns: Iterable[str],
    *,
    upright: bool = False,
) -> None:
    """Draw a matrix of colored cells that also say their value, first row at the top.

    Shades, shape (R, C), are places on the color scale from 0 to 1; NaN for none.
    """
    from matplotlib.colors import LinearSegmentedColormap, to_hex

    colors = LinearSegmentedColormap.from_list("scale", list(SEQUENTIAL))
    points = FONT_POINTS - 1
    axes.set_facecolor(NO_VALUE_GROUND)
    n_rows, n_columns = shades.shape
    axes.pcolormesh(
        # Edges of cells, so that a cell's middle has its row and column as coordinates.
        np.arange(n_columns + 1) - 0.5,
        np.arange(n_rows + 1) - 0.5,
        np.ma.masked_invalid(shades),
        cmap=colors,
        vmin=0,
        vmax=1,
        edgecolors="white",
        linewidth=0.8,
    )
    row_names = list(shown_names(rows).values())
    column_names = list(shown_names(columns).values())
    axes.set_ylim(len(row_names) - 0.5, -0.5)
    axes.set_yticks(range(len(row_names)), row_names)
    axes.set_xticks(range(len(column_names)), column_names, rotation=90 if upright else 0)
    axes.tick_params(length=0, labelsize=points)
    axes.tick_params(axis="x", labeltop=True, labelbottom=False)
    axes.xaxis.set_label_position("top")
    axes.spines[:].set_visible(False)
    for (row, column), shade in np.ndenumerate(shades):
        ground = NO_VALUE_GROUND if np.isnan(shade) else to_hex(colors(float(shade)))
        text = axes.text(
            column,
            row,
            texts[row][column],
            ha="center",
            va="center",
            fontsize=points,
            color=text_on(ground),
            clip_on=True,
        )
        # The cells bound the texts; laying out each of them would take most of the time.
        text.set_in_layout(False)


def save(figure: Figure, path: Path | str) -> None:
    """Write a figure as PNG, SVG or PDF, the signature in its metadata; the same bytes each time.

    Raises:
        UsageError: For another suffix, or if the folder does not exist.
    """
    path = Path(path)
    kind = checked_choice(path.suffix.lower().removeprefix("."), FORMATS, "format of figures")
    left_out = {
        "png": ("Software",),
        "svg": ("Date", "Creator"),
        "pdf": ("CreationDate", "Creator", "Producer"),
    }[kind]
    title, _, signature = str(figure.get_label()).partition("\n")
    metadata: dict[str, Any] = {"Title": title, **dict.fromkeys(left_out)}
    if signature:
        metadata["Subject" if kind == "pdf" else "Description"] = drawable(signature)
    with atomic_path(path) as temporary, style():
        _fix_layout(figure)
        figure.savefig(temporary, format=kind, dpi=DOTS_PER_INCH, metadata=metadata)


def write_drawings(
    drawings: Iterable[Drawing],
    folder: Path,
    suffix: str,
    *,
    signature: bool = True,
) -> tuple[list[Path], dict[str, str]]:
    """Draw figures into a folder; return their files, and why others could not be drawn."""
    listed = list(drawings)  # a wrong request fails before the folder is made
    folder.mkdir(parents=True, exist_ok=True)
    paths, reasons = [], {}
    for name, draw in listed:
        try:
            figure = draw()
        except UsageError as error:
            reasons[name] = str(error)
            continue
        if not signature:
            figure.set_label(str(figure.get_label()).partition("\n")[0])
            figure.supxlabel(figure.get_supxlabel().partition(f"\n{SIGNATURE}")[0], **CAPTION)
        paths.append(folder / f"{name}.{suffix}")
        save(figure, paths[-1])
    return paths, reasons


def _fix_layout(figure: Figure) -> None:
    """Round the layout: its solver's last digits differ from run to run."""
    from matplotlib.transforms import Bbox

    decimals = 6
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for part in figure.subfigs:
        part.bbox_relative.set_points(part.bbox_relative.get_points().round(decimals))
    for axes in figure.axes:
        axes.set_position(Bbox(axes.get_position().get_points().round(decimals)))
