"""``surrogate-arena generate``: answers of an LLM to the questions of an arena."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.data.wording import count_of
from arena.generation.settings import GenerationSettings
from surrogate.cli import printing
from surrogate.cli.options import FOLDER, JsonOption, TemplatesOption, with_settings
from surrogate.cli.targets import OUT_FILE

if TYPE_CHECKING:
    import pandas as pd

    from arena.generation import Generated, GenerationDryRun, LlmSystem, TimeFilter

SHOWN = (
    *("model", "base_url", "api_key_env", "system", "prompt", "questions", "languages"),
    *("skip_time_dependent", "relevant_passages"),
)
STORE_FILE = "generation.sqlite"
SHOWN_SKIPPED = 5


@with_settings(GenerationSettings, shown=SHOWN)
def generate(
    arena: Annotated[
        Path, typer.Argument(help="Arena folder; it need not hold answers yet.", **FOLDER)
    ],
    settings: GenerationSettings,
    templates: TemplatesOption = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="File of answers to write, such as answers.jsonl.", **OUT_FILE),
    ] = None,
    append: Annotated[
        bool, typer.Option("--append", help="Add the answers to the arena folder instead.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be asked; ask nothing.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Let an LLM answer the questions of an arena from their passages, as a RAG system."""
    from arena.generation import (
        TIME_PROMPT,
        choose_questions,
        generate_answers,
        protocol_of,
        read_arena_to_answer,
    )
    from arena.llm import Budget, open_store
    from arena.text.prompts import read_templates

    own = read_templates(templates or (), [protocol_of(settings.prompt).prompt, TIME_PROMPT])
    answering, time_filter = settings.llm_system(own), settings.time_filter(own)
    _check_target(out, append, dry_run, answering.system)
    read = read_arena_to_answer(arena)
    languages = list(settings.languages)
    chosen = choose_questions(read.queries, languages, settings.questions, settings.seed)
    there = read.answers if append else None
    where = str(arena / STORE_FILE) if settings.store is None else settings.store
    if dry_run:
        _print_dry_run(chosen, answering, time_filter, where, there, as_json)
        return
    with open_store(where) as opened, printing.progress_bar() as progress:
        generated = generate_answers(
            chosen,
            answering,
            opened,
            answers=there,
            time_filter=time_filter,
            budget=Budget(settings.max_calls),
            progress=progress,
        )
    print_generated(generated, *_written(generated, arena, out, chosen), as_json)


def _check_target(out: Path | None, append: bool, dry_run: bool, system: str) -> None:
    """Make sure, before anything is asked, that there is one place for the answers."""
    from arena.data.errors import UsageError
    from arena.generation import check_own_file

    if out is not None and append:
        raise UsageError("give --out FILE or --append, not both")
    if out is not None:
        check_own_file(out, system)
    elif not append and not dry_run:
        raise UsageError(
            "say where the answers go: --out answers.jsonl, or --append to the arena folder"
        )


def _written(
    generated: Generated, arena: Path, out: Path | None, chosen: pd.DataFrame
) -> tuple[Path, int, list[Path]]:
    """Write answers and listings; returns the file, the answers added, and the listings."""
    from arena.data.append import append_rows
    from arena.generation import list_unanswered, write_answers

    if out is None:
        file, added = append_rows(arena, "answers", generated.answers)
        return file, added, list_unanswered(arena, generated, chosen)
    write_answers(generated.answers, out, generated.summary.system)
    return out, len(generated.answers), list_unanswered(out.parent, generated, chosen)


def _print_dry_run(
    chosen: pd.DataFrame,
    system: LlmSystem,
    time_filter: TimeFilter | None,
    where: str,
    there: pd.DataFrame | None,
    as_json: bool,
) -> None:
    """Print what would be asked; a store is looked into, but none is made."""
    from arena.generation import dry_run_generate
    from arena.llm import open_store

    is_there = Path(where).is_file()
    with open_store(where) if is_there else nullcontext() as opened:
        run = dry_run_generate(chosen, system, opened, answers=there, time_filter=time_filter)
    print_dry_run(run, len(chosen), as_json)


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
                "skipped": generated.skipped,
                "failed": generated.failures,
                "file": str(file),
                "added": added,
                "listings": [str(path) for path in listings],
            }
        )
        return
    _print_summary(generated)
    print(f"{count_of(added, 'answer')} written to {file}")
    for path in listings:
        print(f"Questions without an answer: {path}")


def _print_summary(generated: Generated) -> None:
    summary = generated.summary
    print(f"{summary.system} ({summary.prompt})")
    print(
        f"  answered: {summary.answered} of {count_of(summary.questions, 'question')}; "
        f"{summary.already_answered} had an answer before"
    )
    print(f"  {summary.usage}")
    if summary.filter_usage is not None:
        print(f"  time-dependence: {summary.filter_usage}")
    failures = ", ".join(f"{count} {name}" for name, count in summary.failures.items())
    print(f"  failures: {failures or 'none'}")
    if summary.time_dependent:
        print(f"  time-dependent, left out: {summary.time_dependent}")
        for question in generated.skipped["query"].head(SHOWN_SKIPPED):
            print(f"    {question}")
    for warning in summary.warnings:
        print(f"  Warning: {warning}")
