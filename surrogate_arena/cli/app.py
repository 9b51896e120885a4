"""The command line: ``surrogate-arena``."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command

from arena.data.errors import ARGUMENT_MARK, ArenaError
from surrogate_arena.cli.folders import has_folder, imported

ARGUMENT = re.compile(rf"`{ARGUMENT_MARK}([a-z]+(?:_[a-z]+)*)`")
"""How messages name an argument of Python, whose option has the same name; see ``argument``."""


class Entry(NamedTuple):
    """A command of the list; ``place`` is ``FOLDER.MODULE:FUNCTION`` in ``surrogate_arena``."""

    group: str
    place: str
    summary: str

    @property
    def folder(self) -> str:
        """Folder that has the command; it may have been deleted."""
        return self.place.partition(".")[0]

    def load(self) -> Any:  # noqa: ANN401 - a function of any arguments
        """Import the command's function."""
        return imported(self.place)


ARENAS = "Arenas"
JUDGING = "Judging"
RATING = "Rating"
SHOWING = "Showing"
STUDYING = "Studying"

COMMANDS = {
    "demo": Entry(
        ARENAS, "commands.demo:demo", "Build a board of the sample arena, and its pages."
    ),
    "init": Entry(ARENAS, "commands.arenas:init", "Write a small arena folder to start from."),
    "import": Entry(
        ARENAS, "importers.commands:import_command", "Make an arena of tables or published data."
    ),
    "check": Entry(ARENAS, "commands.arenas:check", "Report problems of an arena."),
    "add": Entry(ARENAS, "commands.arenas:add", "Add new systems' answers to an arena."),
    "select": Entry(ARENAS, "generation.commands:select", "Write part of an arena."),
    "generate": Entry(
        ARENAS, "generation.commands:generate", "Answer an arena's questions with an LLM."
    ),
    "judge": Entry(JUDGING, "commands.judging:judge_command", "Judge pairs of answers with LLMs."),
    "prompts": Entry(JUDGING, "commands.prompts:prompts", "Show what LLMs are asked."),
    "vote": Entry(JUDGING, "voting.commands:vote", "Let people judge pairs of answers."),
    "agreement": Entry(
        JUDGING,
        "diagnosis.commands:agreement_command",
        "Measure how far judges agree with people.",
    ),
    "diagnose": Entry(
        JUDGING, "diagnosis.commands:diagnose_command", "Report what limits a board."
    ),
    "features": Entry(
        RATING, "measuring.commands:features", "Measure answers; list what can be measured."
    ),
    "fit": Entry(RATING, "commands.fitting:fit", "Rate systems by judgments alone."),
    "board": Entry(RATING, "commands.boards:board", "Rate every system by verdicts and surrogate."),
    "rank": Entry(RATING, "commands.ranking:rank", "Place new systems on a board."),
    "gate": Entry(
        RATING, "gating.commands:gate_command", "Decide whether a new version is better."
    ),
    "publish": Entry(
        SHOWING, "pages.commands:publish", "Publish a board as pages, figures or tables."
    ),
    "view": Entry(
        SHOWING, "voting.commands:view", "Serve a board, and a page on which people vote."
    ),
    "run": Entry(SHOWING, "runs.commands:run", "Bring several boards up to date."),
    "diff": Entry(SHOWING, "runs.commands:diff", "Compare two boards."),
    "schema": Entry(SHOWING, "runs.commands:schema", "Print a JSON schema, for editors."),
    "mcp": Entry(SHOWING, "mcp.commands:mcp", "Serve check, board, rank and gate over MCP."),
    "validate": Entry(
        STUDYING,
        "studies.commands:validate_command",
        "Measure how well surrogates rank unseen systems.",
    ),
    "metaeval": Entry(
        STUDYING, "papers.commands:metaeval", "Evaluate judges against human labels."
    ),
    "trainset": Entry(STUDYING, "papers.commands:trainset", "Make a training set of an arena."),
}
"""All commands by name, in the order of ``--help``."""


def _present_commands() -> dict[str, Entry]:
    return {name: entry for name, entry in COMMANDS.items() if has_folder(entry.folder)}


LOADED_FLAGS: set[str] = set()
"""Options of the commands that were loaded: in a process of a user's, of the one that runs."""


class Commands(TyperGroup):
    """The commands; each is imported on first use, so that ``--help`` is fast."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - of click
        """Return the names, without importing anything."""
        return list(_present_commands())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002 - of click
        """Return a command, imported if it was not."""
        entry = _present_commands().get(cmd_name)
        if cmd_name not in self.commands and entry is not None:
            alone = typer.Typer(
                add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False
            )
            alone.command(cmd_name)(entry.load())
            self.commands[cmd_name] = get_command(alone)
            for parameter in self.commands[cmd_name].params:
                LOADED_FLAGS.update(parameter.opts)
        return self.commands.get(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002 - of click
        """List the commands by group, without importing anything."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for name, entry in _present_commands().items():
            groups.setdefault(entry.group, []).append((name, entry.summary))
        width = max(map(len, COMMANDS))
        for group, lines in groups.items():
            with formatter.section(group):
                # The same column for the summaries of all groups.
                formatter.write_dl([(name.ljust(width), summary) for name, summary in lines])


app = typer.Typer(
    cls=Commands,
    help="Rank RAG systems from few pairwise verdicts, by an LLM or by people.",
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
    """Return the option of an argument."""
    return f"--{name.removesuffix('_s').removeprefix('n_').replace('_', '-')}"


def named_option(name: str) -> str:
    """Return what to type for an argument: its option, or ``--config`` key."""
    flag = flag_of(name)
    if flag in LOADED_FLAGS or "--config" not in LOADED_FLAGS:
        return flag
    return f"--config {name}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # what it cannot write is escaped, not a traceback
            stream.reconfigure(errors="backslashreplace")
    try:
        app(args=None if arguments is None else list(arguments))
    except ArenaError as error:
        message = ARGUMENT.sub(lambda match: named_option(match[1]), error.marked)
        print(f"{error.heading}{message.replace(ARGUMENT_MARK, '')}", file=sys.stderr)
        raise SystemExit(error.exit_status) from error
    except ModuleNotFoundError as error:
        prefix, _, folder = (error.name or "").partition(".")
        if prefix != "surrogate_arena" or has_folder(folder.partition(".")[0]):
            raise
        print(
            f"error: this needs the folder surrogate_arena/{folder}, which is absent",
            file=sys.stderr,
        )
        raise SystemExit(2) from error
    except OSError as error:
        from arena.data.writing import disk_advice

        parts = [f"error: {error}", disk_advice(error, Path(str(error.filename or "")))]
        print("; ".join(filter(None, parts)), file=sys.stderr)
        raise SystemExit(1) from error
