"""Large files of judgments that need no reading: their own columns, and cells as we write them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from arena.data.codes import Distinct, text_codes
from arena.data.parquet import read_categories
from arena.data.rows import Rows
from arena.data.schema import JUDGMENTS


def plain_judgments(path: Path) -> pd.DataFrame | None:
    """Read a Parquet file of judgments as categories, without looking at its rows one by one.

    Returns:
        The columns of ``JUDGMENTS``; None if this is another file, a cell is missing, most
        questions are judged once, or a system is judged against itself.

    Raises:
        DataError: If it holds more than is read.
    """
    if path.suffix.lower() != ".parquet" or not path.is_file():
        return None
    table = None
    # Whoever reads the rows says what is wrong with a damaged file.
    with suppress(pa.ArrowException, OSError):
        table = read_categories(path, path.name, list(JUDGMENTS.columns))
    if table is None or table.empty:
        return None
    code_a, names_a = text_codes(table["system_a"])
    code_b, names_b = text_codes(table["system_b"])
    place_of = {name: place for place, name in enumerate(names_b)}
    same_as_a = np.array([place_of.get(name, -1) for name in names_a])
    return None if (same_as_a[code_a] == code_b).any() else table


def sample_of_all_texts(table: pd.DataFrame, source: str) -> Rows:
    """Return some rows of categories that hold every text of every column."""
    is_sampled = np.zeros(len(table), dtype=np.bool_)
    for name in table:
        codes, texts = text_codes(table[name])
        is_sampled[Distinct(np.arange(len(texts)), codes).first_rows] = True
    lines = pd.Series(np.flatnonzero(is_sampled) + 1)
    rows = table[is_sampled].reset_index(drop=True)
    return Rows(rows.astype(object), lines, source)


def is_read_as_written(rows: Rows, read: pd.DataFrame) -> bool:
    """Return whether judgments hold exactly what the rows do that they were read from."""
    if sorted(read) != sorted(rows.table) or len(read) != len(rows.table):
        return False
    return all((read[name].to_numpy(object) == rows.table[name]).all() for name in read)
