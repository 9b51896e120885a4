"""Printing: results as JSON or as tables and lines; how far a run is."""

from __future__ import annotations

import json
import math
import re
import shlex
import sys
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from arena.data.wording import count_of
from surrogate.publish.formats import short_digest

if TYPE_CHECKING:
    import pandas as pd

WIDTH_WHERE_PIPED = 120
WIDTH = 80
"""Of what is printed of boards."""
LINES = 20
"""Of what is printed of a board at most, if its texts leave room for five systems."""
FEWEST_ROWS = 5
INTERVAL = "90% interval"
MOST_MARKS, MOST_OF_A_TEXT = 3, 9
"""Kinds of notes of a board, and lines of a text."""
SIGNATURE = "signature"
SHORTEST_NAME = 12
SHOWN_NOTES = 10
NUMBER = re.compile(r"[-+]?([\d.,]+%?|inf)|–")
UNBROKEN = re.compile(r"-?[\d.]+ to -?(?:[\d.]+|inf)|\S{1,24}")
"""Intervals and words, of which longer ones may be broken."""


def show(
    content: Mapping[str, Any], as_json: bool, titles: Mapping[str, str] | None = None
) -> None:
    """Print a result: as strict JSON, or tables as tables, texts one by one, and all else a line.

    Parts are called by their names where they have no title; with an empty one they are in JSON
    alone.
    """
    import pandas as pd

    if as_json:
        print(json.dumps(plain(content), indent=2, ensure_ascii=False, allow_nan=False))
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
            said = f"{title}: {cell(value)}"
            if name == SIGNATURE and len(said) > 2 * WIDTH:
                said = f"{title}: {short_digest(cell(value))} (--json has it whole)"
            print("\n".join(wrapped(said, MOST_OF_A_TEXT)))
        else:
            print_notes(value, title.removesuffix("s"))


def plain(value: Any) -> Any:  # noqa: ANN401 - anything that JSON can hold
    """Return a value as JSON holds it: tables as rows, records as objects, nothing for NaN."""
    import pandas as pd

    from arena.data.tables import plain_records

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


