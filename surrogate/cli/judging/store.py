"""``surrogate-arena store``: what models replied, as kept by ``judge``."""

from __future__ import annotations

from typing import Annotated

import typer

from arena.data.wording import count_of
from surrogate.cli.group import new_group
from surrogate.cli.options import JsonOption

StoreArgument = Annotated[str, typer.Argument(metavar="STORE", help="File of the store.")]

store = new_group(
    help="Look into a store of models' replies.",
)


@store.command()
def stats(where: StoreArgument, as_json: JsonOption = False) -> None:
    """Count replies, calls and tokens by model, state and failure."""
    from arena.llm import open_store
    from surrogate.cli import printing

    with open_store(where, create=False) as opened:
        table = opened.stats()
    if as_json:
        printing.print_json(table)
        return
    printing.print_columns("Replies in the store", table, list(table.columns))


@store.command()
def verify(where: StoreArgument) -> None:
    """Check the database, and that each request and reply."""
    from arena.llm import open_store

    with open_store(where, create=False) as opened:
        count = opened.verify()
    print(f"{count_of(count, 'row')} checked: sound")
