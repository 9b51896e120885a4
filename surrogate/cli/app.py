"""The command line: ``surrogate-arena``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from arena.data.errors import ArenaError
from arena.data.version import __version__
from surrogate.cli.boards.board import board, demo
from surrogate.cli.boards.diff import diff
from surrogate.cli.boards.factors import factors
from surrogate.cli.boards.features import features
from surrogate.cli.boards.fit import fit
from surrogate.cli.boards.gate import gate_command
from surrogate.cli.boards.publish import export_command, plot, report
from surrogate.cli.boards.rank import rank
from surrogate.cli.boards.run import run
from surrogate.cli.data.add import add
from surrogate.cli.data.check import check
from surrogate.cli.data.imports import imports
from surrogate.cli.data.init import init
from surrogate.cli.data.select import select, statistics
from surrogate.cli.group import new_group
from surrogate.cli.judging.advise import advise_command
from surrogate.cli.judging.agreement import agreement_command
from surrogate.cli.judging.diagnose import diagnose_command
from surrogate.cli.judging.generate import generate
from surrogate.cli.judging.judge import judge
from surrogate.cli.judging.prompts import prompts
from surrogate.cli.judging.store import store
from surrogate.cli.judging.vote import vote
from surrogate.cli.studies.metaeval import metaeval
from surrogate.cli.studies.sampling import sampling
from surrogate.cli.studies.validate import validate_command
from surrogate.cli.training.finetune import finetune_command
from surrogate.cli.training.trainset import trainset

USAGE_STATUS = 2

app = new_group("Rank RAG systems with a surrogate trained on pairwise LLM tournaments.")


def _print_version(is_asked: bool) -> None:
    if is_asked:
        print(f"surrogate-arena {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    pass


app.command()(board)
app.command()(run)
app.command()(diff)
app.command()(rank)
app.command("advise")(advise_command)
app.command("gate")(gate_command)
app.command()(demo)
app.command()(report)
app.command()(plot)
app.command("export")(export_command)
app.command()(fit)
app.command()(factors)
app.command("diagnose")(diagnose_command)
app.command()(sampling)
app.command("validate")(validate_command)
app.command()(init)
app.command()(check)
app.command()(add)
app.command()(select)
app.command()(statistics)
app.command()(judge)
app.command()(vote)
app.command("agreement")(agreement_command)
app.command()(generate)
app.command("finetune")(finetune_command)
app.add_typer(imports, name="import")
app.add_typer(features, name="features")
app.add_typer(trainset, name="trainset")
app.add_typer(metaeval, name="metaeval")
app.add_typer(prompts, name="prompts")
app.add_typer(store, name="store")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; errors of input or use end with status 2 and a plain message."""
    try:
        app(args=None if arguments is None else list(arguments))
    except ArenaError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(USAGE_STATUS) from error
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(1) from error
