"""Data of others, and new systems, into arena folders: ``import``, ``add``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from arena.data.wording import count_of
from surrogate.cli import options as opt
from surrogate.cli.options import named_values, split_names, toml_options
from surrogate.cli.printing import show

if TYPE_CHECKING:
    import pandas as pd

    from arena.adapters import ForeignArena

FIELD = "FIELD=NAME, such as question=prompt"


def import_command(
    kind: Annotated[
        str,
        Argument(
            help="mirage, miracl, memerag or lmarena (published data); csv (your own table: CSV, "
            "JSONL, Parquet, JSON); promptfoo, inspect, langfuse or langsmith (records of tools)."
        ),
    ],
    paths: Annotated[list[Path], Argument(help="Clones, folders or files.", exists=True)],
    out: opt.ArenaFolder,
    columns: Annotated[
        list[str] | None,
        Option(
            "--column",
            metavar="FIELD=NAME",
            help="Column of a table, or path in a record, such as question=vars.topic or "
            "system=file (the file's name); repeatable. The guide lists the fields.",
        ),
    ] = None,
    judge: Annotated[str | None, Option(help="Judge of rows that name none.")] = None,
    scores: Annotated[
        str | None, Option(help="Comma-separated scores of a tool. Default: all")
    ] = None,
    most_pairs: Annotated[
        int | None, Option(min=1, help="Most pairs a question. Default: all")
    ] = None,
    reference_system: Annotated[
        str | None, Option(help="System whose answers serve as reference.")
    ] = None,
    apart: Annotated[
        list[str] | None,
        Option(
            help="Comma-separated systems to keep out of the arena; their answers go to its "
            "apart_answers.jsonl.gz, to be ranked as new ones."
        ),
    ] = None,
    language: Annotated[
        str | None, Option(help="Language of rows that name none, such as en.")
    ] = None,
    languages: opt.Languages = None,
    qrels: Annotated[
        list[Path] | None, Option(help="miracl: relevance files in TREC's form; repeatable.")
    ] = None,
    corpus: Annotated[
        list[Path] | None, Option(help="miracl: JSONL with docid, title, text; repeatable.")
    ] = None,
    name: Annotated[str | None, Option(help="Name of the arena. Default: the kind")] = None,
    config: opt.Config = None,
    replace_there: opt.Replace = False,
    as_json: opt.Json = False,
) -> None:
    """Read what others published, or other tools wrote, into an arena folder.

    Further settings of a kind's reader, such as the split of mirage, are keys of --config.
    """
    import_and_print(
        *(kind, paths, out),
        apart=split_names(",".join(apart or ())),
        config=config,
        replace_there=replace_there,
        as_json=as_json,
        columns=named_values("--column", columns, FIELD),
        judge=judge,
        scores=split_names(scores),
        most_pairs=most_pairs,
        reference_system=reference_system,
        language=language,
        languages=split_names(languages),
        qrels=qrels,
        corpus=corpus,
        name=name,
    )


def import_and_print(
    kind: str,
    paths: Sequence[Path],
    out: Path,
    *,
    apart: Sequence[str] = (),
    config: Path | None = None,
    replace_there: bool = False,
    as_json: bool = False,
    **options: object,
) -> None:
    """Read a source by one of ``arena.adapters.READERS``, write the arena, print what was read.

    ``options`` are the reader's own; what is empty is left to it.
    """
    from arena.adapters import check_import_folder, import_arena, reader_options

    check_import_folder(out, replace_there)
    filed = toml_options(config, reader_options(kind))
    stated = {key: value for key, value in options.items() if value not in (None, [], {})}
    read = import_arena(kind, paths, **{**filed, **stated})
    write_and_print(read, out, apart, replace_there, as_json)


def write_and_print(
    read: ForeignArena,
    out: Path,
    apart: Sequence[str],
    is_replaced: bool,
    as_json: bool,
    left_out: pd.DataFrame | None = None,
    notes: Sequence[str] = (),
) -> None:
    """Write an arena; print what was read, left out on reading, and (``left_out``) on choosing."""
    from arena.adapters import write_import

    written = write_import(read, out, apart, is_replaced=is_replaced)
    shown = {"arena": written.folder, "counts": written.counts, "features": written.features}
    shown |= {"apart": written.apart, "skipped": read.skipped, "questions_left_out": left_out}
    titles = {
        "arena": "Arena written to",
        "features": "Published features, for --feature-table",
        "apart": "Answers kept apart, for rank",
        "skipped": "Left out on reading",
        "questions_left_out": "Left out on choosing",
    }
    show(shown | {"notes": [*filter(None, [read.arena.info.note]), *notes]}, as_json, titles)


def add(arena: opt.Arena, answers: opt.Answers) -> None:
    """Add new systems' answers to an arena; 'judge' then asks for their pairs alone."""
    from arena.data.folder import add_answers, read_answers, read_arena

    given = read_answers(answers, read_arena(arena).queries)
    names = list(dict.fromkeys(given["system"]))
    file, added, there = add_answers(arena, given)
    read = read_arena(arena)
    print(f"{count_of(added, 'answer')} of {', '.join(names)} added to {file}; {there} were there")
    for name in names:
        answered = int((read.answers["system"] == name).sum())
        print(f"  {name}: answers to {answered} of {count_of(len(read.queries), 'question')}")
    print(f"Next:  surrogate-arena judge {arena} --model MODEL --dry-run")
