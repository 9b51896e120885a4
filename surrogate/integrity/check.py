"""The integrity check of a board: no system is ranked by answers that were tampered with."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, ValidationError

from arena.data.errors import UsageError
from arena.data.files import (
    atomic_path,
    check_size,
    read_arrays,
    read_member,
    write_array,
    write_member,
)
from arena.data.tables.systems import with_passages_of
from surrogate.integrity.anomalies import Anomaly, LanguageCheck
from surrogate.integrity.calibration import learn_language
from surrogate.integrity.coverage import Key, lacks_answers

DESCRIPTION = "integrity.json"
REBUILD = "build the board again"
NOT_RANKED = "not ranked: its answers look tampered with, {}"
LOOKS = "look at its answers: {}"


class _Description(BaseModel):
    model_config = ConfigDict(extra="forbid")

    format: Literal[1] = 1
    languages: dict[str, tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class IntegrityCheck:
    """What a board knows of how answers look that nobody tampered with.

    Attributes:
        languages: Language to its check; none where fewer than three systems are judged.
    """

    languages: Mapping[str, LanguageCheck]

    def anomalies(self, answers: pd.DataFrame, queries: pd.DataFrame) -> dict[Key, list[Anomaly]]:
        """Find what is wrong with systems' answers, language by language.

        Args:
            answers: Columns ``language, system, query_id, answer``.
            queries: Columns ``language, query_id, query, passages``.

        Returns:
            Language and system to the anomalies, the gravest first; none where nothing is wrong.
        """
        shown = with_passages_of(queries, answers)
        return {
            (language, system): wrong
            for language, check in self.languages.items()
            for system, wrong in check.anomalies(
                answers[answers["language"] == language], shown[shown["language"] == language]
            ).items()
        }

    def save(self, path: Path) -> None:
        """Write the check as plain arrays; the same one gives the same bytes."""
        names = {language: check.questions for language, check in self.languages.items()}
        with (
            atomic_path(path) as temporary,
            zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        ):
            described = _Description(languages=names).model_dump(mode="json")
            write_member(archive, DESCRIPTION, json.dumps(described, indent=1).encode())
            for language, check in self.languages.items():
                for name, array in check.arrays().items():
                    write_array(archive, f"{language}/{name}", array)

    @classmethod
    def load(cls, path: Path) -> IntegrityCheck:
        """Read a check.

        Raises:
            UsageError: If the file holds none.
        """
        try:
            with zipfile.ZipFile(path) as archive:
                check_size(archive, path)
                described = _Description.model_validate_json(read_member(archive, DESCRIPTION))
                return cls(
                    {
                        language: LanguageCheck.from_arrays(
                            questions, read_arrays(archive, f"{language}/")
                        )
                        for language, questions in described.languages.items()
                    }
                )
        except (
            *(UsageError, ValidationError, OSError, EOFError, KeyError, zlib.error),
            *(zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError),
        ) as error:
            raise UsageError(f"{path.name} is no integrity check: {error}; {REBUILD}") from error


def learn_integrity(
    answers: pd.DataFrame,
    queries: pd.DataFrame,
    judged: Mapping[str, Sequence[str]],
    seed: int = 0,
) -> tuple[IntegrityCheck, dict[Key, list[Anomaly]]]:
    """Learn how answers look from those of the judged systems.

    Args:
        answers: Columns ``language, system, query_id, answer``, and ``passages`` where some
            have their own.
        queries: Columns ``language, query_id, query, passages``.
        judged: Language to the judged systems.
        seed: The user's seed.

    Returns:
        The check, and what is wrong with judged systems, each looked at by the others' answers.
    """
    languages: dict[str, LanguageCheck] = {}
    found: dict[Key, list[Anomaly]] = {}
    shown = with_passages_of(queries, answers)
    for language, systems in judged.items():
        rows = answers[(answers["language"] == language) & answers["system"].isin(set(systems))]
        learned = learn_language(rows, shown[shown["language"] == language], language, seed)
        if learned is not None:
            languages[language] = learned.check
            found |= {(language, system): wrong for system, wrong in learned.judged.items()}
    return IntegrityCheck(languages), found


@dataclass(frozen=True)
class Standing:
    """What keeps systems of one language from a rank, and what is unusual in their answers.

    Attributes:
        unranked: System without verdicts to why it is not ranked.
        remarks: System to what is unusual.
        variances: System to the variance of its rating for want of answers (squared logits).
    """

    unranked: Mapping[str, str]
    remarks: Mapping[str, str]
    variances: Mapping[str, float]

    def note(self, system: str, otherwise: str, *, is_barred: bool) -> str:
        """Return what to say of a system: why it is not ranked, if it is barred."""
        if is_barred:
            return self.unranked[system]
        return "; ".join(part for part in (otherwise, self.remarks.get(system, "")) if part)


def without_remarks(note: str) -> str:
    """Return what a note says of a rating, without what is unusual in the system's answers."""
    return note.partition(LOOKS.split("{", maxsplit=1)[0])[0].removesuffix("; ")


def standings(
    language: str,
    anomalies: Mapping[Key, Sequence[Anomaly]],
    answers: Mapping[str, int],
    questions: int,
    variances: Mapping[Key, float] = MappingProxyType({}),
) -> Standing:
    """Find who is not to be ranked without verdicts in a language, and what to remark.

    Args:
        language: Language code.
        anomalies: What is wrong with systems' answers.
        answers: System to its number of answers.
        questions: Questions of the language.
        variances: What ``variances_of_coverage`` found.
    """
    unranked, remarks = {}, {}
    for system, count in answers.items():
        found = anomalies.get((language, system), ())
        sentences = "; ".join(item.sentence for item in found)
        tampered = any(item.is_grave for item in found)
        reasons = [
            lacks_answers(count, questions),
            NOT_RANKED.format(sentences) if tampered else "",
        ]
        if any(reasons):
            unranked[system] = "; ".join(reason for reason in reasons if reason)
        if sentences:
            remarks[system] = LOOKS.format(sentences)
    own = {system: value for (code, system), value in variances.items() if code == language}
    return Standing(unranked, remarks, own)
