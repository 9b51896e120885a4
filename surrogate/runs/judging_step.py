"""The step in which an LLM judges; the arena folder itself is left as it is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from arena.data.errors import UsageError
from arena.data.folder import Arena, checked_arena, read_arena, rows_of
from arena.data.rows import read_rows, write_rows
from arena.judging.folder import FAILURES_FILE
from arena.llm.replies import FINAL, UNPARSABLE
from surrogate.board.judge_report import STORE_FILE, JudgingRecords, read_judging_records
from surrogate.runs.config import JudgingOptions
from surrogate.runs.config_file import ConfiguredBoard
from surrogate.runs.steps import (
    ARENA_CONTENT,
    ARENA_JUDGMENTS,
    JUDGING_LIBRARIES,
    Place,
    Step,
    digests_of,
    versions_of,
)

if TYPE_CHECKING:
    from arena.judging import LlmJudge
    from arena.judging.summary import Judged

JUDGING = "judging"
VERDICTS_FILE = "judgments.parquet"
SUMMARY_FILE = "judging.json"

_FINAL = {*FINAL, UNPARSABLE}
"""Failures that would be the same if the pair were asked again."""

_SETTINGS = {
    *("model", "name", "questions", "pairs", "both_orders", "languages"),
    *("verdict", "temperature", "max_tokens", "seed"),
}
"""Options that a verdict depends on; not where and how fast it is asked for."""


def judging_step(board: ConfiguredBoard, options: JudgingOptions) -> Step:
    """Return the step that lets an LLM judge a board's arena."""
    return Step(
        board.name,
        JUDGING,
        lambda place: _judge(board, options, place),
        files=lambda: _prefixed(digests_of(board.arena, (*ARENA_CONTENT, *ARENA_JUDGMENTS))),
        options=options.model_dump(mode="json", include=_SETTINGS),
        versions=versions_of(JUDGING_LIBRARIES),
    )


def _prefixed(digests: dict[str, str]) -> dict[str, str]:
    return {f"arena/{name}": digest for name, digest in digests.items()}


def judged_arena(board: ConfiguredBoard, folder: Path) -> Arena:
    """Read a board's arena together with the verdicts of its judging step.

    Args:
        board: The board.
        folder: Folder of the board.

    Raises:
        UsageError: If the arena folder or one of its files is absent.
        DataError: If its content is at fault.
    """
    arena = read_arena(board.arena)
    if board.options.judging is None:
        return arena
    columns = list(arena.judgments)
    verdicts = read_rows(folder / JUDGING / VERDICTS_FILE).table.reindex(columns=columns)
    judgments = pd.concat([arena.judgments.astype(object), verdicts], ignore_index=True)
    return checked_arena(
        arena.info,
        rows_of(arena.queries, "queries"),
        rows_of(arena.answers, "answers"),
        rows_of(judgments, f"{JUDGING}/{VERDICTS_FILE}"),
    )


def judging_records(board: ConfiguredBoard, judge: str, place: Place) -> JudgingRecords:
    """Read what is known of a judge beside its judgments.

    Args:
        board: The board.
        judge: Its judge.
        place: Where the board is made.

    Raises:
        UsageError: If a meta-evaluation that the board names is not there.
        DataError: If a file is damaged.
    """
    further = [board.base / name for name in board.options.metaevaluation]
    records = read_judging_records(board.arena, judge, further)
    if board.options.judging is None:
        return records
    failures = read_judging_records(place.of(JUDGING), judge).failures
    usage = read_judging_records(place.out, judge).usage
    return replace(records, failures=failures, usage=usage)


def _judge(board: ConfiguredBoard, options: JudgingOptions, place: Place) -> str:
    from arena.judging import choose_pairs, judge_arena
    from arena.llm import Budget, open_store

    arena = read_arena(board.arena)
    pairs = choose_pairs(
        arena,
        options.questions,
        "all" if options.pairs is None else options.pairs,
        options.both_orders,
        options.languages,
        options.seed,
    )
    with open_store(_store(board, options, place)) as store:
        judged = judge_arena(
            *(arena, _judge_of(options), pairs, store),
            budget=Budget(options.max_calls),
            progress=place.progress,
        )
    summary = judged.summary
    if summary.usage.failures and sum(summary.verdicts.values()) == summary.identical:
        raise UsageError(
            f"no pair that was asked got a verdict: {_counted(summary.usage.failures)}"
        )
    _write(judged, place.target)
    return _unfinished(judged)


def _store(board: ConfiguredBoard, options: JudgingOptions, place: Place) -> str:
    if options.store is None:
        return str(place.out / STORE_FILE)
    return str(board.base / options.store)


def _judge_of(options: JudgingOptions) -> LlmJudge:
    from arena.judging import LlmJudge
    from arena.llm import Endpoint, ModelSettings

    temperature = None if options.temperature < 0 else options.temperature
    return LlmJudge(
        ModelSettings(options.model, temperature=temperature, max_tokens=options.max_tokens),
        Endpoint(
            options.base_url,
            options.api_key_env,
            concurrency=options.concurrency,
            timeout_s=options.timeout_s,
        ),
        options.verdict,
        name=options.name,
    )


def _write(judged: Judged, target: Path) -> None:
    order = ["language", "query_id", "system_a", "system_b"]
    ordered = judged.judgments.sort_values(order, kind="stable").reset_index(drop=True)
    write_rows(ordered, target / VERDICTS_FILE)
    write_rows(judged.failures, target / FAILURES_FILE)
    text = json.dumps(judged.summary.as_json(), indent=2, ensure_ascii=False, allow_nan=False)
    (target / SUMMARY_FILE).write_text(text + "\n", encoding="utf-8")


def _unfinished(judged: Judged) -> str:
    left = {name: n for name, n in judged.summary.usage.failures.items() if name not in _FINAL}
    return f"pairs without a verdict: {_counted(left)}" if left else ""


def _counted(failures: dict[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in sorted(failures.items())) or "none"
