"""Hook of mkdocs: the page ``commands.md`` is the command line's own help."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from typer.main import get_command
from typer.testing import CliRunner

PROGRAM = "surrogate-arena"
PAGE = "commands.md"
WIDTH = "88"

Words = tuple[str, ...]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page to those that stand in the folder."""
    files.append(File.generated(config, PAGE, content=commands_page()))
    return files


def commands_page() -> str:
    """Write the help of every command."""
    from surrogate_arena.cli.app import app

    parts = ["# Commands\n"]
    for words in commands_of(get_command(app)):
        shown = CliRunner().invoke(
            app, [*words, "--help"], prog_name=PROGRAM, env={"COLUMNS": WIDTH}
        )
        parts.append(f"## {' '.join([PROGRAM, *words])}\n\n```text\n{shown.stdout.strip()}\n```\n")
    return "\n".join(parts)


def commands_of(group: Any, above: Words = ()) -> Iterator[Words]:  # noqa: ANN401 - of click
    """Yield the words of every command, groups before what is in them."""
    yield above
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if hasattr(command, "commands"):
            yield from commands_of(command, (*above, name))
        else:
            yield (*above, name)
