"""Questions and their answers: ``generate``, ``select``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from arena.data.errors import UsageError
from arena.data.wording import count_of, split_names
from surrogate_arena.cli import options as opt
from surrogate_arena.cli.counts import arena_counts, counts_line
from surrogate_arena.cli.model_calls import DRY_RUN, kept_replies
from surrogate_arena.cli.options import OUT_FILE
from surrogate_arena.cli.printing import command, progress_lines, show
from surrogate_arena.cli.setting_options import takes_settings
from surrogate_arena.generation.generation_settings import GenerationSettings
from surrogate_arena.generation.set_rules import SelectSettings, SetRules

if TYPE_CHECKING:
    import pandas as pd

    from arena.data.arena import Arena
    from arena.llm import DryRun
    from arena.llm.prompts import ReplaceablePrompt
    from surrogate_arena.generation import RagSystem, TimeFilter
    from surrogate_arena.generation.generate import Generated

STORE = "generation.sqlite"
SELECTED = {"arena": "Arena written to", "questions_left_out": "Left out on choosing"}


@takes_settings(
    GenerationSettings,
    "model",
    "base_url",
    "name",
    "prompt",
    "questions",
    "relevant_passages",
)
def generate(
    arena: opt.Arena,
    settings: GenerationSettings,
    system: Annotated[
        str | None,
        Option(
            metavar="MODULE:FUNCTION",
            help="Function that answers instead of a model: package.module:function, "
            "found from the working folder.",
        ),
    ] = None,
    templates: opt.Templates = None,
    out: Annotated[Path | None, Option(help="File of answers to write.", **OUT_FILE)] = None,
    append: Annotated[bool, Option("--append", help="Add the answers to the arena.")] = False,
    dry_run: opt.DryRun = False,
    as_json: opt.Json = False,
) -> None:
    """Answer an arena's questions with an LLM, from their passages, or with your own system.

    The status is 1 if questions remain unanswered; run the same command again to ask these.
    """
    from arena import llm
    from arena.judging.choosing.drawn_questions import choose_questions
    from surrogate_arena import generation
    from surrogate_arena.cli.unanswered_arenas import read_arena_to_answer

    rag_system, time_filter = _systems_of(settings, system, templates or ())
    if out is not None and append:
        raise UsageError("give --out FILE or --append, not both")
    if out is not None:
        generation.check_own_file(out, rag_system.name)
    elif not append and not dry_run:
        raise UsageError(
            "say where the answers go: --out answers.jsonl, or --append to the arena folder"
        )
    read = read_arena_to_answer(arena)
    questions = choose_questions(
        read.queries, settings.languages, settings.questions, settings.seed
    )
    # With --append, questions that the system has answered in the arena are not asked again.
    options: dict[str, Any] = {
        "answers": read.answers if append else None,
        "time_filter": time_filter,
    }
    store_path = settings.store or str(arena / STORE)
    if dry_run:
        with llm.open_for_dry_run(store_path) as store:
            runs = generation.dry_run_generate(questions, rag_system, store, **options)
        _show_dry_run(runs, len(questions), as_json)
        return
    # A user's function may print; standard output is for the result.
    with kept_replies(store_path), llm.open_store(store_path) as store, redirect_stdout(sys.stderr):
        generated = generation.generate_answers(
            questions,
            rag_system,
            store,
            budget=llm.Budget(settings.max_calls),
            progress=progress_lines(),
            **options,
        )
    _write_and_show(generated, questions, arena, out, as_json)
    if len(generated.failures):
        raise SystemExit(1)  # the same command asks again for what has no answer


def _show_dry_run(runs: Mapping[str, DryRun | None], n_questions: int, as_json: bool) -> None:
    import pandas as pd

    rows = [{"of": part, **asdict(run)} for part, run in runs.items() if run is not None]
    content = {"questions": n_questions, "runs": pd.DataFrame(rows)}
    show(content, as_json, {"runs": DRY_RUN})


def _systems_of(
    settings: GenerationSettings, function: str | None, templates: Sequence[str]
) -> tuple[RagSystem, TimeFilter | None]:
    from arena.llm.prompts import read_templates
    from surrogate_arena import generation

    replaced = read_templates(templates, [settings.answer_prompt, generation.TIME_PROMPT])
    time_filter = generation.TimeFilter.of(settings, replaced)
    if function is None:
        return generation.LlmSystem.of(settings, replaced), time_filter
    generation.import_from_here()
    return generation.FunctionSystem.of(settings, function), time_filter


def _write_and_show(
    generated: Generated, questions: pd.DataFrame, arena: Path, out: Path | None, as_json: bool
) -> None:
    from arena.judging.appending import append_rows
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
        "remarks": generated.remarks,
    }


@takes_settings(SelectSettings, "questions", "others", "seed")
def select(
    arena: opt.Arena,
    out: opt.ArenaFolder,
    settings: SelectSettings,
    languages: opt.Languages = None,
    systems: Annotated[str | None, Option(help="Comma-separated systems. Default: all")] = None,
    judges: Annotated[str | None, Option(help="Comma-separated judges. Default: all")] = None,
    replace_there: opt.Replace = False,
    as_json: opt.Json = False,
) -> None:
    """Keep part of an arena: some languages, systems or judges, or an evaluation set.

    Keys of --config select as MIRAGE-Bench and MEMERAG do: only_hard, at_least, least_words,
    one_answer, bm25, corpus.
    """
    from arena.data.folder import write_arena
    from arena.data.writing import replaced_folder
    from surrogate_arena.cli.replaced_arenas import check_arena_target

    if settings.others and settings.questions is None:
        raise UsageError("--others keeps what --questions does not draw; give both")
    if settings.corpus is not None and settings.bm25 is None:
        raise UsageError("corpus is what bm25 selects from; give both")
    check_arena_target(out, replace_there, source=arena)
    named = {"languages": languages, "systems": systems, "judges": judges}
    parts = {name: split_names(text) or None for name, text in named.items()}
    chosen, left_out = _evaluation_set(arena, parts, settings)
    notes: list[str] = []
    if settings.bm25 is not None:
        chosen, notes = _with_best_passages(chosen, settings.bm25, settings.corpus)
    with replaced_folder(out) as writing:
        write_arena(chosen, writing)
    counts = arena_counts(chosen)
    content = {
        "arena": out,
        "counts": counts if as_json else counts_line(counts),
        "questions_left_out": left_out,
        "notes": notes,
    }
    show(content, as_json, SELECTED)
    if not as_json:
        print(command("check", out))


def _evaluation_set(
    folder: Path, parts: dict[str, list[str] | None], rules: SetRules
) -> tuple[Arena, pd.DataFrame]:
    from arena.data.folder import read_arena
    from surrogate_arena.cli.unanswered_arenas import read_arena_to_answer
    from surrogate_arena.generation import evaluation_set

    if rules.least_words or rules.one_answer:
        return evaluation_set(read_arena(folder).select(**parts), rules)
    if (folder / "answers.parquet").is_dir():
        # Answers in parts may be too many for memory: draw questions first, then read theirs.
        unread = read_arena_to_answer(folder, without_answers=True)
        drawn, counts = evaluation_set(unread.select(parts["languages"], parts["systems"]), rules)
        chosen, _ = evaluation_set(read_arena(folder, drawn.queries).select(**parts), SetRules())
        return chosen, counts
    return evaluation_set(read_arena_to_answer(folder).select(**parts), rules)


def _with_best_passages(arena: Arena, k: int, corpus: Path | None) -> tuple[Arena, list[str]]:
    from surrogate_arena.generation import select_context
    from surrogate_arena.importers import read_corpus

    languages = arena.info.languages
    only_language = languages[0] if len(languages) == 1 else None
    passages = None if corpus is None else read_corpus([corpus], only_language, languages)
    queries, n_replaced, n_without = select_context(arena.queries, passages, k)
    notes = [
        f"BM25: of {count_of(n_replaced, 'question')} a relevant passage took the last place",
        f"BM25: {count_of(n_without, 'question')} without a relevant passage",
    ]
    return replace(arena, queries=queries), notes


def sent_prompts() -> dict[str, tuple[ReplaceablePrompt, ...]]:
    """Return the replaceable prompts by the command that sends them."""
    from surrogate_arena.generation import ANSWER_PROMPTS, TIME_PROMPT

    return {"generate": (*ANSWER_PROMPTS.values(), TIME_PROMPT)}
