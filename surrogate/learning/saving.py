"""Saving surrogates as data: what they were trained on, and how; they learn it again when loaded.

A file is a zip of a description (JSON), the training rows (Parquet) and plain arrays. Nothing in
it is executed, and no more of it is read than it declares and ``most_expanded`` allows.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, ValidationError

from arena.data.errors import DataError, MissingDependencyError, UsageError
from arena.data.files import atomic_path, most_expanded, refuse_beyond
from arena.data.parquet import read_parquet
from arena.rating.pairs import JudgedItems, Pairs
from surrogate.learning.names import SURROGATE_NAMES, find_surrogate
from surrogate.learning.regression import check_packages
from surrogate.learning.surrogate import KEYS, Surrogate
from surrogate.learning.training import MissingRule, RowKind, TrainingRatings

FORMAT: Literal[1] = 1
DESCRIPTION = "surrogate.json"
ROWS = "rows.parquet"
_DATE = (1980, 1, 1, 0, 0, 0)
"""Of every member of a file, so that the same content gives the same bytes."""
HINT = "build the board again with  surrogate-arena board ARENA --out DIR"
_INTEGERS = ("draws", "first", "second", "question", "pair")
_ARRAYS = (*_INTEGERS, "coefficients", "points", "counts", "variance")
"""Arrays of ``TrainingRatings`` and of its items; the last is optional."""


class _Language(BaseModel):
    model_config = ConfigDict(extra="forbid")

    systems: tuple[str, ...]
    questions: tuple[str, ...]


class _Description(BaseModel):
    model_config = ConfigDict(extra="forbid")

    format: Literal[1]
    name: str
    rows: RowKind
    missing: MissingRule
    seed: int
    features: tuple[str, ...]
    languages: dict[str, _Language]


def save_surrogate(surrogate: Surrogate, path: Path | str) -> None:
    """Write a fitted surrogate to a file, by custom ``surrogate.zip``."""
    description = _Description(
        format=FORMAT,
        name=surrogate.name,
        rows=surrogate.rows,
        missing=getattr(surrogate, "missing", "nan"),
        seed=surrogate.seed,
        features=surrogate.features_,
        languages={
            name: _Language(systems=item.systems, questions=item.questions)
            for name, item in surrogate.ratings_.items()
        },
    )
    table = io.BytesIO()
    pq.write_table(pa.Table.from_pandas(surrogate.X_, preserve_index=False), table)
    with (
        atomic_path(Path(path)) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        _write_member(archive, DESCRIPTION, description.model_dump_json(indent=1).encode())
        _write_member(archive, ROWS, table.getvalue())
        for language, ratings in surrogate.ratings_.items():
            held = {**vars(ratings.items.pairs), **vars(ratings.items), **vars(ratings)}
            for name in _ARRAYS:
                if held[name] is not None:
                    _write_array(archive, f"ratings/{language}/{name}", held[name])
        for language, arrays in surrogate.arrays().items():
            for name, array in arrays.items():
                _write_array(archive, f"models/{language}/{name}", array)


def load_surrogate(path: Path | str, n_jobs: int = 1) -> Surrogate:
    """Read a surrogate from a file; it learns again what is not kept as arrays.

    Raises:
        UsageError: If the file is absent, no surrogate, or holds what none of this project does.
        DataError: If it holds more than ``arena.data.files.most_expanded``.
        MissingDependencyError: If it needs a package that is not installed.
    """
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"there is no surrogate at {path}; {HINT}")
    try:
        with zipfile.ZipFile(path) as archive:
            declared = sum(member.file_size for member in archive.infolist())
            most = most_expanded(path.stat().st_size)
            refuse_beyond(path.name, declared, most, "bytes when expanded")
            return _restored(archive, n_jobs)
    except ValidationError as error:
        fields = ", ".join(".".join(map(str, item["loc"])) or "JSON" for item in error.errors())
        raise UsageError(f"{path.name} is not a surrogate: check {fields}; {HINT}") from error
    except (DataError, MissingDependencyError):
        raise
    except Exception as error:  # of zip, numpy or pyarrow, on bytes that are not what they say
        raise UsageError(f"{path.name} is not a surrogate: {error}; {HINT}") from error


def _restored(archive: zipfile.ZipFile, n_jobs: int) -> Surrogate:
    description = _Description.model_validate_json(_read_member(archive, DESCRIPTION))
    ratings, models = {}, {}
    for language, item in description.languages.items():
        ratings[language] = _ratings(_read_arrays(archive, f"ratings/{language}/"), language, item)
        if learned := _read_arrays(archive, f"models/{language}/"):
            models[language] = learned
    if description.name not in SURROGATE_NAMES:
        check_packages(description.name)
    told = description.model_dump(include={"name", "rows", "missing", "seed"})
    surrogate = find_surrogate(**told, n_jobs=n_jobs)
    rows = _rows(_read_member(archive, ROWS), description.features)
    return surrogate.restore(rows, ratings, models)


def _ratings(
    arrays: dict[str, npt.NDArray[Any]], language: str, item: _Language
) -> TrainingRatings:
    systems, questions = len(item.systems), len(item.questions)
    missing = set(_ARRAYS) - {"variance"} - set(arrays)
    if missing or set(arrays) - set(_ARRAYS):
        raise UsageError(f"the ratings in {language} are not those of a surrogate")
    tournaments, pairs = len(np.atleast_1d(arrays["draws"])), arrays["first"].size
    shapes = {
        "draws": (tournaments, questions),
        "coefficients": (tournaments, systems),
        "variance": (systems,),
        **dict.fromkeys(("first", "second"), (pairs,)),
        **dict.fromkeys(("question", "pair", "points", "counts"), (arrays["pair"].size,)),
    }
    below = {"first": systems, "second": systems, "question": questions, "pair": pairs}
    may_lack = ("coefficients", "variance")  # of published ratings without an error, say
    for name, array in arrays.items():
        kinds = "iu" if name in _INTEGERS else "f"
        if array.dtype.kind not in kinds or array.shape != shapes[name]:
            raise UsageError(f"the {name} in {language} have another type or shape")
        known = array[~np.isnan(array)] if name in may_lack else array
        if not np.isfinite(known).all() or (name != "coefficients" and (known < 0).any()):
            raise UsageError(f"the {name} in {language} hold numbers below 0 or not finite")
        if name in below and (array >= below[name]).any():
            raise UsageError(f"the {name} in {language} point to what does not exist")
    pair = Pairs(arrays.pop("first"), arrays.pop("second"), systems)
    of_items = {name: arrays.pop(name) for name in ("question", "pair", "points", "counts")}
    items = JudgedItems(pair, **of_items, n_questions=questions)
    return TrainingRatings(systems=item.systems, questions=item.questions, items=items, **arrays)


def _rows(content: bytes, features: tuple[str, ...]) -> pd.DataFrame:
    """Read the training rows, once their number is known to be in bounds."""
    rows = read_parquet(content, ROWS).to_pandas(strings_to_categorical=False)
    for name in rows.select_dtypes("category"):
        rows[name] = rows[name].astype("str")
    names = list(features)
    if list(rows.columns[: len(KEYS) + len(names)]) != [*KEYS, *names]:
        raise UsageError("its training rows have other columns than it says")
    if not all(pd.api.types.is_string_dtype(rows[name]) for name in KEYS):
        raise UsageError("its training rows name a system, question or language that is not a text")
    if list(rows[names].select_dtypes("number").columns) != names:
        raise UsageError("a feature of its training rows is not a number")
    if np.isinf(rows[names].to_numpy(np.float64)).any():
        raise UsageError("a feature of its training rows is infinite")
    return rows


def _write_member(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name, _DATE), content, zipfile.ZIP_DEFLATED)


def _write_array(archive: zipfile.ZipFile, name: str, array: npt.NDArray[Any]) -> None:
    plain = io.BytesIO()
    np.lib.format.write_array(plain, np.ascontiguousarray(array), allow_pickle=False)
    _write_member(archive, f"{name}.npy", plain.getvalue())


def _read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Read one member, no further than the size it declares."""
    size = archive.getinfo(name).file_size
    with archive.open(name) as member:
        content = member.read(size + 1)
    if len(content) != size:
        raise UsageError(f"{name} is not as long as it says")
    return content


def _read_arrays(archive: zipfile.ZipFile, folder: str) -> dict[str, npt.NDArray[Any]]:
    """Read the plain arrays whose names begin with a folder, by the rest of their names."""
    found = {}
    for name in (name for name in archive.namelist() if name.startswith(folder)):
        stream = io.BytesIO(_read_member(archive, name))
        try:
            np.lib.format.read_magic(stream)
            shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
        except ValueError as error:
            raise UsageError(f"{name} is not an array ({error})") from error
        size, rest = int(np.prod(shape, dtype=object)) * dtype.itemsize, stream.read()
        if dtype.kind not in "biuf" or is_fortran or size != len(rest):
            raise UsageError(f"{name} is not a plain array of the size it states")
        array = np.frombuffer(rest, dtype).reshape(shape)
        found[name.removeprefix(folder).removesuffix(".npy")] = array
    return found
