"""Who has no rank in a language and why, who stands beside what it copies, and what is noted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from surrogate.integrity.coverage import Key, lacks_answers
from surrogate.integrity.notes import Note

Value = TypeVar("Value")
NOT_RANKED = "not ranked: {}"
SEEN = "seen in its answers: {}"
NEAR_COPY = "near-copy of {}, beside which it stands"


@dataclass(frozen=True)
class Standing:
    """What keeps systems of one language from a rank, and what is seen in their answers.

    Attributes:
        unranked: System to why it is not ranked.
        originals: System to the judged one that it is a near-copy of, beside which it stands.
        remarks: System to what is seen.
        variances: System to the variance of its rating for want of answers (squared logits).
    """

    unranked: Mapping[str, str] = field(default_factory=dict)
    originals: Mapping[str, str] = field(default_factory=dict)
    remarks: Mapping[str, str] = field(default_factory=dict)
    variances: Mapping[str, float] = field(default_factory=dict)

    def note(self, system: str, otherwise: str, *, is_barred: bool) -> str:
        """Return what to say of a system: why it is not ranked, if it is barred."""
        said = [self.unranked[system]] if is_barred else [otherwise, self.remarks.get(system, "")]
        return "; ".join(part for part in said if part)

    def without_proof(self, systems: Iterable[str], why: str) -> Standing:
        """Leave systems unranked whose ratings nothing shows to be right, copies excepted."""
        unproven = {name: why for name in systems if name not in self.originals}
        return replace(self, unranked={**unproven, **self.unranked})


def without_remarks(note: str) -> str:
    """Return what a note says of a rating, without what is seen in the system's answers."""
    return note.partition(SEEN.split("{", maxsplit=1)[0])[0].removesuffix("; ")


@dataclass(frozen=True)
class Looks:
    """What was seen in the answers of an arena, by language and system.

    Attributes:
        notes: What ``look_at`` found.
        originals: What ``near_copies`` found.
        variances: What ``variances_of_coverage`` found.
    """

    notes: Mapping[Key, Sequence[Note]] = field(default_factory=dict)
    originals: Mapping[Key, str] = field(default_factory=dict)
    variances: Mapping[Key, float] = field(default_factory=dict)

    def standing(self, language: str, answers: Mapping[str, int], questions: int) -> Standing:
        """Find who is not ranked in a language, and what to remark.

        Args:
            language: Language code.
            answers: System to its number of answers.
            questions: Questions of the language.
        """
        unranked, remarks = {}, {}
        for system, count in answers.items():
            found = self.notes.get((language, system), ())
            bars = [note.sentence for note in found if note.is_bar]
            reasons = [
                lacks_answers(count, questions),
                NOT_RANKED.format("; ".join(bars)) if bars else "",
            ]
            if any(reasons):
                unranked[system] = "; ".join(reason for reason in reasons if reason)
            original = self.originals.get((language, system))
            said = [
                NEAR_COPY.format(original) if original else "",
                SEEN.format("; ".join(note.sentence for note in found)) if found else "",
            ]
            remarks[system] = "; ".join(part for part in said if part)
        return Standing(
            unranked, _of(language, self.originals), remarks, _of(language, self.variances)
        )


def _of(language: str, values: Mapping[Key, Value]) -> dict[str, Value]:
    return {system: value for (code, system), value in values.items() if code == language}
