"""Model and dataset cards of a board, for a hub of data sets and models."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import PurePath
from typing import Any

import jinja2

from arena.data.errors import UsageError
from arena.data.files import file_digest
from arena.data.languages import LANGUAGE_CODE
from surrogate.board.board import Board
from surrogate.board.tables import BOARD_FILES, SURROGATE_FILE
from surrogate.publish.exports import markdown_text
from surrogate.publish.formats import decimal, interval, language_name, percent, whole
from surrogate.publish.views import mean_importances

TAGS = ["surrogate-arena", "rag", "evaluation", "llm-as-a-judge", "bradley-terry", "leaderboard"]
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
LARGEST = "1M<n<10M"


def dataset_card(board: Board, license_name: str) -> str:
    """Write the ``README.md`` that publishes a board folder as a data set.

    Only who publishes it knows the license of its answers and judgments, such as ``cc-by-4.0``.

    Raises:
        UsageError: If the license is blank.
    """
    answers = int(board.ratings["answers"].sum())
    fields = {
        "pretty_name": f"Leaderboard of {board.summary.arena}",
        "size_categories": [next((name for below, name in SIZES if answers < below), LARGEST)],
        "configs": [
            {"config_name": PurePath(name).stem, "data_files": name}
            | ({"default": True} if name == "board.csv" else {})
            for name in BOARD_FILES
            if PurePath(name).suffix in (".csv", ".parquet")
        ],
    }
    values = {"files": BOARD_FILES, "answers": answers}
    return _card(board, license_name, "dataset_card", fields, values)


def model_card(board: Board, license_name: str) -> str:
    """Write the ``README.md`` that publishes a board's ``surrogate.zip`` as a model.

    Raises:
        UsageError: If the license is blank or the board was not loaded.
    """
    summary = board.summary
    if summary.is_first:
        raise UsageError("a first board, without any verdict, has no surrogate to publish")
    if board.folder is None:
        raise UsageError("the card gives the digest of the surrogate's file; load a saved board")
    fields = {
        "library_name": "sklearn",
        "pipeline_tag": "tabular-regression",
        "metrics": ["kendall_tau"],
    }
    shares = mean_importances(board)
    values = {
        "name": f"Surrogate of {summary.arena}",
        "shares": {feature: shares.get(feature) for feature in summary.settings.features},
        "digest": file_digest(board.folder / SURROGATE_FILE),
    }
    return _card(board, license_name, "model_card", fields, values)


def _card(
    board: Board, license_name: str, template: str, own: dict[str, Any], values: dict[str, Any]
) -> str:
    """Put a card together: fields as JSON, which is YAML, between dashes, and the filled text."""
    if not license_name.strip():
        raise UsageError("name the license of the answers and judgments with --license")
    fields = {
        "language": [code for code in board.languages if re.fullmatch(LANGUAGE_CODE, code)],
        "license": license_name.strip(),
        "tags": TAGS,
        **own,
    }
    lines = [f"{name}: {_yaml(value)}" for name, value in fields.items() if value]
    splits = board.ratings.drop_duplicates(["system", "split"])
    text = _environment().get_template(f"{template}.md.jinja")
    filled = text.render(
        board=board,
        summary=board.summary,
        languages=board.summary.languages,
        macro=board.summary.macro,
        trained=sorted(splits.loc[splits["split"] == "train", "system"]),
        held=sorted(splits.loc[splits["split"] == "holdout", "system"]),
        **values,
    )
    return "\n".join(["---", *lines, "---", "", filled])


def _yaml(value: object) -> str:
    """Return a value as JSON, with escapes for what YAML refuses or takes for the end of a line."""
    return "".join(
        mark if mark.isprintable() else rf"\u{ord(mark):04x}" if ord(mark) < 1 << 16 else "\ufffd"
        for mark in json.dumps(value, ensure_ascii=False)
    )


def code(text: str) -> str:
    """Return text as code in a line, backticks in it as apostrophes."""
    plain = re.sub(r"\s", " ", text).replace("`", "'")
    return f"`{plain}`"


@cache
def _environment() -> jinja2.Environment:
    """Return the environment of the cards: what is filled in is escaped as Markdown."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("surrogate.publish"),
        autoescape=False,  # noqa: S701 - Markdown, not HTML: every text goes through a filter
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"md": markdown_text, "code": code, "language": language_name}
    environment.filters |= {"decimal": decimal, "whole": whole, "percent": percent}
    environment.globals["interval"] = interval
    return environment
