"""``surrogate-arena fit``: ratings from judgments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surrogate.board.settings import MOST_DRAWS
from surrogate.cli.options import JsonOption, SeedOption

if TYPE_CHECKING:
    import pandas as pd

    from arena.rating.ratings import Ratings


def fit(
    judgments: Annotated[
        Path, typer.Argument(help="Judgments file, or arena folder.", exists=True)
    ],
    judge: Annotated[str | None, typer.Option("--judge", help="Judge to take, or all.")] = None,
    language: Annotated[str | None, typer.Option("--language", help="Language to take.")] = None,
    ties: Annotated[str, typer.Option("--ties", help="half or drop.")] = "half",
    position: Annotated[
        bool, typer.Option("--position", help="Estimate the advantage of side A.")
    ] = False,
    rounds: Annotated[
        int,
        typer.Option(
            "--rounds",
            min=0,
            max=MOST_DRAWS,
            help="Bootstrap rounds, with --position or --ridge; 0 for no intervals.",
        ),
    ] = 1000,
    ridge: Annotated[
        float | None,
        typer.Option(
            "--ridge",
            min=0,
            help="Precision of the prior; 0 is maximum likelihood. Default: the posterior, "
            "averaged over priors.",
        ),
    ] = None,
    factors: Annotated[
        str | None,
        typer.Option(
            "--factors",
            help="Rate what systems are made of instead, over all languages: comma-separated "
            "attributes of an arena folder's systems.csv, such as model,retriever, or all.",
        ),
    ] = None,
    topic: Annotated[
        str | None,
        typer.Option(
            "--topic", help="With --factors: column of the questions to rate by its values too."
        ),
    ] = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print CSV to standard output instead of a table.")
    ] = False,
) -> None:
    """Rate systems from pairwise judgments (Bradley-Terry), with intervals and tied ranks."""
    from arena.rating.ratings import rate

    if factors is not None:
        from surrogate.cli.boards.factors import rate_factors

        rate_factors(judgments, factors, judge, topic, seed, as_json)
        return
    selected, findings = _read(judgments, judge, language)
    rated = rate(
        selected,
        ties=ties,
        position=position,
        ridge=ridge,
        rounds=rounds,
        language=language,
        judge=judge,
        seed=seed,
    )
    if as_csv:
        print(rated.table.round(6).to_csv(index=False), end="")
        return
    _print_ratings(rated, findings, as_json)


def _read(
    path: Path, judge: str | None, language: str | None
) -> tuple[pd.DataFrame, list[dict[str, str]]]:
    """Read the judgments of one judge and language, and what a diagnosis finds."""
    from arena.adapters.judgments import read_judgments
    from arena.diagnostics import diagnose
    from arena.rating.battles import ALL, selected_judgments

    judgments = selected_judgments(read_judgments(path), language, judge)
    found = diagnose(judgments, pool=judge == ALL).findings
    plain = [
        {"severity": item.severity, "check": item.check, "sentence": item.sentence}
        for item in found
    ]
    return judgments, plain


def _print_ratings(rated: Ratings, diagnostics: list[dict[str, str]], as_json: bool) -> None:
    from surrogate.cli import printing

    if as_json:
        printing.print_json(
            {
                "ratings": rated.table,
                "position_effect": rated.position_effect,
                "diagnostics": {"notes": list(rated.notes), "findings": diagnostics},
                "signature": rated.signature,
            }
        )
        return
    columns = [name for name in rated.table if name != "note" or rated.table["note"].any()]
    printing.print_columns("Ratings", rated.table, columns)
    if rated.position_effect is not None:
        print(f"Advantage of side A: {rated.position_effect:+.3f} logits")
    for note in rated.notes:
        print(f"Note: {note}")
    for finding in diagnostics:
        if finding["severity"] != "info":
            print(f"{finding['severity'].capitalize()}: {finding['sentence']}")
    print(f"Signature: {rated.signature}")
