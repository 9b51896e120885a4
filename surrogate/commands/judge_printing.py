"""Printing what ``judge`` brought."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena.judging import ChosenPairs, FolderJudging, JudgingSummary, Panel
from surrogate.commands import printing


def pairs_json(chosen: ChosenPairs) -> dict[str, Any]:
    """Return the counts of chosen pairs for JSON."""
    return {
        "questions": chosen.questions,
        "pairs": len(chosen),
        "identical_answers": len(chosen.identical),
        "both_orders": chosen.both_orders,
        "questions_without_pair": chosen.without_pair,
        "absent_answers": chosen.absent_answers,
    }


def print_pairs(chosen: ChosenPairs) -> None:
    """Print how many pairs are to be judged, and what was skipped."""
    orders = ", in both orders" if chosen.both_orders else ""
    print(
        f"{len(chosen)} comparisons on {sum(chosen.questions.values())} questions{orders}; "
        f"{len(chosen.identical)} of identical answers, which are ties"
    )
    if chosen.without_pair or chosen.absent_answers:
        print(
            f"Skipped: {chosen.without_pair} questions with fewer than two answers, "
            f"{chosen.absent_answers} absent answers"
        )


def print_judging_json(judging: FolderJudging, chosen: ChosenPairs) -> None:
    """Print everything that was counted as JSON."""
    panel = judging.panel
    printing.print_json(
        {
            "pairs": pairs_json(chosen),
            "judges": [summary.as_json() for summary in judging.summaries],
            "panel": None
            if panel is None
            else {
                "verdicts": len(panel.judgments),
                "split": panel.split,
                "too_few": panel.too_few,
                "judges": printing.records(panel.judges),
            },
            "file": str(judging.file),
            "added": judging.added,
            "failures_file": None if judging.failures_file is None else str(judging.failures_file),
            "warnings": list(judging.warnings),
        }
    )


def print_judging(judging: FolderJudging, chosen: ChosenPairs) -> None:
    """Print each judge's counts, the panel's, and where everything is."""
    print_pairs(chosen)
    for summary in judging.summaries:
        _print_summary(summary)
    if judging.panel is not None:
        _print_panel(judging.panel)
    for warning in judging.warnings:
        print(f"Warning: {warning}")
    print(f"{judging.added} verdicts added to {judging.file}")
    if judging.failures_file is not None:
        print(f"Pairs without a verdict: {judging.failures_file}")


def _print_summary(summary: JudgingSummary) -> None:
    verdicts = ", ".join(f"{count} {winner}" for winner, count in summary.verdicts.items())
    print(f"\n{summary.judge} ({summary.prompt})")
    print(f"  verdicts: {verdicts} ({summary.identical} of identical answers)")
    print(
        f"  asked: {summary.asked}; {summary.from_store} from the store, {summary.sent} sent now "
        f"({summary.retries} retries); {summary.already_judged} were judged before"
    )
    print(f"  INVALID: {summary.invalid}; failures: {_counts(summary.failures)}")
    flips = summary.flips
    if flips.items:
        print(
            f"  both orders: {flips.flipped} of {flips.items} pairs flip ({flips.rate:.1%}), "
            f"{flips.tie_vs_win} are a tie in one order alone"
        )
    cost = "" if summary.cost is None else f", cost {summary.cost:.4f}"
    print(f"  tokens: {summary.tokens_in} in, {summary.tokens_out} out{cost}")
    if summary.flags:
        print(f"  flags: {_counts(summary.flags)}")
    for warning in summary.warnings:
        print(f"  Warning: {warning}")


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "none"


def _print_panel(panel: Panel) -> None:
    printing.print_columns(
        "Judges against the panel of the others (Kendall tau of the systems)",
        panel.judges,
        list(panel.judges.columns),
    )
    print(
        f"Panel: {len(panel.judgments)} verdicts, {panel.split} of them ties for want of a "
        f"majority; {panel.too_few} pairs with verdicts of fewer than half of the judges"
    )
