"""The command line: ``surrogate-arena``."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from arena.data.errors import ARGUMENT_MARK, ArenaError

ARGUMENT = re.compile(rf"`{ARGUMENT_MARK}([a-z]+(?:_[a-z]+)*)`")
"""How messages name an argument of Python, whose option has the same name; see ``argument``."""

COMMANDS = {
    "demo": ("boards:demo", "Build a board of the sample arena, and its pages."),
    "init": ("arenas:init", "Write a small arena folder to start from."),
    "check": ("arenas:check", "Report problems of an arena."),
    "import": ("imports:import_command", "Make an arena of tables, traces or published data."),
    "add": ("arenas:add", "Add new systems' answers to an arena."),
    "select": ("arenas:select", "Write part of an arena."),
    "judge": ("judging:judge_command", "Judge pairs of answers with LLMs."),
    "generate": ("training:generate", "Answer an arena's questions with an LLM."),
    "prompts": ("prompts:prompts", "Show what LLMs are asked."),
    "vote": ("voting:vote", "Let people judge pairs of answers."),
    "agreement": ("verdicts:agreement_command", "Measure how far judges agree with people."),
    "diagnose": ("verdicts:diagnose_command", "Report what limits a board."),
    "fit": ("verdicts:fit", "Rate systems by judgments alone."),
    "features": ("studies:features", "Measure answers; list what can be measured."),
    "board": ("boards:board", "Rate every system by verdicts and surrogate."),
    "rank": ("ranking:rank", "Place new systems on a board."),
    "gate": ("gating:gate_command", "Decide whether a new version is better."),
    "advise": ("ranking:advise_command", "Suggest what to judge of a new system."),
    "validate": ("studies:validate_command", "Measure how well surrogates rank unseen systems."),
    "metaeval": ("studies:metaeval", "Evaluate judges against human labels."),
    "view": ("serving:view", "Serve a board, and a page on which people vote."),
    "publish": ("publishing:publish", "Publish a board as pages, figures or tables."),
    "run": ("publishing:run", "Bring several boards up to date."),
    "schema": ("publishing:schema", "Print a JSON schema, for editors."),
    "mcp": ("serving:mcp", "Serve check, board, rank, gate and advise over MCP."),
    "diff": ("publishing:diff", "Compare two boards."),
    "trainset": ("training:trainset", "Make a training set of an arena."),
}
"""Name of each command to its module and function in this package, and its line in --help."""


class Commands(TyperGroup):
    """The commands; each is imported on first use, so that ``--help`` is fast."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - click's own
        """Return the names, without importing anything."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002 - click's own
        """Return a command, imported if it was not."""
        if cmd_name not in self.commands and cmd_name in COMMANDS:
            module, _, name = COMMANDS[cmd_name][0].partition(":")
            alone = typer.Typer(
                add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False
            )
            alone.command(cmd_name)(getattr(import_module(f"surrogate_arena.cli.{module}"), name))
            self.commands[cmd_name] = get_command(alone)
        return self.commands.get(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002 - click's own
        """List the commands, without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


app = typer.Typer(
    cls=Commands,
    help="Rank RAG systems with a surrogate trained on pairwise LLM tournaments.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        print(f"surrogate-arena {import_module('arena.data').__version__}")
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


def flag_of(name: str) -> str:
    """Return the option of an argument: its name, without the unit of time or the prefix ``n_``."""
    return f"--{name.removesuffix('_s').removeprefix('n_').replace('_', '-')}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; errors of input or use end with status 2 and a plain message."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # what it cannot write is escaped, not a traceback
            stream.reconfigure(errors="backslashreplace")
    try:
        app(args=None if arguments is None else list(arguments))
    except ArenaError as error:
        message = ARGUMENT.sub(lambda match: flag_of(match[1]), error.marked)
        print(f"{error.heading}{message.replace(ARGUMENT_MARK, '')}", file=sys.stderr)
        raise SystemExit(error.exit_status) from error
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(1) from error
