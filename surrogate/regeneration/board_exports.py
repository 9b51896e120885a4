"""A board in other formats, as files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import MappingProxyType

from surrogate import exports
from surrogate.exports import ALL, OVERALL, ExportedBoard
from surrogate.regeneration.config_records import ExportFormat
from surrogate.report.board_tables import read_board_tables

Write = Callable[[ExportedBoard, Path], object]


def _written(text_of: Callable[[ExportedBoard], str]) -> Write:
    return lambda board, path: path.write_text(text_of(board), encoding="utf-8", newline="\n")


_FORMATS: MappingProxyType[ExportFormat, tuple[str, Write]] = MappingProxyType(
    {
        "csv": (".csv", _written(exports.csv_text)),
        "json": (".json", _written(exports.json_text)),
        "parquet": (".parquet", exports.write_parquet),
        "latex": (".tex", _written(exports.latex_table)),
        "markdown": (".md", _written(exports.markdown_table)),
    }
)


def write_exports(board_folder: Path, target: Path, formats: Sequence[ExportFormat]) -> None:
    """Write a board's tables: ranks over all languages, and the rows of every language.

    Args:
        board_folder: What ``surrogate-arena board`` wrote.
        target: Folder to write to.
        formats: Formats to write, each as ``overall`` and ``languages``.
    """
    tables = read_board_tables(board_folder)
    for part, name in ((OVERALL, "overall"), (ALL, "languages")):
        board = exports.exported_board(tables, part)
        for chosen in formats:
            suffix, write = _FORMATS[chosen]
            write(board, target / f"{name}{suffix}")
