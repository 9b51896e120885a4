"""A model card of a board's surrogate judge, by the conventions of the Hugging Face hub."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from arena.errors import UsageError
from arena.languages import LANGUAGE_CODE
from surrogate.board_folder import JUDGE_FILE
from surrogate.exports.card_parts import (
    TAGS,
    agreement_table,
    bullets,
    checked_license,
    code,
    limits,
    signature_list,
    table,
)
from surrogate.exports.front_matter import front_matter
from surrogate.exports.markdown import markdown_text
from surrogate.report.board_tables import BoardTables
from surrogate.report.field_features import mean_importances
from surrogate.report.formats import count_of, percent
from surrogate.report.languages import language_name

_TASK = {"type": "tabular-regression", "name": "Rating RAG systems by features of their answers"}
_LOADING = """```python
from surrogate import rank_systems, read_board
from arena import read_answers, read_arena

board = read_board("board")  # the folder of this file
arena = read_arena("my-arena")  # the arena the board was built from
answers = read_answers("answers.jsonl", arena.queries)  # answers of new systems
print(rank_systems(board, answers, arena).new)
```"""
_SECURITY = (
    "`judge.skops` is no pickle. `read_board` checks that it holds the known classes of a forest, "
    "or the numbers of a linear model, and nothing else, and that its arrays fit together, before "
    "anything is used; a file that does not pass is refused. Nothing in it is run. A model can "
    "still be wrong on purpose: compare the digest with one you trust."
)


def model_card(folder: Path | str, tables: BoardTables, license_name: str) -> str:
    """Write the ``README.md`` that publishes a board's ``judge.skops`` as a model.

    Args:
        folder: The board's folder.
        tables: Its tables.
        license_name: Licence of the model, which depends on that of what it learned from.

    Raises:
        UsageError: If the licence is blank or the folder holds no judge.
    """
    judge = Path(folder) / JUDGE_FILE
    if not judge.is_file():
        raise UsageError(
            f"{folder} holds no {JUDGE_FILE}; build the board anew with  "
            "surrogate-arena board ARENA --out DIR"
        )
    digest = hashlib.sha256(judge.read_bytes()).hexdigest()
    fields = {
        "language": [name for name in tables.languages if re.fullmatch(LANGUAGE_CODE, name)],
        "license": checked_license(license_name),
        "library_name": "sklearn",
        "pipeline_tag": _TASK["type"],
        "tags": [*TAGS, "skops"],
        "metrics": ["kendall_tau"],
        "model-index": _model_index(tables),
    }
    return front_matter(fields) + "\n" + _text(tables, digest)


def _model_index(tables: BoardTables) -> list[object]:
    macro = tables.summary.macro
    values = {
        "Kendall tau with the arena": macro.tau,
        "Kendall tau with the arena, unseen systems": macro.tau_unseen,
    }
    metrics = [
        {"type": "kendall_tau", "name": name, "value": round(value, 4)}
        for name, value in values.items()
        if value is not None
    ]
    if not metrics:
        return []
    dataset = {"type": tables.summary.arena, "name": tables.summary.arena}
    result = {"task": _TASK, "dataset": dataset, "metrics": metrics}
    return [{"name": _name(tables), "results": [result]}]


def _name(tables: BoardTables) -> str:
    return f"Surrogate judge of {tables.summary.arena}"


def _text(tables: BoardTables, digest: str) -> str:
    judge = markdown_text(tables.summary.judge)
    sections = [
        f"# {markdown_text(_name(tables))}",
        f"Predicts how {judge} would rate a RAG system, from features of its answers.",
        "## Intended use",
        "To place further RAG systems on this board without asking a judge: the same questions, "
        "passages and languages, and systems like those of the field below. Not to score single "
        "answers, other questions or other languages, nor to decide between systems whose "
        "intervals overlap.",
        "## Training field",
        _field(tables),
        "## Features",
        _features(tables),
        "## Validation",
        "Kendall tau between the ranking by this model and that from the judgments. *tau* has most "
        "systems in training; *tau unseen* rates every system by a model that was trained without "
        "it, and is the figure to trust for new systems.",
        agreement_table(tables),
        "## Limitations",
        bullets(limits(tables)),
        "## How to load it",
        _LOADING,
        "## Security",
        _SECURITY,
        f"SHA-256 of {code(JUDGE_FILE)}: {code(digest)}",
        "## Signature",
        signature_list(tables),
    ]
    return "\n\n".join(sections) + "\n"


def _field(tables: BoardTables) -> str:
    splits = tables.board.groupby("language")["split"].value_counts().unstack(fill_value=0)
    rows = [
        [
            f"{markdown_text(language_name(name))} ({markdown_text(name)})",
            str(splits.get("train", {}).get(name, 0)),
            str(splits.get("holdout", {}).get(name, 0)),
            f"{item.judgments:,}",
            f"{item.questions_judged:,} of {item.questions:,}",
        ]
        for name, item in tables.summary.languages.items()
    ]
    trained = sorted(set(tables.board.loc[tables.board["split"] == "train", "system"]))
    held = sorted(set(tables.board.loc[tables.board["split"] == "holdout", "system"]))
    header = ["Language", "trained on", "held out", "judgments", "questions judged"]
    names = [
        f"Trained on {count_of(len(trained), 'system')}: {_names(trained)}.",
        f"Held out of training: {_names(held)}.",
    ]
    return "\n\n".join([table(header, rows), *names])


def _names(systems: list[str]) -> str:
    return ", ".join(markdown_text(name) for name in systems) or "none"


def _features(tables: BoardTables) -> str:
    shares = mean_importances(tables)
    used = sorted(tables.summary.features, key=lambda name: (-shares.get(name, 0.0), name))
    rows = [[markdown_text(name), percent(shares.get(name), 1)] for name in used]
    return table(["Feature", "share in its decisions, mean over languages"], rows)
