"""Boards as tables for papers, sheets and other programs, and as cards for a hub."""

from surrogate.exports.board_rows import ALL, OVERALL, ExportedBoard, exported_board
from surrogate.exports.csv_text import csv_text, guarded, read_csv_text, unguarded
from surrogate.exports.dataset_card import dataset_card
from surrogate.exports.json_text import json_text
from surrogate.exports.latex import latex_table, latex_text
from surrogate.exports.markdown import markdown_table, markdown_text
from surrogate.exports.model_card import model_card
from surrogate.exports.parquet_file import write_parquet

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
