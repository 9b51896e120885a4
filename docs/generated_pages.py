"""Hook of mkdocs: pages and tables that the code writes.

``commands.md`` is the command line's own help. A line of another page such as ``<!-- prompts -->``
is replaced by what it names.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files as package_files
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


def on_page_markdown(markdown: str, **_: Any) -> str:  # noqa: ANN401 - of mkdocs
    """Put the tables in their places."""
    for place, write in TABLES.items():
        if place in markdown:
            markdown = markdown.replace(place, write())
    return markdown


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


def prompts_table() -> str:
    """Write a row for each prompt, with what it asks and how replies are read."""
    from surrogate_arena.commands.prompts import all_prompts

    lines = ["| command | prompt | asks | reply |", "| --- | --- | --- | --- |"]
    for command, prompts in all_prompts().items():
        for prompt in prompts:
            cells = (f"`{command}`", f"`{prompt.name}`", prompt.asks, f"`{prompt.reply}`")
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def features_table() -> str:
    """Write a row for each feature, with what it needs and its parameters."""
    from surrogate_arena.measuring.descriptions import describe_features

    lines = ["| feature | meaning | needs | parameters |", "| --- | --- | --- | --- |"]
    for row in describe_features().to_dict("records"):
        parameters = str(row["parameters"]).replace("|", "\\|")
        cells = (f"`{row['feature']}`", row["summary"], row["needs"], parameters)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def column_names() -> str:
    """Show the names of columns that importers know."""
    names = package_files("surrogate_arena.importers").joinpath("names.toml")
    return f"```toml\n{names.read_text(encoding='utf-8').strip()}\n```"


TABLES = {
    "<!-- features -->": features_table,
    "<!-- names of columns -->": column_names,
    "<!-- prompts -->": prompts_table,
}
"""A line of a page to what writes the table in its place."""