def print_table(
    title: str, table: pd.DataFrame, columns: Sequence[str] | None = None, width: int | None = None
) -> None:
    """Print a title, and a table, of some columns; numbers to the right, a dash for no value."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(width=width)
    if width is None and not console.is_terminal:
        console = Console(width=WIDTH_WHERE_PIPED)
    if title:
        console.print(Text(f"\n{title}"), highlight=False)
    names = list(table if columns is None else columns)
    rows = [list(map(cell, row)) for row in table[names].itertuples(index=False, name=None)]
    parts = list(zip([str(name).replace("_", " ") for name in names], *rows, strict=True))
    shown = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    for (heading, *texts), width in zip(parts, _widths(parts, console.width), strict=True):
        side: Any = "right" if all(map(NUMBER.fullmatch, texts)) else "left"
        shown.add_column(heading, justify=side, overflow="fold", width=width)
    for row in rows:
        shown.add_row(*map(Text, row))
    console.print(shown)


def _widths(columns: Sequence[Sequence[str]], room: int) -> list[int]:
    """Return how wide columns are: the widest are narrowed, but no word or interval is broken."""
    from rich.cells import cell_len

    least = [max(map(cell_len, UNBROKEN.findall(" ; ".join(texts)))) for texts in columns]
    widths = [max(map(cell_len, texts)) for texts in columns]
    while sum(widths) + 2 * len(widths) - 1 > room:
        wide = [(width, at) for at, width in enumerate(widths) if width > least[at]]
        if not wide:
            break
        widths[max(wide)[1]] -= 1
    return widths


def print_ranks(
    rows: pd.DataFrame, columns: Sequence[str], said: Sequence[str], last: Sequence[str] = ()
) -> None:
    """Print ranked systems, notes as marks, sentences and last lines: 20 lines of 80 columns.

    Where there is no room for all systems, those that are ``new`` or first stay, and the nearest.
    """
    marks, explained = _marked(rows["note"])
    lines = [line for text in explained for line in wrapped(text, 1 + (len(explained) == 1))]
    lines += [line for text in said for line in wrapped(text)]
    names = [*columns, *([" "] if any(marks) else [])]
    shown = rows.assign(**{" ": marks}).reset_index(drop=True)
    others = [max(map(len, [name, *map(cell, shown[name])])) for name in names if name != "system"]
    left = max(WIDTH - sum(others) - 2 * len(names), SHORTEST_NAME)
    shown["system"] = [cut_middle(name, left) for name in shown["system"]]
    room = max(LINES - 2 - len(lines) - len(last), FEWEST_ROWS)
    if len(shown) > room:
        places = shown.index[shown["new"] != ""] if "new" in shown else shown.index[:1]
        far = [min(abs(place - index) for place in places) for index in shown.index]
        shown = shown.loc[sorted(shown.index, key=far.__getitem__)[: room - 1]].sort_index()
        lines.insert(0, f"… and {count_of(len(rows) - len(shown), 'more system')}")
    print_table("", shown, names, WIDTH)
    print("\n".join((*lines, *last)))


def _marked(notes: pd.Series) -> tuple[list[str], list[str]]:
    """Replace notes by letters; return these, and what each of the most frequent means."""
    parts = [[part for part in note.split("; ") if part] for note in notes]
    same = set(parts[0]).intersection(*parts) if len(parts) > 1 else set()
    parts = [[part for part in row if part not in same] for row in parts]
    known = list(dict.fromkeys(part for row in parts for part in row))
    letters = {part: chr(ord("a") + index) for index, part in enumerate(known[:MOST_MARKS])}
    marks = ["".join(dict.fromkeys(letters.get(part, "+") for part in row)) for row in parts]
    explained = [f"{letter}: {part}" for part, letter in letters.items()]
    explained += [f"All: {part}" for part in sorted(same)[: MOST_MARKS - len(explained)]]
    if len(known) > MOST_MARKS:
        explained[-1] += f"; +: {count_of(len(known) - MOST_MARKS, 'other note')}"
    return marks, explained


def wrapped(text: str, most: int = 3) -> list[str]:
    """Break a text into lines of 80 columns, and cut what is longer than so many."""
    how: Any = {"max_lines": most, "placeholder": " …", "break_on_hyphens": False}
    how |= {"break_long_words": False}
    return textwrap.wrap(text, WIDTH, **how)


def cut_middle(name: str, longest: int) -> str:
    """Shorten a long name, whose end tells as much as its beginning."""
    half = longest // 2
    return name if len(name) <= longest else f"{name[: longest - half - 1]}…{name[-half:]}"


def command(*words: object) -> str:
    """Return what to type next, complete."""
    return f"Next: {shlex.join(['surrogate-arena', *map(str, words)])}"


def print_notes(notes: Sequence[object], title: str = "Note", most: int = SHOWN_NOTES) -> None:
    """Print the first notes, and how many there are more."""
    for note in notes[:most]:
        print("\n".join(wrapped(f"{title}: {note}" if title else str(note), MOST_OF_A_TEXT)))
    if len(notes) > most:
        print(f"… and {len(notes) - most:,} more; --json has all")


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
        cell(None)
        if is_missing(one) or is_missing(other)
        else f"{shown(one)}{between}{shown(other)}"
        for one, other in zip(table[low], table[high], strict=True)
    ]


def shown_board(ratings: pd.DataFrame, overall: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return a board's rows as they are shown, and the columns.

    Of several languages: overall ranks with their 90% interval, mean ratings. The interval of a
    mean rating is the mean of those in the languages: at least as wide as that of the mean.
    """
    from surrogate.board.summary import HELD_OUT

    held = ratings["split"].eq("holdout").map({True: f"; {HELD_OUT}", False: ""})
    ratings = ratings.assign(note=(ratings["note"] + held).str.removeprefix("; "))
    columns, rows = ["rank", "ranks", "system", "rating", INTERVAL], ratings
    if ratings["language"].nunique() > 1:
        columns = ["rank", "ranks", "system", "mean_rank", "rating", INTERVAL]
        grouped = ratings.groupby("system")
        means = grouped[["rating", "low", "high"]].mean()
        notes = grouped["note"].agg(lambda own: "; ".join(dict.fromkeys(filter(None, own))))
        means = means.assign(note=notes)
        rows = overall.join(means.astype({"rating": float}), on="system")
        rows = rows.assign(mean_rank=rows["mean_rank"].map(two_decimals))
    few = rows["coverage"].lt(1).map({True: "; did not answer every question", False: ""})
    shown = {
        columns[1]: spans(rows, "rank_low", "rank_high", "–", str),
        "rating": rows["rating"].where(rows["rank"].notna()).map(two_decimals),
        INTERVAL: spans(rows),
        "note": rows["note"] + few,
    }
    return rows.assign(**shown), columns


def with_spans(table: pd.DataFrame) -> pd.DataFrame:
    """Show decimals, two of them, and columns ``NAME_low`` and ``NAME_high`` as one."""
    for low in [name for name in table if str(name).endswith("_low")]:
        name = low.removesuffix("_low")
        table = table.assign(**{low: spans(table, low, f"{name}_high")})
        table = table.drop(columns=f"{name}_high").rename(columns={low: f"{name} 95%"})
    decimals = table.select_dtypes("float")
    return table.assign(**{str(name): decimals[name].map(two_decimals) for name in decimals})


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
