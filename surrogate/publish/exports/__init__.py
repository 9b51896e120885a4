"""Boards in other formats: tables and cards."""

from surrogate.publish.exports.cards import dataset_card, model_card
from surrogate.publish.exports.tables import (
    ALL,
    OVERALL,
    ExportedBoard,
    csv_text,
    exported_board,
    guarded,
    json_text,
    latex_table,
    latex_text,
    markdown_table,
    markdown_text,
    read_csv_text,
    unguarded,
    write_parquet,
)

__all__ = [
    "ALL",
    "OVERALL",
    "ExportedBoard",
    "csv_text",
    "dataset_card",
    "exported_board",
    "guarded",
    "json_text",
    "latex_table",
    "latex_text",
    "markdown_table",
    "markdown_text",
    "model_card",
    "read_csv_text",
    "unguarded",
    "write_parquet",
]
