"""Features of every system against the field: means over languages, and how they spread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import pandas as pd

from arena.data.rows import plain_records
from arena.data.wording import count_of
from features.engine.extraction import feature_columns, missing_counts
from surrogate.board.board import Board
from surrogate.board.tables import Example, ExampleVerdict
from surrogate.publish.formats import (
    LinearScale,
    finite,
    language_name,
    scale_over,
    span,
)
from surrogate.publish.site.side_by_side import LONGEST_ANSWER, LONGEST_QUERY, cut_text
from surrogate.publish.view import RATINGS, mean_importances, unranked_reason


@dataclass(frozen=True)
class Box:
    """How a feature spreads over systems, as positions in per cent."""

    least: float | None
    lower: float | None
    median: float | None
    upper: float | None
    most: float | None


@dataclass(frozen=True)
class FieldFeature:
    """A feature over the field.

    Attributes:
        name: Its name.
        importance: Mean share in the surrogates of all languages; None where not known.
        median: Median of the systems' means.
        scale: From the least to the greatest mean.
        box: Its spread.
    """

    name: str
    importance: float | None
    median: float | None
    scale: LinearScale
    box: Box


@dataclass(frozen=True)
class SystemFeature:
    """A feature of one system against the field.

    Attributes:
        field: The feature over the field.
        mean: The system's mean; each language has the same weight.
        position: Its position on the field's line, in per cent.
        missing: Which values could not be computed, in words; empty for none.
    """

    field: FieldFeature
    mean: float | None
    position: float | None
    missing: str


@dataclass(frozen=True)
class FieldFeatures:
    """Features of the whole field.

    Attributes:
        fields: Features, most important first.
        means: System by feature.
        missing: (system, feature) to what is missing, in words.
    """

    fields: list[FieldFeature]
    means: pd.DataFrame
    missing: Mapping[tuple[str, str], str]

    def of(self, system: str) -> list[SystemFeature]:
        """Return a system's features, most important first; none if it has no answers."""
        if system not in self.means.index:
            return []
        means = self.means.loc[system]
        return [
            SystemFeature(
                field=field,
                mean=finite(means[field.name]),
                position=field.scale.at(means[field.name]),
                missing=self.missing.get((system, field.name), ""),
            )
            for field in self.fields
        ]


def field_features(board: Board) -> FieldFeatures:
    """Sum up the feature table."""
    table = board.features
    names = feature_columns(table)
    means = table.groupby(["system", "language"])[names].mean().groupby("system").mean()
    shares = mean_importances(board)
    fields = [_field_feature(name, means[name], shares.get(name)) for name in names]
    fields.sort(key=lambda field: -1.0 if field.importance is None else field.importance)
    fields.reverse()
    return FieldFeatures(fields, means, _missing(table))


def _field_feature(name: str, means: pd.Series, importance: float | None) -> FieldFeature:
    scale = scale_over(means)
    marks = means.quantile([0.0, 0.25, 0.5, 0.75, 1.0]).tolist()
    return FieldFeature(
        name=name,
        importance=importance,
        median=finite(marks[2]),
        scale=scale,
        box=Box(*(scale.at(mark) for mark in marks)),
    )


def _missing(table: pd.DataFrame) -> dict[tuple[str, str], str]:
    answers = table["system"].value_counts()
    by_system = table.assign(language=table["system"])  # counted a system instead of a language
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in missing_counts(by_system).itertuples(index=False):
        reasons.setdefault((row.language, row.feature), []).append(f"{row.answers:,} {row.reason}")
    return {
        key: f"{'; '.join(parts)} (of {count_of(int(answers[key[0]]), 'answer')})"
        for key, parts in reasons.items()
    }


LONGEST_EXAMPLES = 300_000
"""Characters of all example answers that a page shows."""
SHOWN_VERDICTS = 50


@dataclass(frozen=True)
class ShownExample:
    """An example answer, cut where it is too long for a page.

    Attributes:
        example: The answer and its verdicts.
        question: What is shown of the question.
        text: What is shown of the answer.
        cut: Characters of the answer that are not shown.
        verdicts: The verdicts shown.
        outcomes: Outcome to number of verdicts, all of them.
    """

    example: Example
    question: str
    text: str
    cut: int
    verdicts: tuple[ExampleVerdict, ...]
    outcomes: Mapping[str, int]


