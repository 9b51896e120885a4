"""A candidate's answers against a baseline's, question by question: without a model or a verdict.

What is wrong with an answer whoever reads it (``surrogate.checks.faults``) is an alarm where the
candidate has it in more answers than the baseline; what is merely different is a note. Alarms are
tested by McNemar's exact test, one-sided, notes by the sign test; p-values are Holm's, over all
tests of the kind that so few differing answers could decide at all (Tarone, 1990).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import checked_choice
from arena.data.schema import QUESTION_KEY
from arena.data.types import Floats
from arena.data.wording import Severity, count_of
from arena.statistics.significance import holm_adjusted, sign_test, two_sided_sign_test
from surrogate.checks.faults import AMOUNT_TESTS, FAULT_TESTS, NO_PASSAGES, measure_faults

ALARM_ERROR = 0.01
"""Probability of any alarm about a candidate that has no fault more often than the baseline."""
NOTE_ERROR = 0.05
LEAST_DIFFERENCE = 0.1
"""Share of the questions by which two systems must differ to be worth a word."""
MOST_OF_BASELINE = 1 / 3
"""Share of the baseline's answers up to which a fault is one here, not what the arena asks for."""
FEWEST_DIFFERENT = 7
"""Answers that must differ for an alarm: one half to this power is below its error."""
COPIES = "copies"
OF_CITATIONS = ("dead citation", "cited")
OF_BASELINE = " of baseline"
CHECKS = (*FAULT_TESTS, *AMOUNT_TESTS, COPIES)
"""Every check, by name."""


@dataclass(frozen=True)
class AnswerCheck:
    """One check of a candidate's answers against a baseline's.

    Attributes:
        name: One of ``CHECKS``.
        language: Where; empty for all languages together.
        questions: Number of questions on which it could be told of both.
        candidate: Answers with the fault, or the average amount.
        baseline: The same of the baseline; NaN where the check is of both.
        more: Questions on which the candidate alone has the fault, or more of the amount.
        less: Questions on which the baseline does.
        p_value: Of the exact test, one-sided for faults; NaN where nothing is tested.
        adjusted_p_value: Holm's, NaN where so few differing answers could not decide.
        severity: ``error`` if the candidate is broken by it, ``info`` if it is worth a word; else
            None.
        unclear: Number of the candidate's answers, counted as without the fault, that may have it:
            phrases without a full stop may be cut.
        unclear_of_baseline: The same of the baseline's.
        sentence: What was found, in words.
    """

    name: str
    language: str
    questions: int
    candidate: float = math.nan
    baseline: float = math.nan
    more: int = 0
    less: int = 0
    p_value: float = math.nan
    adjusted_p_value: float = math.nan
    severity: Severity | None = None
    unclear: int = 0
    unclear_of_baseline: int = 0
    sentence: str = ""


@dataclass(frozen=True)
class SkippedChecks:
    """Checks that could not be made, and why.

    Attributes:
        names: Of ``CHECKS``; empty if none raises an alarm.
        reason: Why, in words.
        languages: Where; empty for all languages.
    """

    names: tuple[str, ...]
    reason: str
    languages: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.names:
            return self.reason
        where = f" in {', '.join(self.languages)}" if self.languages else ""
        return f"not checked ({', '.join(self.names)}){where}: {self.reason}"


@dataclass(frozen=True)
class AnswerChecks:
    """What a comparison of answers found.

    Attributes:
        candidate: The new system.
        baseline: The system that it is compared with.
        questions: Questions that both answered.
        checks: All checks, those of all languages together first.
        skipped: What could not be checked, and why.
    """

    candidate: str
    baseline: str
    questions: int
    checks: tuple[AnswerCheck, ...]
    skipped: tuple[SkippedChecks, ...]

    @property
    def is_broken(self) -> bool:
        """Whether anything raised an alarm."""
        return any(check.severity == "error" for check in self.checks)

    @property
    def alarms(self) -> tuple[str, ...]:
        """What is broken, in words."""
        return tuple(check.sentence for check in self.checks if check.severity == "error")

    @property
    def notes(self) -> tuple[str, ...]:
        """What is merely different, in words."""
        return tuple(check.sentence for check in self.checks if check.severity == "info")

    @property
    def sentences(self) -> tuple[str, ...]:
        """Alarms, what is different, and what could not be checked, as sentences."""
        sentences = [f"{alarm[:1].upper()}{alarm[1:]}." for alarm in self.alarms]
        if sentences:
            sentences.append(
                "These alarms rest on the answers alone, by exact tests with an error of "
                f"{ALARM_ERROR:.0%} in all: no verdict was asked for."
            )
        elif self.questions >= FEWEST_DIFFERENT:
            n_checks = len({check.name for check in self.checks if check.name in FAULT_TESTS})
            sentences.append(
                f"{count_of(n_checks, 'check')} of the answers to "
                f"{count_of(self.questions, 'question')} raise no alarm."
            )
        for check in self.checks:
            if check.severity == "info":
                kind = "Unchanged" if check.name == COPIES else "Different"
                sentences.append(f"{kind}: {check.sentence}.")
        for skipped in self.skipped:
            text = str(skipped)
            sentences.append(f"{text[:1].upper()}{text[1:]}.")
        return tuple(sentences)


