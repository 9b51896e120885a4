"""Printing boards as text tables or JSON."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from arena.data.wording import count_of

if TYPE_CHECKING:
    import pandas as pd

    from surrogate.board.board import Board
    from surrogate.board.summary import BoardSummary, HoldoutR2, LanguageSummary, MacroSummary

WIDTH_WHERE_PIPED = 120
SHOWN_NOTES = 10


def print_json(content: object) -> None:
    """Print strict JSON: tables as lists of rows, missing values as null."""
    from arena.data.rows import plain_records

    shown = json.dumps(
        content, indent=2, ensure_ascii=False, allow_nan=False, default=plain_records
    )
    print(shown)


def bounded(ratings: pd.DataFrame) -> pd.DataFrame:
    """Leave out upper bounds that are infinite, which JSON has no number for."""
    bounds = [name for name in ("high", "surrogate_high") if name in ratings]
    return ratings.assign(
        **{name: ratings[name].where(ratings[name] != float("inf")) for name in bounds}
    )


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table; numbers to the right, missing values as a dash.

    Args:
        title: Shown in a line above the table.
        header: Column names.
        rows: Cells; texts are shown as they are.
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH_WHERE_PIPED)
    console.print(f"\n{escape(title)}", highlight=False)
    table = Table()
    numeric = [all(_is_numeric(row[index]) for row in rows) for index in range(len(header))]
    for index, (name, is_numeric) in enumerate(zip(header, numeric, strict=True)):
        whole = all(SPAN.fullmatch(str(row[index])) for row in rows)  # is not broken in two
        justify: Literal["left", "right"] = "right" if is_numeric else "left"
        table.add_column(name, justify=justify, overflow="fold", no_wrap=whole)
    for row in rows:
        table.add_row(*(escape(cell(value)) for value in row))
    console.print(table)


NUMBER = re.compile(r"[-+]?[\d.,]+%?|–")
SPAN = re.compile(r"-?[\d.]+ to (-?[\d.]+|inf)|–")


def _is_numeric(value: object) -> bool:
    return not isinstance(value, str) or NUMBER.fullmatch(value) is not None


def is_missing(value: object) -> bool:
    """Tell whether there is no value."""
    import pandas as pd

    return value is None or bool(pd.isna(value))


def cell(value: object) -> str:
    """Show one value: two or three digits for numbers, a dash for a missing one."""
    if isinstance(value, str):
        return value
    if is_missing(value):
        return "–"
    if isinstance(value, float):
        return f"{value:z.3f}"
    return str(value)


def shown_bounds(
    low: object, high: object, between: str, shown: Callable[[Any], str] = cell
) -> str:
    """Show two bounds; a dash where there are none."""
    return cell(None) if is_missing(low) else f"{shown(low)}{between}{shown(high)}"


def two_decimals(value: float | None) -> str:
    """Show a number with two decimals, a dash for a missing one."""
    return cell(None) if is_missing(value) else f"{value:z.2f}"


def print_columns(title: str, table: pd.DataFrame, columns: Sequence[str]) -> None:
    """Print some columns of a table."""
    header = [name.replace("_", " ") for name in columns]
    rows = table[list(columns)].itertuples(index=False, name=None)
    print_table(title, header, [list(row) for row in rows])


def print_board(board: Board) -> None:
    """Print a board's ranks, how far they agree with the arena, and what limits them."""
    if board.summary.macro.judging:
        print(board.summary.macro.judging)
    if len(board.languages) > 1:
        print_overall(board.overall, board.summary.rated_by)
    else:
        print_language(board.ratings, board.languages[0], board.summary.rated_by)
    if board.summary.is_first:
        print("\n".join(item.sentence for item in board.summary.macro.conclusions))
        _print_skipped(board.summary)
        return
    print_agreement(board.summary)
    _print_intervals(board)
    for entry in board.judge_report.metaevaluations:
        print(f"Judge {board.judge_report.judge} against labels ({entry.judge}): {entry}")


