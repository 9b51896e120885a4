"""What ``judge.html`` shows: the judge that was learned from, and the surrogate that learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from arena.data.wording import count_of
from surrogate.board.board import Board
from surrogate.board.judge.report import FlipRate, JudgeReport, Position, UsageCounts
from surrogate.board.summary import Conclusion, LanguageSummary, MacroSummary
from surrogate.publish.formats import (
    LinearScale,
    language_name,
    listing,
    percent,
    span,
    whole,
)

MACRO = "Mean over languages"

_TAU = LinearScale(-1.0, 1.0)


@dataclass(frozen=True)
class JudgeFact:
    """Something known of the judge, or why it is not.

    Attributes:
        term: What it is.
        value: The number as shown; a dash where unknown.
        detail: What it rests on, or why it is unknown.
    """

    term: str
    value: str
    detail: str


@dataclass(frozen=True)
class JudgePage:
    """The page.

    Attributes:
        judge: Name of the judge.
        report: What is known of it.
        facts: What is known, in words.
        tau: How far ratings agree with verdicts they have not seen, a row a language by name:
            ``name``, the agreements ``found``, three of them on a line from -1 to 1
            (``half_span``, ``unseen_span``, ``verdicts_span``), the mean ``r2`` on held-out
            systems, judged ``systems``, ``questions`` and ``judgments``, and the ``reason`` where
            something is undefined; ``compared``: unseen tau of another surrogate.
        compared: Name of that surrogate.
        holds_out: Whether systems were held out of training, for R².
        mean: The mean over languages; None where there is one language only.
        conclusions: What the agreements mean, over all languages.
    """

    judge: str
    report: JudgeReport
    facts: list[JudgeFact]
    tau: list[dict[str, Any]]
    mean: dict[str, Any] | None
    compared: str
    holds_out: bool
    conclusions: tuple[Conclusion, ...]


def judge_page(board: Board) -> JudgePage:
    """Prepare the page on the judge."""
    summary = board.summary
    rows = [_tau_row(code, item) for code, item in summary.languages.items()]
    return JudgePage(
        judge=summary.judge,
        report=board.judge_report,
        facts=_facts(board.judge_report),
        tau=sorted(rows, key=itemgetter("name")),
        mean=_mean_row(summary.macro) if len(rows) > 1 else None,
        compared=", ".join(summary.macro.tau_unseen_of),
        holds_out=any(item.holdout for item in summary.languages.values()),
        conclusions=summary.macro.conclusions,
    )


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
        "compared": next(iter(item.tau_unseen_of.values()), None),
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


def _facts(report: JudgeReport) -> list[JudgeFact]:
    return [
        _flip_fact(report.flip_rate),
        _position_fact(report.position),
        _failure_fact(report),
        *_usage_facts(report.usage),
    ]


def _flip_fact(flips: FlipRate) -> JudgeFact:
    term = "Verdicts that flip with the order"
    if flips.rate is None:
        return JudgeFact(term, percent(None), _unknown(flips.reason))
    detail = f"{whole(flips.flipped)} of {whole(flips.items)} pairs shown in both orders"
    return JudgeFact(term, percent(flips.rate, 1), detail)


def _position_fact(position: Position) -> JudgeFact:
    term = "Wins of the answer shown first"
    if position.share is None:
        return JudgeFact(term, percent(None), _unknown(position.reason))
    spread = (
        ""
        if position.low is None or position.high is None
        else f"; 95% interval {percent(position.low, 1)} to {percent(position.high, 1)}"
    )
    detail = f"{whole(position.first_wins)} of {whole(position.decided)} decided battles{spread}"
    return JudgeFact(term, percent(position.share, 1), detail)


def _failure_fact(report: JudgeReport) -> JudgeFact:
    term = "Judgments without a verdict"
    failures = report.failures
    if failures.count is None:
        return JudgeFact(term, whole(None), _unknown(failures.reason))
    reasons = sorted(failures.reasons.items(), key=lambda item: (-item[1], item[0]))
    detail = listing(f"{name}: {whole(count)}" for name, count in reasons)
    return JudgeFact(term, whole(failures.count), detail if reasons else "")


def _usage_facts(usage: UsageCounts) -> list[JudgeFact]:
    parts = [
        ("Calls of the judge", usage.calls),
        ("Tokens of prompts", usage.prompt_tokens),
        ("Tokens of replies", usage.completion_tokens),
    ]
    return [
        JudgeFact(term, whole(count), _unknown(usage.reason) if count is None else "")
        for term, count in parts
    ]


def _unknown(reason: str | None) -> str:
    return f"unknown: {reason or 'no reason is given'}"


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
