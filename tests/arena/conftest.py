"""An arena of systems with passages of their own."""

import json

import pytest
from own_passages import ANSWERS, SHARED, row, write_lines


@pytest.fixture
def own_passages_folder(tmp_path):
    info = {"name": "own", "languages": ["en"], "systems": list(ANSWERS)}
    (tmp_path / "arena.json").write_text(json.dumps(info))
    write_lines(
        tmp_path / "queries.jsonl",
        [{"query_id": "q", "language": "en", "query": "Who was Ada?", "passages": SHARED}],
    )
    write_lines(tmp_path / "answers.jsonl", [row(name) for name in ANSWERS])
    return tmp_path
