"""Saved surrogates are data: what is altered, cut, too large or of another kind is refused."""

import io
import json
import pickle
import tracemalloc
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

from arena.data.errors import DataError, UsageError
from surrogate.learning.saving import load_surrogate, save_surrogate
from surrogate.learning.surrogate import find_surrogate, surrogate_name


class OwnRegressor(Ridge):
    """A regressor that no package has."""


@pytest.fixture(scope="module")
def saved(simulated, table, data_of, tmp_path_factory):
    data = data_of(simulated.arena, table)[0]
    surrogate = find_surrogate("random-forest", seed=1).fit(data.X, {"en": data.tournaments})
    path = tmp_path_factory.mktemp("saved") / "surrogate.zip"
    save_surrogate(surrogate, path)
    return path


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def written(path, content):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return path


def array(values):
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(values), allow_pickle=True)
    return buffer.getvalue()


def test_the_same_surrogate_gives_the_same_bytes(saved, tmp_path):
    again = tmp_path / "again.zip"
    save_surrogate(load_surrogate(saved), again)
    assert again.read_bytes() == saved.read_bytes()


def test_a_regressor_of_ones_own_is_handed_back(simulated, table, data_of, tmp_path):
    data = data_of(simulated.arena, table)[0]
    fitted = find_surrogate(surrogate_name(OwnRegressor(alpha=2.0))).fit(
        data.X, {"en": data.tournaments}
    )
    path = tmp_path / "surrogate.zip"
    save_surrogate(fitted, path)
    for other in (None, Ridge(alpha=2.0), OwnRegressor()):
        with pytest.raises(UsageError, match=r"OwnRegressor.*Board\.load\(FOLDER, regressor="):
            load_surrogate(path, regressor=other)
    again = load_surrogate(path, regressor=OwnRegressor(alpha=2.0))
    pd.testing.assert_frame_equal(again.predict(data.X), fitted.predict(data.X))


def test_who_voted_is_kept_as_numbers(simulated, table, data_of, tmp_path):
    judgments = simulated.arena.judgments
    voter = np.char.add("voter-", (np.arange(len(judgments)) % 7).astype(str))
    arena = replace(simulated.arena, judgments=judgments.assign(voter=voter))
    data = data_of(arena, table)[0]
    surrogate = find_surrogate("random-forest", seed=1).fit(data.X, {"en": data.tournaments})
    path = tmp_path / "surrogate.zip"
    save_surrogate(surrogate, path)
    kept = load_surrogate(path).ratings_["en"].items
    np.testing.assert_array_equal(kept.voter, surrogate.ratings_["en"].items.voter)
    assert not any(b"voter-" in content for content in members(path).values())


@pytest.mark.parametrize(
    "content",
    [b"", b"not a zip file", pickle.dumps({"format": 1}), b"PK\x03\x04 cut short"],
    ids=["empty", "text", "pickle", "cut"],
)
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "surrogate.zip"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"surrogate.zip is not a surrogate.*build the board"):
        load_surrogate(path)


def test_an_absent_file_is_said(tmp_path):
    with pytest.raises(UsageError, match="there is no surrogate at"):
        load_surrogate(tmp_path / "surrogate.zip")


