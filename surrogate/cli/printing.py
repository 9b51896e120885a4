"""Printing: results as JSON or as tables and lines; how far a run is."""

from __future__ import annotations

import json
import math
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from arena.data.wording import count_of

if TYPE_CHECKING:
    import pandas as pd

WIDTH_WHERE_PIPED = 120
SHOWN_NOTES = 10
NUMBER = re.compile(r"[-+]?[\d.,]+%?|–")
SPAN = re.compile(r"-?[\d.]+ to (-?[\d.]+|inf)|–")


def show(
    content: Mapping[str, Any], as_json: bool, titles: Mapping[str, str] | None = None
) -> None:
    """Print a result: as strict JSON, or tables as tables, texts one by one, and all else a line.

    Args:
        content: The parts by name.
        as_json: Whether to print JSON.
        titles: What to call a part, where that is not its name; those whose title is empty are
            in JSON alone.
    """
    import pandas as pd

    if as_json:
        shown = json.dumps(plain(content), indent=2, ensure_ascii=False, allow_nan=False)
        print(shown)
        return
    for name, value in content.items():
        title = (titles or {}).get(name, name.replace("_", " ").capitalize())
        if not title or value is None or (hasattr(value, "__len__") and not len(value)):
            continue
        if isinstance(value, pd.DataFrame):
            print_table(title, value)
        elif isinstance(value, Mapping):
            print(f"{title}: {', '.join(f'{cell(each)} {key}' for key, each in value.items())}")
        elif isinstance(value, str) or not isinstance(value, Sequence):
            print(f"{title}: {cell(value)}")
        else:
            print_notes(value, title.removesuffix("s"))


def plain(value: Any) -> Any:  # noqa: ANN401 - anything that JSON can hold
    """Return a value as JSON holds it: tables as rows, records as objects, nothing for NaN."""
    import pandas as pd

    from arena.data.rows import plain_records

    if isinstance(value, pd.DataFrame):
        return plain(plain_records(value))
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if is_dataclass(value):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value) if isinstance(value, Path) else value


def print_table(title: str, table: pd.DataFrame, columns: Sequence[str] | None = None) -> None:
    """Print a title, and a table, of some columns; numbers to the right, a dash for no value."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH_WHERE_PIPED)
    console.print(Text(f"\n{title}"), highlight=False)
    names = list(table if columns is None else columns)
    rows = list(table[names].itertuples(index=False, name=None))
    shown = Table()
    for index, name in enumerate(names):
        values = [row[index] for row in rows]
        is_numeric = all(not isinstance(v, str) or NUMBER.fullmatch(v) for v in values)
        shown.add_column(
            str(name).replace("_", " "),
            justify="right" if is_numeric else "left",
            overflow="fold",
            no_wrap=all(SPAN.fullmatch(str(value)) for value in values),  # is not broken in two
        )
    for row in rows:
        shown.add_row(*(Text(cell(value)) for value in row))
    console.print(shown)


def print_notes(notes: Sequence[object], title: str = "Note", most: int = SHOWN_NOTES) -> None:
    """Print the first notes, and how many there are more."""
    for note in notes[:most]:
        print(f"{title}: {note}")
    if len(notes) > most:
        print(f"… and {count_of(len(notes) - most, f'more {title.lower()}')}; --json has all")


def is_missing(value: object) -> bool:
    """Tell whether there is no value."""
    import pandas as pd

    return value is None or bool(pd.isna(value))


def cell(value: Any) -> str:  # noqa: ANN401 - any value of a table
    """Show one value: three digits for numbers, a dash for a missing one."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list | tuple | dict) and is_missing(value):
        return "–"
    return f"{value:z.3f}" if isinstance(value, float) else str(value)


def two_decimals(value: float | None) -> str:
    """Show a number with two decimals, a dash for a missing one."""
    return cell(None) if is_missing(value) else f"{value:z.2f}"


def spans(
    table: pd.DataFrame,
    low: str = "low",
    high: str = "high",
    between: str = " to ",
    shown: Callable[[Any], str] = two_decimals,
) -> list[str]:
    """Show two columns of bounds as one, such as ``-0.12 to 0.40``; a dash where there are none."""
    return [
        cell(None) if is_missing(one) else f"{shown(one)}{between}{shown(other)}"
        for one, other in zip(table[low], table[high], strict=True)
    ]


def shown_ratings(ratings: pd.DataFrame, columns: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
    """Return ratings as they are shown, and the columns: coverage and notes where they say much."""
    shown = ratings.assign(
        interval=spans(ratings),
        ranks=spans(ratings, "rank_low", "rank_high", "–", str),
        rating=ratings["rating"].map(two_decimals),
    )
    more = [name for name, empty in (("coverage", 1), ("note", "")) if any(ratings[name] != empty)]
    return shown, [*columns, *more]


def with_spans(table: pd.DataFrame) -> pd.DataFrame:
    """Replace each pair of columns ``NAME_low`` and ``NAME_high`` by one."""
    for low in [name for name in table if str(name).endswith("_low")]:
        name = low.removesuffix("_low")
        table = table.assign(**{low: spans(table, low, f"{name}_high", shown=cell)})
        table = table.drop(columns=f"{name}_high").rename(columns={low: f"{name} 95%"})
    return table


def progress_lines() -> Callable[[str, int, int], None]:
    """Return what says how far a stage is, a line at every tenth of it, on standard error."""
    tenths: dict[str, int] = {}
    started = time.monotonic()

    def say(stage: str, done: int, total: int) -> None:
        tenth = 10 * done // max(total, 1)
        if tenth > tenths.get(stage, 0):
            tenths[stage] = tenth
            seconds = time.monotonic() - started
            print(f"{stage}: {done:,} of {total:,} ({seconds:.0f} s)", file=sys.stderr, flush=True)

    return say
