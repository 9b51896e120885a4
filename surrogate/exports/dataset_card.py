"""A dataset card of a board folder, by the conventions of the Hugging Face hub."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PurePath

from arena.languages import LANGUAGE_CODE
from surrogate.exports.card_parts import (
    TAGS,
    agreement_table,
    bullets,
    checked_license,
    file_list,
    limits,
    present_files,
    signature_list,
)
from surrogate.exports.front_matter import front_matter
from surrogate.exports.markdown import markdown_text
from surrogate.report.board_tables import BoardTables
from surrogate.report.formats import count_of, whole
from surrogate.report.languages import language_name
from surrogate.summary import BoardSummary

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_LARGEST = "1M<n<10M"
_TABLE_SUFFIXES = frozenset({".csv", ".parquet"})


def dataset_card(folder: Path | str, tables: BoardTables, license_name: str) -> str:
    """Write the ``README.md`` that publishes a board folder as a data set.

    Args:
        folder: The board's folder, for the files it holds.
        tables: Its tables.
        license_name: Licence of the answers and judgments, such as ``cc-by-4.0``; only who
            publishes them knows it.

    Raises:
        UsageError: If the licence is blank.
    """
    files = present_files(folder)
    answers = _answers(tables)
    fields = {
        "language": [code for code in tables.languages if re.fullmatch(LANGUAGE_CODE, code)],
        "license": checked_license(license_name),
        "pretty_name": f"Synthetic leaderboard of {tables.summary.arena}",
        "size_categories": [size_category(answers)],
        "tags": list(TAGS),
        "configs": _configs(files),
    }
    return front_matter(fields) + "\n" + _text(tables, files, answers)


def size_category(rows: int) -> str:
    """Return the hub's category of a number of rows."""
    return next((name for below, name in _SIZES if rows < below), _LARGEST)


def _answers(tables: BoardTables) -> int:
    return int(tables.board["answers"].sum())


def _configs(files: Sequence[str]) -> list[dict[str, object]]:
    names = [name for name in files if PurePath(name).suffix in _TABLE_SUFFIXES]
    return [
        {"config_name": PurePath(name).stem, "data_files": name}
        | ({"default": True} if name == "board.csv" else {})
        for name in names
    ]


def _text(tables: BoardTables, files: Sequence[str], answers: int) -> str:
    summary = tables.summary
    languages = ", ".join(markdown_text(language_name(code)) for code in tables.languages)
    sections = [
        f"# Synthetic leaderboard of {markdown_text(summary.arena)}",
        "## What it is",
        f"Ranks of {count_of(len(tables.systems), 'RAG system')} in "
        f"{count_of(len(tables.languages), 'language')} ({languages}), from features of "
        f"{count_of(answers, 'answer')}, by a surrogate judge that learned from pairwise "
        f"judgments of {markdown_text(summary.judge)}.",
        "## Files",
        file_list(files),
        "Missing values are empty cells; `note` says why.",
        "## How it was made",
        _how_made(summary),
        "How far the synthetic ranking agrees with that from the judgments (Kendall tau; *unseen* "
        "is with every system rated by a surrogate that was trained without it):",
        agreement_table(tables),
        "## Signature",
        signature_list(tables),
        "## Limits",
        bullets(limits(tables)),
    ]
    return "\n\n".join(sections) + "\n"


def _how_made(summary: BoardSummary) -> str:
    languages = summary.languages.values()
    judgments = sum(item.judgments for item in languages)
    judged = sum(item.questions_judged for item in languages)
    questions = sum(item.questions for item in languages)
    return (
        f"{whole(judgments)} judgments of pairs of answers to {whole(judged)} of "
        f"{count_of(questions, 'question')} were fitted by Bradley-Terry models on bootstrapped "
        "tournaments. A regressor learned to predict a system's coefficient from "
        f"{count_of(len(summary.features), 'feature')} of its answers, and ranks every system on "
        "all questions (the method of MIRAGE-Bench, Thakur et al., NAACL 2025). Made with "
        "surrogate-arena."
    )
