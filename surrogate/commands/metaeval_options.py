"""Options that the commands of ``metaeval`` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

STORE_FILE = "metaevaluation.sqlite"

StoreOption = Annotated[
    str, typer.Option("--store", help="SQLite file or postgresql:// URL that keeps every reply.")
]
MaxCallsOption = Annotated[
    int | None,
    typer.Option("--max-calls", min=0, help="Most prompts that a judge sends in this run."),
]
NotedInOption = Annotated[
    Path | None,
    typer.Option("--arena", help="Arena folder whose metaevaluation.json notes the result."),
]
