"""``surrogate-arena features list``: what can be measured on an answer."""

from __future__ import annotations

import typer

from surrogate.commands.options import JsonOption

features = typer.Typer(
    help="What can be measured on an answer.", no_args_is_help=True, rich_markup_mode=None
)


@features.command("list")
def list_features(as_json: JsonOption = False) -> None:
    """List the features: name, meaning, source, needs."""
    from features import describe_features
    from surrogate.commands import printing

    table = describe_features()
    if as_json:
        printing.print_json(printing.records(table))
        return
    printing.print_columns("Features", table, ["feature", "summary", "needs", "source"])
