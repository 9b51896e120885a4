"""Rows of a published data set, by name, through the optional package ``datasets``."""

from __future__ import annotations

import importlib
from typing import Any

import pandas as pd

from arena.errors import MissingDependencyError, UsageError
from arena.rows import Rows


def load_rows(dataset: str, config: str, split: str) -> Rows:
    """Load a split of a data set from the hub, or from a local folder of the same layout.

    Args:
        dataset: Name on the hub, or a folder.
        config: Configuration, such as a language code.
        split: Split, such as ``dev``.

    Raises:
        MissingDependencyError: If ``datasets`` is not installed.
        UsageError: If the hub cannot be reached or has no such data.
    """
    datasets = _datasets()
    source = f"{dataset}/{config}/{split}"
    try:
        records = datasets.load_dataset(dataset, config, split=split).to_list()
    except (OSError, ValueError, RuntimeError) as error:
        raise UsageError(f"cannot load {source}: {error}") from error
    columns = list(dict.fromkeys(key for record in records for key in record))
    table = pd.DataFrame(
        {
            column: pd.Series([record.get(column) for record in records], dtype=object)
            for column in columns
        }
    )
    return Rows(table, pd.Series(range(1, len(table) + 1), dtype=int), source)


def _datasets() -> Any:  # noqa: ANN401
    try:
        return importlib.import_module("datasets")
    except ImportError as error:
        purpose = "loading a published data set by name"
        raise MissingDependencyError(purpose, "datasets", "hub") from error