def _print_intervals(board: Board) -> None:
    """Print where the surrogate's expectations have no interval, or a rough one, and why."""
    from surrogate.board.summary import POOLED

    said: dict[str, list[str]] = {}
    rated = board.ratings.loc[board.ratings["rating"].notna(), "language"].unique()
    for language in rated:
        interval = board.summary.languages[language].interval
        if interval.reason:
            said.setdefault(
                f"no interval of what the surrogate expects: {interval.reason}", []
            ).append(language)
        elif interval.pooled:
            rough = f"intervals of what the surrogate expects are rough: {POOLED}"
            said.setdefault(rough, []).append(language)
    for sentence, languages in said.items():
        print(f"Note ({', '.join(languages)}): {sentence}")


def print_overall(overall: pd.DataFrame, by: str) -> None:
    """Print the board over all languages."""
    columns = ["rank", "system", "mean_rank", "languages", "coverage"]
    shown = overall.rename(columns={"arena_rank": "rank_by_verdicts_alone"})
    if overall["arena_rank"].notna().any():
        columns.append("rank_by_verdicts_alone")
    print_columns(f"Leaderboard, mean rank over languages (by {by})", shown, columns)


def print_language(board: pd.DataFrame, language: str, by: str) -> None:
    """Print the board of one language."""
    from surrogate.publish.formats import percent

    columns = ["rank", "ranks", "tier", "system", "rating", "interval"]
    by_verdicts = bool(board["arena_rating"].notna().any())
    columns += ["own", "surrogate", "verdicts"] if by_verdicts else []
    rows = board[board["language"] == language]
    if (rows["coverage"] < 1).any():
        columns.append("coverage")
    bounds = zip(rows["low"], rows["high"], strict=True)
    ranks = zip(rows["rank_low"], rows["rank_high"], strict=True)
    rows = rows.assign(
        interval=[shown_bounds(low, high, " to ", two_decimals) for low, high in bounds],
        ranks=[shown_bounds(low, high, "–") for low, high in ranks],
        own=[percent(share) for share in rows["verdict_share"]],
        coverage=[percent(share) for share in rows["coverage"]],
        rating=rows["rating"].map(two_decimals),
        surrogate=rows["surrogate_rating"].map(two_decimals),
        verdicts=rows["arena_rating"].map(two_decimals),
    )
    if (rows["note"] != "").any():
        columns.append("note")
    title = f"Leaderboard, {language}: ratings by {by}, with 90% intervals"
    if by_verdicts:
        title += "; the share that is by a system's own verdicts; ratings by surrogate and by "
        title += "verdicts alone"
    print_columns(title, rows, columns)


def print_agreement(summary: BoardSummary) -> None:
    """Print how ratings replicate, and how the surrogate does without verdicts, by language."""
    macro, languages = summary.macro, summary.languages
    held_out = any(item.holdout for item in languages.values())
    rows = [
        [
            *_agreement_row(language, item),
            *(_r2_row(item.holdout_r2) if held_out else []),
            *(item.systems, item.questions),
        ]
        for language, item in languages.items()
    ]
    if len(rows) > 1:
        r2 = [macro.holdout_r2_mean, None, macro.holdout_r2_median] if held_out else []
        rows.append([*_agreement_row("macro", macro), *r2, None, None])
    header = ["language", "split half", "verdicts alone", "gain", "unseen", "95%"]
    header += ["trained on", *(["R² held out", "interval", "median"] if held_out else [])]
    header += ["systems", "questions"]
    print_table(
        f"Kendall tau with the verdicts of {summary.judge}: ratings from half of the questions "
        "with the other half (gain over verdicts alone: 95% over systems); the surrogate's of "
        "systems unseen, and of those it was trained on",
        header,
        rows,
    )
    said = [item.sentence for item in macro.conclusions if item.sentence != macro.judging]
    print("\n".join(said))
    _print_skipped(summary)