@pytest.mark.parametrize("cut", [30, 1000, -200, -10])
def test_a_file_that_is_cut_or_altered_is_refused(saved, tmp_path, cut):
    content = saved.read_bytes()
    path = tmp_path / "surrogate.zip"
    path.write_bytes(content[:cut])
    with pytest.raises(UsageError):
        load_surrogate(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 99}, "check format"),
        ({"name": "oracle"}, "unknown surrogate 'oracle'"),
        ({"rows": "moon"}, "check rows"),
        ({"code": "print()"}, "check code"),
        ({"features": ["other", "nothing"]}, "other columns than it says"),
    ],
)
def test_descriptions_that_cannot_be_are_refused(saved, tmp_path, change, message):
    content = members(saved)
    description = json.loads(content["surrogate.json"]) | change
    content["surrogate.json"] = json.dumps(description).encode()
    with pytest.raises(UsageError, match=message):
        load_surrogate(written(tmp_path / "surrogate.zip", content))


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("ratings/en/draws", [[1, 2]], "another type or shape"),
        ("ratings/en/coefficients", [[np.inf] * 12] * 6, "below 0 or not finite"),
        ("ratings/en/coefficients", [["a"] * 12] * 6, "not a plain array"),
        ("ratings/en/first", np.array([object()], dtype=object), "not a plain array"),
        ("ratings/en/strange", [1.0], "not those of a surrogate"),
        ("models/en/strange", [1.0], "is learned again, not kept as arrays"),
    ],
)
def test_arrays_that_cannot_be_are_refused(saved, tmp_path, name, values, message):
    content = members(saved) | {f"{name}.npy": array(values)}
    with pytest.raises(UsageError, match=message):
        load_surrogate(written(tmp_path / "surrogate.zip", content))


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("models/observed/en", [1.0], "observed ratings in en have another type or shape"),
        ("models/blend/numbers", [1.0], "weights of predictions have another type or shape"),
        ("models/blend/numbers", [1.0] * 5 + [np.nan], "weights of predictions hold numbers"),
    ],
)
def test_what_was_learned_fits_the_ratings(
    simulated, table, data_of, tmp_path, name, values, message
):
    data = data_of(simulated.arena, table)[0]
    fitted = find_surrogate().fit(data.X, {"en": data.tournaments})
    path = tmp_path / "surrogate.zip"
    save_surrogate(fitted, path)
    loaded = load_surrogate(path)
    pd.testing.assert_frame_equal(loaded.predict(data.X), fitted.predict(data.X))
    with pytest.raises(UsageError, match=message):
        load_surrogate(written(path, members(path) | {f"{name}.npy": array(values)}))


@pytest.mark.parametrize("name", ["first", "pair", "question"])
def test_battles_of_what_is_not_there_are_refused(saved, tmp_path, name):
    content = members(saved)
    places = np.load(io.BytesIO(content[f"ratings/en/{name}.npy"])).copy()
    places[0] = 9_999
    content[f"ratings/en/{name}.npy"] = array(places)
    with pytest.raises(UsageError, match=f"{name} in en point to what does not exist"):
        load_surrogate(written(tmp_path / "surrogate.zip", content))


def test_a_header_that_claims_more_than_there_is_reads_nothing(saved, tmp_path):
    content = members(saved)
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"
    padded = header + b" " * (117 - len(header)) + b"\n"
    content["models/en/value.npy"] = (
        b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded + b"\0" * 16
    )
    with pytest.raises(UsageError, match="not a plain array of the size it states"):
        load_surrogate(written(tmp_path / "surrogate.zip", content))


def test_what_unpacks_to_more_than_the_bounds_is_not_unpacked(saved, tmp_path, monkeypatch):
    zeros = array(np.zeros(30 * 2**20, dtype=np.uint8))  # 0.03 MB of a zip file
    bomb = written(tmp_path / "surrogate.zip", members(saved) | {"models/en/value.npy": zeros})
    monkeypatch.setattr("surrogate.learning.saving.most_expanded", lambda _: 20 * 2**20)
    tracemalloc.start()
    with pytest.raises(DataError, match=r"surrogate.zip: holds more than 20,971,520 bytes"):
        load_surrogate(bomb)
    assert tracemalloc.get_traced_memory()[1] < 8 * 2**20
    tracemalloc.stop()
    monkeypatch.undo()
    with pytest.raises(UsageError, match="is learned again, not kept as arrays"):
        load_surrogate(bomb)


def test_training_rows_that_expand_beyond_the_bounds_are_refused(saved, tmp_path, monkeypatch):
    content = members(saved)
    rows = pd.read_parquet(io.BytesIO(content["rows.parquet"]))
    rows["system"] = "x" * 2**16
    buffer = io.BytesIO()
    rows.to_parquet(buffer)
    content["rows.parquet"] = buffer.getvalue()
    monkeypatch.setattr("arena.data.parquet.most_expanded", lambda _: 2**20)
    with pytest.raises(DataError, match=r"rows.parquet: holds more than 1,048,576 bytes"):
        load_surrogate(written(tmp_path / "surrogate.zip", content))
