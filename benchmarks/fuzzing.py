"""Damaged and crafted input at every border: each is read or refused in a sentence, none crashes.

    python benchmarks/fuzzing.py --executions 200000

prints, for each border, how many inputs were read, how many were refused, and where other errors
came from.
"""

import argparse
import json
import random
import tempfile
import time
import tomllib
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from damaged_input import changed, crafted, crafted_zip, damaged
from published_rows import PUBLISHED

from arena import Arena, write_arena
from arena.data.errors import ArenaError
from arena.data.files import file_digest
from arena.data.folder import read_arena
from arena.llm import LlmSettings, Prompt, open_store
from arena.llm.completions import MalformedAnswerError, read_completion, read_embedding
from arena.llm.replies import Completion
from arena.llm.requests import request_for
from arena.simulation import simulated_arena
from surrogate import Board, build_board
from surrogate.board.tables import BOARD_FILES, MANIFEST_FILE
from surrogate.learning.saving import load_surrogate
from surrogate_arena.importers.judgments import read_judgments
from surrogate_arena.runs.config import read_configuration

Border = Iterator[Callable[[], object]]


def _folder_border(
    folder: Path,
    read: Callable[[Path], object],
    rng: random.Random,
    sign: Callable[[], None] = lambda: None,
) -> Border:
    """Change one file of a folder at a time, and sign the folder."""
    originals = _contents(folder)
    originals.pop(folder / MANIFEST_FILE, None)
    while True:
        path = rng.choice(list(originals))
        path.write_bytes(changed(originals[path], path.name, rng))
        sign()
        yield lambda: read(folder)
        path.write_bytes(originals[path])


def _contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(folder.iterdir())}


def arena_border(work: Path, rng: random.Random) -> Border:
    """Arena folders, plain and as Parquet."""
    arena = _arena()
    write_arena(arena, work / "plain", ".jsonl")
    write_arena(arena, work / "parquet", ".parquet")
    plain, parquet = (_folder_border(work / name, read_arena, rng) for name in ("plain", "parquet"))
    while True:
        yield next(plain if rng.random() < 0.7 else parquet)


def battles_border(work: Path, rng: random.Random) -> Border:
    """Files of judgments."""
    folder = work / "battles"
    folder.mkdir()
    arena = _arena()
    table = arena.judgments.drop(columns=["query_id"]).head(20)
    table.to_csv(folder / "battles.csv", index=False)
    table.to_json(folder / "battles.jsonl", orient="records", lines=True)
    table.to_parquet(folder / "battles.parquet")
    originals = _contents(folder)
    while True:
        path = rng.choice(list(originals))
        path.write_bytes(changed(originals[path], path.name, rng))
        yield partial(read_judgments, path)


def _arena() -> Arena:
    sample = simulated_arena()
    part = sample.select(["en"], sample.info.systems[:5])
    query_ids = part.queries[["query_id"]].head(4)
    return replace(
        part,
        queries=part.queries.merge(query_ids),
        answers=part.answers.merge(query_ids),
        judgments=part.judgments.merge(query_ids),
    )


def _board(folder: Path) -> None:
    board = build_board(
        _arena(), features="answer_length,content_coverage", surrogate="linear", tournaments=2
    )
    board.save(folder)


def board_border(work: Path, rng: random.Random) -> Border:
    """Board folders whose manifest is right for what was crafted."""
    folder = work / "board"
    _board(folder)

    def sign() -> None:
        digests = {name: file_digest(folder / name) for name in BOARD_FILES}
        (folder / MANIFEST_FILE).write_text(json.dumps({"files": digests}))

    def read(folder: Path) -> None:
        board = Board.load(folder)
        board._repr_html_()
        _ = board.surrogate

    yield from _folder_border(folder, read, rng, sign)


def surrogate_border(work: Path, rng: random.Random) -> Border:
    """Surrogate files."""
    _board(work / "for_surrogate")
    path = work / "for_surrogate" / "surrogate.zip"
    original = path.read_bytes()
    while True:
        change = crafted_zip if rng.random() < 0.7 else damaged
        path.write_bytes(change(original, rng))
        yield lambda: load_surrogate(path)


TOML = b"""out = "boards"
[defaults]
tournaments = 10
seed = 1
features = ["answer_length", "bleu"]
[boards.one]
arena = "plain"
judge = "j"
surrogate = "linear"
[boards.two]
arena = "plain"
languages = ["en"]
"""


def toml_border(work: Path, rng: random.Random) -> Border:
    """Configurations of boards."""
    path = work / "boards.toml"
    original = tomllib.loads(TOML.decode())
    while True:
        if rng.random() < 0.5:
            path.write_bytes(damaged(TOML, rng))
        else:
            path.write_bytes(_toml(crafted(original, rng)))
        yield lambda: read_configuration(path)


