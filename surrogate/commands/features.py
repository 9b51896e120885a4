"""``surrogate-arena features``: what can be measured on an answer."""

from __future__ import annotations

from surrogate.commands.options import JsonOption


def list_features(as_json: JsonOption = False) -> None:
    """List the features: name, meaning, source, needs."""
    from features import describe_features
    from surrogate.commands import printing

    table = describe_features()
    if as_json:
        printing.print_json(printing.records(table))
        return
    printing.print_columns("Features", table, list(table.columns))
