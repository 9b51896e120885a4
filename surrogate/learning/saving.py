"""Saving surrogates as training data and settings, from which loading learns again.

A file is a zip of JSON, Parquet and plain arrays; nothing in it is executed.
"""

from __future__ import annotations

import ast
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, FiniteFloat, ValidationError

from arena.computing.codes import without_categories
from arena.data.errors import DataError, MissingDependencyError, UsageError
from arena.data.files import most_expanded, refuse_beyond
from arena.data.parquet import read_parquet
from arena.data.writing import atomic_path
from arena.rating.biases import Biases
from arena.rating.pairs import JudgedItems, Pairs
from features.engine.extraction import FEATURE_KEY
from surrogate.learning.surrogate import (
    BLEND,
    OBSERVED,
    SURROGATE_NAMES,
    Surrogate,
    find_surrogate,
    reseeded,
    surrogate_name,
)
from surrogate.learning.system_ridge import Blend
from surrogate.learning.training_data import MissingRule, RowKind, TrainingRatings

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

DESCRIPTION = "surrogate.json"
ROWS = "rows.parquet"
KNOWN_PACKAGES = ("sklearn", "xgboost", "lightgbm")
"""Packages that a file may name; in settings and on the command line any package is allowed."""
HINT = "build the board again with  surrogate-arena board ARENA --out DIR"
_OF_PAIRS = ("first", "second", "judge", "is_sided")
_OF_ITEMS = ("question", "pair", "points", "counts", "soft_counts", "voter")
_INTEGERS = ("draws", *_OF_PAIRS, "question", "pair", "voter")
_OPTIONAL = ("variance", "soft_counts", "voter")
_ARRAYS = {"draws", "coefficients", "variance", *_OF_PAIRS, *_OF_ITEMS}
"""Arrays of ``TrainingRatings`` and of its items."""


class UnknownRegressorError(UsageError):
    """A file names a regressor of a forbidden package."""


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
    preferences: dict[str, FiniteFloat] = {}
    languages: dict[str, _Language]


def save_surrogate(surrogate: Surrogate, path: Path | str) -> None:
    """Write a fitted surrogate to a file, usually ``surrogate.zip``."""
    description = _Description(
        format=1,
        name=surrogate.name,
        rows=surrogate.rows,
        missing=getattr(surrogate, "missing", "nan"),
        seed=surrogate.seed,
        features=surrogate.features_,
        preferences=getattr(surrogate, "preferences", {}),
        languages={
            language: _Language(systems=ratings.systems, questions=ratings.questions)
            for language, ratings in surrogate.ratings_.items()
        },
    )
    table = io.BytesIO()
    rows = without_categories(surrogate.X_)
    pq.write_table(pa.Table.from_pandas(rows, preserve_index=False), table)
    with (
        atomic_path(Path(path)) as temporary,
        zipfile.ZipFile(temporary, "w") as archive,
    ):
        _write_member(archive, DESCRIPTION, description.model_dump_json(indent=1).encode())
        _write_member(archive, ROWS, table.getvalue())
        for language, ratings in surrogate.ratings_.items():
            for name, array in _arrays_of(ratings).items():
                _write_array(archive, f"ratings/{language}/{name}", array)
        for part, arrays in surrogate.arrays().items():
            for name, array in arrays.items():
                _write_array(archive, f"models/{part}/{name}", array)


def _arrays_of(ratings: TrainingRatings) -> dict[str, npt.NDArray[Any]]:
    items = ratings.items
    biases = items.biases
    arrays: dict[str, npt.NDArray[Any]] = {
        "draws": ratings.draws,
        "first": items.pairs.first,
        "second": items.pairs.second,
        "judge": np.zeros(len(items.pairs), np.intp) if biases is None else biases.judge,
        "is_sided": np.ones(len(items.pairs), np.intp) if biases is None else biases.is_sided,
        "question": items.question,
        "pair": items.pair,
        "coefficients": ratings.coefficients,
        "points": items.points,
        "counts": items.counts,
    }
    if ratings.variance is not None:
        arrays["variance"] = ratings.variance
    if items.soft_counts is not None:
        arrays["soft_counts"] = items.soft_counts
    if items.voter is not None:
        arrays["voter"] = items.voter
    return arrays