def _interval(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"[{low:.3f}, {high:.3f}]"


def _r2_row(found: HoldoutR2) -> list[object]:
    """Mean R² over tournaments with its 95% interval, as MIRAGE-Bench has it, and the median."""
    return [found.mean, _interval(found.low, found.high), found.median]


def _agreement_row(name: str, item: LanguageSummary | MacroSummary) -> list[object]:
    gain = shown_bounds(item.gain_low, item.gain_high, " to ", two_decimals)
    unseen = shown_bounds(item.tau_unseen_low, item.tau_unseen_high, " to ", two_decimals)
    halves = [item.split_half, item.split_half_verdicts, gain]
    return [name, *halves, item.tau_unseen, unseen, item.tau]


def _print_skipped(summary: BoardSummary) -> None:
    languages = summary.languages.values()
    answers = sum(item.skipped.missing_answers for item in languages)
    questions = sum(item.skipped.questions_without_judgments for item in languages)
    values = sum(
        count
        for item in languages
        for reasons in item.skipped.missing_feature_values.values()
        for count in reasons.values()
    )
    print(
        f"Skipped: {count_of(answers, 'absent answer')}, {count_of(values, 'feature value')} that "
        f"could not be computed, {count_of(questions, 'question')} without judgments (reasons in "
        "summary.json)"
    )
    if unused := _unused_features(summary):
        print(f"Features the surrogate could not use: {unused}")
    said: dict[str, list[str]] = {}
    for language, item in summary.languages.items():
        own = (
            item.warnings if len(summary.languages) > 1 and item.systems_judged else ()
        )  # of one, said above
        for note in (*own, *item.notes):
            said.setdefault(note, []).append(language)
    notes = [f"Note ({', '.join(languages)}): {note}" for note, languages in said.items()]
    print("\n".join(notes[:SHOWN_NOTES]))
    if len(notes) > SHOWN_NOTES:
        print(f"… and {count_of(len(notes) - SHOWN_NOTES, 'more note')} in summary.json")
    print(f"Signature: {summary.signature}")


def _unused_features(summary: BoardSummary) -> str:
    """Name the features that were left out in any language, by reason."""
    by_reason: dict[str, dict[str, None]] = {}
    for item in summary.languages.values():
        for feature, reason in item.skipped.features_left_out.items():
            by_reason.setdefault(reason, {})[feature] = None
    return "; ".join(f"{', '.join(names)} ({reason})" for reason, names in by_reason.items())


class ProgressLines:
    """Writes how far each stage is to standard error, a line at every tenth of it."""

    def __init__(self) -> None:
        self._tenths: dict[str, int] = {}
        self._begun: dict[str, tuple[int, float]] = {}  # what was done when first shown, and when
        self._started = time.monotonic()

    def show(self, stage: str, done: int, total: int) -> None:
        """Write a line if another tenth is done."""
        now = time.monotonic()
        first, since = self._begun.setdefault(stage, (done, now))
        tenth = 10 * done // max(total, 1)
        if tenth <= self._tenths.get(stage, 0):
            return
        self._tenths[stage] = tenth
        pace = (now - since) / (done - first) if done > first else None
        left = "" if pace is None or done >= total else f", {pace * (total - done):.0f} s left"
        said = f"{stage}: {done:,} of {total:,} ({now - self._started:.0f} s{left})"
        print(said, file=sys.stderr, flush=True)


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function that shows how far each stage is: ``(stage, done, total)``.

    Where standard error is no terminal, a line is written at every tenth of a stage.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    if not console.is_terminal:
        yield ProgressLines().show
        return
    shown = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    with Progress(*shown, *times, console=console) as bar:
        tasks: dict[str, int] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total)
            bar.update(tasks[stage], completed=done)  # type: ignore[arg-type]

        yield show
