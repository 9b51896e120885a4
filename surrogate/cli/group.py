"""Groups of commands: their settings, and errors that name options as a user writes them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from arena.data.errors import ArenaError

ARGUMENT = re.compile(r"`(\w+)`")
"""How messages name an argument of Python; the command line has options in their place."""
OTHER_NAMES = {"n_jobs": "jobs"}


class LazyCommands(Mapping[str, Any]):
    """Commands by name, each imported when it is first asked for.

    Args:
        places: Name to where its function or group is: ``package.module:name``.
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = places
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - a command of click
        """Return a command, imported if it was not."""
        if name not in self._loaded:
            module, _, attribute = self._places[name].partition(":")
            found = getattr(import_module(module), attribute)
            self._loaded[name] = _group(name, found) or _single(name, found)
        return self._loaded[name]

    def summary(self, name: str) -> str:
        """Return what a command's help says, read off its source where it was not imported."""
        module, _, attribute = self._places[name].partition(":")
        if name not in self._loaded:
            said = _documented(module).get(attribute)
            if said is not None:
                return said
        return self[name].help or ""

    def __iter__(self) -> Iterator[str]:
        """Iterate over names, without importing anything."""
        return iter(self._places)

    def __len__(self) -> int:
        """Count the commands."""
        return len(self._places)


@cache
def _documented(module: str) -> dict[str, str]:
    """Return the docstrings of a module's functions, and the help of its groups, by name."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return {}
    said = {}
    for node in ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            said[node.name] = ast.get_docstring(node) or ""
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            named = {item.arg: item.value for item in node.value.keywords}
            text = named.get("help", *node.value.args[:1])
            if isinstance(node.targets[0], ast.Name) and isinstance(text, ast.Constant):
                said[node.targets[0].id] = str(text.value)
    return said


def _group(name: str, found: object) -> Any:  # noqa: ANN401 - a group of click, or None
    if not isinstance(found, typer.Typer):
        return None
    group = get_group(found)
    group.name = name
    return group


def _single(name: str, function: Any) -> Any:  # noqa: ANN401 - a command of click
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone.command(name)(function)
    return get_command(alone)


class Commands(TyperGroup):
    """A group of commands whose errors name options, not arguments of Python.

    Attributes:
        places: Where its commands are, if they are imported when asked for; see ``LazyCommands``.
    """

    places: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 - typer's own
        super().__init__(**attributes)
        if self.places:
            self.commands = LazyCommands(self.places)  # type: ignore[assignment] # none joins them

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - click's own
        """List the commands with the first words of their help, without importing any."""
        listed = self.commands
        if not isinstance(listed, LazyCommands):
            super().format_commands(ctx, formatter)
            return
        limit = formatter.width - 6 - max(map(len, listed))
        shown = {name: TyperCommand(name, help=listed.summary(name)) for name in listed}
        with formatter.section("Commands"):
            rows = [(name, each.get_short_help_str(limit)) for name, each in shown.items()]
            formatter.write_dl(rows)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - click's own
        """Run a command; where it fails, say its options by their flags."""
        try:
            return super().invoke(ctx)
        except ArenaError as error:
            command = self.commands.get(ctx.invoked_subcommand or "")
            options = () if command is None else command.params
            flags = {
                str(item.name): item.opts[0] for item in options if item.opts[0].startswith("--")
            }
            error.args = (with_flags(str(error), flags),)
            raise


def with_flags(message: str, flags: Mapping[str, str]) -> str:
    """Write the arguments that a message names as options, where a command has them.

    Args:
        message: Such as ``choose one with `judge` ``.
        flags: Name of an argument to its flag.
    """

    def flag(found: re.Match[str]) -> str:
        name = found[1]
        return flags.get(name) or flags.get(OTHER_NAMES.get(name, "")) or found[0]

    return ARGUMENT.sub(flag, message)


def new_group(
    help: str,
    cls: type[Commands] = Commands,
    places: Mapping[str, str] = MappingProxyType({}),
) -> typer.Typer:
    """Return a group of commands.

    Args:
        help: What its ``--help`` says first.
        cls: What it is to be, if not simply that.
        places: Name of a command to where it is, for those imported when asked for.
    """
    return typer.Typer(
        cls=type(cls.__name__, (cls,), {"places": places}) if places else cls,
        help=help,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
