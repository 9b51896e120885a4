"""What ``judge.html`` shows: the judge that was learned from, and the surrogate that learned."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from arena.data.wording import count_of
from surrogate.board.board import Board
from surrogate.board.judge_report import JudgeReport
from surrogate.board.summary import LanguageSummary, MacroSummary
from surrogate.publish.formats import (
    MISSING,
    LinearScale,
    language_name,
    percent,
    span,
    whole,
)

MACRO = "Mean over languages"

_TAU = LinearScale(-1.0, 1.0)


Fact = dict[str, str]
"""Something known of the judge: ``term``, ``value``, and ``detail`` (what it rests on)."""


def judge_page(board: Board) -> dict[str, Any]:
    """Prepare the page on the judge, as its template takes it.

    Returns:
        ``judge``; its ``report``; ``facts``; ``tau``: how far ratings agree with verdicts they
        have not seen, a row a language, and their ``mean`` where there are several; whether the
        board ``holds_out`` systems for R²; and ``conclusions`` over all languages.
    """
    summary, report = board.summary, board.judge_report
    rows = [_tau_row(code, item) for code, item in summary.languages.items()]
    return {
        "judge": summary.judge,
        "report": report,
        "facts": _facts(report),
        "tau": sorted(rows, key=itemgetter("name")),
        "mean": _mean_row(summary.macro) if len(rows) > 1 else None,
        "holds_out": any(item.holdout for item in summary.languages.values()),
        "conclusions": summary.macro.conclusions,
    }


def _tau_row(code: str, item: LanguageSummary) -> dict[str, Any]:
    return _taus(item) | {
        "name": language_name(code),
        "r2": item.holdout_r2.mean,
        "systems": item.systems_judged,
        "questions": item.questions_judged,
        "judgments": item.judgments,
        "reason": _undefined(item),
    }


def _mean_row(macro: MacroSummary) -> dict[str, Any]:
    counts = dict.fromkeys(("systems", "questions", "judgments"))
    return _taus(macro) | counts | {"name": MACRO, "r2": macro.holdout_r2_mean, "reason": ""}


def _taus(item: LanguageSummary | MacroSummary) -> dict[str, Any]:
    return {
        "found": item,
        "half_span": span(_TAU, item.split_half, None, None),
        "unseen_span": span(_TAU, item.tau_unseen, item.tau_unseen_low, item.tau_unseen_high),
        "verdicts_span": span(_TAU, item.split_half_verdicts, None, None),
    }


def _undefined(item: LanguageSummary) -> str:
    reasons: list[str] = []
    if item.tau_unseen is None:
        reasons.append(f"tau of unseen systems is undefined: {_why(item.notes)}")
    if item.holdout and item.holdout_r2.mean is None:
        reasons.append(f"R² is undefined: {item.holdout_r2.reason or 'no reason is given'}")
    return "; ".join(reasons)


def _why(notes: Sequence[str]) -> str:
    return "; ".join(notes) or "fewer than two systems have both ratings, or all are tied"


def _facts(report: JudgeReport) -> list[Fact]:
    """Say what is known of the judge's verdicts, or why it is not."""
    failed = report.failures or {}
    bounds = ""
    if report.first_low is not None and report.first_high is not None:
        bounds = f"; 95% interval {percent(report.first_low, 1)} to {percent(report.first_high, 1)}"
    reasons = sorted(failed.items(), key=lambda item: (-item[1], item[0]))
    return [
        _fact(
            "Verdicts that flip with the order",
            None if report.flip_rate is None else percent(report.flip_rate, 1),
            f"{whole(report.flipped)} of {whole(report.both_orders)} pairs shown in both orders",
            "no pair was judged in both orders",
        ),
        _fact(
            "Wins of the answer shown first",
            None if report.first_share is None else percent(report.first_share, 1),
            f"{whole(report.first_wins)} of {whole(report.decided)} decided battles{bounds}",
            "no judgment was decided",
        ),
        _fact(
            "Judgments without a verdict",
            None if report.failures is None else whole(sum(failed.values())),
            ", ".join(f"{name}: {whole(count)}" for name, count in reasons),
            "failed judgments are not recorded in the arena's folder",
        ),
    ]


def _fact(term: str, value: str | None, detail: str, reason: str | None) -> Fact:
    if value is None:
        value, detail = MISSING, f"unknown: {reason or 'no reason is given'}"
    return {"term": term, "value": value, "detail": detail}


def judged_sentence(board: Board) -> str:
    """Say what the board rests on, such as ``12 systems in 6 languages: 144 questions …``."""
    items = board.summary.languages.values()
    learned = (
        count_of(sum(item.systems_judged for item in items), "published rating")
        if board.summary.is_published
        else count_of(sum(item.judgments for item in items), "judgment")
    )
    return (
        f"{count_of(len(board.systems), 'system')} in "
        f"{count_of(len(board.languages), 'language')}: "
        f"{count_of(sum(item.questions for item in items), 'question')}, "
        f"{learned} by {board.summary.judge}"
    )
