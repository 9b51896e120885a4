"""Sentences and lists that cards share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from arena.errors import UsageError
from surrogate.exports.markdown import markdown_text
from surrogate.report.board_tables import BoardTables
from surrogate.report.formats import decimal, interval
from surrogate.report.languages import language_name
from surrogate.report.signature import reproduction, signature_fields

TAGS = ("surrogate-arena", "rag", "evaluation", "llm-as-a-judge", "bradley-terry", "leaderboard")

BOARD_FILES: Mapping[str, str] = {
    "board.csv": "ratings and ranks of every system in every language",
    "overall.csv": "systems by their mean rank over languages",
    "arena.csv": "Bradley-Terry ratings from the judgments, with 95% intervals",
    "importances.csv": "share of each feature in the surrogate's decisions",
    "tiers.csv": "judged systems that are not distinguishable, and intervals of their ranks",
    "win_matrix.csv": "wins, losses and ties of each pair",
    "neighbours.csv": "nearest systems in the space of features",
    "examples.jsonl": "answers with their verdicts, as the systems wrote them",
    "features.parquet": "every feature of every answer",
    "judge_report.json": "what is known of the judge",
    "judge.skops": "the surrogate judge",
    "summary.json": "agreement, counts of what was skipped and why, signature",
}
"""Files of a board folder and what they hold."""


def checked_license(license_name: str) -> str:
    """Return the licence.

    Raises:
        UsageError: If it is blank.
    """
    if not license_name.strip():
        raise UsageError("name the licence of the answers and judgments with --license")
    return license_name.strip()


def present_files(folder: Path | str) -> list[str]:
    """Return the files of a board that a folder holds."""
    return [name for name in BOARD_FILES if (Path(folder) / name).is_file()]


def code(text: str) -> str:
    """Return text as code in a line, with a fence that the text does not hold."""
    plain = re.sub(r"\s", " ", text)
    longest = max((len(run) for run in re.findall("`+", plain)), default=0)
    fence = "`" * (longest + 1)
    padding = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{fence}{padding}{plain}{padding}{fence}"


def bullets(items: Iterable[str]) -> str:
    """Return a list; items are Markdown."""
    return "\n".join(f"- {item}" for item in items)


def file_list(files: Sequence[str]) -> str:
    """Describe files of a board."""
    return bullets(f"{code(name)}: {BOARD_FILES[name]}" for name in files)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a pipe table; cells are Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def agreement_table(tables: BoardTables) -> str:
    """Return Kendall tau a language, and its mean."""
    rows = [
        [
            f"{markdown_text(language_name(code_))} ({markdown_text(code_)})",
            decimal(found.tau, 3),
            interval(found.tau_low, found.tau_high, 3),
            decimal(found.tau_unseen, 3),
            str(found.systems_judged),
            str(found.questions_judged),
        ]
        for code_, found in tables.summary.languages.items()
    ]
    macro = tables.summary.macro
    if len(rows) > 1:
        bounds = interval(macro.tau_low, macro.tau_high, 3)
        rows.append(["mean", decimal(macro.tau, 3), bounds, decimal(macro.tau_unseen, 3), "", ""])
    header = ["Language", "tau", "95% interval", "tau unseen", "systems judged", "questions judged"]
    return table(header, rows)


def signature_list(tables: BoardTables) -> str:
    """Take the signature apart, and say how the board is made again."""
    signature = tables.summary.signature
    fields = bullets(
        f"{code(field.name)}: {code(field.value)}" for field in signature_fields(signature)
    )
    again = reproduction(tables.summary)
    return "\n\n".join(
        [fields, f"Made again by {code(again.command)}", *map(markdown_text, again.cautions)]
    )


def limits(tables: BoardTables) -> list[str]:
    """Return what limits how far the board can be trusted, as sentences."""
    found = [
        "A rating holds within its language and this field of systems; ratings of different "
        "languages are not on one scale.",
        "The surrogate sees features of answers, not the answers: what no feature measures, it "
        "cannot judge.",
        f"It can be no better than its judge, {markdown_text(tables.summary.judge)}, "
        "and shares its biases.",
    ]
    notes = [
        f"{markdown_text(language)}: {markdown_text(note)}"
        for language, item in tables.summary.languages.items()
        for note in item.notes
    ]
    return found + notes