def load_surrogate(path: Path | str, regressor: BaseEstimator | None = None) -> Surrogate:
    """Read a surrogate from a file, and learn again what it does not store.

    Args:
        path: A file that ``save_surrogate`` wrote.
        regressor: Your own regressor that it was made of: a file imports no code.

    Returns:
        The fitted surrogate.

    Raises:
        UsageError: If the file is absent, no surrogate, or of an unknown regressor.
        DataError: If it holds more than ``arena.data.files.most_expanded``.
        MissingDependencyError: If it needs a package that is not installed.

    Examples:
        >>> from arena import sample_arena
        >>> from features import extract
        >>> from surrogate import find_surrogate, save_surrogate
        >>> X = extract(sample_arena(), "citations")
        >>> ratings = X.assign(rating=X["system"].str.len())[["language", "system", "rating"]]
        >>> surrogate = find_surrogate("linear", rows="overall").fit(X, ratings.drop_duplicates())
        >>> save_surrogate(surrogate, "surrogate.zip")
        >>> load_surrogate("surrogate.zip").name
        'linear'
    """
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"there is no surrogate at {path}; {HINT}")
    try:
        with zipfile.ZipFile(path) as archive:
            declared = sum(member.file_size for member in archive.infolist())
            most = most_expanded(path.stat().st_size)
            refuse_beyond(path.name, declared, most, "bytes when expanded")
            return _restored(archive, regressor)
    except ValidationError as error:
        fields = []
        for fault in error.errors():
            fields.append(".".join(str(part) for part in fault["loc"]) or "JSON")
        raise UsageError(
            f"{path.name} is not a surrogate: check {', '.join(fields)}; {HINT}"
        ) from error
    except (DataError, MissingDependencyError, UnknownRegressorError):
        raise
    except Exception as error:  # of zip, numpy or pyarrow, on bytes that are not what they say
        raise UsageError(f"{path.name} is not a surrogate: {error}; {HINT}") from error


def _restored(archive: zipfile.ZipFile, regressor: BaseEstimator | None) -> Surrogate:
    description = _Description.model_validate_json(_read_member(archive, DESCRIPTION))
    own_name = None if regressor is None else surrogate_name(regressor)
    if description.name not in (*SURROGATE_NAMES, own_name):
        check_packages(description.name)
    ratings = {}
    models = {}
    for language, part in description.languages.items():
        arrays = _read_arrays(archive, f"ratings/{language}/")
        ratings[language] = _ratings(arrays, language, part)
    for name in (*ratings, OBSERVED, BLEND):
        learned = _read_arrays(archive, f"models/{name}/")
        if learned:
            models[name] = learned
    for language, array in models.get(OBSERVED, {}).items():
        shape = (len(ratings[language].systems),)
        _check_array(array, f"the observed ratings in {language}", "coefficients", shape)
    if BLEND in models:
        numbers = models[BLEND]["numbers"]
        _check_array(numbers, "the weights of predictions", BLEND, (len(Blend._fields),))
    surrogate = find_surrogate(
        description.name,
        rows=description.rows,
        missing=description.missing,
        seed=description.seed,
    )
    # The weights that it was built with, whatever this version of the package comes with.
    surrogate = reseeded(surrogate, description.seed, preferences=description.preferences)
    rows = _rows(_read_member(archive, ROWS), description.features)
    return surrogate.fit_with(rows, ratings, models)


def check_packages(regressor: str) -> None:
    """Check that a regressor's text names estimators of known packages alone."""
    for node in ast.walk(ast.parse(regressor, mode="eval")):
        if not isinstance(node, ast.Attribute):
            continue
        path = ast.unparse(node)
        if path.split(".")[0] not in KNOWN_PACKAGES:
            raise UnknownRegressorError(
                f"the surrogate is {path}, and a file may name {', '.join(KNOWN_PACKAGES)} alone; "
                "hand the regressor back in Python: Board.load(FOLDER, regressor=...)"
            )


def _ratings(
    arrays: dict[str, npt.NDArray[Any]], language: str, part: _Language
) -> TrainingRatings:
    _check_arrays(arrays, language, part)
    n_systems = len(part.systems)
    n_questions = len(part.questions)
    # A surrogate needs no names of judges.
    judges = tuple(map(str, range(int(arrays["judge"].max(initial=-1)) + 1)))
    items = JudgedItems(
        Pairs(arrays["first"], arrays["second"], n_systems),
        question=arrays["question"],
        pair=arrays["pair"],
        points=arrays["points"],
        counts=arrays["counts"],
        n_questions=n_questions,
        soft_counts=arrays.get("soft_counts"),
        voter=arrays.get("voter"),
        biases=Biases.of_judges(arrays["judge"], judges, arrays["is_sided"]),
    )
    return TrainingRatings(
        systems=part.systems,
        questions=part.questions,
        draws=arrays["draws"],
        coefficients=arrays["coefficients"],
        items=items,
        variance=arrays.get("variance"),
    )


