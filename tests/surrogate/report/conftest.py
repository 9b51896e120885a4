"""Board folders for sites: a small real one, and one with hostile names written by hand."""

import shutil

import pandas as pd
import pytest

from surrogate import write_board
from surrogate.publish.site.site import write_site

HOSTILE = (
    "<script>alert(1)</script>",
    "../x",
    "CON",
    "con",
    "GPT",
    "gpt",
    "שלום \u202eעולם",
    '" onmouseover="alert(1)',
    "]]></script><img src=x onerror=alert(1)>",
    "n" * 300,
    "{{ 7 * 7 }}",
    "nul\x00byte",
)


@pytest.fixture(scope="session")
def board_folder(small_board, tmp_path_factory):
    folder = tmp_path_factory.mktemp("board")
    write_board(small_board, folder)
    return folder


@pytest.fixture(scope="session")
def hostile_folder(board_folder, tmp_path_factory):
    """The board with its systems renamed to hostile names in every file."""
    folder = tmp_path_factory.mktemp("hostile") / "board"
    shutil.copytree(board_folder, folder)
    systems = pd.read_csv(folder / "overall.csv")["system"].tolist()
    names = dict(zip(systems, HOSTILE, strict=False))
    assert len(systems) <= len(HOSTILE)
    for path in folder.glob("*.csv"):
        rename_columns(path, names)
    features = pd.read_parquet(folder / "features.parquet")
    features["system"] = features["system"].map(names)
    features.to_parquet(folder / "features.parquet", index=False)
    examples = pd.read_json(folder / "examples.jsonl", lines=True, dtype=False)
    examples["system"] = examples["system"].map(names)
    examples["answer"] = "<img src=x onerror=alert(2)> & </script>"
    examples.to_json(folder / "examples.jsonl", orient="records", lines=True, force_ascii=False)
    return folder


def rename_columns(path, names):
    table = pd.read_csv(path, keep_default_na=False, dtype=str)
    for column in {"system", "opponent", "neighbour"} & set(table):
        table[column] = table[column].map(names)
    table.to_csv(path, index=False)


@pytest.fixture(scope="session")
def site(board_folder, tmp_path_factory):
    return write_site(board_folder, tmp_path_factory.mktemp("site") / "site").parent


@pytest.fixture(scope="session")
def hostile_site(hostile_folder, tmp_path_factory):
    return write_site(hostile_folder, tmp_path_factory.mktemp("hostile-site") / "site").parent
