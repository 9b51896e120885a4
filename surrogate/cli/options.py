"""Options that several commands share."""

from __future__ import annotations

import inspect
import json
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer
from annotated_types import Ge, Le
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from arena.data.errors import UsageError
from arena.data.files import small_file
from surrogate.board.settings import MOST_DRAWS
from surrogate.cli.group import flag_of

if TYPE_CHECKING:
    import pandas as pd

FOLDER: Any = {"exists": True, "file_okay": False}
"""Of arguments: a folder that is there, which is said before anything is loaded."""
FILE: Any = {"exists": True, "dir_okay": False}

ArenaArgument = Annotated[Path, typer.Argument(help="Arena folder.", **FOLDER)]
AnswersArgument = Annotated[
    Path, typer.Argument(help="Answers of the new systems (JSONL, CSV, Parquet).", **FILE)
]
BoardArgument = Annotated[Path, typer.Argument(help="Folder of the board.", **FOLDER)]
BoardOption = Annotated[Path, typer.Option("--board", help="Folder of the board.", **FOLDER)]
MovedArenaOption = Annotated[
    Path | None,
    typer.Option(
        "--arena", help="Arena folder, where it has moved since the board was made.", **FOLDER
    ),
]

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON to standard output instead of tables.")
]
JobsOption = Annotated[
    int,
    typer.Option(
        "--jobs", min=-1, help="Processes to use; -1 for all cores. The result is the same."
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything random.")]
TournamentsOption = Annotated[
    int,
    typer.Option(
        "--tournaments", min=1, max=MOST_DRAWS, help="Bootstrapped tournaments a language."
    ),
]
QuestionsOption = Annotated[
    int,
    typer.Option(
        "--questions",
        min=1,
        help="Questions drawn with replacement a tournament, at most the number judged.",
    ),
]
FeaturesOption = Annotated[
    str,
    typer.Option(
        "--features",
        help="Comma-separated features, such as citation_recall@10,bleu; or groups of them: "
        "default, deterministic, paper, as-published, retrieval, grounding, fluency, llm, ragas, "
        "all.",
    ),
]

LanguagesOption = Annotated[
    str | None, typer.Option("--languages", help="Comma-separated languages; all by default.")
]
OneJudgeOption = Annotated[
    str | None, typer.Option("--judge", help="Judge to take, where there are several.")
]
PresetOption = Annotated[
    str | None,
    typer.Option(
        "--preset",
        help="Settings that go together, under those that are stated; mirage: as MIRAGE-Bench was "
        "published.",
    ),
]

FeatureTableOption = Annotated[
    Path | None,
    typer.Option(
        "--feature-table", help="Feature table to use instead of computing features.", **FILE
    ),
]

DeviceOption = Annotated[
    str, typer.Option("--device", help="Where models run: auto, cpu, cuda or mps.")
]
BatchSizeOption = Annotated[
    int, typer.Option("--batch-size", min=1, help="Sequences that a model takes at once.")
]
DownloadOption = Annotated[
    bool, typer.Option("--download", help="Fetch models that are not on this machine.")
]

BodyOption = Annotated[
    str,
    typer.Option(
        "--body",
        help="Further fields of the request as JSON; "
        '{"max_completion_tokens": 4000} takes the place of --max-tokens.',
    ),
]
NO_BODY = "{}"
ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE.toml",
        help="Further settings; keys are the fields of the settings in Python. Options win.",
        **FILE,
    ),
]
SETTINGS, CONTEXT, CONFIG = "settings", "context", "config"
TemplatesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--template",
        metavar="NAME=FILE",
        help="Jinja template in the place of a prompt; repeatable. 'prompts' lists their names "
        "and variables.",
    ),
]
TemplateOption = Annotated[
    str | None,
    typer.Option(
        "--template",
        metavar="FILE",
        help="Jinja template in the place of the prompt; 'prompts' lists its variables.",
    ),
]
PassageTokensOption = Annotated[
    int | None,
    typer.Option(
        "--passage-tokens",
        min=1,
        help="Tokens of a passage to show; 800 for mirage, all for memerag.",
    ),
]
ContextTokensOption = Annotated[
    int | None,
    typer.Option(
        "--context-tokens",
        min=1,
        help="Tokens of a prompt, to which the passages of longer ones are trimmed; 8192 for "
        "mirage, any number for memerag.",
    ),
]
TokenizerOption = Annotated[
    Path | None,
    typer.Option(
        "--tokenizer",
        help="The model's tokenizer.json, to count tokens by; else 4 bytes are a token.",
        **FILE,
    ),
]
MODEL_HELP = (
    "Model that {verb}: its name at the server, or the folder (or GGUF file) of one that runs on "
    "this machine, such as finetune makes."
)
PricesOption = Annotated[
    Path | None,
    typer.Option(
        "--prices",
        help='JSON of prices per million tokens: {"MODEL": {"tokens_in": 2.5, "tokens_out": 10}}.',
        **FILE,
    ),
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be asked and cost; ask nothing.")
]


