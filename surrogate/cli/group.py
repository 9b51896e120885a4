"""Groups of commands: their settings, and errors that name options as a user writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import typer
from typer.core import TyperGroup

from arena.data.errors import ArenaError

ARGUMENT = re.compile(r"`(\w+)`")
"""How messages name an argument of Python; the command line has options in their place."""
OTHER_NAMES = {"n_jobs": "jobs"}


class Commands(TyperGroup):
    """A group of commands whose errors name options, not arguments of Python."""

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


def new_group(help: str, cls: type[Commands] = Commands) -> typer.Typer:
    """Return a group of commands.

    Args:
        help: What its ``--help`` says first.
        cls: What it is to be, if not simply that.
    """
    return typer.Typer(
        cls=cls,
        help=help,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
