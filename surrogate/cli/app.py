"""The command line: ``surrogate-arena``."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from types import MappingProxyType
from typing import Annotated

import typer

from arena.data import __version__
from arena.data.errors import ArenaError
from surrogate.cli.group import Place, flag_of, new_group

USAGE_STATUS = 2
ARGUMENT = re.compile(r"`([a-z]+(?:_[a-z]+)*)`")
"""How messages name an argument of Python, whose option has the same name."""

COMMANDS = MappingProxyType(
    {
        "demo": Place(
            "surrogate.cli.boards.board:demo", "Build the sample arena's board, and its pages."
        ),
        "init": Place("surrogate.cli.data.init:init", "Write a small arena folder to start from."),
        "check": Place(
            "surrogate.cli.data.check:check",
            "Report problems of an arena or a store.",
        ),
        "import": Place(
            "surrogate.cli.data.imports:import_command",
            "Make an arena of tables, traces or published data.",
        ),
        "add": Place("surrogate.cli.data.add:add", "Add new systems' answers to an arena."),
        "select": Place("surrogate.cli.data.select:select", "Write a part of an arena."),
        "judge": Place("surrogate.cli.judging.judge:judge", "Judge pairs of answers by LLMs."),
        "generate": Place(
            "surrogate.cli.judging.generate:generate", "Answer an arena's questions by an LLM."
        ),
        "vote": Place("surrogate.cli.judging.vote:vote", "Let people judge pairs of answers."),
        "agreement": Place(
            "surrogate.cli.judging.agreement:agreement_command",
            "Measure how far judges agree with people.",
        ),
        "diagnose": Place(
            "surrogate.cli.judging.diagnose:diagnose_command", "Say what limits a board."
        ),
        "fit": Place("surrogate.cli.boards.fit:fit", "Rate systems by judgments alone."),
        "features": Place(
            "surrogate.cli.boards.features:features", "Measure answers; list what can be measured."
        ),
        "board": Place(
            "surrogate.cli.boards.board:board", "Rate every system by verdicts and surrogate."
        ),
        "rank": Place("surrogate.cli.boards.rank:rank", "Place new systems on a board."),
        "gate": Place(
            "surrogate.cli.boards.gate:gate_command", "Decide whether a new version is better."
        ),
        "advise": Place(
            "surrogate.cli.judging.advise:advise_command", "Suggest what to judge of a new system."
        ),
        "validate": Place(
            "surrogate.cli.studies.validate:validate_command",
            "Measure how well surrogates rank unseen systems.",
        ),
        "sampling": Place(
            "surrogate.cli.studies.sampling:sampling", "Say how many judgments a ranking needs."
        ),
        "publish": Place(
            "surrogate.cli.boards.publish:publish_command",
            "Publish a board as pages, figures, tables or cards.",
        ),
        "run": Place("surrogate.cli.boards.run:run", "Bring several boards up to date."),
        "diff": Place("surrogate.cli.boards.diff:diff", "Compare two boards."),
        "metaeval": Place(
            "surrogate.cli.studies.metaeval:metaeval", "Evaluate judges against human labels."
        ),
        "trainset": Place(
            "surrogate.cli.training.trainset:trainset", "Make a training set of an arena."
        ),
        "finetune": Place(
            "surrogate.cli.training.finetune:finetune_command", "Tune a small model by LoRA."
        ),
        "prompts": Place("surrogate.cli.judging.prompts:prompts", "Show what LLMs are asked."),
    }
)

app = new_group("Rank RAG systems with a surrogate trained on pairwise LLM tournaments.", COMMANDS)


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


def with_options(message: str) -> str:
    """Write the arguments that a message names as options: `` `api_key_env` `` by its flag."""
    return ARGUMENT.sub(lambda found: flag_of(found[1]), message)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; errors of input or use end with status 2 and a plain message."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # what it cannot write is escaped, not a traceback
            stream.reconfigure(errors="backslashreplace")
    try:
        app(args=None if arguments is None else list(arguments))
    except ArenaError as error:
        print(f"error: {with_options(str(error))}", file=sys.stderr)
        raise SystemExit(USAGE_STATUS) from error
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(1) from error
