"""An arena of part files: its features, a sample of its questions, a board of both."""

import pytest

from arena import write_arena


@pytest.fixture
def in_parts(small_arena, tmp_path):
    folder = tmp_path / "parts"
    write_arena(small_arena, folder, ".parquet")
    for name in ("queries", "answers"):
        (folder / f"{name}.parquet").unlink()
        for language, rows in getattr(small_arena, name).groupby("language"):
            path = folder / f"{name}.parquet" / f"language={language}" / "0.parquet"
            path.parent.mkdir(parents=True)
            rows.drop(columns="language").to_parquet(path, index=False)
    return folder


def test_a_board_of_some_questions_reads_only_what_is_theirs(run, small_arena, in_parts, tmp_path):
    """The board is that of the arena in lines."""
    whole, features, table = (tmp_path / name for name in ("whole", "parts.csv", "whole.csv"))
    write_arena(small_arena, whole)
    asked = ("--features", "answer_length,citation_recall")
    assert run("features", in_parts, "--out", features, *asked, "--jobs", 1) == 0
    assert run("features", whole, "--out", table, *asked, "--jobs", 1) == 0
    boards = []
    for source, measured in ((in_parts, features), (whole, table)):
        sample, out = tmp_path / f"of-{source.name}", tmp_path / f"board-{source.name}"
        assert run("select", source, "--questions", 6, "--out", sample) == 0
        built = ("--surrogate", "linear", "--tournaments", 2, "--no-site", "--jobs", 1)
        assert run("board", sample, "--feature-table", measured, "--out", out, *built) == 0
        files = ("board.csv", "overall.csv", "features.parquet")
        boards.append({name: (out / name).read_bytes() for name in files})
        parts = [(sample / f"{name}.jsonl.gz").read_bytes() for name in ("queries", "judgments")]
        boards[-1] |= dict(enumerate(parts))
    assert boards[0] == boards[1]
