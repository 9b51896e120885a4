"""Labels by several people in files of MEMERAG's format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ValidationInfo

from arena.data.errors import DataError, Problem, checked_choice
from arena.data.rows import read_rows
from arena.statistics.agreement import AgreementReport, agreement_report
from arena.statistics.raters import Coefficient, RatedItems, Resampling, code_ratings
from surrogate.metaevaluation.memerag.reading import (
    CHALLENGING,
    IRRELEVANT,
    LABELS,
    RELEVANT,
    canonical_label,
    coarse_label,
)
from surrogate.metaevaluation.reading import in_order, raise_if, refuse, validated_records
from surrogate.metaevaluation.report import NO_VALUE, Report, ReportTable, spaced

Field = Literal["factuality", "fine_grained_factuality", "relevance"]
FIELDS: tuple[Field, ...] = get_args(Field)


def read_ratings(path: Path | str, field: Field, coarse: bool = False) -> RatedItems:
    """Read the ratings of one field of a file.

    Args:
        path: JSONL, plain or compressed, one answer a line with its sentences under ``answer``.
            A field holds one label, a list of labels (one a rater; null where one gave none), or
            null. Labels need not be MEMERAG's; case does not matter to those that are.
        field: ``factuality``, ``fine_grained_factuality`` or ``relevance``.
        coarse: Put fine-grained labels together to coarse ones, and those of relevance to
            relevant and irrelevant (tables 6 and 7 of the paper); all must be MEMERAG's.

    Returns:
        Items are sentences. Where ``factuality`` says that a sentence is challenging to determine,
        that is its fine-grained label, too.

    Raises:
        UsageError: If there is no such file, or the field is none of the three.
        DataError: With every problem: file, line, field, value and hint.
    """
    checked_choice(field, FIELDS, "field")
    rows = read_rows(Path(path))
    problems: list[Problem] = []
    ratings: list[list[str | None]] = []
    for line, rated in validated_records(rows, RatedAnswer, problems):
        for number, sentence in enumerate(rated.answer):
            where = (rows.source, line, f"answer.{number}.{field}")
            if field not in sentence.model_fields_set:
                problems.append(Problem(*where, None, "is missing", "add it, or write null"))
            labels = sentence.labels(field)
            unknown = [label for label in labels if not _has_coarse(label, field)] if coarse else []
            hint = f"use one of {', '.join(LABELS[field])}"
            problems += [Problem(*where, label, "has no coarse label", hint) for label in unknown]
            ratings.append(
                [label and coarse_label(field, label) for label in labels] if coarse else labels
            )
    raise_if(in_order(problems))
    if not ratings:
        raise DataError(
            [Problem(rows.source, None, None, None, "holds no sentences", "put answers in")]
        )
    return code_ratings(ratings, _declared(field, coarse, ratings))


def _declared(
    field: Field, coarse: bool, ratings: Sequence[Sequence[str | None]]
) -> tuple[str, ...] | None:
    """Return all labels there could be: where all sentences are relevant, people agree fully."""
    known = (RELEVANT, IRRELEVANT)
    given = {label for labels in ratings for label in labels if label is not None}
    return known if coarse and field == "relevance" and given <= set(known) else None


def _labels(given: object, info: ValidationInfo) -> list[str | None]:
    several = given if isinstance(given, list) else [given]
    return [_label(label, str(info.field_name)) for label in several]


def _label(given: object, field: str) -> str | None:
    if given is None:
        return None
    is_number = isinstance(given, int) and not isinstance(given, bool)
    if not is_number and not (isinstance(given, str) and given.strip()):
        raise refuse("is no label", "write a text, or null for none")
    text = str(given).strip()
    return canonical_label(field, text) or canonical_label("factuality", text) or text


Labels = Annotated[list[str | None], BeforeValidator(_labels)]


class RatedSentence(BaseModel):
    """A sentence with a label a rater; None where a rater gave none."""

    factuality: Labels = []
    fine_grained_factuality: Labels = []
    relevance: Labels = []

    def labels(self, field: Field) -> list[str | None]:
        """Return a field's labels; a challenging sentence has no other fine-grained one."""
        labels: list[str | None] = getattr(self, field)
        if field != "fine_grained_factuality":
            return labels
        coarse = zip_longest(labels, self.factuality[: len(labels)])
        return [
            CHALLENGING if fine is None and factuality == CHALLENGING else fine
            for fine, factuality in coarse
        ]


