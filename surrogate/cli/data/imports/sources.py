"""What all kinds of ``surrogate-arena import`` share: options, and what is printed."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from arena.data.wording import count_of
from surrogate.cli.options import JsonOption, split_names
from surrogate.cli.targets import OUT_FOLDER

if TYPE_CHECKING:
    import pandas as pd

    from arena.adapters import ForeignArena, WrittenImport


_PLURAL = re.compile(r"(\w+(?: rating)?)s\b")
OutOption = Annotated[
    Path, typer.Option("--out", help="Arena folder to write, whole or not.", **OUT_FOLDER)
]
ReplaceOption = Annotated[
    bool, typer.Option("--replace", help="Replace the arena folder that is there, with all in it.")
]
NameOption = Annotated[
    str | None, typer.Option("--name", help="Name of the arena; that of the kind by default.")
]
LanguageOption = Annotated[
    str | None,
    typer.Option(
        "--language", help="Language code, such as en, where folders and files do not tell."
    ),
]
ReferenceOption = Annotated[
    str | None,
    typer.Option("--reference-system", help="System whose answers serve as reference."),
]
ApartOption = Annotated[
    list[str] | None,
    typer.Option(
        "--apart",
        help="Systems, comma-separated or repeated, to keep out of the arena; their answers go to "
        "apart_answers.jsonl.gz in it, to be ranked as new ones.",
    ),
]
MostPairsOption = Annotated[
    int | None,
    typer.Option(
        "--most-pairs",
        min=1,
        help="Pairs of marked answers to keep of each question and judge; all.",
    ),
]

SHOWN_REASONS = 30
Options = dict[str, object]


def import_and_print(
    kind: str,
    paths: Sequence[Path],
    out: OutOption,
    *,
    language: LanguageOption = None,
    apart: ApartOption = None,
    name: NameOption = None,
    replace_there: ReplaceOption = False,
    as_json: JsonOption = False,
    **options: object,
) -> None:
    """Read a source, write the arena, and print what was read and left out.

    Args:
        kind: One of ``arena.adapters.READERS``.
        paths: Files and folders to read.
        out: Folder to write.
        language: Language of what names none.
        apart: Systems to keep out of the arena.
        name: Name of the arena.
        replace_there: Whether an arena that is there may be replaced.
        as_json: Print JSON instead.
        options: The reader's own; what is None is left to it.
    """
    from arena.adapters import check_import_folder, import_arena

    check_import_folder(out, replace_there)
    every = {"language": language, "name": name, **options}
    given = {key: value for key, value in every.items() if value is not None}
    read = import_arena(kind, paths, **given)
    write_and_print(read, out, split_names(",".join(apart or ())), replace_there, as_json)


def source_command(
    kind: str, paths: str, without: tuple[str, ...] = ()
) -> Callable[[Callable[..., Options]], Callable[..., None]]:
    """Make a command that imports a kind, with the options that all kinds share.

    What is decorated takes the kind's own options, and returns those of its reader.

    Args:
        kind: One of ``arena.adapters.READERS``.
        paths: What is to be given as paths.
        without: Shared options that the kind has no use for.
    """

    def decorate(own: Callable[..., Options]) -> Callable[..., None]:
        def called(paths: list[Path], **values: Any) -> None:  # noqa: ANN401 - typer's values
            every: dict[str, Any] = {
                name: values.pop(name) for name in list(values) if name in _SHARED
            }
            import_and_print(kind, paths, **(every | own(**values)))

        hints = get_type_hints(own, include_extras=True)
        first = inspect.Parameter(
            "paths",
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            annotation=Annotated[list[Path], typer.Argument(help=paths, exists=True)],
        )
        mine = [
            item.replace(annotation=hints[name])
            for name, item in inspect.signature(own).parameters.items()
        ]
        others = [item for name, item in _SHARED.items() if name not in without]
        parameters = sorted(
            [first, *mine, *others], key=lambda item: item.default is not inspect.Parameter.empty
        )
        called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        called.__annotations__ = {item.name: item.annotation for item in parameters}
        called.__name__, called.__doc__ = own.__name__, own.__doc__
        return called

    return decorate


_SHARED = {
    name: parameter.replace(
        annotation=get_type_hints(import_and_print, include_extras=True)[name],
        kind=inspect.Parameter.POSITIONAL_OR_KEYWORD,
    )
    for name, parameter in inspect.signature(import_and_print).parameters.items()
    if name not in ("kind", "paths", "options")
}


def write_and_print(
    read: ForeignArena,
    out: Path,
    apart: Sequence[str],
    is_replaced: bool,
    as_json: bool,
    left_out: pd.DataFrame | None = None,
    notes: Sequence[str] = (),
) -> None:
    """Write an arena and print what was read and left out.

    Args:
        read: The arena, and what was left out on reading.
        out: Folder to write.
        apart: Systems to keep out of the arena.
        is_replaced: Whether an arena that is there may be replaced.
        as_json: Print JSON instead.
        left_out: What was left out on choosing: ``language, reason, count``.
        notes: Sentences to print.
    """
    from arena.adapters import write_import
    from surrogate.cli import printing

    written = write_import(read, out, apart, is_replaced=is_replaced)
    if as_json:
        printing.print_json(
            {
                "arena": str(written.folder),
                "counts": written.counts,
                "features": None if written.features is None else str(written.features),
                "apart": None if written.apart is None else str(written.apart),
                "skipped": read.skipped,
                "questions_left_out": left_out,
                "note": read.arena.info.note,
                "notes": list(notes),
            }
        )
        return
    _print_written(written, read, left_out, notes)


def counted_words(number: int, words: str) -> str:
    """Put a number before words that begin with what is counted, in the plural."""
    noun = _PLURAL.match(words)
    return (
        f"{number:,} {words}" if noun is None else count_of(number, noun[1]) + words[noun.end() :]
    )


def _print_written(
    written: WrittenImport,
    read: ForeignArena,
    left_out: pd.DataFrame | None,
    notes: Sequence[str],
) -> None:
    from surrogate.cli import printing

    there = {name.replace("_", " "): count for name, count in written.counts.items() if count}
    counts = ", ".join(counted_words(count, name) for name, count in there.items())
    print(f"Arena written to {written.folder}: {counts}")
    if read.arena.info.note:
        print(f"  {read.arena.info.note}")
    if written.features is not None:
        print(f"  Published features: {written.features}, for --feature-table")
    if written.apart is not None:
        print(f"  Answers kept apart: {written.apart}, for rank")
    for note in notes:
        print(f"  {note}")
    if left_out is not None:
        for reason, rows in left_out.groupby("reason", sort=False):
            of_each = zip(rows["language"], rows["count"], strict=True)
            by_language = ", ".join(f"{code} {count:,}" for code, count in of_each)
            print(f"  Left out: {counted_words(rows['count'].sum(), str(reason))} ({by_language})")
    skipped = read.skipped
    if len(skipped):
        printing.print_columns("Left out", skipped.head(SHOWN_REASONS), list(skipped.columns))
    if len(skipped) > SHOWN_REASONS:
        print(f"… and {count_of(len(skipped) - SHOWN_REASONS, 'more row')}; --json holds them all")
