"""``surrogate-arena diagnose``: what limits a board, before it is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surrogate.cli.options import JsonOption, SeedOption, named_values

if TYPE_CHECKING:
    from arena.diagnostics import Diagnosis, Finding

SHOWN_OF_A_KIND = 5
SHOWN_ROWS = 25

TABLES = MappingProxyType(
    {
        "overview": (
            "Judgments",
            ("judgments", "ties", "systems", "never_judged", "questions", "battles_median"),
        ),
        "connections": (
            "Groups of systems that battles connect, and that wins connect both ways",
            ("systems", "groups", "largest_group", "strong_groups", "win_all", "lose_all"),
        ),
        "coverage": (
            "Battles a pair of systems",
            ("pairs", "never_met", "battles_min", "battles_median", "battles_max"),
        ),
        "absent": (
            "Answers and judgments that do not meet",
            ("answers", "not_judged", "judgments_without_answer"),
        ),
        "position": (
            "Decided battles that side A wins (95% interval)",
            ("decided", "won_by_a", "share", "low", "high", "verdict"),
        ),
        "order_consistency": (
            "Items judged in both orders (95% interval of the flip rate)",
            ("items", "consistent", "tie_vs_win", "flipped", "flip_rate", "low", "high"),
        ),
        "agreement": (
            "Agreement between judges (Cohen's kappa, 95% interval over questions)",
            ("other_judge", "items", "agreement", "kappa", "low", "high"),
        ),
        "self_preference": (
            "What judges give their own family, beyond judges of others (95% interval)",
            ("family", "others", "items", "share", "share_others", "excess", "low", "high"),
        ),
        "lengths": (
            "Decided battles that the longer answer wins (95% interval)",
            ("decided", "longer_won", "share", "low", "high", "slope", "slope_error", "missing"),
        ),
    }
)
"""Tables that are printed: title, and columns after language and judge."""


def diagnose_command(
    judgments: Annotated[
        Path,
        typer.Argument(
            help="Arena folder, or file of judgments or battles (JSONL, CSV, Parquet).", exists=True
        ),
    ],
    judge: Annotated[
        str | None,
        typer.Option("--judge", help="Judge to look at; by default all, each by itself."),
    ] = None,
    language: Annotated[
        str | None, typer.Option("--language", help="Language to look at; by default all.")
    ] = None,
    pool: Annotated[
        bool, typer.Option("--pool", help="Take all judges as one, as for crowd workers.")
    ] = False,
    family: Annotated[
        list[str] | None,
        typer.Option(
            "--family",
            help="NAME=FAMILY of a system or judge whose name, 'model' or 'family' in systems.csv "
            "does not tell it; repeatable.",
        ),
    ] = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Say what limits a board: gaps, position bias, disagreement, preference for length or kin."""
    from arena.adapters.judgments import read_judgments
    from arena.data.folder import read_arena
    from arena.diagnostics import diagnose as diagnose_arena
    from arena.diagnostics import diagnose_judgments
    from surrogate.cli import printing

    chosen: dict[str, Any] = {"judge": judge, "language": language, "pool": pool, "seed": seed}
    chosen["families"] = named_values("--family", family or [])
    if judgments.is_dir():
        found = diagnose_arena(read_arena(judgments), **chosen)
    else:
        found = diagnose_judgments(read_judgments(judgments), **chosen)
    if as_json:
        printing.print_json(found.as_json())
        return
    print_diagnosis(found)


def print_diagnosis(found: Diagnosis) -> None:
    """Print the tables of a diagnosis, then what it says."""
    for name, (title, columns) in TABLES.items():
        _print_rows(found, name, title, columns)
    print()
    for line in _said(found.findings):
        print(line)


def _print_rows(found: Diagnosis, name: str, title: str, columns: Sequence[str]) -> None:
    from surrogate.cli import printing

    table = getattr(found, name)
    if table is None or table.empty:
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