def _toml(value: object) -> bytes:
    """Write a value as TOML, as far as it can be."""
    if not isinstance(value, dict):
        return repr(value).encode(errors="replace")
    lines = []
    for key, field in value.items():
        if field is not None:
            lines.append(f"{json.dumps(str(key))} = {_inline(field)}")
    return "\n".join(lines).encode(errors="replace")


def _inline(value: object) -> str:
    if isinstance(value, dict):
        fields = (f"{json.dumps(str(key))} = {_inline(field)}" for key, field in value.items())
        return "{" + ", ".join(fields) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return json.dumps(value)


REPLY = {
    "model": "m",
    "choices": [
        {
            "message": {"content": "[[A]]", "refusal": None},
            "finish_reason": "stop",
            "logprobs": {
                "content": [
                    {"token": "A", "logprob": -0.1, "top_logprobs": [{"token": "B", "logprob": -2}]}
                ]
            },
        }
    ],
    "usage": {"prompt_tokens": 3, "completion_tokens": 1},
}
VECTOR = {"data": [{"embedding": [0.1, 2, -3e5]}], "usage": {"prompt_tokens": 4}}


def replies_border(work: Path, rng: random.Random) -> Border:
    """Replies of servers, up to the store."""
    with open_store(work / "replies.db") as store:
        request = request_for(Prompt.of("q"), LlmSettings(model="m"))

        def read(payload: object, reader: Callable[[object], Completion]) -> None:
            try:
                completion = reader(payload)
            except MalformedAnswerError as error:
                raise ArenaError(str(error)) from error
            store.save(request, completion)

        while True:
            original, reader = rng.choice(((REPLY, read_completion), (VECTOR, read_embedding)))
            payload = crafted(crafted(original, rng), rng)
            yield partial(read, payload, reader)


def store_border(work: Path, rng: random.Random) -> Border:
    """Stores whose file is damaged."""
    path = work / "store.db"
    keys = []
    with open_store(path) as store:
        for number in range(20):
            request = request_for(Prompt.of(f"q {number}"), LlmSettings(model="m"))
            store.save(request, Completion(f"a {number}"))
            keys.append(request.key)
    original = path.read_bytes()

    def read() -> None:
        with open_store(path) as store:
            store.look_up(keys)

    while True:
        for journal in work.glob("store.db-*"):
            journal.unlink()
        path.write_bytes(damaged(original, rng))
        yield read


def published_border(kind: str, work: Path, rng: random.Random) -> Border:
    """Files as others publish them, in folders of their own."""
    folders = []
    for number, (files, readers) in enumerate(PUBLISHED[kind]):
        folder = work / str(number)
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        folders.append((folder, files, readers))
    while True:
        folder, files, readers = rng.choice(folders)
        name = rng.choice(list(files))
        (folder / name).write_bytes(changed(files[name].encode(), name, rng))
        yield partial(rng.choice(readers), folder)
        (folder / name).write_text(files[name], encoding="utf-8")


BORDERS: dict[str, tuple[Callable[[Path, random.Random], Border], float]] = {
    "LLM replies": (replies_border, 0.4),
    "TOML": (toml_border, 0.25),
    "battles": (battles_border, 0.1),
    "arena folder": (arena_border, 0.05),
    "store": (store_border, 0.1),
    "surrogate file": (surrogate_border, 0.02),
    "board folder": (board_border, 0.02),
    **{name: (partial(published_border, name), 0.015) for name in PUBLISHED},
}
"""Name to the inputs of a border, and its share of the executions: slow ones get fewer."""


def fuzz(border: str, executions: int, seed: int = 0) -> Counter[str]:
    """Send changed inputs through a border; returns counts by outcome."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        inputs = BORDERS[border][0](Path(folder), random.Random(f"{border} {seed}"))
        for _ in range(executions):
            read = next(inputs)
            try:
                read()
                counts["read"] += 1
            except ArenaError:
                counts["refused"] += 1
            except Exception as error:
                counts[f"{type(error).__name__} at {_origin(error)}: {str(error)[:90]}"] += 1
    return counts


def _origin(error: Exception) -> str:
    """Return the innermost line outside installed packages."""
    frames = traceback.extract_tb(error.__traceback__)
    frame = [frame for frame in frames if "/site-packages/" not in frame.filename][-1]
    return f"{'/'.join(Path(frame.filename).parts[-2:])}:{frame.lineno}"


def main() -> None:
    """Run the executions asked for and print what became of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--executions", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--border", choices=BORDERS)
    options = parser.parse_args()
    for name, (_, share) in BORDERS.items():
        if options.border in (None, name):
            started = time.perf_counter()
            runs = options.executions if options.border else round(options.executions * share)
            counts = fuzz(name, runs, options.seed)
            seconds = time.perf_counter() - started
            print(f"{name}: {counts.total():,} executions in {seconds:.0f} s")
            for outcome, count in counts.most_common():
                print(f"  {count:>8,} {outcome}")


if __name__ == "__main__":
    main()
