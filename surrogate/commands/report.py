"""``surrogate-arena report``: a board as a static site."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    board: Annotated[Path, typer.Argument(metavar="DIR", help="Board folder.")],
    out: Annotated[
        Path,
        typer.Option("--out", help="Folder to write the site to; a site there is replaced whole."),
    ] = Path("site"),
) -> None:
    """Write a board as HTML pages that need neither a server nor the network."""
    from surrogate.report import write_site

    print(f"Site written: open {write_site(board, out)}")
