"""Hook of mkdocs: the page ``commands.md`` is the command line's own help."""

from __future__ import annotations

from collections.abc import Iterator

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from typer import Typer
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
    from surrogate.cli.app import app

    parts = ["# Commands\n"]
    for words in commands_of(app):
        shown = CliRunner().invoke(
            app, [*words, "--help"], prog_name=PROGRAM, env={"COLUMNS": WIDTH}
        )
        parts.append(f"## {' '.join([PROGRAM, *words])}\n\n```text\n{shown.stdout.strip()}\n```\n")
    return "\n".join(parts)


def commands_of(app: Typer, above: Words = ()) -> Iterator[Words]:
    """Yield the words of every command, groups before what is in them."""
    yield above
    for command in app.registered_commands:
        if command.callback is not None:
            yield (*above, command.name or command.callback.__name__.replace("_", "-"))
    for group in app.registered_groups:
        if group.typer_instance is not None:
            yield from commands_of(group.typer_instance, (*above, str(group.name)))
