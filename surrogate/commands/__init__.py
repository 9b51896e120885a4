"""The command line: ``surrogate-arena``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from arena.errors import ArenaError
from surrogate.commands.advise import advise
from surrogate.commands.board import board
from surrogate.commands.demo import demo
from surrogate.commands.diagnose import diagnose
from surrogate.commands.diff import diff
from surrogate.commands.export import export
from surrogate.commands.features import features
from surrogate.commands.fit import fit
from surrogate.commands.generate import generate
from surrogate.commands.judge import judge
from surrogate.commands.metaeval import metaeval
from surrogate.commands.plot import plot
from surrogate.commands.rank import rank
from surrogate.commands.report import report
from surrogate.commands.run import run
from surrogate.commands.sampling import sampling
from surrogate.commands.store import store
from surrogate.commands.validate import validate

USAGE_STATUS = 2

app = typer.Typer(
    name="surrogate-arena",
    help="Rank RAG systems with a surrogate judge trained on pairwise LLM tournaments.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(board)
app.command()(run)
app.command()(diff)
app.command()(rank)
app.command()(advise)
app.command()(demo)
app.command()(report)
app.command()(plot)
app.command()(export)
app.command()(fit)
app.command()(diagnose)
app.command()(sampling)
app.command()(validate)
app.command()(judge)
app.command()(generate)
app.add_typer(features, name="features")
app.add_typer(metaeval, name="metaeval")
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
