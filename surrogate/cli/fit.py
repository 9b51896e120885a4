"""``surrogate-arena fit``: ratings from judgments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surrogate.cli.options import JsonOption, SeedOption, split_names

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from arena.rating.battle_codes import BattleCodes
    from arena.rating.controls import Controls
    from arena.rating.ratings import Ratings


def fit(
    judgments: Annotated[Path, typer.Argument(help="Judgments file, or arena folder.")],
    judge: Annotated[str | None, typer.Option("--judge", help="Judge to take, or all.")] = None,
    language: Annotated[str | None, typer.Option("--language", help="Language to take.")] = None,
    ties: Annotated[
        str, typer.Option("--ties", help="half, drop, davidson or rao-kupper.")
    ] = "half",
    position: Annotated[
        bool, typer.Option("--position", help="Estimate the advantage of side A.")
    ] = False,
    interval: Annotated[
        str, typer.Option("--interval", help="bootstrap, bca or sandwich.")
    ] = "bootstrap",
    rounds: Annotated[int, typer.Option("--rounds", min=2, help="Bootstrap rounds.")] = 1000,
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
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print CSV to standard output instead of a table.")
    ] = False,
) -> None:
    """Rate systems from pairwise judgments (Bradley-Terry), with intervals and tied ranks."""
    from arena.rating.ratings import rate

    codes, diagnostics, controls = read_battles_of(judgments, judge, language, split_names(control))
    rated = rate(
        codes,
        ties=ties,
        position=position,
        ridge=ridge,
        interval=interval,
        rounds=rounds,
        scale=scale,
        seed=seed,
        controls=controls,
    )
    if as_csv:
        print(rated.table.round(6).to_csv(index=False), end="")
        return
    _print_ratings(rated, diagnostics, as_json)


def read_battles_of(
    path: Path, judge: str | None, language: str | None, controls: list[str]
) -> tuple[BattleCodes, list[dict[str, str]], Controls | None]:
    """Read the battles of one judge and language, what a diagnosis finds, and their controls.

    Parquet files of over a million judgments are read by columns, and not diagnosed further than
    the fit itself does.
    """
    from arena.adapters.judgments import read_judgments
    from arena.diagnostics import diagnose_judgments
    from arena.rating.battle_codes import ALL, code_judgments, is_large_file, read_battle_codes

    if is_large_file(path) and not controls:
        return read_battle_codes(path, language, judge), [], None
    judgments = _only(_only(read_judgments(path), "language", language), "judge", judge)
    findings = [
        {"severity": item.severity, "check": item.check, "sentence": item.sentence}
        for item in diagnose_judgments(judgments, pool=judge == ALL).findings
    ]
    if not controls:
        return code_judgments(judgments), findings, None
    styles, both = _styles(path, judgments, controls)
    absent = int((~both).sum())
    if absent:
        sentence = f"{absent} judgments of answers that are absent are left out."
        findings.append({"severity": "warning", "check": "controls", "sentence": sentence})
    return code_judgments(judgments[both]), findings, styles


def _styles(
    path: Path, judgments: pd.DataFrame, controls: list[str]
) -> tuple[Controls, npt.NDArray[np.bool_]]:
    from arena.data.errors import UsageError
    from arena.data.folder import read_arena
    from arena.rating.controls import style_differences

    if not path.is_dir():
        raise UsageError("--control needs the answers: give an arena folder, not a file")
    return style_differences(judgments, read_arena(path).answers, controls)


def _only(judgments: pd.DataFrame, column: str, wanted: str | None) -> pd.DataFrame:
    """Keep the judgments of one language or judge, which may be left out where there is one."""
    from arena.rating.battle_codes import choose

    chosen = choose(column, wanted, sorted(judgments[column].unique()))
    kept = judgments if chosen is None else judgments[judgments[column] == chosen]
    return kept.reset_index(drop=True)


def _print_ratings(rated: Ratings, diagnostics: list[dict[str, str]], as_json: bool) -> None:
    from surrogate.cli import printing

    if as_json:
        printing.print_json(
            {
                "ratings": printing.records(rated.table),
                "tie_parameter": rated.tie_parameter,
                "position_effect": rated.position_effect,
                "controls": printing.records(rated.controls),
                "diagnostics": {"notes": list(rated.notes), "findings": diagnostics},
                "signature": rated.signature,
            }
        )
        return
    printing.print_columns("Ratings", rated.table, list(rated.table.columns))
    if rated.position_effect is not None:
        print(f"Advantage of side A: {rated.position_effect:+.3f} log-odds")
    if rated.tie_parameter is not None:
        print(f"Tie parameter: {rated.tie_parameter:.3f}")
    if len(rated.controls):
        printing.print_columns(
            "Effect of one standard deviation of style (log-odds)",
            rated.controls,
            list(rated.controls.columns),
        )
    for note in rated.notes:
        print(f"Note: {note}")
    for finding in diagnostics:
        if finding["severity"] != "info":
            print(f"{finding['severity'].capitalize()}: {finding['sentence']}")
    print(f"Signature: {rated.signature}")
