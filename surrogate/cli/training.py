"""Models that answer, and their training: ``generate``, ``trainset``, ``finetune``."""

from __future__ import annotations

from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from arena.data.errors import UsageError
from arena.data.wording import count_of
from arena.generation.settings import GenerationSettings
from surrogate.cli.judging import counted, opened_if_there
from surrogate.cli.options import (
    FILE,
    OUT_FILE,
    OUT_FOLDER,
    ArenaArgument,
    ConfigOption,
    DownloadOption,
    DryRunOption,
    JsonOption,
    SeedOption,
    TemplatesOption,
    setting,
    settings_of,
)
from surrogate.cli.printing import print_json, print_table, progress_bar
from surrogate.training.recipes import KINDS, TrainsetSettings, TuningSettings

if TYPE_CHECKING:
    from arena.generation import Generated

STORE = "generation.sqlite"
SHOWN_SKIPPED = 5
CURVE = "loss.svg"


def generate(
    arena: ArenaArgument,
    model: Annotated[str | None, setting(GenerationSettings, "model")] = None,
    base_url: Annotated[str | None, setting(GenerationSettings, "base_url")] = None,
    api_key_env: Annotated[str | None, setting(GenerationSettings, "api_key_env")] = None,
    system: Annotated[str | None, setting(GenerationSettings, "system")] = None,
    prompt: Annotated[str | None, setting(GenerationSettings, "prompt")] = None,
    questions: Annotated[int | None, setting(GenerationSettings, "questions")] = None,
    languages: Annotated[str | None, setting(GenerationSettings, "languages")] = None,
    skip_time_dependent: Annotated[
        bool | None, setting(GenerationSettings, "skip_time_dependent")
    ] = None,
    relevant_passages: Annotated[
        bool | None, setting(GenerationSettings, "relevant_passages")
    ] = None,
    config: ConfigOption = None,
    templates: TemplatesOption = None,
    out: Annotated[
        Path | None,
        Option("--out", help="File of answers to write, such as answers.jsonl.", **OUT_FILE),
    ] = None,
    append: Annotated[
        bool, Option("--append", help="Add the answers to the arena folder instead.")
    ] = False,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Answer the questions of an arena from their passages with an LLM, as a RAG system."""
    settings = settings_of(GenerationSettings, config, locals())
    import pandas as pd

    from arena.data.append import append_rows
    from arena.generation import (
        TIME_PROMPT,
        LlmSystem,
        TimeFilter,
        check_own_file,
        choose_questions,
        dry_run_generate,
        generate_answers,
        list_unanswered,
        read_arena_to_answer,
        write_answers,
    )
    from arena.llm import Budget, open_store
    from arena.text.prompts import read_templates

    own = read_templates(templates or (), [settings.asked, TIME_PROMPT])
    answering, time_filter = LlmSystem.of(settings, own), TimeFilter.of(settings, own)
    if out is not None and append:
        raise UsageError("give --out FILE or --append, not both")
    if out is not None:
        check_own_file(out, answering.name)
    elif not append and not dry_run:
        raise UsageError(
            "say where the answers go: --out answers.jsonl, or --append to the arena folder"
        )
    read = read_arena_to_answer(arena)
    languages_asked = list(settings.languages)
    chosen = choose_questions(read.queries, languages_asked, settings.questions, settings.seed)
    there = read.answers if append else None
    where = settings.store or str(arena / STORE)
    if dry_run:
        with opened_if_there(where) as opened:
            run = dry_run_generate(
                chosen, answering, opened, answers=there, time_filter=time_filter
            )
        if as_json:
            asked = {name: each and asdict(each) for name, each in run.items()}
            print_json({"questions": len(chosen)} | asked)
            return
        rows = [{"of": name, **asdict(each)} for name, each in run.items() if each is not None]
        print_table("Dry run: nothing was asked; tokens are estimates", pd.DataFrame(rows))
        return
    with open_store(where) as opened, progress_bar() as progress:
        generated = generate_answers(
            chosen,
            answering,
            opened,
            answers=there,
            time_filter=time_filter,
            budget=Budget(settings.max_calls),
            progress=progress,
        )
    if out is None:
        file, added = append_rows(arena, "answers", generated.answers)
    else:
        file, added = out, len(generated.answers)
        write_answers(generated.answers, out, generated.system)
    listings = list_unanswered(file.parent, generated, chosen)
    _print_generated(generated, file, added, listings, as_json)


def _print_generated(
    generated: Generated, file: Path, added: int, listings: list[Path], as_json: bool
) -> None:
    """Print what generating brought, where its answers are, and files that list what has none."""
    counts = generated.counts()
    if as_json:
        print_json(
            counts
            | {"skipped": generated.skipped, "failed": generated.failures, "file": str(file)}
            | {"added": added, "listings": [str(path) for path in listings]}
        )
        return
    print(f"{generated.system} ({generated.prompt})")
    print(
        f"  answered: {len(generated.answers)} of {count_of(generated.questions, 'question')}; "
        f"{generated.already_answered} had an answer before"
    )
    print(f"  {generated.usage}")
    if generated.filter_usage is not None:
        print(f"  time-dependence: {generated.filter_usage}")
    print(f"  failures: {counted(counts['failures'])}")
    if len(generated.skipped):
        print(f"  time-dependent, left out: {len(generated.skipped)}")
        for question in generated.skipped["query"].head(SHOWN_SKIPPED):
            print(f"    {question}")
    for warning in generated.warnings:
        print(f"  Warning: {warning}")
    print(f"{count_of(added, 'answer')} written to {file}")
    for path in listings:
        print(f"Questions without an answer: {path}")


def trainset(
    kind: Annotated[str, Argument(help=f"One of {', '.join(KINDS)}.")],
    source: Annotated[
        Path, Argument(help="Arena folder; or answers in GroUSE's format.", exists=True)
    ],
    out: Annotated[Path, Option(help="File of chats to write, such as train.jsonl.", **OUT_FILE)],
    teacher: Annotated[str | None, setting(TrainsetSettings, "teacher")] = None,
    base_url: Annotated[str | None, setting(TrainsetSettings, "base_url")] = None,
    languages: Annotated[str | None, setting(TrainsetSettings, "languages")] = None,
    questions: Annotated[int | None, setting(TrainsetSettings, "questions")] = None,
    systems: Annotated[str | None, setting(TrainsetSettings, "systems")] = None,
    balance: Annotated[int | None, setting(TrainsetSettings, "balance")] = None,
    pairs: Annotated[int | None, setting(TrainsetSettings, "pairs")] = None,
    unseen: Annotated[
        Path | None, Option(help="File for chats of the other questions (test split).", **OUT_FILE)
    ] = None,
    config: ConfigOption = None,
    templates: TemplatesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a training set of an arena: chats that finetune and trl read.

    mirage teaches to answer as a teacher does, from noisy passages (MIRAGE-Bench, 3.3); grouse to
    score an answer by all metrics in one reply (GroUSE, section 5); judge to decide as another
    judge did.
    """
    settings = settings_of(TrainsetSettings, config, locals())

    from surrogate.training.rows import write_train_set
    from surrogate.training.trainset import make_trainset

    with progress_bar() as progress:
        made = make_trainset(kind, source, settings, templates or (), unseen is not None, progress)
    write_train_set(made, out, unseen)
    if as_json:
        shown = {"rows": len(made.rows), "unseen": len(made.unseen), "languages": made.counts}
        print_json(shown | {"left_out": made.left_out, "file": str(out)})
        return
    for title, table in {"Rows by language": made.counts, "Left out": made.left_out}.items():
        if len(table):
            print_table(title, table)
    print(f"{count_of(len(made.rows), 'row')} written to {out}")
    if unseen is not None:
        print(f"{count_of(len(made.unseen), 'row')} of unseen questions written to {unseen}")


def finetune(
    file: Annotated[
        Path, Argument(help="Training set, as trainset writes it (JSONL, Parquet).", **FILE)
    ],
    base: Annotated[str, Option(help="Model to tune: a folder, GGUF file or name on the hub.")],
    out: Annotated[
        Path, Option(help="Folder for the adapter; a run that was cut off resumes.", **OUT_FOLDER)
    ],
    recipe: Annotated[
        str,
        Option(help="mirage (MIRAGE-Bench, table 6), grouse (GroUSE, appendix H) or judge."),
    ] = "mirage",
    epochs: Annotated[float | None, setting(TuningSettings, "epochs")] = None,
    batch: Annotated[int | None, setting(TuningSettings, "batch")] = None,
    learning_rate: Annotated[float | None, setting(TuningSettings, "learning_rate")] = None,
    max_length: Annotated[int | None, setting(TuningSettings, "max_length")] = None,
    test: Annotated[
        Path | None, Option(help="Chats to measure the loss on, before and after.", **FILE)
    ] = None,
    config: ConfigOption = None,
    download: DownloadOption = False,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Tune a model with LoRA, the same on a laptop and on a GPU; the adapter answers and judges."""
    settings = settings_of(TuningSettings, config, locals())

    from surrogate.training.tuning import LOSS_FILE
    from surrogate.training.tuning import finetune as tune

    with progress_bar() as progress:
        record = tune(file, base, settings.of(recipe), out, test, seed, download, progress)
    if find_spec("matplotlib") is not None:
        import pandas as pd

        from surrogate.publish.figures.figure import save
        from surrogate.publish.figures.studies import loss_curve

        save(loss_curve(pd.read_csv(out / LOSS_FILE), out.name, recipe), out / CURVE)
    if as_json:
        print_json(record)
    else:
        _print_tuned(record, out)


def _print_tuned(record: dict[str, Any], out: Path) -> None:
    examples, loss, unseen = record["examples"], record["loss"], record["unseen_loss"]
    print(
        f"{count_of(examples['kept'], 'example')} of {record['tokens'] / examples['kept']:.0f} "
        f"tokens on average, {examples['too_long']} left out as longer than "
        f"{record['recipe']['max_length']}"
    )
    print(f"{record['device']}; {record['trained_weights']:,} weights trained")
    if record["resumed_from_step"]:
        print(f"Went on from step {record['resumed_from_step']}")
    print(
        f"{count_of(record['steps'], 'step')} in {record['seconds']:.0f} s; loss "
        f"{loss['first']:.3f} at the first, {loss['last']:.3f} at the last"
    )
    if unseen["before"] is not None:
        print(
            f"Loss on {count_of(record['tests'], 'chat')} of unseen questions: "
            f"{unseen['before']:.3f} before, {unseen['after']:.3f} after"
        )
    print(f"The model is in {out}: give that folder as --model, or llm:{out}")
