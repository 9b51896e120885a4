"""The files of a clone: which there are, and what their names tell."""

from pathlib import Path

import pytest

from arena.adapters.files import files_below, language_of, shown_path, split_of


@pytest.fixture
def clone(tmp_path):
    """A clone in a folder that happens to be named as a language is."""
    for name in (
        "de/clone/en/dev-00000-of-00001.parquet",
        "de/clone/en/train-00000-of-00002.parquet",
        "de/clone/data/hi.jsonl.gz",
        "de/clone/topics.miracl-v1.0-sw-dev.tsv",
        "de/clone/readme.jsonl",
        "de/clone/.git/en.jsonl",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path / "de" / "clone"


def test_languages_are_told_by_names_below_the_folder(clone):
    found = files_below([clone], (".parquet", ".gz", ".tsv", ".jsonl"))
    told = {shown_path(path, [clone]): language_of(path, [clone]) for path in found}
    assert told == {
        "en/dev-00000-of-00001.parquet": "en",
        "en/train-00000-of-00002.parquet": "en",
        "data/hi.jsonl.gz": "hi",
        "topics.miracl-v1.0-sw-dev.tsv": "sw",
        "readme.jsonl": None,
    }
    (english, *_) = files_below([clone / "en"], (".parquet",))
    assert language_of(english, [clone / "en"]) == "en"
    assert language_of(english, [english]) == "en"
    assert language_of(english, [clone], "yo") == "yo"


def test_splits_are_told_by_names():
    names = ("en/dev-00000-of-00001.parquet", "topics.miracl-v1.0-en-train.tsv", "en.jsonl")
    assert [split_of(Path(name)) for name in names] == ["dev", "train", None]
