"""Options that several commands share, and what they name; targets."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from typer import Argument, Context, Option

from arena.data.errors import UsageError
from arena.data.files import resolved
from arena.data.writing import disk_advice, is_stream
from surrogate_arena.cli.folders import has_folder, imported

if TYPE_CHECKING:
    import pandas as pd

    from arena.data.arena import Arena as LoadedArena
    from features.models import ModelOptions
    from surrogate.board.board import Board as LoadedBoard


FOLDER: Any = {"exists": True, "file_okay": False}
"""For arguments that name a folder; typer refuses others before anything is loaded."""
FILE: Any = {"exists": True, "dir_okay": False}
Arena = Annotated[Path, Argument(help="Arena folder.", **FOLDER)]
Answers = Annotated[
    Path, Argument(help="Answers by the new systems (JSONL, CSV, Parquet).", **FILE)
]
Columns = Annotated[
    list[str] | None,
    Option(
        "--column",
        metavar="FIELD=NAME",
        help="Column for a field, such as answer=output; repeatable. The guide lists the fields.",
    ),
]
Values = Annotated[
    list[str] | None,
    Option(
        "--values",
        metavar="COLUMN:VALUE=MEANING,…",
        help="Meaning of the values in a column of winners: a, b, tie, bad or none, "
        "such as winner:0=a,1=b,.5=tie; a scale, such as winner:1..5=a..b; "
        "repeatable.",
    ),
]
NoSides = Annotated[
    bool,
    Option(
        "--no-sides",
        help="The columns of the two systems do not say which answer was shown first.",
    ),
]
Board = Annotated[Path, Option("--board", help="Board folder.", **FOLDER)]
GateBoard = Annotated[
    Path | None, Option("--board", help="Board folder. Default: none, only the arena", **FOLDER)
]
GateArena = Annotated[
    Path | None,
    Option(
        "--arena",
        help="Arena folder with the versions and their verdicts. Default: the board's.",
        **FOLDER,
    ),
]
MovedArena = Annotated[
    Path | None,
    Option("--arena", help="Arena folder, if it moved since the board was made.", **FOLDER),
]
JudgmentsSource = Annotated[
    Path,
    Argument(help="Arena folder, or file of judgments (JSONL, CSV, Parquet).", exists=True),
]
Judgments = Annotated[
    Path | None, Option(help="Judgments that involve the new systems.", exists=True)
]
Replace = Annotated[
    bool,
    Option(
        "--replace",
        help="Replace an arena folder that holds only what an import writes.",
    ),
]
Config = Annotated[
    list[str] | None,
    Option(
        metavar="KEY=VALUE|FILE.toml",
        help="Further settings, named like their fields in Python; repeatable. "
        "Options override them.",
    ),
]
Json = Annotated[bool, Option("--json", help="Print JSON instead of tables.")]
Jobs = Annotated[
    int, Option(min=-1, help="Number of processes; -1 for all cores. Results do not depend on it.")
]
Seed = Annotated[int, Option(min=0, help="Random seed.")]
Language = Annotated[str | None, Option(help="Language. Default: all")]
Languages = Annotated[str | None, Option(help="Comma-separated languages. Default: all")]
Judge = Annotated[str | None, Option(help="Judge to use, where there are several.")]
Preset = Annotated[
    str | None, Option(help="mirage: MIRAGE-Bench's published settings. Options override them.")
]
FeatureTable = Annotated[
    Path | None,
    Option(help="Feature table, or folder, to use instead of computing features.", exists=True),
]
OtherFeatures = Annotated[
    str | None,
    Option(
        help="Comma-separated features from other installed packages that the board was built with."
    ),
]
Download = Annotated[
    bool, Option("--download", help="Download models that are not on this machine.")
]
Templates = Annotated[
    list[str] | None,
    Option(
        "--template",
        metavar="NAME=FILE",
        help="Jinja template for a prompt, under the name that 'prompts' lists; "
        "repeatable. Or a folder of files NAME.jinja.",
    ),
]
Prices = Annotated[
    Path | None,
    Option(
        help='JSON of prices per million tokens: {"MODEL": {"tokens_in": 2.5, '
        '"tokens_out": 10}}; for batches, give batch prices.',
        **FILE,
    ),
]
DryRun = Annotated[
    bool, Option("--dry-run", help="Print what would be asked and what it would cost; ask nothing.")
]


def named_columns(texts: Sequence[str] | None) -> dict[str, str]:
    """Read --column, which is repeated as FIELD=NAME."""
    columns: dict[str, str] = {}
    for text in texts or ():
        name, _, column = text.partition("=")
        if not name or not column:
            raise UsageError(f"--column is {text!r}; write FIELD=NAME, such as question=prompt")
        if name in columns:
            raise UsageError(f"--column names {name} twice: {columns[name]!r} and {column!r}")
        columns[name] = column
    return columns


def given_models(templates: Sequence[str] | None, **options: Any) -> ModelOptions:  # noqa: ANN401
    """Return how features' models are run."""
    from features.models import ModelOptions

    if templates:
        from arena.llm.prompts import read_templates
        from features.models import FEATURE_PROMPTS

        options["templates"] = read_templates(templates, FEATURE_PROMPTS)
    return ModelOptions(**options)