def compare_answers(
    arena: Arena,
    candidate: pd.DataFrame,
    baseline: pd.DataFrame,
    accepted: Collection[str] = (),
) -> AnswerChecks:
    """Compare a candidate's answers with a baseline's, on the questions that both answered.

    Args:
        arena: Their questions.
        candidate: Answers of one system: columns ``language, system, query_id, answer``, and
            ``passages`` where some have their own.
        baseline: Answers of another system.
        accepted: Checks that raise no alarm, since the difference is intended.

    Raises:
        UsageError: If ``accepted`` names no check.
    """
    for name in accepted:
        checked_choice(name, CHECKS, "check")
    measured = measure_faults(arena, pd.concat([candidate, baseline], ignore_index=True))
    n_answers = len(candidate)
    return compare_measured(measured[:n_answers], measured[n_answers:], accepted)


def compare_measured(
    candidate: pd.DataFrame, baseline: pd.DataFrame, accepted: Collection[str] = ()
) -> AnswerChecks:
    """Compare two systems by the tables of ``measure_faults``, by the amounts in them, too."""
    pairs = candidate.merge(baseline, on=QUESTION_KEY, suffixes=("", OF_BASELINE))
    names = [name for name in (*FAULT_TESTS, *AMOUNT_TESTS) if name in pairs]
    if not (pairs[f"cited{OF_BASELINE}"] > 0).any():
        # Brackets cite nothing where the baseline does not cite by the ids of passages.
        names = [name for name in names if name not in OF_CITATIONS]
    tested = []
    for language, part in _parts(pairs):
        for name in names:
            check = _tested(name, language, part)
            if check.questions:
                tested.append(check)
    checks = _decided(tested, accepted)
    if len(pairs):
        checks.append(_copies(pairs))
    return AnswerChecks(
        candidate=_system_of(candidate),
        baseline=_system_of(baseline),
        questions=len(pairs),
        checks=tuple(checks),
        skipped=tuple(_skipped(pairs, names)),
    )


def _system_of(answers: pd.DataFrame) -> str:
    """Return the one system that answers are of; empty without an answer."""
    return str(answers["system"].iloc[0]) if len(answers) else ""


