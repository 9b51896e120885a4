"""``surrogate-arena finetune``: a small model tuned on a training set."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.data.wording import count_of
from surrogate.cli.options import FILE, DownloadOption, JsonOption, SeedOption, with_settings
from surrogate.cli.targets import OUT_FOLDER
from surrogate.training.recipes import TuningSettings

if TYPE_CHECKING:
    from surrogate.training.tuning import Tuned

CURVE = "loss.svg"


@with_settings(TuningSettings)
def finetune_command(
    file: Annotated[
        Path, typer.Argument(help="Training set, as trainset writes it (JSONL, Parquet).", **FILE)
    ],
    base: Annotated[
        str,
        typer.Option("--base", help="Model to tune: a folder, a GGUF file, or a name on the hub."),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            help="Folder for the adapter; one that was cut off goes on where it was.",
            **OUT_FOLDER,
        ),
    ],
    settings: TuningSettings,
    recipe: Annotated[
        str,
        typer.Option(
            "--recipe",
            help="mirage (MIRAGE-Bench, table 6), grouse (GroUSE, appendix H) or judge.",
        ),
    ] = "mirage",
    test: Annotated[
        Path | None,
        typer.Option(
            "--test",
            help="Chats of unseen questions, whose loss is measured before and after.",
            **FILE,
        ),
    ] = None,
    download: DownloadOption = False,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Tune a model by LoRA, the same on a laptop and on a GPU; the adapter answers and judges."""
    from surrogate.cli import printing
    from surrogate.training.tuning import TuningJob, finetune

    job = TuningJob(file, base, settings.of(recipe), out, test, seed, download)
    with printing.progress_bar() as progress:
        tuned = finetune(job, progress)
    if find_spec("matplotlib") is not None:
        from surrogate.publish.figures.figure import save
        from surrogate.publish.figures.studies import loss_curve

        save(loss_curve(tuned.losses, out.name, recipe), out / CURVE)
    if as_json:
        printing.print_json(dict(tuned.record))
    else:
        print_tuned(tuned)


def print_tuned(tuned: Tuned) -> None:
    """Print what was tuned, how, and what came of it."""
    record: dict[str, Any] = dict(tuned.record)
    plan, loss, examples = record["device"], record["loss"], record["examples"]
    mean = examples["tokens"]["all"] / examples["kept"]
    print(
        f"{count_of(examples['kept'], 'example')} of {mean:.0f} tokens on average, "
        f"{examples['too_long']} left out as longer than {record['recipe']['max_length']}"
    )
    print(
        f"{plan['device']}, {plan['precision']}, {plan['attention']}, {plan['together']} together, "
        f"{plan['accumulation']} times a step; {record['trained_weights']:,} weights trained"
    )
    if tuned.resumed:
        print(f"Went on from step {tuned.resumed}")
    print(
        f"{count_of(record['steps'], 'step')} in {record['seconds']:.0f} s; loss "
        f"{loss['first']:.3f} at the first, {loss['last']:.3f} at the last"
    )
    if loss["unseen_before"] is not None:
        print(
            f"Loss on {count_of(record['tests']['kept'], 'chat')} of unseen questions: "
            f"{loss['unseen_before']:.3f} before, {loss['unseen_after']:.3f} after"
        )
    print(f"The model is in {tuned.folder}: give that folder as --model, or llm:{tuned.folder}")