def given_answers(path: Path, queries: pd.DataFrame, columns: Sequence[str] | None) -> pd.DataFrame:
    """Read answers to an arena's questions."""
    if has_folder("importers"):
        read_answers = imported("importers.new_answers:read_answers")
        return cast("pd.DataFrame", read_answers(path, queries, named_columns(columns)))

    from arena.data.folder import read_own_answers

    if columns:
        raise UsageError("--column needs the folder surrogate_arena/importers")
    return read_own_answers(path, queries)


def given_judgments(path: Path | None, arena: LoadedArena) -> pd.DataFrame | None:
    """Read judgments on an arena's questions."""
    if path is None:
        return None

    read_judgments = imported("importers.judgments:read_judgments")
    return cast("pd.DataFrame", read_judgments(path, arena.queries))


def given_features(path: Path | None, answers: pd.DataFrame) -> pd.DataFrame | None:
    """Read a feature table."""
    from surrogate.board.tables import read_feature_table

    return None if path is None else read_feature_table(path, answers)


def given_board(folder: Path, features: str | None) -> LoadedBoard:
    """Load a board, with features of other packages."""
    from features.measures.choosing import parse_features
    from surrogate.board.board import Board

    return Board.load(folder, parse_features(features) if features else ())


def check_target(path: Path | str, is_folder: bool) -> None:
    """Check that a file or folder can be written, by a try."""
    try:
        if is_stream(Path(path)) and not is_folder:
            return
        target = resolved(Path(path))
        # A name that is not UTF-8 would fail later, in a file that lists what was written.
        os.fsencode(str(target)).decode()
        if target.exists() and target.is_dir() != is_folder:
            kind = "file; name a folder" if is_folder else "folder; name a file"
            raise UsageError(f"{target} is a {kind} to write to")
        parent = target.parent
        if is_folder:
            # Folders are made as needed, so the nearest one that exists is what counts.
            parent = next(place for place in (target, *target.parents) if place.exists())
        if not parent.is_dir():
            reason = f"{parent} is a file" if parent.exists() else f"there is no folder {parent}"
            raise UsageError(f"{reason}; make it, or name another place to write {target.name} to")
        # Permissions tell less than a try: the disk may be full or mounted read-only.
        with tempfile.TemporaryFile(dir=parent) as probe:
            probe.write(b"x")
            probe.flush()
    except UnicodeDecodeError:
        raise UsageError(f"{str(path)!a} is not UTF-8; name another place to write to") from None
    except OSError as error:
        parts = [f"nothing can be written to {path} ({error})", disk_advice(error, Path(path))]
        raise UsageError("; ".join(filter(None, parts))) from error


def _checked(is_folder: bool) -> dict[str, Any]:
    def check_and_return(path: Path | None) -> Path | None:
        if path is not None:
            check_target(path, is_folder)
        return path

    return {"callback": check_and_return}


OUT_FOLDER: Any = _checked(is_folder=True)
"""For options that name a folder to write."""
OUT_FILE: Any = _checked(is_folder=False)

BoardFolder = Annotated[Path, Option("--out", help="Board folder to write.", **OUT_FOLDER)]
ArenaFolder = Annotated[Path, Option("--out", help="Arena folder to write.", **OUT_FOLDER)]


def _with_cluster(context: Context, named: str | None) -> str | None:
    if named is not None:
        from surrogate_arena.cli.cluster import cluster

        backend, _, address = named.partition("=")
        context.with_resource(cluster(backend, address or None))
    return named


Cluster = Annotated[
    str | None,
    Option(
        "--cluster",
        metavar="dask|ray[=ADDRESS]",
        callback=_with_cluster,
        help="Work on a cluster; without an address, start one on this machine.",
    ),
]
