"""Printing accuracies on WikiEval beside the paper's, as a table or JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import pandas as pd

from arena.metaevaluation.wikieval import PUBLISHED
from surrogate.commands import printing
from surrogate.metaevaluation.wikieval_session import WikievalSession

PAPER = "Es et al. (2023)"


def print_wikieval(session: WikievalSession, as_json: bool) -> None:
    """Print the accuracies of judges side by side, and the published ones."""
    criteria = list(session.scores["criterion"].drop_duplicates())
    if as_json:
        printing.print_json(
            {
                "scores": printing.records(session.scores),
                "published": printing.records(PUBLISHED[PUBLISHED["criterion"].isin(criteria)]),
                "label_matches": session.label_matches,
                "usage": [asdict(usage) for usage in session.usages],
            }
        )
        return
    rows = [
        [judge, *(_cell(part, criterion) for criterion in criteria)]
        for (judge, _), part in session.scores.groupby(["judge", "prompt"], sort=False)
    ]
    for judge, part in PUBLISHED.groupby("judge", sort=False):
        known = part.set_index("criterion")["accuracy"]
        rows.append([f"{judge}, {PAPER}", *(f"{100 * known[name]:.0f}" for name in criteria)])
    header = ["judge", *(name.replace("_", " ") for name in criteria)]
    printing.print_table("Accuracy in percent, with standard errors (pairs)", header, rows)
    _print_notes(session)


def _cell(part: pd.DataFrame, criterion: str) -> str:
    row = part[part["criterion"] == criterion]
    if row.empty or row["accuracy"].isna().any():
        return "–"
    accuracy, spread, pairs = row.iloc[0][["accuracy", "standard_error", "pairs"]]
    around = "" if pd.isna(spread) else f" ± {100 * spread:.1f}"
    return f"{100 * accuracy:.1f}{around} ({pairs})"


def _print_notes(session: WikievalSession) -> None:
    for row in session.scores.to_dict(orient="records"):
        for note in _notes({str(name): value for name, value in row.items()}):
            print(f"{row['judge']}, {str(row['criterion']).replace('_', ' ')}: {note}")
    for criterion, (matches, pairs) in session.label_matches.items():
        if matches < pairs:
            print(
                f"{criterion.replace('_', ' ')}: label 1 is the better text in {matches} of "
                f"{pairs} pairs; texts count by where they come from (--better label: by label)"
            )
    for usage in session.usages:
        print(usage)


def _notes(row: Mapping[str, Any]) -> list[str]:
    notes = []
    if row["ties"]:
        notes.append(f"{row['ties']} {'tie' if row['ties'] == 1 else 'ties'}")
    if row["failures"]:
        notes.append(f"{row['failures']} pairs without a choice, counted as errors")
    if row["not_asked"]:
        notes.append(f"{row['not_asked']} pairs were not answered and are left out; run again")
    if row["reason"]:
        notes.append(f"no value: {row['reason']}")
    return notes
