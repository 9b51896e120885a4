"""Tables as programs other than ours write them."""

from pathlib import Path

import pandas as pd


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Let pandas write a table in the format that the suffix names."""
    kind = path.name.removesuffix(".gz").rpartition(".")[2]
    if kind == "csv":
        table.to_csv(path, index=False)
    elif kind == "tsv":
        table.to_csv(path, sep="\t", index=False)
    elif kind == "parquet":
        table.to_parquet(path)
    elif kind == "xlsx":
        table.to_excel(path, index=False)
    else:
        table.to_json(path, orient="records", lines=kind == "jsonl")
