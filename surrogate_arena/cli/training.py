"""Models that answer, and training sets: ``generate``, ``trainset``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from arena.data.errors import UsageError
from surrogate_arena.cli import options as opt
from surrogate_arena.cli.judging import DRY_RUN, kept_replies
from surrogate_arena.cli.options import OUT_FILE
from surrogate_arena.cli.printing import progress_lines, show
from surrogate_arena.cli.setting_options import LLM_OPTIONS, takes_settings
from surrogate_arena.generation.generation_settings import GenerationSettings
from surrogate_arena.papers.settings import KINDS, TrainsetSettings

if TYPE_CHECKING:
    import pandas as pd

    from surrogate_arena.generation import RagSystem, TimeFilter
    from surrogate_arena.generation.generate import Generated

STORE = "generation.sqlite"
UNANSWERED = 1
"""Exit status where questions have no answer."""


@takes_settings(
    GenerationSettings,
    "model",
    *LLM_OPTIONS,
    "batch",
    "name",
    "prompt",
    "questions",
    "languages",
    "relevant_passages",
    "config",
)
def generate(
    arena: opt.Arena,
    settings: GenerationSettings,
    system: Annotated[
        str | None,
        Option(
            metavar="MODULE:FUNCTION",
            help="Function that answers in a model's place: package.module:function, found from "
            "here.",
        ),
    ] = None,
    templates: opt.Templates = None,
    out: Annotated[Path | None, Option(help="File of answers to write.", **OUT_FILE)] = None,
    append: Annotated[bool, Option("--append", help="Add the answers to the arena.")] = False,
    dry_run: opt.DryRun = False,
    as_json: opt.Json = False,
) -> None:
    """Answer the questions of an arena: an LLM from their passages, or your own system.

    The status is 1 where questions are left without an answer; the same command asks for these.
    """
    from surrogate_arena import generation

    rag_system, time_filter = _systems_of(settings, system, templates or ())
    if out is not None and append:
        raise UsageError("give --out FILE or --append, not both")
    if out is not None:
        generation.check_own_file(out, rag_system.name)
    elif not append and not dry_run:
        raise UsageError(
            "say where the answers go: --out answers.jsonl, or --append to the arena folder"
        )
    read = generation.read_arena_to_answer(arena)
    task = _AnsweringTask(
        questions=generation.choose_questions(
            read.queries, settings.languages, settings.questions, settings.seed
        ),
        # With --append, questions that the system has answered in the arena are not asked again.
        answers=read.answers if append else None,
        system=rag_system,
        time_filter=time_filter,
        store=settings.store or str(arena / STORE),
    )
    if dry_run:
        _show_dry_run(task, as_json)
        return
    generated = _generated(task, settings.max_calls)
    _write_and_show(generated, task.questions, arena, out, as_json)
    if len(generated.failures):
        raise SystemExit(UNANSWERED)


@dataclass(frozen=True)
class _AnsweringTask:
    """What is to be answered, by whom, and where replies are kept."""

    questions: pd.DataFrame
    answers: pd.DataFrame | None
    system: RagSystem
    time_filter: TimeFilter | None
    store: str


def _systems_of(
    settings: GenerationSettings, function: str | None, templates: Sequence[str]
) -> tuple[RagSystem, TimeFilter | None]:
    """Return what answers, an LLM or the user's function, and the filter of its questions."""
    from arena.llm.prompts import read_templates
    from surrogate_arena import generation

    replaced = read_templates(templates, [settings.answer_prompt, generation.TIME_PROMPT])
    time_filter = generation.TimeFilter.of(settings, replaced)
    if function is None:
        return generation.LlmSystem.of(settings, replaced), time_filter
    generation.import_from_here()
    return generation.FunctionSystem.of(settings, function), time_filter


