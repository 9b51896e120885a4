"""``surrogate-arena trainset``: training sets of an arena, as chats."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.data.wording import count_of
from surrogate.cli.options import JsonOption, TemplatesOption, with_settings
from surrogate.cli.targets import OUT_FILE
from surrogate.training.settings import KINDS, TrainsetSettings

if TYPE_CHECKING:
    from surrogate.training.rows import TrainSet

SHOWN = (
    *("teacher", "languages", "questions", "balance", "ablate", "sides", "pairs"),
    *("systems", "base_url", "store"),
)
"""Settings that are options; ``--config`` has the others."""


@with_settings(TrainsetSettings, shown=SHOWN)
def trainset(
    kind: Annotated[str, typer.Argument(help=f"One of {', '.join(KINDS)}.")],
    source: Annotated[
        Path, typer.Argument(help="Arena folder; or answers in GroUSE's format.", exists=True)
    ],
    out: Annotated[
        Path, typer.Option("--out", help="File of chats to write, such as train.jsonl.", **OUT_FILE)
    ],
    settings: TrainsetSettings,
    unseen: Annotated[
        Path | None,
        typer.Option(
            "--unseen",
            help="File for the chats of the other questions, to measure with.",
            **OUT_FILE,
        ),
    ] = None,
    templates: TemplatesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a training set of an arena: chats that finetune and trl read.

    mirage teaches to answer as a teacher does, from noisy passages (MIRAGE-Bench, 3.3); grouse to
    score an answer by all metrics in one reply (GroUSE, section 5); judge to decide as another
    judge did; preference holds pairs of which one is better (DPO, reward models).
    """
    from surrogate.cli import printing
    from surrogate.training.kinds import make_trainset
    from surrogate.training.rows import write_train_set

    with printing.progress_bar() as progress:
        made = make_trainset(kind, source, settings, templates or (), unseen is not None, progress)
    write_train_set(made, out, unseen)
    if as_json:
        printing.print_json(
            {
                "rows": len(made.rows),
                "unseen": len(made.unseen),
                "languages": made.counts,
                "left_out": made.left_out,
                "scores": made.scores,
                "file": str(out),
            }
        )
        return
    _print_made(made, out, unseen)


def _print_made(made: TrainSet, out: Path, unseen: Path | None) -> None:
    from surrogate.cli import printing

    titled = {
        "Rows by language; tokens are means": made.counts,
        "Left out": made.left_out,
        "Scores that are taught": made.scores,
    }
    for title, table in titled.items():
        if table is not None and len(table):
            printing.print_columns(title, table, list(table))
    print(f"{count_of(len(made.rows), 'row')} written to {out}")
    if unseen is not None:
        print(f"{count_of(len(made.unseen), 'row')} of unseen questions written to {unseen}")
