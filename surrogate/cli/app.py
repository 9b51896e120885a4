"""The command line: ``surrogate-arena``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import MappingProxyType
from typing import Annotated

import typer

from arena.data.errors import ArenaError
from arena.data.version import __version__
from surrogate.cli.group import new_group

USAGE_STATUS = 2

PLACES = MappingProxyType(
    {
        "board": "surrogate.cli.boards.board:board",
        "run": "surrogate.cli.boards.run:run",
        "diff": "surrogate.cli.boards.diff:diff",
        "rank": "surrogate.cli.boards.rank:rank",
        "advise": "surrogate.cli.judging.advise:advise_command",
        "gate": "surrogate.cli.boards.gate:gate_command",
        "demo": "surrogate.cli.boards.board:demo",
        "report": "surrogate.cli.boards.publish:report",
        "plot": "surrogate.cli.boards.publish:plot",
        "export": "surrogate.cli.boards.publish:export_command",
        "fit": "surrogate.cli.boards.fit:fit",
        "factors": "surrogate.cli.boards.factors:factors",
        "diagnose": "surrogate.cli.judging.diagnose:diagnose_command",
        "sampling": "surrogate.cli.studies.sampling:sampling",
        "validate": "surrogate.cli.studies.validate:validate_command",
        "init": "surrogate.cli.data.init:init",
        "check": "surrogate.cli.data.check:check",
        "add": "surrogate.cli.data.add:add",
        "select": "surrogate.cli.data.select:select",
        "statistics": "surrogate.cli.data.select:statistics",
        "judge": "surrogate.cli.judging.judge:judge",
        "vote": "surrogate.cli.judging.vote:vote",
        "agreement": "surrogate.cli.judging.agreement:agreement_command",
        "generate": "surrogate.cli.judging.generate:generate",
        "finetune": "surrogate.cli.training.finetune:finetune_command",
        "trainset": "surrogate.cli.training.trainset:trainset",
        "import": "surrogate.cli.data.imports.group:imports",
        "features": "surrogate.cli.boards.features:features",
        "metaeval": "surrogate.cli.studies.metaeval:metaeval",
        "prompts": "surrogate.cli.judging.prompts:prompts",
        "store": "surrogate.cli.judging.store:store",
    }
)
"""Where each command is; it is imported when it is asked for."""

app = new_group(
    "Rank RAG systems with a surrogate trained on pairwise LLM tournaments.", places=PLACES
)


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
