"""``surrogate-arena store``: what models replied, as kept by ``judge``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.data.wording import count_of
from surrogate.cli.group import new_group
from surrogate.cli.options import JsonOption
from surrogate.cli.targets import OUT_FILE

if TYPE_CHECKING:
    from arena.llm.store import Store

StoreArgument = Annotated[str, typer.Argument(metavar="STORE", help="File of the store.")]

store = new_group(
    help="Look into a store of models' replies.",
)


@store.command()
def stats(where: StoreArgument, as_json: JsonOption = False) -> None:
    """Count replies, calls and tokens by model, state and failure."""
    from surrogate.cli import printing

    with open_existing(where) as opened:
        table = opened.stats()
    if as_json:
        printing.print_json(table)
        return
    printing.print_columns("Replies in the store", table, list(table.columns))


@store.command("export")
def export_replies(
    where: StoreArgument,
    out: Annotated[
        Path, typer.Option("--out", help="File to write: .jsonl (.gz, .zst).", **OUT_FILE)
    ],
) -> None:
    """Write every request and reply as a line of JSON."""
    with open_existing(where) as opened:
        count = opened.export_jsonl(out)
    print(f"{count_of(count, 'row')} written to {out}")


@store.command()
def verify(where: StoreArgument) -> None:
    """Check the database, and that every row still is what was asked and replied."""
    with open_existing(where) as opened:
        count = opened.verify()
    print(f"{count_of(count, 'row')} checked: sound")


def open_existing(where: str) -> Store:
    """Open a store that is there; unlike ``open_store`` it makes none.

    Raises:
        UsageError: If there is no such file.
    """
    from arena.data.errors import UsageError
    from arena.llm import open_store

    if not Path(where).is_file():
        raise UsageError(f"there is no store at {where}")
    return open_store(where)
