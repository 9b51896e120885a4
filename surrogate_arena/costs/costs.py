"""Costs of answers in money, time and tokens, and who gives most for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import fsum
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.arena import Arena
from arena.data.rows import finite_number, is_null, selected_columns
from arena.data.schema import AMOUNTS, COST, CURRENCY, LATENCY, QUESTION_KEY, TOKENS
from arena.data.tables import guarded_csv
from arena.data.types import Flags, Floats
from arena.data.wording import Remark, first_of
from arena.data.writing import write_text
from surrogate.board.board import Board
from surrogate.board.tables import DECIMALS
from surrogate_arena.costs.uncompared import uncompared_systems

COSTS_FILE = "costs.csv"
COST_COLUMNS = [
    "system",
    "cost",
    "currency",
    "latency",
    "latency_p95",
    "tokens",
    "on_cost_frontier",
    "on_latency_frontier",
    "note",
]
PRICED_ANSWERS = 1000
"""A board states the cost of this many answers: the cost of one is too small to read."""
NO_CURRENCY = "no currency"
NO_COST = "no cost: "
"""How notes on costs in several currencies begin."""
BY_SYSTEM = "{} stated for the system, not by answer"
PARTIAL = "{} of {} of {} answers"


@dataclass(frozen=True)
class AnswerAmounts:
    """Costs, latencies and tokens of an arena's answers.

    Attributes:
        amounts: Of each amount, a row per question and a column per system; what ``systems.csv``
            says where no answer of a system states one.
        currencies: Currency of each system's costs; empty where none is stated.
        answers: Number of answers of each system.
        stated: Number of answers that state an amount, a row per system, a column per amount.
        notes: Why a system lacks an amount, or has it from elsewhere.
    """

    amounts: dict[str, pd.DataFrame]
    currencies: dict[str, str]
    answers: pd.Series
    stated: pd.DataFrame
    notes: dict[str, list[str]]

    @property
    def is_empty(self) -> bool:
        """Return whether nothing is stated of any system."""
        return all(table.isna().all(axis=None) for table in self.amounts.values())


def answer_amounts(arena: Arena) -> AnswerAmounts:
    """Collect what answers took; costs of a system in several currencies are none."""
    systems = sorted(arena.info.systems)
    columns = [*QUESTION_KEY, "system"]
    answers = selected_columns(arena.answers, columns, [*AMOUNTS, CURRENCY])
    by_answer = answers.astype(dict.fromkeys(AMOUNTS, float))
    tables = by_answer.pivot(index=QUESTION_KEY, columns="system", values=list(AMOUNTS))
    amounts = {name: tables[name].reindex(columns=systems) for name in AMOUNTS}
    result = AnswerAmounts(
        amounts=amounts,
        currencies=dict.fromkeys(systems, ""),
        answers=answers["system"].value_counts().reindex(systems, fill_value=0),
        stated=pd.DataFrame({name: table.notna().sum() for name, table in amounts.items()}),
        notes={system: [] for system in systems},
    )
    _add_currencies(result, by_answer[by_answer[COST].notna()])
    _add_amounts_of_systems(result, arena.attributes)
    return result


def _add_currencies(amounts: AnswerAmounts, priced: pd.DataFrame) -> None:
    for system, cells in priced.groupby("system")[CURRENCY]:
        names = sorted({_currency(cell) for cell in cells})
        amounts.currencies[str(system)] = names[0]
        if len(names) > 1:
            amounts.amounts[COST][system] = np.nan
            shown = " and ".join(name or NO_CURRENCY for name in names)
            amounts.notes[str(system)].append(f"{NO_COST}its answers state {shown}")


def _add_amounts_of_systems(amounts: AnswerAmounts, attributes: pd.DataFrame) -> None:
    for record in attributes.to_dict(orient="records"):
        system = record["system"]
        for name in AMOUNTS:
            amount = finite_number(record.get(name))
            if amount is None or amounts.stated.loc[system, name]:
                continue
            amounts.amounts[name][system] = amount
            amounts.notes[system].append(BY_SYSTEM.format(name))
            if name == COST:
                amounts.currencies[system] = _currency(record.get(CURRENCY))


def _currency(cell: object) -> str:
    return "" if is_null(cell) else str(cell).strip().upper()


def cost_table(board: Board, arena: Arena) -> pd.DataFrame:
    """Sum up what the answers of each system took, by overall rank; no row if nothing is stated.

    ``cost`` is that of ``PRICED_ANSWERS`` answers; latencies are median and 95th percentile. A
    system is on a frontier (1) if no other one is at least as good by mean rating and takes as
    little, costs in the same currency; that is missing where quality or amount is.
    """
    amounts = answer_amounts(arena)
    if amounts.is_empty:
        return pd.DataFrame(columns=COST_COLUMNS)
    uncompared = uncompared_systems(board, board.systems)
    rows = [_system_row(amounts, system, uncompared.get(system, "")) for system in board.systems]
    table = pd.DataFrame(rows)
    quality = board.overall.set_index("system")["mean_rating"].reindex(board.systems)
    quality[list(uncompared)] = np.nan
    table["on_cost_frontier"] = np.nan
    for _, priced in table[table["cost"].notna()].groupby("currency"):
        on_frontier = _frontier_column(quality[priced["system"]], priced["cost"])
        table.loc[priced.index, "on_cost_frontier"] = on_frontier
    table["on_latency_frontier"] = _frontier_column(quality, table["latency"])
    return table[COST_COLUMNS].round(DECIMALS)


def write_costs(board: Board, arena: Arena, folder: Path) -> pd.DataFrame:
    """Write ``cost_table`` beside the files of a board."""
    costs = cost_table(board, arena)
    path = folder / COSTS_FILE
    path.unlink(missing_ok=True)
    if not costs.empty:
        write_text(guarded_csv(costs), path)
    return costs


def frontier_remark(costs: pd.DataFrame) -> Remark:
    """Say which systems have the best rating at their cost or less, if any."""
    measure = "cost" if costs["cost"].notna().any() else "latency"
    best = costs[costs[f"on_{measure}_frontier"].eq(1)]
    if best.empty:
        return Remark("frontier", "info", "")
    systems = []
    for row in best.itertuples():
        amount = shown_amount(getattr(row, measure))
        unit = row.currency if measure == "cost" else "seconds"
        systems.append(f"{row.system} ({amount} {unit}".rstrip() + ")")
    shown = first_of(systems)
    text = f"Best rating at their median latency or less: {shown}."
    if measure == "cost":
        text = f"Best rating at their cost or less, for 1,000 answers: {shown}."
    return Remark("frontier", "info", text, systems=tuple(best["system"]))


def _system_row(amounts: AnswerAmounts, system: str, uncompared: str) -> dict[str, object]:
    values: dict[str, Floats] = {}
    for name, table in amounts.amounts.items():
        column = table[system].to_numpy(np.float64)
        # Sorted, so that sums do not depend on the order of rows.
        values[name] = np.sort(column[~np.isnan(column)])
    latency = np.nan
    latency_p95 = np.nan
    if len(values[LATENCY]):
        latency = float(np.median(values[LATENCY]))
    # One number of the whole system has no percentiles.
    if amounts.stated.loc[system, LATENCY]:
        latency_p95 = float(np.quantile(values[LATENCY], 0.95))
    cost = _mean(values[COST]) * PRICED_ANSWERS
    return {
        "system": system,
        "cost": cost,
        "currency": "" if np.isnan(cost) else amounts.currencies[system],
        "latency": latency,
        "latency_p95": latency_p95,
        "tokens": _mean(values[TOKENS]),
        "note": "; ".join(_notes(amounts, system, uncompared)),
    }


def _mean(values: Floats) -> float:
    return fsum(values) / len(values) if len(values) else np.nan


def _notes(amounts: AnswerAmounts, system: str, uncompared: str) -> Iterator[str]:
    yield from amounts.notes[system]
    n_answers = int(amounts.answers[system])
    for name in AMOUNTS:
        table = amounts.amounts[name]
        n_stated = int(amounts.stated.loc[system, name])
        # Where no system has any, nobody misses it.
        is_missed = table[system].isna().all() and table.notna().any(axis=None)
        if 0 < n_stated < n_answers:
            yield PARTIAL.format(name, n_stated, n_answers)
        elif not n_stated and is_missed:
            yield f"no {name} stated"
    if uncompared:
        yield f"not compared: {uncompared}"


def _frontier_column(quality: npt.ArrayLike, prices: npt.ArrayLike) -> Floats:
    is_known = ~(np.isnan(np.asarray(quality, float)) | np.isnan(np.asarray(prices, float)))
    return np.where(is_known, pareto_frontier(quality, prices), np.nan)


def shown_amount(amount: float) -> str:
    """Show an amount of any size with three digits."""
    return f"{amount:,.0f}" if amount >= 100 else f"{amount:.3g}"


def pareto_frontier(quality: npt.ArrayLike, prices: npt.ArrayLike) -> Flags:
    """Return who gives most for its price: nobody is at least as good for as little, better in one.

    Args:
        quality: The higher the better, shape (N,).
        prices: The lower the better, shape (N,).

    Returns:
        Shape (N,); False where a value is NaN.
    """
    good = np.asarray(quality, dtype=np.float64)
    price = np.asarray(prices, dtype=np.float64)
    is_known = ~(np.isnan(good) | np.isnan(price))
    on_frontier = np.zeros(len(good), dtype=np.bool_)
    best = -np.inf
    # By price, and of one price the best first: whoever beats all cheaper ones is on the frontier.
    for index in np.lexsort((-good, price)):
        if not is_known[index]:
            continue
        is_twin = on_frontier & (good == good[index]) & (price == price[index])
        if good[index] > best or is_twin.any():
            on_frontier[index] = True
            best = good[index]
    return on_frontier
