"""Options that are fields of settings: read from the command line, and from TOML files."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, TypeVar, get_args

from annotated_types import Ge, Le
from pydantic import BaseModel, ValidationError
from typer import Option

from arena.data.errors import UsageError
from arena.data.files import small_file
from arena.data.wording import did_you_mean
from arena.llm.llm_settings import LlmSettings
from surrogate_arena.cli.app import flag_of, named_option
from surrogate_arena.cli.file_settings import checked_settings
from surrogate_arena.cli.options import Columns, Config, named_columns

Settings = TypeVar("Settings", bound=BaseModel)
CONFIG = "--config"

SETTING_OPTIONS: Mapping[str, Any] = {
    "config": Config,
    "columns": Columns,
}
"""Options of settings whose field does not say all that the command line needs."""


def takes_settings(
    model: type[BaseModel], *names: str, leave_out: Collection[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command an option for each of some settings, and ``--config`` for all of them.

    They stand in the place of its argument ``settings``; fields to ``leave_out`` are none of its.
    """
    options_of_command = (*names, "config")

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        plain = signature(function, eval_str=True)
        parameters: list[Parameter] = []
        for parameter in plain.parameters.values():
            if parameter.name != "settings":
                parameters.append(parameter)
                continue
            for name in options_of_command:
                annotation = _setting_annotation(model, name)
                parameters.append(parameter.replace(name=name, annotation=annotation, default=None))
        combined = plain.replace(parameters=parameters)

        @wraps(function)
        def command(*args: object, **kwargs: object) -> None:
            bound = combined.bind(*args, **kwargs)
            bound.apply_defaults()
            options = {name: bound.arguments.pop(name) for name in options_of_command}
            if "columns" in options:
                options["columns"] = named_columns(options["columns"]) or None
            settings = settings_of(model, options.pop("config", None), options, leave_out)
            function(settings=settings, **bound.arguments)

        command.__dict__["__signature__"] = combined
        return command

    return decorate


def _setting_annotation(model: type[BaseModel], name: str) -> Any:  # noqa: ANN401 - of typer
    if name in SETTING_OPTIONS:
        return SETTING_OPTIONS[name]
    annotation: Any = model.model_fields[name].annotation
    kinds = set(get_args(annotation) or (annotation,)) - {NoneType}
    kind: Any = kinds.pop() if len(kinds) == 1 else str
    if kind not in (bool, int, float):
        # Lists of names, and choices, are texts, which the settings read.
        kind = str
    return Annotated[kind | None, setting(model, name)]


def setting(model: type[BaseModel], name: str) -> Any:  # noqa: ANN401
    """Return the option for a field of a settings record, with the field's own words as help."""
    field = model.model_fields[name]
    text = field.description or ""
    default = field.get_default(call_default_factory=True)
    is_in_text = "Default" in text or "default" in text
    if default not in (None, "", (), False) and not is_in_text:
        shown_default = ",".join(default) if isinstance(default, tuple) else default
        text = f"{text.rstrip('.')}. Default: {shown_default}"
    minimum: Any = next((bound.ge for bound in field.metadata if isinstance(bound, Ge)), None)
    maximum: Any = next((bound.le for bound in field.metadata if isinstance(bound, Le)), None)
    flag = flag_of(name)
    if field.annotation is bool:
        # A file may have turned it on.
        flag += f"/--no-{flag.removeprefix('--')}"
    return Option(flag, min=minimum, max=maximum, help=text, show_default=False)


def settings_of(
    model: type[Settings],
    config: Sequence[str] | None,
    options: Mapping[str, object],
    leave_out: Collection[str] = (),
) -> Settings:
    """Return settings from options and ``--config``; options that are not None override it."""
    fields = [name for name in model.model_fields if name not in leave_out]
    chosen = {name: options[name] for name in fields if options.get(name) is not None}
    places: dict[str, str] = {}
    values = {**configured(config, fields, places), **chosen}
    for name in chosen:
        places.pop(name, None)
    try:
        settings = model.model_validate(values)
    except ValidationError as error:
        fault = error.errors()[0]
        name = str(fault["loc"][0])
        message = fault["msg"]
        place = f"{places[name]}: {name}" if name in places else named_option(name)
        # An API key that somebody pasted must not reach a terminal or a log.
        value = "" if fault["type"] == "confidential" else f"is {values.get(name)!r}: "
        raise UsageError(f"{place} {value}{message[:1].lower()}{message[1:]}") from None
    if isinstance(settings, LlmSettings):
        in_files = {name: Path(file).parent for name, file in places.items() if file != CONFIG}
        settings = checked_settings(settings, in_files)
    return settings


def configured(
    config: Sequence[str] | None, fields: Collection[str], places: dict[str, str] | None = None
) -> dict[str, Any]:
    """Return the values of ``--config``, each ``KEY=VALUE`` (JSON or text) or a TOML file.

    Later ones override earlier ones; ``places`` takes the file of each key, or ``--config``.
    """
    values: dict[str, Any] = {}
    for text in config or ():
        key, sign, value = text.partition("=")
        if sign and not Path(text).is_file():
            read = {key: value}
            # What is no JSON is a text, such as a name.
            with suppress(ValueError, RecursionError):
                read = {key: json.loads(value)}
            source = CONFIG
        else:
            read = _read_toml(Path(text))
            source = text
        for key in read:
            if key not in fields:
                hint = did_you_mean(key, fields) or f"use any of {', '.join(fields)}"
                raise UsageError(f"{source}: unknown key {key!r}; {hint}")
            if places is not None:
                places[key] = source
        values |= read
    return values


def _read_toml(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise UsageError(f"--config is {str(path)!r}; write KEY=VALUE, or name a TOML file")
    try:
        return tomllib.loads(small_file(path).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not valid TOML: {error}") from error
