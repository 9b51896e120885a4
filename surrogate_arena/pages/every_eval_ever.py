"""A board as records of Every Eval Ever (arXiv 2606.14516): a file for each system."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import pandas as pd

from arena.data import __version__
from arena.data.errors import UsageError
from arena.data.writing import replaced_folder
from surrogate.board.board import Board
from surrogate.board.summary import LEVEL
from surrogate_arena.cli.clock import now
from surrogate_arena.pages.site_settings import SiteSettings

SCHEMA_VERSION = "0.3.0"
LIBRARY = "surrogate-arena"
_BOUNDS: dict[str, dict[str, Any]] = {
    "proportion": {"min_score": 0.0, "max_score": 1.0},
    "logits": {"min_score": "-Infinity", "max_score": "Infinity"},
}
_INTERVALS = {"rating": ("low", "high"), "wins": ("wins_low", "wins_high")}
"""Columns of a board that are published, each with the columns of its interval."""
_DESCRIPTIONS = {
    "rating": "Rating among the systems of the board",
    "wins": "Expected share of pairs that the system wins against the others",
}
_UNKNOWN = {"deployment_type": "unknown", "model_availability": "unknown"}
_NOT_PORTABLE = re.compile(r"[^A-Za-z0-9._-]+")


def write_records(board: Board, folder: Path, settings: SiteSettings) -> list[str]:
    """Write a record for each system, where the project's data store would have it.

    Returns:
        The systems without any rating, which have no record.

    Raises:
        UsageError: If no organization is stated, or the folder holds anything but such records.
    """
    if not settings.organization:
        raise UsageError("records say who publishes them; state it by --config organization=NAME")
    _check_replaceable(folder)
    without = []
    with replaced_folder(folder) as writing:
        for system in board.systems:
            record = record_of(board, system, settings)
            if not record["evaluation_results"]:
                without.append(system)
                continue
            owner, name = record["model_info"]["id"].split("/", 1)
            place = writing / "data" / _portable(_title(board, settings)) / owner / name
            place.mkdir(parents=True, exist_ok=True)
            text = json.dumps(record, ensure_ascii=False, indent=2)
            (place / f"{_uuid(board, system)}.json").write_text(f"{text}\n", encoding="utf-8")
    return without


def _check_replaceable(folder: Path) -> None:
    """Check that nothing but records of ours would be lost."""
    for path in folder.rglob("*"):
        if not path.is_dir() and not _is_own_record(path):
            raise UsageError(
                f"{folder} holds {path.relative_to(folder)}, which is no record of a board; name a "
                "new or empty folder"
            )


def _is_own_record(path: Path) -> bool:
    if path.suffix != ".json":
        return False
    try:
        return bool(json.loads(path.read_text(encoding="utf-8"))["eval_library"]["name"] == LIBRARY)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def record_of(board: Board, system: str, settings: SiteSettings) -> dict[str, Any]:
    """Return the record of a system: its ratings and shares of wins, by language."""
    time = str(int(now().timestamp()))
    title = _title(board, settings)
    owner, _, name = system.rpartition("/")
    identity = f"{_portable(owner or settings.organization)}/{_portable(name)}"
    source = {
        "source_name": title,
        "source_type": "evaluation_run",
        "source_organization_name": settings.organization,
        "evaluator_relationship": "other",
    }
    if settings.home:
        source["source_organization_url"] = settings.home
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"{_portable(title)}/{identity}/{time}",
        "retrieved_timestamp": time,
        "source_metadata": source,
        "eval_library": {
            "name": LIBRARY,
            "version": __version__,
            "additional_details": {"signature": board.summary.signature},
        },
        "model_info": {"name": system, "id": identity, "additional_details": _UNKNOWN},
        "evaluation_results": list(_results(board, system, title)),
    }


def _results(board: Board, system: str, title: str) -> Iterator[dict[str, Any]]:
    rows = board.ratings[board.ratings["system"] == system]
    for row in rows.to_dict(orient="records"):
        for measure in _INTERVALS:
            if not pd.isna(row[measure]):
                yield {
                    "evaluation_result_id": f"{row['language']}/{measure}",
                    "evaluation_name": f"{title}, {row['language']}",
                    "source_data": {"dataset_name": board.summary.arena, "source_type": "other"},
                    "metric_config": _metric(board, measure),
                    "score_details": _score(row, measure),
                }


def _metric(board: Board, measure: str) -> dict[str, Any]:
    words = board.summary.words
    unit = "proportion" if measure == "wins" else words.unit
    return {
        "metric_id": f"surrogate_arena.{measure}",
        "metric_name": measure,
        "evaluation_description": _DESCRIPTIONS[measure],
        "lower_is_better": False,
        "score_type": "continuous",
        "metric_unit": unit,
        **_BOUNDS[unit],
        "additional_details": {
            "judge": board.summary.judge,
            "rated_by": words.rated_by,
        },
    }


def _score(row: Mapping[str, Any], measure: str) -> dict[str, Any]:
    uncertainty: dict[str, Any] = {"num_samples": int(row["answers"])}
    if measure == "rating" and math.isfinite(row["standard_error"]):
        uncertainty["standard_error"] = {"value": row["standard_error"]}
    low, high = (row[name] for name in _INTERVALS[measure])
    if math.isfinite(low) and math.isfinite(high):
        interval = {"lower": low, "upper": high, "confidence_level": LEVEL}
        uncertainty["confidence_interval"] = interval
    ranked = {name: str(row[name]) for name in ("rank", "place") if not pd.isna(row[name])}
    return {"score": row[measure], "details": ranked, "uncertainty": uncertainty}


def _title(board: Board, settings: SiteSettings) -> str:
    return settings.title or board.summary.arena


def _portable(name: str) -> str:
    return _NOT_PORTABLE.sub("-", name).strip(".-") or "unnamed"


def _uuid(board: Board, system: str) -> UUID:
    """Return an id that the same board and system have again."""
    content = f"{board.summary.fingerprint}\n{board.summary.signature}\n{system}"
    return UUID(bytes=hashlib.sha256(content.encode()).digest()[:16], version=4)
