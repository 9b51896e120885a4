"""What ``method.html`` shows: settings, how to make the board again, what was skipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from arena.data.wording import count_of
from surrogate.board.board import Board
from surrogate.board.summary import LEVEL, LanguageSummary, Skipped
from surrogate.publish.formats import language_name
from surrogate.publish.site.judge_page import MACRO


def method_page(board: Board) -> dict[str, Any]:
    """Prepare the page on the method, as its template takes it.

    Returns:
        ``fields`` of the signature (name, value, meaning); ``toml``, the settings that make
        the board again; ``skipped``: what did not enter, a row a language; ``values``: (feature,
        reason) to values that could not be computed; ``trained``: language name to its agreements,
        the mean last; ``notes``: language name to what limits its board; ``level`` of the
        intervals of ratings, or None.
    """
    summary = board.summary
    named = sorted(
        ((language_name(code), item) for code, item in summary.languages.items()),
        key=itemgetter(0),
    )
    values = sum((_values(item.skipped) for _, item in named), Counter[tuple[str, str]]())
    intervals = [item.interval for _, item in named]
    return {
        "fields": summary.settings.fields(),
        "toml": summary.settings.toml(),
        "skipped": [_skipped(name, item.skipped) for name, item in named],
        "values": dict(sorted(values.items(), key=lambda item: (-item[1], item[0]))),
        "trained": dict(named) | ({MACRO: summary.macro} if len(named) > 1 else {}),
        "notes": {name: notes for name, item in named if (notes := _notes(item, len(named) > 1))},
        "level": LEVEL if any(item.half_width is not None for item in intervals) else None,
    }


def _notes(item: LanguageSummary, is_one_of_many: bool) -> list[str]:
    """Say what limits a language; of a single one, the warnings stand at the top of the board."""
    notes = [*(item.warnings if is_one_of_many and item.systems_judged else ()), *item.notes]
    if item.interval.reason:
        notes.append(f"predictions of the surrogate have no interval: {item.interval.reason}")
    elif item.interval.pooled:
        notes.append(
            "the interval of the surrogate's predictions is pooled over all languages, as there "
            "are too few systems in this one"
        )
    return notes


def _skipped(name: str, skipped: Skipped) -> dict[str, Any]:
    return {
        "name": name,
        "questions": skipped.questions_without_judgments,
        "answers": skipped.missing_answers,
        "ties": skipped.dropped_ties,
        "values": _values(skipped).total(),
        "reasons": _sentences("not used", skipped.features_left_out),
    }


def _sentences(state: str, reasons: Mapping[str, str]) -> list[str]:
    """Say each reason once, with the names it holds for."""
    names: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        names.setdefault(reason, []).append(name)
    return [f"{', '.join(named)}: {state}, {reason}" for reason, named in names.items()]


def _values(skipped: Skipped) -> Counter[tuple[str, str]]:
    return Counter(
        {
            (feature, reason): count
            for feature, reasons in skipped.missing_feature_values.items()
            for reason, count in reasons.items()
        }
    )


def skipped_in_all(page: Mapping[str, Any]) -> str:
    """Say in one sentence how much was skipped."""
    answers, values, questions, ties = (
        sum(row[name] for row in page["skipped"])
        for name in ("answers", "values", "questions", "ties")
    )
    return (
        f"{count_of(answers, 'absent answer')}, {count_of(values, 'feature value')} that could not "
        f"be computed, {count_of(questions, 'question')} without judgments, "
        f"{count_of(ties, 'dropped tie')}."
    )
