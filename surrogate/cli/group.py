"""The group of commands: each is imported when it is asked for, so that ``--help`` is fast."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group


class Place(NamedTuple):
    """Where a command is, and what the list of commands says of it.

    Attributes:
        target: ``package.module:name`` of its function or group.
        help: One line.
    """

    target: str
    help: str


class LazyGroup(TyperGroup):
    """A group whose commands are imported on first use.

    Attributes:
        places: Name of each command to its place, in the order of the list.
    """

    places: ClassVar[Mapping[str, Place]] = MappingProxyType({})

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - click's own
        """Return the names, without importing anything."""
        return list(self.places)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002 - click's own
        """Return a command, imported if it was not."""
        if cmd_name not in self.commands and cmd_name in self.places:
            module, _, attribute = self.places[cmd_name].target.partition(":")
            self.commands[cmd_name] = _command(cmd_name, getattr(import_module(module), attribute))
        return self.commands.get(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002 - click's own
        """List the commands, without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, place.help) for name, place in self.places.items()])


def _command(name: str, found: Any) -> Any:  # noqa: ANN401 - a function or group, a command of click
    if isinstance(found, typer.Typer):
        command: Any = get_group(found)
        command.name = name
        return command
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone.command(name)(found)
    return get_command(alone)


def flag_of(name: str) -> str:
    """Return the option of an argument: its name, without the unit of time or the prefix ``n_``."""
    return f"--{name.removesuffix('_s').removeprefix('n_').replace('_', '-')}"


def new_group(help: str, places: Mapping[str, Place] | None = None) -> typer.Typer:
    """Return a group of commands.

    Args:
        help: What its ``--help`` says first.
        places: Name of each command to its place, where commands are imported on first use.
    """
    return typer.Typer(
        cls=TyperGroup if places is None else type("Commands", (LazyGroup,), {"places": places}),
        help=help,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
