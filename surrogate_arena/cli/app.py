"""The command line: ``surrogate-arena``."""

from __future__ import annotations

import atexit
import gc
import os
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
from surrogate_arena.cli.texts import python_texts

ARGUMENT = re.compile(rf"`{ARGUMENT_MARK}([a-z]+(?:_[a-z]+)*)`")
"""How messages name an argument of Python, whose option has the same name; see ``argument``."""


class Entry(NamedTuple):
    """A command of the list; ``place`` is ``FOLDER.MODULE:FUNCTION`` in ``surrogate_arena``."""

    group: str
    place: str
    summary: str
    example: str

    @property
    def folder(self) -> str:
        """Folder that has the command; it may have been deleted."""
        return self.place.partition(".")[0]

    def load(self) -> Any:  # noqa: ANN401 - a function of any arguments
        """Import the command's function."""
        return imported(self.place)


START = "Start"
JUDGE = "Judge"
RANK = "Rank"
PUBLISH = "Publish"
STUDY = "Study"
CONNECT = "Connect"

COMMANDS = {
    "demo": Entry(
        START,
        "commands.demo:demo",
        "Build a board of the sample arena, and its pages.",
        "demo --out out/demo",
    ),
    "init": Entry(
        START, "commands.arenas:init", "Write a small arena folder to start from.", "init my-arena"
    ),
    "import": Entry(
        START,
        "importers.commands:import_command",
        "Make an arena from tables or published data.",
        "import csv answers.csv --language en --out my-arena",
    ),
    "check": Entry(START, "commands.arenas:check", "Report an arena's problems.", "check my-arena"),
    "add": Entry(
        START,
        "commands.arenas:add",
        "Add new systems' answers to an arena.",
        "add my-arena v6.jsonl",
    ),
    "withdraw": Entry(
        START,
        "commands.arenas:withdraw",
        "Take a system off an arena's boards.",
        "withdraw my-arena v6",
    ),
    "select": Entry(
        START,
        "generation.commands:select",
        "Write part of an arena.",
        "select my-arena --languages de,fr --out part",
    ),
    "generate": Entry(
        START,
        "generation.commands:generate",
        "Answer an arena's questions with an LLM, or your own system.",
        "generate my-arena --system my_rag:answer --name v6 --append",
    ),
    "judge": Entry(
        JUDGE,
        "commands.judging:judge_command",
        "Judge pairs of answers with LLMs.",
        "judge my-arena --model gpt-4o --dry-run",
    ),
    "vote": Entry(
        JUDGE,
        "voting.commands:vote",
        "Let people judge pairs of answers.",
        "vote my-arena --out vote.html",
    ),
    "view": Entry(
        JUDGE,
        "voting.commands:view",
        "Serve a board, and a page on which people vote.",
        "view out/board",
    ),
    "agreement": Entry(
        JUDGE,
        "diagnosis.commands:agreement_command",
        "Measure how far judges agree with people.",
        "agreement my-arena",
    ),
    "diagnose": Entry(
        JUDGE,
        "diagnosis.commands:diagnose_command",
        "Report what limits a board.",
        "diagnose my-arena",
    ),
    "prompts": Entry(
        JUDGE, "commands.prompts:prompts", "Show what LLMs are asked.", "prompts pairwise"
    ),
    "board": Entry(
        RANK,
        "commands.boards:board",
        "Rate every system by verdicts and surrogate.",
        "board my-arena --out out/board",
    ),
    "rank": Entry(
        RANK,
        "commands.ranking:rank",
        "Place new systems on a board.",
        "rank answers.jsonl --board out/board",
    ),
    "gate": Entry(
        RANK,
        "gating.commands:gate_command",
        "Decide whether a new version is broken, better or worse.",
        "gate --arena my-arena --candidate v6 --baseline v5",
    ),
    "fit": Entry(
        RANK, "commands.fitting:fit", "Rate systems by verdicts alone.", "fit battles.csv"
    ),
    "features": Entry(
        RANK,
        "measuring.commands:features",
        "Measure answers; list what can be measured.",
        "features my-arena --out features.parquet",
    ),
    "publish": Entry(
        PUBLISH,
        "pages.commands:publish",
        "Publish a board as pages, figures or tables.",
        "publish out/board --as site --out site",
    ),
    "run": Entry(
        PUBLISH, "runs.commands:run", "Bring several boards up to date.", "run leaderboards.toml"
    ),
    "diff": Entry(
        PUBLISH,
        "runs.commands:diff",
        "Show what moved between two boards.",
        "diff boards/old boards/new",
    ),
    "validate": Entry(
        STUDY,
        "studies.commands:validate_command",
        "Measure how well surrogates rank unseen systems.",
        "validate my-arena --surrogate random-forest",
    ),
    "metaeval": Entry(
        STUDY,
        "papers.commands:metaeval",
        "Evaluate judges against human labels.",
        "metaeval pairs my-arena",
    ),
    "trainset": Entry(
        STUDY,
        "papers.commands:trainset",
        "Make a training set from an arena.",
        "trainset mirage my-arena --teacher gpt-4o --out rows.jsonl",
    ),
    "mcp": Entry(
        CONNECT,
        "mcp.commands:mcp",
        "Serve check, board, rank and gate to assistants over MCP.",
        "mcp",
    ),
    "schema": Entry(
        CONNECT, "runs.commands:schema", "Print a JSON schema, for editors.", "schema config"
    ),
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
        entry = COMMANDS.get(cmd_name)
        if entry is not None and cmd_name not in self.commands and has_folder(entry.folder):
            alone = typer.Typer(
                add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False
            )
            alone.command(cmd_name)(python_texts()(entry.load()))
            self.commands[cmd_name] = get_command(alone)
            self.commands[cmd_name].epilog = f"Example: surrogate-arena {entry.example}"
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
    help="Rank RAG systems from a few pairwise verdicts by an LLM or by people.",
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
    # An option that is repeated is named for one of its values: --column.
    for known in (flag, flag.removesuffix("s")):
        if known in LOADED_FLAGS:
            return known
    return f"--config {name}" if "--config" in LOADED_FLAGS else flag


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    # Most of what a command makes stays until it ends: look for garbage more rarely.
    gc.set_threshold(1_000_000)
    # At the end, the system takes all memory back: looking would take a tenth of a short command.
    atexit.register(gc.freeze)
    # For plugins, pydantic would read the metadata of every installed package.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
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
