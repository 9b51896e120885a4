"""The page on what systems take: charts of quality against cost and latency, and their table."""

from __future__ import annotations

from dataclasses import dataclass
from math import log10

import numpy as np
import pandas as pd

from arena.data.tables import plain_records
from arena.data.types import Floats
from arena.data.wording import Remark
from surrogate.board.board import Board
from surrogate_arena.cli.shown_numbers import MINUS
from surrogate_arena.costs.costs import NO_CURRENCY, frontier_remark, shown_amount
from surrogate_arena.costs.uncompared import uncompared_board
from surrogate_arena.pages.views import Row

ROOM = 0.08
"""Share of an axis that is left free at both ends."""
MEASURES = ("cost", "latency")
AMOUNTS = (*MEASURES, "latency_p95", "tokens")


@dataclass(frozen=True)
class Axis:
    """A scale from values (``low`` to ``high``) to places in percent."""

    low: float
    high: float
    is_log: bool = False

    def places(self, values: Floats) -> Floats:
        """Return places in percent, between 0 and 100."""
        scaled = np.log10(values) if self.is_log else values
        low, high = self._ends
        return np.clip(100 * (scaled - low) / (high - low), 0, 100)

    def ticks(self) -> list[tuple[float, str]]:
        """Return places in percent along the axis, and their texts."""
        n_ticks = 4  # without those at the ends, which would stand at the edge
        spaced = np.geomspace if self.is_log else np.linspace
        values = [float(f"{value:.2g}") for value in spaced(self.low, self.high, n_ticks + 2)[1:-1]]
        places = self.places(np.array(values)).round(2).tolist()
        ticks = []
        for place, value in zip(places, values, strict=True):
            text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
            ticks.append((place, text.replace("-", MINUS)))
        return ticks

    @property
    def _ends(self) -> tuple[float, float]:
        return (log10(self.low), log10(self.high)) if self.is_log else (self.low, self.high)


def price_axis(prices: Floats) -> Axis:
    """Return the axis of prices, logarithmic where they differ many times."""
    smallest = float(prices.min())
    largest = float(prices.max())
    # On a linear scale most points would lie on each other.
    if smallest > 0 and largest / smallest > 8:
        room = (largest / smallest) ** ROOM
        return Axis(smallest / room, largest * room, is_log=True)
    return Axis(0.0, largest * (1 + ROOM) or 1.0)


def cost_remark(board: Board, costs: pd.DataFrame) -> Remark:
    """Say which systems are the best at their price, or why nothing can be said."""
    reason = uncompared_board(board)
    if reason:
        return Remark("frontier", "info", f"Costs are not held against quality: {reason}.")
    return frontier_remark(costs)


def cost_page(board: Board, costs: pd.DataFrame) -> Row:
    """Prepare the page on costs."""
    # The interval of a mean is the mean of the intervals: at least as wide as its own.
    bounds = board.ratings.groupby("system")[["low", "high"]].mean().astype(float)
    table = costs.merge(board.overall, on="system", how="left").join(bounds, on="system")
    charts = [_chart(table, measure) for measure in MEASURES if table[measure].notna().any()]
    currencies = [name for name in table["currency"].unique() if name]
    return {
        "sentence": cost_remark(board, costs).sentence,
        "charts": [chart for chart in charts if chart],
        "rows": plain_records(table),
        "currency": currencies[0] if len(currencies) == 1 else "",
        "several": len(currencies) > 1,
        "has": {name: bool(table[name].notna().any()) for name in AMOUNTS},
    }


def _chart(table: pd.DataFrame, measure: str) -> Row | None:
    is_drawn = table[f"on_{measure}_frontier"].notna() & table["mean_rating"].notna()
    unit = "seconds"
    if measure == "cost" and is_drawn.any():
        # Costs in different currencies have no common axis: the most frequent one has it.
        counts = table.loc[is_drawn, "currency"].value_counts()
        currency = min(counts.index[counts == counts.max()])
        is_drawn &= table["currency"] == currency
        unit = currency or NO_CURRENCY
    drawn = table[is_drawn].reset_index(drop=True)
    if drawn.empty:
        return None
    across = price_axis(drawn[measure].to_numpy(np.float64))
    ends = drawn[["low", "high", "mean_rating"]].to_numpy(np.float64)
    ends = ends[np.isfinite(ends)]
    room = float(np.ptp(ends)) * ROOM or 1.0
    up = Axis(float(ends.min()) - room, float(ends.max()) + room)
    points = _points(drawn, measure, across, up)
    on_frontier = [point for point in points if point["on_frontier"]]
    return {
        "measure": measure,
        "unit": unit,
        "points": points,
        "line": _steps(
            np.array([point["left"] for point in on_frontier]),
            np.array([point["bottom"] for point in on_frontier]),
        ),
        "across": across.ticks(),
        "is_log": across.is_log,
        "up": up.ticks(),
        "left_out": len(drawn) < len(table),
    }


def _points(drawn: pd.DataFrame, measure: str, across: Axis, up: Axis) -> list[Row]:
    placed = pd.DataFrame(
        {
            "system": drawn["system"],
            "rank": drawn["rank"],
            "amount": drawn[measure].map(shown_amount),
            "quality": drawn["mean_rating"],
            "on_frontier": drawn[f"on_{measure}_frontier"].eq(1),
            "left": across.places(drawn[measure].to_numpy(np.float64)),
        }
    )
    for name, column in (("bottom", "mean_rating"), ("low", "low"), ("high", "high")):
        placed[name] = up.places(drawn[column].to_numpy(np.float64))
    placed["height"] = placed["high"] - placed["low"]
    return plain_records(placed.round(2))


def _steps(lefts: Floats, bottoms: Floats) -> str:
    order = np.lexsort((bottoms, lefts))
    points: list[str] = []
    height = 100.0
    for index in order:
        points.append(f"{lefts[index]:g},{height:g}")
        height = round(100 - bottoms[index], 2)
        points.append(f"{lefts[index]:g},{height:g}")
    points.append(f"100,{height:g}")
    return " ".join(points)
