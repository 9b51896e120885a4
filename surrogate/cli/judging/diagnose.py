"""``surrogate-arena diagnose``: what limits a board, before it is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

import typer

from surrogate.cli.options import JsonOption, SeedOption

if TYPE_CHECKING:
    import pandas as pd

    from arena.diagnostics import Finding

SHOWN_OF_A_KIND = 5
SHOWN_ROWS = 25

COUNTS = MappingProxyType(
    {
        "Judgments": (
            "judgments",
            "ties",
            "systems",
            "never_judged",
            "questions",
            "battles_median",
        ),
        "Systems that battles connect, and that wins connect both ways": (
            *("systems", "groups", "strong_groups", "pairs", "never_met"),
        ),
        "Answers and judgments that do not meet": (
            *("answers", "not_judged", "judgments_without_answer"),
        ),
        "Decided battles that side A wins (95% interval)": (
            *("decided", "won_by_a", "share_a", "low_a", "high_a"),
        ),
        "Pairs judged in both orders (95% interval of the flip rate)": (
            *("items", "flipped", "flip_rate", "flip_low", "flip_high"),
        ),
        "Decided battles that the longer answer wins (95% interval)": (
            *("unlike", "longer_won", "share_longer", "low_longer", "high_longer"),
        ),
    }
)
"""Columns of ``Diagnosis.counts`` by table, after language and judge."""
AGREEMENT = ("other_judge", "items", "agreement", "kappa", "low", "high")
PREFERENCE = ("family", "others", "items", "share", "share_others", "excess", "low", "high")


def diagnose_command(
    judgments: Annotated[
        Path,
        typer.Argument(
            help="Arena folder, or file of judgments or battles (JSONL, CSV, Parquet).", exists=True
        ),
    ],
    judge: Annotated[
        str | None, typer.Option("--judge", help="Judge to look at. Default: all, one by one")
    ] = None,
    language: Annotated[
        str | None, typer.Option("--language", help="Language to look at. Default: all")
    ] = None,
    pool: Annotated[
        bool, typer.Option("--pool", help="Treat all judges as one, as for crowd workers.")
    ] = False,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Say what limits a board: gaps, position bias, disagreement, preference for length or kin."""
    from arena.adapters.judgments import read_judgments
    from arena.diagnostics import diagnose
    from surrogate.cli import printing

    source = judgments if judgments.is_dir() else read_judgments(judgments)
    found = diagnose(source, seed, judge=judge, language=language, pool=pool)
    if as_json:
        printing.print_json(found.as_json())
        return
    for title, columns in COUNTS.items():
        _print_rows(found.counts, title, columns)
    kappas = "Agreement between judges (Cohen's kappa, 95% interval over questions)"
    _print_rows(found.agreement, kappas, AGREEMENT)
    excess = "What judges give their own family, beyond judges of others (95% interval)"
    _print_rows(found.self_preference, excess, PREFERENCE)
    print()
    for line in _said(found.findings):
        print(line)


def _print_rows(table: pd.DataFrame, title: str, columns: Sequence[str]) -> None:
    from surrogate.cli import printing

    if table.empty or not set(columns) <= set(table):
        return
    shown = table.head(SHOWN_ROWS)
    printing.print_columns(title, shown, ["language", "judge", *columns])
    if len(table) > len(shown):
        print(f"… and {len(table) - len(shown):,} more rows; --json holds them all")


def _said(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield a line a finding, the first ones of each kind."""
    for severity, of_severity in groupby(findings, key=lambda finding: finding.severity):
        kinds: dict[str, list[Finding]] = {}
        for finding in of_severity:
            kinds.setdefault(finding.check, []).append(finding)
        for check, alike in kinds.items():
            for finding in alike[:SHOWN_OF_A_KIND]:
                yield f"{severity}: {finding}"
            if len(alike) > SHOWN_OF_A_KIND:
                rest = len(alike) - SHOWN_OF_A_KIND
                yield f"{severity}: … and {rest:,} more on {check}; --json holds them all"