def _show_dry_run(task: _AnsweringTask, as_json: bool) -> None:
    """Show what answering would ask, without any call."""
    import pandas as pd

    from arena import llm
    from surrogate_arena import generation

    with llm.open_for_dry_run(task.store) as store:
        runs = generation.dry_run_generate(
            task.questions,
            task.system,
            store,
            answers=task.answers,
            time_filter=task.time_filter,
        )
    rows = [{"of": part, **asdict(run)} for part, run in runs.items() if run is not None]
    content = {"questions": len(task.questions), "runs": pd.DataFrame(rows)}
    show(content, as_json, {"runs": DRY_RUN})


def _generated(task: _AnsweringTask, max_calls: int | None) -> Generated:
    """Answer the questions, which resumes where an earlier run stopped."""
    from arena import llm
    from surrogate_arena import generation

    # A user's function may print; standard output is for the result.
    with (
        kept_replies(task.store),
        llm.open_store(task.store) as store,
        redirect_stdout(sys.stderr),
    ):
        return generation.generate_answers(
            task.questions,
            task.system,
            store,
            answers=task.answers,
            time_filter=task.time_filter,
            budget=llm.Budget(max_calls),
            progress=progress_lines(),
        )


def _write_and_show(
    generated: Generated, questions: pd.DataFrame, arena: Path, out: Path | None, as_json: bool
) -> None:
    """Write the answers to a file or the arena, and list the questions without one next to them."""
    from arena.data.folder import append_rows
    from surrogate_arena import generation

    if out is None:
        file, n_added = append_rows(arena, "answers", generated.answers)
    else:
        file = out
        n_added = len(generated.answers)
        generation.write_answers(generated.answers, out, generated.system)
    listings = generation.list_unanswered(file.parent, generated, questions)
    content = _shown_answers(generated, as_json)
    content["file"] = file
    content["added"] = n_added
    content["listings"] = list(map(str, listings))
    show(content, as_json, {"listings": "Questions without an answer"})


def _shown_answers(generated: Generated, as_json: bool) -> dict[str, Any]:
    """Return what is printed of answers that a system gave."""
    counts = generated.counts()
    if as_json:
        return {**counts, "skipped": generated.skipped, "failed": generated.failures}
    return {
        "system": f"{generated.system} ({generated.prompt})",
        "calls": str(generated.usage),
        "time_filter": generated.filter_usage,
        "questions": counts["questions"],
        "answered": counts["answered"],
        "already_answered": counts["already_answered"],
        "failures": counts["failures"],
        "time_dependent": counts["time_dependent"],
        "warnings": counts["warnings"],
    }


@takes_settings(
    TrainsetSettings,
    "teacher",
    *LLM_OPTIONS,
    "languages",
    "questions",
    "systems",
    "balance",
    "config",
)
def trainset(
    kind: Annotated[str, Argument(help=f"One of {', '.join(KINDS)}.")],
    arena: opt.Arena,
    out: Annotated[Path, Option(help="File of chats to write, such as train.jsonl.", **OUT_FILE)],
    settings: TrainsetSettings,
    unseen: Annotated[Path | None, Option(help="File for the test split.", **OUT_FILE)] = None,
    templates: opt.Templates = None,
    as_json: opt.Json = False,
) -> None:
    """Make a training set of an arena: chats that trl reads.

    mirage teaches to answer as a teacher does, from noisy passages (MIRAGE-Bench, 3.3); grouse to
    score an answer by all metrics in one reply (GroUSE, section 5).
    """
    from arena.data.tables import row_suffix
    from surrogate_arena.papers.chats import write_train_set
    from surrogate_arena.papers.training_sets import make_trainset

    for file in filter(None, (out, unseen)):
        row_suffix(file)  # before a teacher is paid
    train_set = make_trainset(
        kind,
        arena,
        settings,
        templates=templates or (),
        split=unseen is not None,
        progress=progress_lines(),
    )
    write_train_set(train_set, out, unseen)
    content = {
        "rows": len(train_set.rows),
        "unseen": len(train_set.unseen),
        "languages": train_set.counts,
        "left_out": train_set.left_out,
        "file": out,
    }
    show(content, as_json, {"languages": "Rows by language"})
