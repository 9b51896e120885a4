"""``surrogate-arena fit``: ratings from judgments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surrogate.board.settings import MOST_DRAWS
from surrogate.cli.options import JsonOption, SeedOption, split_names

if TYPE_CHECKING:
    import pandas as pd

    from arena.rating.battles import Battles
    from arena.rating.ratings import Ratings


def fit(
    judgments: Annotated[
        Path, typer.Argument(help="Judgments file, or arena folder.", exists=True)
    ],
    judge: Annotated[str | None, typer.Option("--judge", help="Judge to take, or all.")] = None,
    language: Annotated[str | None, typer.Option("--language", help="Language to take.")] = None,
    ties: Annotated[str, typer.Option("--ties", help="half, drop or davidson.")] = "half",
    position: Annotated[
        bool, typer.Option("--position", help="Estimate the advantage of side A.")
    ] = False,
    estimator: Annotated[
        str | None,
        typer.Option(
            "--estimator",
            help="posterior, or likelihood with a bootstrap over questions; by default posterior, "
            "but with --position, --control, --ridge or --ties davidson.",
        ),
    ] = None,
    rounds: Annotated[
        int,
        typer.Option(
            "--rounds", min=0, max=MOST_DRAWS, help="Bootstrap rounds; 0 for no intervals."
        ),
    ] = 1000,
    scale: Annotated[str, typer.Option("--scale", help="logit or elo.")] = "logit",
    ridge: Annotated[
        float | None,
        typer.Option(
            "--ridge",
            min=0,
            help="Precision of the prior; by default none where the likelihood has a maximum.",
        ),
    ] = None,
    control: Annotated[
        str | None,
        typer.Option(
            "--control",
            help="Rate at equal style: comma-separated length, citations, markup; needs an arena "
            "folder with answers.",
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
    controls = split_names(control)
    battles, findings = _read(judgments, judge, language, columns_only=not controls)
    rated = rate(
        battles,
        ties=ties,
        position=position,
        controls=controls,
        answers=_answers(judgments) if controls else None,
        estimator=estimator,
        rounds=rounds,
        scale=scale,
        ridge=ridge,
        language=language,
        judge=judge,
        seed=seed,
    )
    if as_csv:
        print(rated.table.round(6).to_csv(index=False), end="")
        return
    _print_ratings(rated, findings, as_json)


def _read(
    path: Path, judge: str | None, language: str | None, columns_only: bool
) -> tuple[Battles | pd.DataFrame, list[dict[str, str]]]:
    """Read the judgments of one judge and language, and what a diagnosis finds.

    Parquet files of over a million judgments are read by columns, and not diagnosed further than
    the fit itself does.
    """
    from arena.adapters.judgments import read_judgments
    from arena.diagnostics import diagnose
    from arena.rating.battle_files import (
        ALL,
        is_large_file,
        read_battle_columns,
        selected_judgments,
    )

    if columns_only and is_large_file(path):
        return read_battle_columns(path, language, judge), []
    judgments = selected_judgments(read_judgments(path), language, judge)
    found = diagnose(judgments, pool=judge == ALL).findings
    plain = [
        {"severity": item.severity, "check": item.check, "sentence": item.sentence}
        for item in found
    ]
    return judgments, plain


def _answers(path: Path) -> pd.DataFrame:
    from arena.data.errors import UsageError
    from arena.data.folder import read_arena

    if not path.is_dir():
        raise UsageError("--control needs the answers: give an arena folder, not a file")
    return read_arena(path).answers


def _print_ratings(rated: Ratings, diagnostics: list[dict[str, str]], as_json: bool) -> None:
    from surrogate.cli import printing

    if as_json:
        printing.print_json(
            {
                "ratings": rated.table,
                "tie_parameter": rated.tie_parameter,
                "position_effect": rated.position_effect,
                "controls": rated.controls,
                "diagnostics": {"notes": list(rated.notes), "findings": diagnostics},
                "signature": rated.signature,
            }
        )
        return
    columns = [name for name in rated.table if name != "note" or rated.table["note"].any()]
    printing.print_columns("Ratings", rated.table, columns)
    if rated.position_effect is not None:
        print(f"Advantage of side A: {rated.position_effect:+.3f} logits")
    if rated.tie_parameter is not None:
        print(f"Tie parameter: {rated.tie_parameter:.3f}")
    if len(rated.controls):
        printing.print_columns(
            "Effect of one standard deviation of style (logits)",
            rated.controls,
            list(rated.controls.columns),
        )
    for note in rated.notes:
        print(f"Note: {note}")
    for finding in diagnostics:
        if finding["severity"] != "info":
            print(f"{finding['severity'].capitalize()}: {finding['sentence']}")
    print(f"Signature: {rated.signature}")
