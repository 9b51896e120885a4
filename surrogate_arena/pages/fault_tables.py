"""Faults of answers on a board's pages: how many each system has, and each with its answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import pandas as pd

from arena.data.arena import Arena
from arena.data.schema import ANSWER_KEY, QUESTION_KEY
from arena.data.wording import Remark, all_of, count_of
from surrogate.checks.faults import AnswerFaults
from surrogate.checks.table import CHECKS, FAULTS, of_class
from surrogate_arena.pages.views import Row, by_system, cut_text

MOST_LISTED = 1_000
"""Faults that a system's page lists."""
LONGEST_TEXT = 500


@dataclass(frozen=True)
class FaultTables:
    """The faults of an arena's answers, as pages show them.

    Attributes:
        arena: The arena.
        faults: What is wrong with its answers.
        has_texts: Whether questions, their ids and answers may be shown.
    """

    arena: Arena
    faults: AnswerFaults
    has_texts: bool

    @property
    def remark(self) -> Remark:
        """How many answers have a certain fault, over all systems."""
        n_answers = count_of(len(self.faults.answers), "answer")
        text = f"No fault was found in {n_answers}"
        if self.faults.n_broken:
            text = self.faults.broken_clause
        elif len(self.faults.of_class("likely")):
            text = f"None of {n_answers} has a certain fault"
        return Remark("broken", "info", text, statistic=self.faults.n_broken)

    @cached_property
    def remarks_by_system(self) -> dict[str, list[Remark]]:
        """Count each system's faults, and its answers that each check could not see."""
        n_answers = self.faults.answers["system"].value_counts()
        counts = {}
        for name in ("certain", "likely"):
            counts[f"{name} fault"] = self.faults.of_class(name)["system"].value_counts()
        remarks: dict[str, list[Remark]] = {}
        for system in self.arena.info.systems:
            numbers = {noun: int(count.get(system, 0)) for noun, count in counts.items()}
            found = [count_of(number, noun) for noun, number in numbers.items() if number]
            answers = count_of(n_answers.get(system, 0), "answer")
            text = f"{all_of(found or ['No fault'])} in {answers}."
            remark = Remark("faults", "info", text, "", numbers["certain fault"], (system,))
            remarks[system] = [remark]
        unchecked = self.faults.unchecked
        unchecked = unchecked[unchecked["check"].isin([*of_class("certain"), "cut"])]
        n_unchecked = unchecked.groupby(["system", "check"], sort=False).size()
        for (system, name), number in n_unchecked.items():
            answers = count_of(n_answers[system], "answer")
            text = f"{number:,} of {answers} could not be checked for {name}."
            remarks[system].append(Remark("unchecked", "info", text, "", number, (system,)))
        return remarks

    @property
    def remarks(self) -> list[Remark]:
        """All that pages say of faults."""
        return [self.remark, *chain.from_iterable(self.remarks_by_system.values())]

    def counts(self, systems: Sequence[str]) -> Row:
        """Count what each check found, of the systems with a fault, in their order."""
        found = self._found
        counts = pd.crosstab(found["system"], found["check"])
        names = [name for name in FAULTS if name in counts]
        counts = counts.reindex([name for name in systems if name in counts.index], columns=names)
        return {
            "checks": [(name, CHECKS[name].certainty) for name in names],
            "rows": [(str(row[0]), row[1:]) for row in counts.itertuples()],
        }

    @cached_property
    def _found(self) -> pd.DataFrame:
        return self.faults.found[self.faults.found["check"].isin(FAULTS)]

    @cached_property
    def _n_found(self) -> pd.Series:
        return self._found["system"].value_counts()

    @cached_property
    def _shown(self) -> dict[str, list[Row]]:
        """The faults that systems' pages list, certain ones first, with question and answer."""
        rows = self._found.groupby("system").head(MOST_LISTED)
        if not self.has_texts:
            return by_system(rows.assign(query="", answer=""))
        queries = self.arena.queries[[*QUESTION_KEY, "query"]]
        answers = self.arena.answers[[*ANSWER_KEY, "answer"]]
        return by_system(rows.merge(queries, on=QUESTION_KEY).merge(answers, on=ANSWER_KEY))

    def of_system(self, system: str) -> Row:
        """List a system's faults, certain ones first, with question and answer."""
        listed = []
        for row in self._shown.get(system, []):
            texts = {name: cut_text(row[name], LONGEST_TEXT) for name in ("query", "answer")}
            if not any(map(str.isprintable, "".join(texts["answer"].split()))):
                texts["answer"] = ""
            certainty = CHECKS[row["check"]].certainty
            listed.append({**row, **texts, "certainty": certainty})
        # A board may have systems that the arena has lost.
        remarks = self.remarks_by_system.get(system, [])
        return {"rows": listed, "found": int(self._n_found.get(system, 0)), "remarks": remarks}