@dataclass(frozen=True)
class SystemPage:
    """The page.

    Attributes:
        system: The system's name.
        overall: Its row of the board over all languages; None where it has none.
        ranked: Systems ranked over all languages.
        languages: Its rows of ``Board.ratings``, by the language's English ``name``, with the
            number of systems ``ranked`` there, and its ratings by both, by the surrogate and by
            verdicts on one scale for all languages (``both_span``, ``surrogate_span``,
            ``verdicts_span``).
        features: Its features against the field.
        opponents: Its record over all languages, best first: ``opponent, wins, losses, ties`` and
            the ``share`` won, in which ties count half.
        neighbors: Language name to its nearest systems, rows of ``Board.neighbors``.
        examples: Example answers.
        examples_left_out: Examples that the page has no room for.
    """

    system: str
    overall: Mapping[str, Any] | None
    ranked: int
    languages: list[dict[str, Any]]
    features: list[SystemFeature]
    opponents: list[dict[str, Any]]
    neighbors: Mapping[str, list[dict[str, Any]]]
    examples: list[ShownExample]
    examples_left_out: int

    @property
    def coverage_differs(self) -> bool:
        """Whether a language has not all of its answers."""
        return any(row["coverage"] != 1 for row in self.languages)

    @property
    def splits_differ(self) -> bool:
        """Whether the surrogate was not trained on it in every language."""
        return any(row["split"] != "train" for row in self.languages)


class SystemPages:
    """The pages of all systems of a board; what they share is computed once."""

    def __init__(self, board: Board) -> None:
        self._tables = board
        self._fields = field_features(board)
        self._languages = _by_system(board.ratings)
        self._ranked = board.ratings.groupby("language")["rank"].count()
        self._scale = _rating_scale(board.ratings)
        self._overall = {row["system"]: row for row in plain_records(board.overall)}
        self._opponents = _by_system(_records(board.win_matrix))
        self._neighbors = _by_system(board.neighbors)
        self._examples: dict[str, list[Example]] = {}
        for example in map(Example.model_validate, board.examples.to_dict("records")):
            self._examples.setdefault(example.system, []).append(example)

    def page(self, system: str) -> SystemPage:
        """Prepare the page of a system."""
        examples = shown_examples(self._examples.get(system, []))
        left_out = len(self._examples.get(system, [])) - len(examples)
        known = self._tables
        neighbors: dict[str, list[dict[str, Any]]] = {}
        for row in self._neighbors.get(system, []):
            neighbors.setdefault(language_name(row["language"]), []).append(row)
        return SystemPage(
            system=system,
            overall=self._overall.get(system),
            ranked=int(known.overall["rank"].notna().sum()),
            languages=sorted(
                map(self._language_row, self._languages.get(system, [])), key=itemgetter("name")
            ),
            features=self._fields.of(system),
            opponents=self._opponents.get(system, []),
            neighbors=neighbors,
            examples=examples,
            examples_left_out=left_out,
        )

    def _language_row(self, row: dict[str, Any]) -> dict[str, Any]:
        language, note = row["language"], row["note"]
        if row["rank"] is None and not note:
            note = unranked_reason(self._tables, row["system"], language)
        of = {name: [row[column] for column in columns] for name, columns in RATINGS.items()}
        return row | {
            "name": language_name(language),
            "ranked": int(self._ranked[language]),
            **{f"{name}_span": span(self._scale, *values) for name, values in of.items()},
            "note": note,
        }


def _rating_scale(board: pd.DataFrame) -> LinearScale:
    columns = [column for columns in RATINGS.values() for column in columns]
    return scale_over(board[columns].to_numpy(float).ravel())


def _by_system(table: pd.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """Return each system's rows, missing values as None."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in plain_records(table):
        rows.setdefault(row["system"], []).append(row)
    return rows


def _records(matrix: pd.DataFrame) -> pd.DataFrame:
    """Sum up the battles of every system with every opponent, the best record first."""
    counts = matrix.groupby(["system", "opponent"], as_index=False)[
        ["wins", "losses", "ties"]
    ].sum()
    battles = counts["wins"] + counts["losses"] + counts["ties"]
    counts = counts[battles > 0]
    share = (counts["wins"] + counts["ties"] / 2) / battles
    return counts.assign(share=share.astype(float)).sort_values(
        ["system", "share", "opponent"], ascending=[True, False, True]
    )


def shown_examples(examples: list[Example]) -> list[ShownExample]:
    """Cut examples to what a page has room for; the first is always shown."""
    shown: list[ShownExample] = []
    room = LONGEST_EXAMPLES
    for example in examples:
        text = example.answer[:LONGEST_ANSWER]
        room -= len(text)
        if room < 0 and shown:
            break
        outcomes = {
            outcome: sum(verdict.outcome == outcome for verdict in example.verdicts)
            for outcome in ("win", "tie", "loss")
        }
        shown.append(
            ShownExample(
                example=example,
                question=cut_text(example.query, LONGEST_QUERY),
                text=text,
                cut=len(example.answer) - len(text),
                verdicts=example.verdicts[:SHOWN_VERDICTS],
                outcomes=outcomes,
            )
        )
    return shown