Choice = TypeVar("Choice", bound=str)
Settings = TypeVar("Settings", bound=BaseModel)


def checked_option(option: str, value: str, choices: Sequence[Choice]) -> Choice:
    """Return the choice that an option names.

    Raises:
        UsageError: If it names none.
    """
    for choice in choices:
        if choice == value:
            return choice
    raise UsageError(f"{option} is {value!r}; use one of {', '.join(choices)}")


def given_features(path: Path | None) -> pd.DataFrame | None:
    """Read the feature table that a user names, if any; see ``read_feature_table``."""
    from surrogate.board.tables import read_feature_table

    return None if path is None else read_feature_table(path)


def split_names(text: str | None) -> list[str]:
    """Split a comma-separated list of names; spaces around commas do not count."""
    if text is None:
        return []
    return [name.strip() for name in text.split(",") if name.strip()]


def request_fields(body: str) -> dict[str, Any]:
    """Read further fields of a request.

    Raises:
        UsageError: If the text is no JSON object.
    """
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--body is no JSON: {error}") from error
    if not isinstance(fields, dict):
        raise UsageError('--body is no JSON object; write such as {"top_p": 0.9}')
    return fields


def named_values(option: str, given: Sequence[str], such_as: str = "NAME=VALUE") -> dict[str, str]:
    """Read an option that is repeated as NAME=VALUE.

    Raises:
        UsageError: If one has no name, no value, or no sign between them.
    """
    named = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise UsageError(f"{option} is {text!r}; write {such_as}")
        named[name] = value
    return named


def refuse_judging(
    settings: BaseModel, others: Mapping[str, bool], used: Collection[str] = ()
) -> None:
    """Refuse options of judging where no model is named that would judge.

    Args:
        settings: Of judging, with the fields that a user stated.
        others: Further options of judging, and whether each was stated.
        used: Fields of the settings that the command uses without a judge.

    Raises:
        UsageError: If any was stated, with its name.
    """
    stated = [name for name in type(settings).model_fields if name in settings.model_fields_set]
    named = [name for name in stated if name not in used]
    named += [name for name, is_stated in others.items() if is_stated]
    if named:
        options = ", ".join(f"`{name}`" for name in named)
        raise UsageError(f"nobody judges without --model; name it, too, or leave out {options}")


