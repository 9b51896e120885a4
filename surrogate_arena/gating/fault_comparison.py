"""Faults of a candidate's answers beside the baseline's, and a team's limits."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError, checked_choice
from arena.data.schema import QUESTION_KEY
from arena.data.wording import count_of, split_names
from surrogate.checks.faults import AnswerFaults, find_faults
from surrogate.checks.table import CHECKS, FAULTS, CheckClass

ALL = "all"
"""How many answers with a fault are allowed where any number is."""
Limits = Mapping[str, int | None]
"""Check to the number of answers that may have the fault where the baseline has not; None: any."""


@dataclass(frozen=True)
class AnswerFault:
    """A fault of one of the candidate's answers.

    Attributes:
        check: Name of the check that found it.
        certainty: Class of the check.
        is_new: Whether the baseline's answer lacks the fault.
    """

    check: str
    certainty: CheckClass
    language: str
    query_id: str
    question: str
    answer: str
    is_new: bool


@dataclass(frozen=True)
class CheckCount:
    """Counts of a check on the candidate's answers.

    Attributes:
        check: Its name.
        unchecked: Answers that it cannot check.
        found: Answers with the fault.
        new: Those where the baseline lacks it.
        baseline: The baseline's answers with the fault.
        limit: How many may be new; None for any number.
    """

    check: str
    unchecked: int
    found: int
    new: int
    baseline: int
    limit: int | None

    @property
    def certainty(self) -> CheckClass:
        """Its class."""
        return CHECKS[self.check].certainty

    @property
    def is_exceeded(self) -> bool:
        """Return whether there are more than a team allows."""
        return self.limit is not None and self.new > self.limit

    @property
    def is_all_new(self) -> bool:
        """Return whether the baseline lacks the fault wherever it was found."""
        return self.new == self.found

    @property
    def limit_clause(self) -> str:
        """What the limit allows, unless it allows nothing; in brackets."""
        if self.limit:
            return f" ({self.limit:,} new allowed)"
        return " (any number allowed)" if self.limit is None and self.certainty == "certain" else ""

    def clause(self, number: int) -> str:
        """Say how many answers have the fault."""
        return CHECKS[self.check].clause(number)


@dataclass(frozen=True)
class FaultComparison:
    """Faults of a candidate's answers, beside the baseline's.

    Attributes:
        candidate: Faults of its answers.
        counts: By check, in the order of their table.
        faults: By answer, in the same order, without notes.
    """

    candidate: AnswerFaults
    counts: tuple[CheckCount, ...]
    faults: tuple[AnswerFault, ...]

    @property
    def exceeded(self) -> tuple[CheckCount, ...]:
        """Checks that exceed a team's limit."""
        return tuple(count for count in self.counts if count.is_exceeded)

    def of_class(self, certainty: CheckClass) -> list[AnswerFault]:
        """Return the faults that the checks of a class found."""
        return [fault for fault in self.faults if fault.certainty == certainty]

    def _counts(self, certainty: CheckClass) -> list[CheckCount]:
        return [count for count in self.counts if count.certainty == certainty]

    @property
    def broken_sentence(self) -> str:
        """How many answers have new certain faults, and which, if any."""
        new = [fault for fault in self.of_class("certain") if fault.is_new]
        n_broken = len({(fault.language, fault.query_id) for fault in new})
        if not n_broken:
            return ""
        verb = "has" if n_broken == 1 else "have"
        n_answers = count_of(len(self.candidate.answers), "answer")
        counts = [count for count in self._counts("certain") if count.new]
        clauses = [f"{count.clause(count.new)}{count.limit_clause}" for count in counts]
        return f"{n_broken:,} of {n_answers} {verb} a new certain fault: {'; '.join(clauses)}"

    @property
    def exceeded_sentence(self) -> str:
        """Likely faults beyond a team's limits, if any, in a sentence."""
        clauses = []
        for count in self.exceeded:
            if count.certainty != "certain":
                clauses.append(f"{count.check}: {count.new:,} new, {count.limit:,} allowed")
        return "; ".join(clauses)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Sentences on other faults, and on what could not be checked."""
        return tuple(self._sentences())

    def _sentences(self) -> Iterator[str]:
        likely = [f"{c.clause(c.new)}{c.limit_clause}" for c in self._counts("likely") if c.new]
        faults = [*self._counts("certain"), *self._counts("likely")]
        shared = [count.clause(count.found - count.new) for count in faults if not count.is_all_new]
        notes = [count.clause(count.found) for count in self._counts("note") if count.found]
        if likely:
            yield f"New likely faults: {'; '.join(likely)}."
        if shared:
            yield f"Faults that the baseline's answers have, too: {'; '.join(shared)}."
        if notes:
            yield f"No faults, but worth knowing: {'; '.join(notes)}."
        n_answers = count_of(len(self.candidate.answers), "answer")
        for count in self.counts:
            reason = CHECKS[count.check].unchecked
            if count.unchecked and reason and count.certainty != "note":
                yield (
                    f"{count.unchecked:,} of {n_answers} could not be checked for {count.check}: "
                    f"{reason}."
                )

    @property
    def examples(self) -> tuple[str, ...]:
        """New faults, one of each check first; then one of each check that finds no new ones."""
        exceeded = {count.check for count in self.exceeded}
        ordered = sorted(
            self.faults, key=lambda fault: (not fault.is_new, fault.check not in exceeded)
        )
        first: dict[str, AnswerFault] = {}
        for fault in ordered:
            first.setdefault(fault.check, fault)
        new = [fault for fault in first.values() if fault.is_new]
        new += [fault for fault in ordered if fault.is_new and fault is not first[fault.check]]
        shown = new + [fault for fault in first.values() if not fault.is_new]
        return tuple(fault_line(fault, longest=60) for fault in shown)


def fault_line(fault: AnswerFault, longest: int) -> str:
    """Show a fault in a line: id, check, question and answer."""
    question = shortened(fault.question, longest)
    answer = shortened(fault.answer, longest)
    too = "" if fault.is_new else "; baseline, too"
    return f"{fault.language} {fault.query_id} ({fault.check}{too}): {question} -> {answer}"


def shortened(text: str, longest: int) -> str:
    """Return a text in one line, cut visibly to a length."""
    line = " ".join(text.split())
    if not any(map(str.isprintable, line.replace(" ", ""))):
        return "(nothing)"
    if len(line) <= longest:
        return line
    half = (longest - 3) // 2
    return f"{line[:half]} … {line[-half:]}"


def compare_faults(
    arena: Arena, candidate: pd.DataFrame, baseline: pd.DataFrame, limits: Limits
) -> FaultComparison:
    """Check a candidate's answers, and a baseline's to tell which faults are new.

    Args:
        arena: Their questions.
        candidate: Columns ``language, system, query_id, answer`` and perhaps ``passages``.
        baseline: The same of the baseline.
        limits: See ``given_limits``.
    """
    both = find_faults(arena, pd.concat([candidate, baseline], ignore_index=True))
    of_candidate = both.of(candidate["system"].iloc[0])
    # A baseline may have no answer in the languages that are compared.
    in_baseline = both.found[both.found["system"].isin(baseline["system"])]
    faults = _faults(arena, candidate, of_candidate, in_baseline)
    counts = []
    for name, check in CHECKS.items():
        count = CheckCount(
            check=name,
            unchecked=int((of_candidate.unchecked["check"] == name).sum()),
            found=int((of_candidate.found["check"] == name).sum()),
            new=sum(fault.is_new for fault in faults if fault.check == name),
            baseline=int((in_baseline["check"] == name).sum()),
            limit=limits.get(name, 0 if check.certainty == "certain" else None),
        )
        counts.append(count)
    return FaultComparison(of_candidate, tuple(counts), tuple(faults))


def _faults(
    arena: Arena, candidate: pd.DataFrame, of_candidate: AnswerFaults, in_baseline: pd.DataFrame
) -> list[AnswerFault]:
    """List what the checks found in the candidate's answers, without notes."""
    columns = [*QUESTION_KEY, "check"]
    known = set(in_baseline[columns].itertuples(index=False, name=None))
    answers = candidate.set_index(QUESTION_KEY)["answer"]
    queries = arena.queries.set_index(QUESTION_KEY)["query"]
    found = of_candidate.found[of_candidate.found["check"].isin(FAULTS)]
    faults = []
    for language, query_id, check in found[columns].itertuples(index=False, name=None):
        fault = AnswerFault(
            check=check,
            certainty=CHECKS[check].certainty,
            language=language,
            query_id=query_id,
            question=str(queries[language, query_id]),
            answer=str(answers[language, query_id]),
            is_new=(language, query_id, check) not in known,
        )
        faults.append(fault)
    return faults


def given_limits(allowed: Sequence[str], file: Path | None = None) -> dict[str, int | None]:
    """Read a team's limits: ``other-language=2``, ``cut=0`` or ``dead-citation=all``.

    Args:
        allowed: Such texts, each of one check or of several with commas between.
        file: A TOML file of checks and numbers, which ``allowed`` overrides.

    Raises:
        UsageError: For an unknown check, or a number that is none.
    """
    limits: dict[str, int | None] = {}
    if file is not None:
        try:
            content = tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UsageError(f"{file} cannot be read as TOML: {error}") from error
        for name, value in content.items():
            limits[checked_choice(name, FAULTS, f"check in {file.name}")] = _limit(name, value)
    for text in allowed:
        for part in split_names(text):
            name, _, value = part.partition("=")
            limits[checked_choice(name.strip(), FAULTS, "check")] = _limit(name, value.strip())
    return limits


def _limit(name: str, value: object) -> int | None:
    text = str(value)
    if text == ALL:
        return None
    if not text.isdecimal():
        raise UsageError(f"{name}={text} is no limit; give a number of answers, or {ALL}")
    return int(text)