class RatedAnswer(BaseModel):
    """One line: the sentences of an answer."""

    answer: list[RatedSentence]


def _has_coarse(label: str | None, field: Field) -> bool:
    return label in (None, CHALLENGING, *LABELS[field])


Reports = Sequence[tuple[Path, AgreementReport]]

_COEFFICIENTS = ("ac1", "fleiss_kappa", "krippendorff_alpha", "percent_agreement")


def ratings_report(
    files: Sequence[Path], field: Field, coarse: bool, resampling: Resampling
) -> Report:
    """Report how far people agree on a field, in each file; see ``read_ratings``."""
    reports = [
        (path, agreement_report(read_ratings(path, field, coarse), resampling)) for path in files
    ]
    rows = [
        [path.name, report.items, report.items_with_pairs, report.raters]
        + [_with_interval(report.coefficients[name]) for name in _COEFFICIENTS]
        for path, report in reports
    ]
    labels = dict.fromkeys(str(label) for _, report in reports for label in report.categories)
    level = "coarse" if coarse else "as labeled"
    table = ReportTable(
        f"Agreement on {field}, {level} (95% interval)",
        ["file", "items", "with pairs", "raters", *map(spaced, _COEFFICIENTS)],
        rows,
        [f"Labels: {', '.join(labels)}", *_reasons(reports)],
    )
    return Report({"field": field, "coarse": coarse, "files": _as_json(reports)}, [table])


_QUALITIES: tuple[tuple[str, Field, bool], ...] = (
    ("faithfulness, coarse", "factuality", False),
    ("faithfulness, fine", "fine_grained_factuality", False),
    ("relevance, coarse", "relevance", True),
    ("relevance, fine", "relevance", False),
)


def qualities_report(files: Sequence[Path], resampling: Resampling) -> Report:
    """Report how far people agree on both qualities, coarse and fine (tables 2, 6 and 7).

    Args:
        files: Of MEMERAG's format, a row of the table each.
        resampling: Of the intervals, which are in the JSON.
    """
    found = {
        name: [
            (path, agreement_report(read_ratings(path, field, coarse), resampling))
            for path in files
        ]
        for name, field, coarse in _QUALITIES
    }
    rows = [
        [path.name, of_file[0].items_with_pairs, of_file[0].raters, *map(_both, of_file)]
        for path, of_file in zip(files, _by_file(found.values()), strict=True)
    ]
    notes = [f"{name}: {reason}" for name, reports in found.items() for reason in _reasons(reports)]
    title = "Agreement: Gwet's AC1 / Fleiss' kappa"
    table = ReportTable(title, ["file", "sentences", "raters", *found], rows, notes)
    content = [{"quality": name, "files": _as_json(reports)} for name, reports in found.items()]
    return Report({"qualities": content}, [table])


def _by_file(found: Iterable[Reports]) -> Iterator[list[AgreementReport]]:
    for of_file in zip(*found, strict=True):
        yield [report for _, report in of_file]


def _as_json(reports: Reports) -> list[dict[str, Any]]:
    return [{"file": str(path)} | report.as_json() for path, report in reports]


def _reasons(reports: Reports) -> list[str]:
    notes = []
    for path, report in reports:
        reasons = dict.fromkeys(coefficient.reason for coefficient in report.coefficients.values())
        notes += [f"{path.name}: {reason}" for reason in reasons if reason]
    return notes


def _with_interval(coefficient: Coefficient) -> str:
    if coefficient.reason:
        return NO_VALUE
    return f"{coefficient.value:.3f} [{coefficient.low:.3f}, {coefficient.high:.3f}]"


def _both(report: AgreementReport) -> str:
    shown = [report.coefficients[name] for name in ("ac1", "fleiss_kappa")]
    return " / ".join(NO_VALUE if each.reason else f"{each.value:.2f}" for each in shown)
