"""The steps that publish a board: web pages, figures, tables in other formats.

Each is one call to the part of the package that makes it, imported when it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType

from surrogate.board_folder import JUDGE_FILE
from surrogate.regeneration.board_steps import BOARD
from surrogate.regeneration.config_file import ConfiguredBoard
from surrogate.regeneration.config_records import ExportFormat
from surrogate.regeneration.manifest import Option
from surrogate.regeneration.step import Place, Step, all_but
from surrogate.regeneration.versions import (
    DRAWING_LIBRARIES,
    EXPORTING_LIBRARIES,
    PUBLISHING_LIBRARIES,
    versions_of,
)

SITE = "site"
PLOTS = "plots"
EXPORTS = "exports"

Publish = Callable[[Path, Path], object]


def published_steps(board: ConfiguredBoard) -> Iterator[Step]:
    """Yield the steps that make of a board what its options ask for."""
    after = board.options.after
    if after.site:
        yield _step(board, SITE, _write_site, PUBLISHING_LIBRARIES)
    if after.plots:
        yield _step(board, PLOTS, _write_plots, DRAWING_LIBRARIES)
    if after.exports:
        formats = sorted(set(after.exports))
        write = partial(_write_exports, formats=formats)
        yield _step(board, EXPORTS, write, EXPORTING_LIBRARIES, {"formats": list[str](formats)})


def _step(
    board: ConfiguredBoard,
    stage: str,
    publish: Publish,
    libraries: tuple[str, ...],
    options: Mapping[str, Option] = MappingProxyType({}),
) -> Step:
    def make(place: Place) -> str:
        publish(place.of(BOARD), place.target)
        return ""

    return Step(
        board.name,
        stage,
        make,
        upstream={BOARD: all_but(JUDGE_FILE)},
        options=options,
        versions=versions_of(libraries),
    )


def _write_site(board_folder: Path, target: Path) -> object:
    from surrogate.report import write_site

    return write_site(board_folder, target)


def _write_plots(board_folder: Path, target: Path) -> None:
    from surrogate.regeneration.board_figures import write_figures

    write_figures(board_folder, target)


def _write_exports(board_folder: Path, target: Path, formats: Sequence[ExportFormat]) -> None:
    from surrogate.regeneration.board_exports import write_exports

    write_exports(board_folder, target, formats)
