"""Model and dataset cards of a board, for a hub of data sets and models."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import PurePath
from typing import Any

import jinja2

from arena.data.errors import UsageError
from arena.data.files import file_digest
from arena.data.languages import LANGUAGE_CODE
from surrogate.board.board import Board
from surrogate.board.tables import BOARD_FILES, SURROGATE_FILE
from surrogate.publish.exports.tables import markdown_text
from surrogate.publish.formats import decimal, interval, language_name, percent, whole
from surrogate.publish.view import mean_importances

TAGS = ["surrogate-arena", "rag", "evaluation", "llm-as-a-judge", "bradley-terry", "leaderboard"]
TABLE_SUFFIXES = (".csv", ".parquet")
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
LARGEST = "1M<n<10M"
TASK = {"type": "tabular-regression", "name": "Rating RAG systems by features of their answers"}
NOT_IN_YAML = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
"""What YAML 1.1 refuses, or takes for the end of a line."""


def dataset_card(board: Board, license_name: str) -> str:
    """Write the ``README.md`` that publishes a board folder as a data set.

    Args:
        board: Its board.
        license_name: License of the answers and judgments, such as ``cc-by-4.0``; only who
            publishes them knows it.

    Raises:
        UsageError: If the license is blank.
    """
    tables = [name for name in BOARD_FILES if PurePath(name).suffix in TABLE_SUFFIXES]
    answers = int(board.ratings["answers"].sum())
    fields = _common(board, license_name) | {
        "pretty_name": f"Leaderboard of {board.summary.arena}",
        "size_categories": [next((name for below, name in SIZES if answers < below), LARGEST)],
        "configs": [
            {"config_name": PurePath(name).stem, "data_files": name}
            | ({"default": True} if name == "board.csv" else {})
            for name in tables
        ],
    }
    return front_matter(fields) + _filled("dataset_card", board, files=BOARD_FILES, answers=answers)


def model_card(board: Board, license_name: str) -> str:
    """Write the ``README.md`` that publishes a board's ``surrogate.zip`` as a model.

    Args:
        board: Its board.
        license_name: License of the model, which depends on that of what it learned from.

    Raises:
        UsageError: If the license is blank or the board was not loaded.
    """
    if board.summary.is_first:
        raise UsageError("a first board, without any verdict, has no surrogate to publish")
    if board.folder is None:
        raise UsageError("the card gives the digest of the surrogate's file; load a saved board")
    name = f"Surrogate of {board.summary.arena}"
    fields = _common(board, license_name) | {
        "library_name": "sklearn",
        "pipeline_tag": TASK["type"],
        "metrics": ["kendall_tau"],
        "model-index": _model_index(board, name),
    }
    shares = mean_importances(board)
    return front_matter(fields) + _filled(
        "model_card",
        board,
        name=name,
        shares={feature: shares.get(feature) for feature in board.summary.settings.features},
        digest=file_digest(board.folder / SURROGATE_FILE),
    )


def _common(board: Board, license_name: str) -> dict[str, object]:
    if not license_name.strip():
        raise UsageError("name the license of the answers and judgments with --license")
    return {
        "language": [code for code in board.languages if re.fullmatch(LANGUAGE_CODE, code)],
        "license": license_name.strip(),
        "tags": TAGS,
    }


def _model_index(board: Board, name: str) -> list[object]:
    tau = board.summary.macro.tau_unseen
    if tau is None:
        return []
    metric = {
        "type": "kendall_tau",
        "name": "Kendall tau with verdicts, unseen systems",
        "value": round(tau, 4),
    }
    dataset = {"type": board.summary.arena, "name": board.summary.arena}
    return [{"name": name, "results": [{"task": TASK, "dataset": dataset, "metrics": [metric]}]}]


def front_matter(fields: Mapping[str, object]) -> str:
    """Return fields between lines of dashes, as JSON, which is YAML; empty ones are left out."""
    texts = {
        name: NOT_IN_YAML.sub("\N{REPLACEMENT CHARACTER}", json.dumps(value, ensure_ascii=False))
        for name, value in fields.items()
        if value not in (None, [])
    }
    lines = [f"{name}: {text}" for name, text in texts.items()]
    return "\n".join(["---", *lines, "---", "", ""])


def code(text: str) -> str:
    """Return text as code in a line, with more backticks around it than in it."""
    plain = re.sub(r"\s", " ", text)
    longest = max((len(run) for run in re.findall("`+", plain)), default=0)
    ticks = "`" * (longest + 1)
    padding = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{ticks}{padding}{plain}{padding}{ticks}"


@cache
def _environment() -> jinja2.Environment:
    """Return the environment of the cards: what is filled in is escaped as Markdown."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("surrogate.publish.exports"),
        autoescape=False,  # noqa: S701 - Markdown, not HTML: every text goes through a filter
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "md": markdown_text,
        "code": code,
        "decimal": decimal,
        "whole": whole,
        "percent": percent,
        "language": language_name,
    }
    environment.globals["interval"] = interval
    return environment


def _filled(template: str, board: Board, **further: Any) -> str:  # noqa: ANN401 - of a template
    splits = board.ratings.drop_duplicates(["system", "split"])
    return (
        _environment()
        .get_template(f"{template}.md.jinja")
        .render(
            board=board,
            summary=board.summary,
            languages=board.summary.languages,
            macro=board.summary.macro,
            trained=sorted(splits.loc[splits["split"] == "train", "system"]),
            held=sorted(splits.loc[splits["split"] == "holdout", "system"]),
            **further,
        )
    )
