"""Printing what ``generate`` asked and brought."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from arena.generation import Generated, GenerationDryRun
from surrogate.commands import printing

SHOWN_SKIPPED = 5


def print_dry_run(run: GenerationDryRun, questions: int, as_json: bool) -> None:
    """Print what generating would ask."""
    if as_json:
        printing.print_json({"questions": questions} | asdict(run))
        return
    columns = ["prompts", "in_store", "calls", "tokens_in", "tokens_out_at_most"]
    runs = {"time-dependence": run.time_filter, "answers": run.answers}
    rows = [
        [name, *(getattr(each, column) for column in columns)]
        for name, each in runs.items()
        if each is not None
    ]
    header = ["of", *(name.replace("_", " ") for name in columns)]
    printing.print_table("Dry run: nothing was asked; tokens are estimates", header, rows)


def print_generated(
    generated: Generated, file: Path, added: int, listings: list[Path], as_json: bool
) -> None:
    """Print what generating brought.

    Args:
        generated: Answers, failures, questions left out.
        file: Where the answers are.
        added: Answers written there.
        listings: Files that list questions without an answer.
        as_json: Print JSON instead.
    """
    if as_json:
        printing.print_json(
            generated.summary.as_json()
            | {
                "skipped": printing.records(generated.skipped),
                "failed": printing.records(generated.failures),
                "file": str(file),
                "added": added,
                "listings": [str(path) for path in listings],
            }
        )
        return
    _print_summary(generated)
    print(f"{added} answers written to {file}")
    for path in listings:
        print(f"Questions without an answer: {path}")


def _print_summary(generated: Generated) -> None:
    summary = generated.summary
    print(f"{summary.system} ({summary.prompt})")
    print(
        f"  answered: {summary.answered} of {summary.questions} questions; "
        f"{summary.already_answered} had an answer before"
    )
    print(
        f"  asked: {summary.calls} calls ({summary.retries} retries), {summary.from_store} answers "
        f"from the store; tokens: {summary.tokens_in} in, {summary.tokens_out} out"
    )
    failures = ", ".join(f"{count} {name}" for name, count in summary.failures.items())
    print(f"  failures: {failures or 'none'}")
    if summary.time_dependent:
        print(f"  time-dependent, left out: {summary.time_dependent}")
        for question in generated.skipped["query"].head(SHOWN_SKIPPED):
            print(f"    {question}")
    for warning in summary.warnings:
        print(f"  Warning: {warning}")
