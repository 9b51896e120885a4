"""What ``method.html`` shows: settings, how to make the board again, what was skipped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from arena.data.wording import count_of
from surrogate.board.board import Board
from surrogate.board.summary import (
    Agreements,
    LanguageSummary,
    RatingInterval,
    Reproduction,
    Skipped,
)
from surrogate.publish.formats import language_name
from surrogate.publish.site.judge_page import MACRO


@dataclass(frozen=True)
class MethodPage:
    """The page.

    Attributes:
        fields: The signature, field by field: name, value and meaning.
        reproduction: How to make the board again.
        skipped: What did not enter, a row a language: its ``name``, the counts ``questions``,
            ``answers``, ``ties`` and ``values``, and the ``reasons`` as sentences.
        values: (feature, reason) to values that could not be computed, over all languages.
        trained: Language name to its agreements, for tau on systems trained on; the mean last.
        notes: Language name to what limits its board.
        level: Level of the intervals of ratings; None where there are none.
    """

    fields: list[tuple[str, str, str]]
    reproduction: Reproduction
    skipped: list[dict[str, Any]]
    values: Mapping[tuple[str, str], int]
    trained: Mapping[str, Agreements]
    notes: Mapping[str, tuple[str, ...]]
    level: float | None


def method_page(board: Board) -> MethodPage:
    """Prepare the page on the method."""
    summary = board.summary
    named = sorted(
        ((language_name(code), item) for code, item in summary.languages.items()),
        key=lambda pair: pair[0],
    )
    return MethodPage(
        fields=summary.settings.fields(),
        reproduction=summary.reproduction(),
        skipped=[_skipped_row(name, item.skipped) for name, item in named],
        values=_missing_values([item.skipped for _, item in named]),
        trained=dict(named) | ({MACRO: summary.macro} if len(named) > 1 else {}),
        notes={name: notes for name, item in named if (notes := _notes(item, len(named) > 1))},
        level=_level([item.interval for _, item in named]),
    )


def _notes(item: LanguageSummary, is_one_of_many: bool) -> tuple[str, ...]:
    """Say what limits a language; of a single one, the warnings stand at the top of the board."""
    warned = item.warnings if is_one_of_many and item.systems_judged else ()
    if item.interval.reason:
        missing = f"what the surrogate expects has no interval: {item.interval.reason}"
        return (*warned, *item.notes, missing)
    if item.interval.pooled:
        pooled = "the interval of what the surrogate expects rests on all languages, for want of "
        return (*warned, *item.notes, pooled + "systems in this one")
    return (*warned, *item.notes)


def _level(intervals: list[RatingInterval]) -> float | None:
    return next((item.level for item in intervals if item.half_width is not None), None)


def _skipped_row(name: str, skipped: Skipped) -> dict[str, Any]:
    return {
        "name": name,
        "questions": skipped.questions_without_judgments,
        "answers": skipped.missing_answers,
        "ties": skipped.dropped_ties,
        "values": sum(_reason_counts([skipped]).values()),
        "reasons": [
            *_sentences("unranked", skipped.systems_unranked),
            *_sentences("without a rating by verdicts", skipped.systems_unrated),
            *_sentences("not used", skipped.features_left_out),
        ],
    }


def _sentences(state: str, reasons: Mapping[str, str]) -> list[str]:
    """Say each reason once, with the names it holds for."""
    names: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        names.setdefault(reason, []).append(name)
    return [f"{', '.join(named)}: {state}, {reason}" for reason, named in names.items()]


def _missing_values(skipped: list[Skipped]) -> dict[tuple[str, str], int]:
    counts = _reason_counts(skipped)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _reason_counts(skipped: list[Skipped]) -> dict[tuple[str, str], int]:
    counts: dict[tuple[str, str], int] = {}
    for item in skipped:
        for feature, reasons in item.missing_feature_values.items():
            for reason, count in reasons.items():
                counts[feature, reason] = counts.get((feature, reason), 0) + count
    return counts


def skipped_in_all(page: MethodPage) -> str:
    """Say in one sentence how much was skipped."""
    answers, values, questions, ties = (
        sum(row[name] for row in page.skipped)
        for name in ("answers", "values", "questions", "ties")
    )
    return (
        f"{count_of(answers, 'absent answer')}, "
        f"{count_of(values, 'feature value')} that could not be computed, "
        f"{count_of(questions, 'question')} without judgments, "
        f"{count_of(ties, 'dropped tie')}."
    )