def _check_arrays(arrays: Mapping[str, npt.NDArray[Any]], language: str, part: _Language) -> None:
    missing = _ARRAYS - set(_OPTIONAL) - set(arrays)
    unknown = set(arrays) - _ARRAYS
    if missing or unknown:
        raise UsageError(f"the ratings in {language} are not those of a surrogate")
    n_systems = len(part.systems)
    n_questions = len(part.questions)
    n_tournaments = len(np.atleast_1d(arrays["draws"]))
    n_pairs = arrays["first"].size
    shapes = {
        "draws": (n_tournaments, n_questions),
        "coefficients": (n_tournaments, n_systems),
        "variance": (n_systems,),
        **dict.fromkeys(_OF_PAIRS, (n_pairs,)),
        **dict.fromkeys(_OF_ITEMS, (arrays["pair"].size,)),
    }
    limits = {
        "first": n_systems,
        "second": n_systems,
        "judge": n_pairs,
        "is_sided": 2,
        "question": n_questions,
        "pair": n_pairs,
    }
    for name, array in arrays.items():
        _check_array(array, f"the {name} in {language}", name, shapes[name])
        if name in limits and (array >= limits[name]).any():
            raise UsageError(f"the {name} in {language} point to what does not exist")


def _check_array(array: npt.NDArray[Any], label: str, name: str, shape: tuple[int, ...]) -> None:
    kinds = "iu" if name in _INTEGERS else "f"
    if array.dtype.kind not in kinds or array.shape != shape:
        raise UsageError(f"{label} have another type or shape")
    values = array
    if name in ("coefficients", "variance"):  # NaN of published ratings without an error, say
        values = array[~np.isnan(array)]
    is_out_of_bounds = name != "coefficients" and (values < 0).any()
    if not np.isfinite(values).all() or is_out_of_bounds:
        raise UsageError(f"{label} hold numbers below 0 or not finite")


def _rows(content: bytes, features: tuple[str, ...]) -> pd.DataFrame:
    rows = read_parquet(content, ROWS).to_pandas(strings_to_categorical=False)
    for name in rows.select_dtypes("category"):
        rows[name] = rows[name].astype("str")
    names = list(features)
    if list(rows.columns[: len(FEATURE_KEY) + len(names)]) != [*FEATURE_KEY, *names]:
        raise UsageError("its training rows have other columns than it says")
    if not all(pd.api.types.is_string_dtype(rows[name]) for name in FEATURE_KEY):
        raise UsageError("its training rows name a system, question or language that is not a text")
    if list(rows[names].select_dtypes("number").columns) != names:
        raise UsageError("a feature of its training rows is not a number")
    if np.isinf(rows[names].to_numpy(np.float64)).any():
        raise UsageError("a feature of its training rows is infinite")
    return rows


def _write_member(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    # One date for all, so that the same content gives the same bytes.
    member = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    # A fifth of the time of level 6, and files a fifth larger.
    archive.writestr(member, content, zipfile.ZIP_DEFLATED, compresslevel=1)


def _write_array(archive: zipfile.ZipFile, name: str, array: npt.NDArray[Any]) -> None:
    plain = io.BytesIO()
    np.lib.format.write_array(plain, np.ascontiguousarray(array), allow_pickle=False)
    _write_member(archive, f"{name}.npy", plain.getvalue())


def _read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    size = archive.getinfo(name).file_size
    with archive.open(name) as member:
        content = member.read(size + 1)
    if len(content) != size:
        raise UsageError(f"{name} is not as long as it says")
    return content


def _read_arrays(archive: zipfile.ZipFile, folder: str) -> dict[str, npt.NDArray[Any]]:
    arrays = {}
    for name in archive.namelist():
        if not name.startswith(folder):
            continue
        stream = io.BytesIO(_read_member(archive, name))
        try:
            np.lib.format.read_magic(stream)
            shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
        except ValueError as error:
            raise UsageError(f"{name} is not an array ({error})") from error
        content = stream.read()
        n_bytes = int(np.prod(shape, dtype=object)) * dtype.itemsize
        # Numbers alone: no objects, which would be unpickled.
        if dtype.kind not in "biuf" or is_fortran or n_bytes != len(content):
            raise UsageError(f"{name} is not a plain array of the size it states")
        key = name.removeprefix(folder).removesuffix(".npy")
        arrays[key] = np.frombuffer(content, dtype).reshape(shape)
    return arrays