def _parts(pairs: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the pairs of all languages together, then those of each where there are several."""
    yield "", pairs
    if pairs["language"].nunique() > 1:
        for language, part in pairs.groupby("language"):
            yield str(language), part


def _tested(name: str, language: str, pairs: pd.DataFrame) -> AnswerCheck:
    values = pairs[[name, f"{name}{OF_BASELINE}"]].to_numpy(np.float64)
    values = values[np.isfinite(values).all(axis=1)]
    if not len(values):
        return AnswerCheck(name, language, questions=0)
    n_more = int((values[:, 0] > values[:, 1]).sum())
    n_less = int((values[:, 0] < values[:, 1]).sum())
    if name in AMOUNT_TESTS:
        average = _mean if AMOUNT_TESTS[name].average == "mean" else np.median
        candidate = average(values[:, 0])
        baseline = average(values[:, 1])
        p_value = two_sided_sign_test(n_more, n_less)
    else:
        candidate, baseline = values.sum(axis=0)
        p_value = sign_test(n_more, n_less)
    check = AnswerCheck(
        name=name,
        language=language,
        questions=len(values),
        candidate=float(candidate),
        baseline=float(baseline),
        more=n_more,
        less=n_less,
        p_value=p_value,
    )
    if name in AMOUNT_TESTS or not FAULT_TESTS[name].unclear:
        return check
    return replace(
        check,
        unclear=_count_unclear(pairs, name),
        unclear_of_baseline=_count_unclear(pairs, name, OF_BASELINE),
    )


def _count_unclear(pairs: pd.DataFrame, name: str, suffix: str = "") -> int:
    may_have = pairs[f"{FAULT_TESTS[name].unclear}{suffix}"] == 1
    return int((may_have & (pairs[f"{name}{suffix}"] == 0)).sum())


def _mean(values: Floats) -> float:
    """Return a mean that does not depend on the order of the values."""
    return math.fsum(values) / len(values)


def _decided(checks: Sequence[AnswerCheck], accepted: Collection[str]) -> list[AnswerCheck]:
    decided = []
    alarmed_everywhere: set[str] = set()
    for check, p_value in zip(checks, _adjusted_p_values(checks), strict=True):
        tested = replace(check, adjusted_p_value=float(p_value))
        # What holds in all languages together is not repeated for each of them.
        is_silent = check.name in accepted or check.name in alarmed_everywhere
        severity: Severity | None = None
        if not is_silent and _is_alarm(tested):
            severity = "error"
            if not check.language:
                alarmed_everywhere.add(check.name)
        elif not check.language and _is_note(tested):
            severity = "info"
        decided.append(replace(tested, severity=severity, sentence=_sentence(tested)))
    return decided


def _adjusted_p_values(checks: Sequence[AnswerCheck]) -> Floats:
    """Return Holm's p-values, those of faults and of amounts apart; shape (N,)."""
    adjusted = np.full(len(checks), np.nan)
    is_amount = np.array([check.name in AMOUNT_TESTS for check in checks], dtype=bool)
    for family, error in ((~is_amount, ALARM_ERROR), (is_amount, NOTE_ERROR)):
        p_values = np.full(len(checks), np.nan)
        for index, check in enumerate(checks):
            # By so few differing answers no outcome would reach the error (Tarone, 1990).
            if family[index] and 0.5 ** (check.more + check.less) <= error:
                p_values[index] = check.p_value
        adjusted[family] = holm_adjusted(p_values)[family]
    return adjusted


def _is_alarm(check: AnswerCheck) -> bool:
    """Return whether a check of a fault finds it more often, beyond chance and by enough."""
    if check.name not in FAULT_TESTS or not check.adjusted_p_value <= ALARM_ERROR:
        return False
    fault = FAULT_TESTS[check.name]
    return (
        check.more - check.less >= LEAST_DIFFERENCE * check.questions
        and check.candidate >= fault.least * check.questions
        and check.baseline <= MOST_OF_BASELINE * check.questions
    )


def _is_note(check: AnswerCheck) -> bool:
    """Return whether a difference is worth a word: an empty answer always is."""
    if check.name == "empty" and check.candidate > 0:
        return True
    is_large = abs(check.more - check.less) >= LEAST_DIFFERENCE * check.questions
    if check.name in FAULT_TESTS:
        return is_large and two_sided_sign_test(check.more, check.less) <= NOTE_ERROR
    larger = max(check.candidate, check.baseline)
    is_large &= abs(check.candidate - check.baseline) >= LEAST_DIFFERENCE * larger
    return is_large and check.adjusted_p_value <= NOTE_ERROR


def _sentence(check: AnswerCheck) -> str:
    where = f"in {check.language}, " if check.language else ""
    return where + (_fault_clause(check) if check.name in FAULT_TESTS else _amount_clause(check))


def _fault_clause(check: AnswerCheck) -> str:
    fault = FAULT_TESTS[check.name]
    verb = fault.singular if check.candidate == 1 else fault.plural
    clause = (
        f"{check.candidate:,.0f} of {count_of(check.questions, 'answer')} {verb}; "
        f"baseline {check.baseline:,.0f}"
    )
    # Fewer answers with the fault are no good sign if more of the others may have it.
    if check.more <= check.less and check.unclear > check.unclear_of_baseline:
        clause += (
            f"; {check.unclear:,} more may, since {fault.unclear_reason}; "
            f"baseline {check.unclear_of_baseline:,}"
        )
    return clause


def _amount_clause(check: AnswerCheck) -> str:
    amount = AMOUNT_TESTS[check.name]
    verb = amount.more if check.more > check.less else amount.less
    count = max(check.more, check.less)
    return (
        f"{count:,} of {count_of(check.questions, 'answer')} {verb}; {amount.average} "
        f"{amount.form.format(check.candidate)}{amount.unit}, baseline "
        f"{amount.form.format(check.baseline)}"
    )


def _copies(pairs: pd.DataFrame) -> AnswerCheck:
    is_same = (pairs["text"] == pairs[f"text{OF_BASELINE}"]) & (pairs["text"] != "")
    n_same = int(is_same.sum())
    verb = "is" if n_same == 1 else "are"
    return AnswerCheck(
        name=COPIES,
        language="",
        questions=len(pairs),
        candidate=n_same,
        severity="info" if n_same >= LEAST_DIFFERENCE * len(pairs) else None,
        sentence=f"{n_same:,} of {count_of(len(pairs), 'answer')} {verb} the baseline's, word for "
        "word",
    )


def _skipped(pairs: pd.DataFrame, names: Sequence[str]) -> Iterator[SkippedChecks]:
    if pairs.empty:
        yield SkippedChecks((), "nothing is checked: no question has an answer of both")
        return
    if len(pairs) < FEWEST_DIFFERENT:
        questions = count_of(len(pairs), "question")
        reason = f"{questions} with answers of both: an alarm takes at least {FEWEST_DIFFERENT}"
        yield SkippedChecks((), reason)
    n_languages = pairs["language"].nunique()
    by_reason: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for name in names:
        is_measured = pairs[[name, f"{name}{OF_BASELINE}"]].notna().all(axis=1)
        counts = is_measured.groupby(pairs["language"]).sum()
        languages = tuple(str(language) for language, count in counts.items() if count == 0)
        if languages:
            test = FAULT_TESTS[name] if name in FAULT_TESTS else AMOUNT_TESTS[name]
            named = () if len(languages) == n_languages else languages
            by_reason.setdefault((test.skipped, named), []).append(name)
    if "cited" not in names:
        has_passages = pairs["cited"].notna().any()
        reason = "the baseline cites no passage" if has_passages else NO_PASSAGES
        by_reason.setdefault((reason, ()), []).extend(OF_CITATIONS)
    for (reason, named), skipped in by_reason.items():
        yield SkippedChecks(tuple(skipped), reason, named)
