"""Pictures that pages draw themselves: ratings with intervals, and quality against questions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pandas as pd

from surrogate.publish.figures.studies import replication_part
from surrogate.publish.formats import LinearScale, decimal, language_name, scale_over, span, whole
from surrogate.publish.view import RATINGS

MOST_TICKS = 6


@dataclass(frozen=True)
class Tick:
    """A number on an axis: where it stands, in per cent, and how it is written."""

    at: float
    label: str


@dataclass(frozen=True)
class RatingPlot:
    """The ratings of a language with their intervals.

    Attributes:
        rows: Systems, best first: ``system`` and its ratings on a line (``both, surrogate,
            verdicts``).
        ticks: Of the axis.
        zero: Place of 0; None where it is off the line.
    """

    rows: list[dict[str, Any]]
    ticks: list[Tick]
    zero: float | None


def forest(ratings: pd.DataFrame) -> RatingPlot:
    """Arrange the ratings of one language, as boards hold them, as a picture."""
    rated = ratings[ratings[["rating", "surrogate_rating", "arena_rating"]].notna().any(axis=1)]
    columns = [column for names in RATINGS.values() for column in names]
    scale = scale_over(rated[columns].to_numpy(float).ravel())
    return RatingPlot(
        rows=[
            {"system": row["system"]}
            | {name: span(scale, *(row[column] for column in of)) for name, of in RATINGS.items()}
            for row in rated.to_dict("records")
        ],
        ticks=ticks(scale),
        zero=scale.at(0.0) if scale.low < 0 < scale.high else None,
    )


def ticks(scale: LinearScale) -> list[Tick]:
    """Return round numbers on a scale: multiples of 1, 2 or 5 times a power of ten."""
    span = scale.high - scale.low
    if span <= 0:
        return [Tick(scale.at(scale.low) or 0.0, decimal(scale.low))]
    rough = span / MOST_TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * times for times in (1, 2, 5, 10) if power * times >= rough * (1 - 1e-9))
    digits = max(-math.floor(math.log10(step) + 1e-9), 0)
    first, last = math.ceil(scale.low / step - 1e-9), math.floor(scale.high / step + 1e-9)
    numbers = [step * number for number in range(first, last + 1)]
    return [Tick(scale.at(number) or 0.0, decimal(number, digits)) for number in numbers]


SERIES = {
    "both": ("verdicts and surrogate", "tau"),
    "surrogate": ("surrogate alone", "tau_surrogate"),
    "verdicts": ("verdicts alone", "tau_verdicts"),
}
"""What ratings are by, to words and the column of a study of replication."""


@dataclass(frozen=True)
class Curve:
    """How well ratings replicate against the judged questions they are made from.

    Attributes:
        part: Which language it is of, in words.
        rows: The study's rows: ``questions, judgments, tau, tau_low, tau_high, tau_verdicts,
            tau_surrogate``.
        lines: Kind of rating to its points, (across, down) in per cent of the picture.
        band: What holds 95% of the splits of ratings by both, points likewise.
        across: Ticks of judged questions.
        down: Ticks of Kendall's tau.
    """

    part: str
    rows: list[dict[str, Any]]
    lines: dict[str, list[tuple[float, float]]]
    band: list[tuple[float, float]]
    across: list[Tick]
    down: list[Tick]

    @property
    def names(self) -> dict[str, str]:
        """Kind of rating to words, of the lines there are."""
        return {kind: SERIES[kind][0] for kind in self.lines}


def learning_curve(study: pd.DataFrame) -> Curve | None:
    """Arrange a study of replication as a picture; None if it has no tau.

    Args:
        study: As ``surrogate.validation.replication`` gives it; the mean over languages is taken
            where there are several.
    """
    rows, part = replication_part(study)
    if rows.empty:
        return None
    columns = [column for _, column in SERIES.values()]
    down = scale_over(rows[[*columns, "tau_low", "tau_high"]].to_numpy(float).ravel())
    across = scale_over(map(math.log, rows["questions"]))

    def placed(column: str) -> list[tuple[float, float]]:
        known = rows[rows[column].notna()]
        return [
            (across.at(math.log(questions)) or 0.0, 100 - (down.at(tau) or 0.0))
            for questions, tau in zip(known["questions"], known[column], strict=True)
        ]

    return Curve(
        part=language_name(part),
        rows=rows.to_dict("records"),
        lines={kind: points for kind, (_, name) in SERIES.items() if (points := placed(name))},
        band=[*placed("tau_low"), *reversed(placed("tau_high"))],
        across=[
            Tick(across.at(math.log(number)) or 0.0, whole(number)) for number in rows["questions"]
        ],
        down=[Tick(100 - tick.at, tick.label) for tick in ticks(down)],
    )