def with_settings(
    model: type[BaseModel],
    leave_out: Collection[str] = (),
    shown: Collection[str] | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command options for the fields of its parameter ``settings``.

    Names, defaults, bounds and help are those of the fields, so that Python, TOML and the command
    line agree. Where only some fields are shown, ``--config FILE.toml`` sets any of them, under
    what the command line states. ``settings`` holds as set what a user stated.

    Args:
        model: What ``settings`` is.
        leave_out: Fields that a user cannot set.
        shown: Fields that are options; all that are not left out where not given.
    """
    known = {name: item for name, item in model.model_fields.items() if name not in leave_out}
    fields = {name: item for name, item in known.items() if shown is None or name in shown}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command)
        hints = get_type_hints(command, include_extras=True)

        def called(**values: Any) -> None:  # noqa: ANN401 - whatever the command takes
            context = values.pop(CONTEXT)
            config = values.pop(CONFIG, None)
            given = {name: values.pop(name) for name in fields}
            stated = {name: value for name, value in given.items() if is_stated(context, name)}
            filed = {} if config is None else settings_file(config, known)
            command(**values, settings=checked_settings(model, stated, filed, config))

        parameters: list[inspect.Parameter] = []
        for parameter in signature.parameters.values():
            if parameter.name == SETTINGS:
                parameters += _options(fields)
            else:
                parameters.append(parameter.replace(annotation=hints[parameter.name]))
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        if len(fields) < len(known):
            item = inspect.Parameter(CONFIG, kind, default=None, annotation=ConfigOption)
            parameters.append(item)
        parameters.append(inspect.Parameter(CONTEXT, kind, annotation=typer.Context))
        ordered = sorted(parameters, key=lambda item: item.default is not inspect.Parameter.empty)
        called.__signature__ = signature.replace(parameters=ordered)  # type: ignore[attr-defined]
        called.__annotations__ = {item.name: item.annotation for item in ordered}
        called.__name__, called.__doc__ = command.__name__, command.__doc__
        return called

    return decorate


def settings_file(path: Path, fields: Collection[str]) -> dict[str, Any]:
    """Read a TOML file of settings.

    Raises:
        UsageError: If it is no TOML, or has a key that is no field.
    """
    try:
        read = tomllib.loads(small_file(path).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not valid TOML: {error}") from error
    for key in read:
        if key not in fields:
            close = get_close_matches(key, fields, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"use any of {', '.join(fields)}"
            raise UsageError(f"{path}: unknown key {key!r}; {hint}")
    return read


def is_stated(context: typer.Context, name: str) -> bool:
    """Whether a user stated a parameter of a command, rather than left it as it is."""
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _options(fields: dict[str, FieldInfo]) -> Iterator[inspect.Parameter]:
    for name, field in fields.items():
        least: Any = next((item.ge for item in field.metadata if isinstance(item, Ge)), None)
        default = field.get_default(call_default_factory=True)
        shown = _shown_type(field, default)
        flag = flag_of(name)
        if shown == bool | None:  # neither is the default
            flag = f"{flag}/{flag.replace('--', '--no-', 1)}"
        most: Any = next((item.le for item in field.metadata if isinstance(item, Le)), None)
        option = typer.Option(flag, min=least, max=most, help=field.description)
        yield inspect.Parameter(
            name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=",".join(default) if isinstance(default, tuple) else default,
            annotation=Annotated[shown, option],
        )


def _shown_type(field: FieldInfo, default: object) -> Any:  # noqa: ANN401 - a type
    """Return what a user types for a field: numbers and switches as such, all else as text."""
    for kind in (bool, int, float):
        if isinstance(default, kind):
            return kind
        if default is None and kind in _parts(field.annotation):
            return kind | None
    return str if default is not None else str | None


def _parts(annotation: Any) -> tuple[Any, ...]:  # noqa: ANN401 - a type
    inner = getattr(annotation, "__args__", ())
    return (annotation, *(part for item in inner for part in _parts(item)))


def checked_settings(
    model: type[Settings],
    stated: Mapping[str, Any],
    filed: Mapping[str, Any] = MappingProxyType({}),
    config: Path | None = None,
) -> Settings:
    """Return settings, those of a file under those that options state.

    Raises:
        UsageError: If a value cannot be used.
    """
    values = {**filed, **stated}
    try:
        return model.model_validate(values)
    except ValidationError as error:
        fault = error.errors()[0]
        name, message = str(fault["loc"][0]), fault["msg"]
        place = flag_of(name) if name in stated or config is None else f"{config}: {name}"
        shown = "" if fault["type"] == "confidential" else f"is {values.get(name)!r}: "
        raise UsageError(f"{place} {shown}{message[:1].lower()}{message[1:]}") from None
