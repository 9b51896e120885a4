"""Printing: results as JSON or as tables and lines; how far a run is."""

from __future__ import annotations

import json
import math
import re
import shlex
import sys
import textwrap
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from arena.data.wording import P_VALUES, Remark, Severity, count_of, short_digest, shown_p

if TYPE_CHECKING:
    import pandas as pd

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info", "good")
"""Gravest first."""
WIDTH_WHERE_PIPED = 120
WIDTH = 80
"""Columns of the terminal that a board is printed for."""
INTERVAL = "90% interval"
MOST_REMARKS = 5
SIGNATURE = "signature"
NUMBER = re.compile(r"[-+]?([\d.,]+%?|inf)|–")
UNBROKEN = re.compile(r"-?[\d.]+ to -?(?:[\d.]+|inf)|\S{1,24}")
"""Intervals and words, of which longer ones may be broken."""


def show(
    content: Mapping[str, Any], as_json: bool, titles: Mapping[str, str] | None = None
) -> None:
    """Print a result as strict JSON, or for people: parts with an empty title are in JSON only."""
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
            parts = [f"{cell(part)} {key}" for key, part in value.items()]
            print(f"{title}: {', '.join(parts)}")
        elif isinstance(value, str) or not isinstance(value, Sequence):
            line = f"{title}: {cell(value)}"
            if name == SIGNATURE and len(line) > 2 * WIDTH:
                line = f"{title}: {short_digest(cell(value))} (--json has it whole)"
            print("\n".join(wrapped(line)))
        elif isinstance(value[0], Remark):
            print_remarks(value)
        else:
            print_notes(value, title.removesuffix("s"))


def plain(value: Any) -> Any:  # noqa: ANN401 - anything that JSON can hold
    """Return a value as JSON holds it."""
    import pandas as pd

    from arena.data.tables import plain_records

    if isinstance(value, pd.DataFrame):
        return plain(plain_records(value))
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if is_dataclass(value):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return list(map(plain, value))
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value) if isinstance(value, Path) else value


def print_table(
    title: str,
    table: pd.DataFrame,
    columns: Sequence[str] | None = None,
    width: int | None = None,
) -> None:
    """Print a title, and some columns of a table."""
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
    headings = [str(name).replace("_", " ") for name in names]
    rows = [list(map(cell, row)) for row in table[names].itertuples(index=False, name=None)]
    texts_by_column = list(zip(headings, *rows, strict=True))
    widths = _widths(texts_by_column, console.width)
    printed = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    for (heading, *texts), column_width in zip(texts_by_column, widths, strict=True):
        side: Any = "right" if all(map(NUMBER.fullmatch, texts)) else "left"
        # As Text, so that brackets and colons are not read as rich's markup and emoji.
        printed.add_column(Text(heading), justify=side, overflow="fold", width=column_width)
    for row in rows:
        printed.add_row(*map(Text, row))
    console.print(printed)


def _widths(columns: Sequence[Sequence[str]], room: int) -> list[int]:
    """Narrow the widest columns, headings before cells; no word or interval is broken."""
    from rich.cells import cell_len

    least = [max(map(cell_len, UNBROKEN.findall(" ; ".join(texts)))) for texts in columns]
    widths = [max(map(cell_len, texts)) for texts in columns]
    cell_widths = [max(map(cell_len, texts[1:]), default=0) for texts in columns]
    gaps = 2 * len(widths) - 1
    while sum(widths) + gaps > room:
        candidates = [index for index, width in enumerate(widths) if width > least[index]]
        if not candidates:
            break
        # Of columns of the same width the last one gives way.
        widest = max(
            candidates,
            key=lambda index: (widths[index] > cell_widths[index], widths[index], index),
        )
        widths[widest] -= 1
    return widths


def print_ranks(
    rows: pd.DataFrame, columns: Sequence[str], sentences: Sequence[str], last: Sequence[str]
) -> None:
    """Print ranked systems in 80 columns, with sentences and last lines below.

    Where they do not fit, those that are ``new``, or the first, are printed with the nearest ones.
    """
    marks, explanations = _marks_of_notes(rows["note"])
    lines: list[str] = []
    for text in (*explanations, *sentences):
        lines += wrapped(text)
    names = list(columns)
    if any(marks):
        names.append(" ")
    table = rows.assign(**{" ": marks}).reset_index(drop=True)
    room = WIDTH - 2 * len(names)
    for name in names:
        if name != "system":
            # Headings may break between words.
            room -= max(map(len, [*re.split("[ _]", name), *map(cell, table[name])]))
    table["system"] = [cut_middle(system, max(room, 12)) for system in table["system"]]
    # 30 lines in all, or more where texts leave no room for twelve systems.
    room = max(28 - len(lines) - len(last), 12)
    if len(table) > room:
        table = _nearest_rows(table, room - 1)
        lines.insert(0, f"… and {count_of(len(rows) - len(table), 'more system')}; --json has all")
    print_table("", table, names, WIDTH)
    print("\n".join((*lines, *last)))


def _nearest_rows(table: pd.DataFrame, n_rows: int) -> pd.DataFrame:
    """Return the rows of new systems, or the first row, and the rows nearest to them."""
    import numpy as np

    from surrogate_arena.cli.shown_numbers import PREDICTED

    centers = table.index[table["new"] != ""] if "new" in table else table.index[:1]
    distances = np.abs(np.subtract.outer(table.index.to_numpy(), centers.to_numpy())).min(axis=1)
    nearest = np.argsort(distances, kind="stable")[:n_rows]
    is_placed = table["place"].str.startswith(PREDICTED) if "place" in table else []
    placed = table.index[is_placed]
    if len(placed) and not table.index[nearest].isin(placed).any():
        # That some systems are placed, not ranked, shows in one of them.
        nearest[-1] = placed[0]
    return table.iloc[np.sort(nearest)]


def _marks_of_notes(notes: pd.Series) -> tuple[list[str], list[str]]:
    """Replace notes by letters; return these, and what each of the most frequent means."""
    parts_by_row = [[part for part in note.split("; ") if part] for note in notes]
    # What holds for every system is said once, without a letter in each row.
    common: set[str] = set()
    if len(parts_by_row) > 1:
        common = set(parts_by_row[0]).intersection(*parts_by_row)
    most_marks = 3
    letters: dict[str, str] = {}
    others: set[str] = set()
    marks: list[str] = []
    for parts in parts_by_row:
        row_letters: list[str] = []
        for part in parts:
            if part in common:
                continue
            if part not in letters and len(letters) < most_marks:
                letters[part] = chr(ord("a") + len(letters))
            if part not in letters:
                others.add(part)
            row_letters.append(letters.get(part, "+"))
        marks.append("".join(dict.fromkeys(row_letters)))
    explanations = [f"{letter}: {part}" for part, letter in letters.items()]
    explanations += [f"Each system: {part}" for part in sorted(common)[: most_marks - len(letters)]]
    if others:
        explanations[-1] += f"; +: {count_of(len(others), 'other note')}"
    return marks, explanations


def wrapped(text: str) -> list[str]:
    """Break a text into lines of 80 columns."""
    return textwrap.wrap(text, WIDTH, break_on_hyphens=False, break_long_words=False)


def cut_middle(name: str, longest: int) -> str:
    """Shorten a long name in its middle."""
    if len(name) <= longest:
        return name
    half = longest // 2
    return f"{name[: longest - half - 1]}…{name[-half:]}"


def first_lines(texts: Sequence[object], most: int) -> list[str]:
    """Return the first texts or remarks, and a line that counts the rest."""
    lines = list(map(str, texts[:most]))
    if len(texts) > most:
        lines.append(f"… and {len(texts) - most:,} more; --json has all")
    return lines


def command(*words: object) -> str:
    """Return what to type next, complete."""
    return f"Next: {shlex.join(['surrogate-arena', *map(str, words)])}"


def print_notes(notes: Sequence[object], title: str = "Note", most: int = 10) -> None:
    """Print the first texts, and how many there are more."""
    texts = [f"{title}: {note}" if title else str(note) for note in notes]
    for text in first_lines(texts, most):
        print("\n".join(wrapped(text)))


def by_severity(remarks: Iterable[Remark]) -> tuple[Remark, ...]:
    """Sort remarks, the gravest first, stably."""
    return tuple(sorted(remarks, key=lambda remark: SEVERITIES.index(remark.severity)))


def print_remarks(remarks: Sequence[Remark]) -> None:
    """Print what limits something, then one remark of each other kind; the rest is counted."""
    others = {remark.name: remark for remark in reversed(remarks) if not remark.is_warning}
    first = [remark for remark in by_severity(remarks) if remark.is_warning]
    first += [remark for remark in remarks if others.get(remark.name) is remark]
    for remark in first[:MOST_REMARKS]:
        severity = f"{remark.severity.capitalize()}: " if remark.is_warning else ""
        print("\n".join(wrapped(f"{severity}{remark}")))
    n_left = len(remarks) - len(first[:MOST_REMARKS])
    if n_left:
        print(f"… and {n_left:,} more; --json has all")


def is_missing(value: object) -> bool:
    """Return whether there is no value."""
    import pandas as pd

    return bool(pd.isna(value))


def cell(value: Any) -> str:  # noqa: ANN401 - any value of a table
    """Show one value: three decimals, a dash for a missing one."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list | tuple | dict) and is_missing(value):
        return "–"
    return f"{value:z.3f}" if isinstance(value, float) else str(value)


def two_decimals(value: float | None) -> str:
    """Show a number with two decimals."""
    return cell(None) if is_missing(value) else f"{value:z.2f}"


def spans(table: pd.DataFrame, low: str = "low", high: str = "high") -> list[str]:
    """Show two columns of bounds as one, such as ``-0.12 to 0.40``."""
    texts = []
    for lower, upper in zip(table[low], table[high], strict=True):
        if is_missing(lower) or is_missing(upper):
            texts.append(cell(None))
        else:
            texts.append(f"{two_decimals(lower)} to {two_decimals(upper)}")
    return texts


def shown_board(ratings: pd.DataFrame, overall: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return a board's rows as they are shown, as on its first page, and the first columns."""
    import pandas as pd

    from surrogate.board.ranks import counting_languages
    from surrogate.board.summary import HELD_OUT

    held_out = ratings["split"].eq("holdout").map({True: f"; {HELD_OUT}", False: ""})
    rows = ratings.assign(note=(ratings["note"] + held_out).str.removeprefix("; "))
    if ratings["language"].nunique() > 1:
        # Other languages have no part in the overall wins.
        counting = rows[rows["language"].isin(counting_languages(ratings))]
        notes = counting.groupby("system")["note"].agg(
            lambda notes: "; ".join(dict.fromkeys(filter(None, notes)))
        )
        rows = overall.assign(note=overall["system"].map(notes).fillna(""))
    incomplete = rows["coverage"].lt(1).map({True: "; did not answer every question", False: ""})
    shown = [_shown_row(row) for row in rows.to_dict("records")]
    columns = ["place", "system", "wins", INTERVAL]
    table = pd.DataFrame(shown, columns=columns)
    table["arena_rank"] = rows["arena_rank"].to_numpy()
    table["note"] = (rows["note"] + incomplete).to_numpy()
    return table, columns


def _shown_row(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Show a system's place and name, how often it wins, and the interval of that in percent."""
    from surrogate_arena.cli.shown_numbers import MISSING, group_of, place, wins, wins_interval

    if group_of(row) == "absent":
        # It has too few verdicts for its wins to be read.
        return MISSING, row["system"], MISSING, MISSING
    return place(row), row["system"], wins(row), wins_interval(row) or MISSING


def with_spans(table: pd.DataFrame) -> pd.DataFrame:
    """Show two decimals, three of p-values, and ``NAME_low`` and ``NAME_high`` as one column."""
    for low in [name for name in table if str(name).endswith("_low")]:
        name = low.removesuffix("_low")
        table = table.assign(**{low: spans(table, low, f"{name}_high")})
        table = table.drop(columns=f"{name}_high").rename(columns={low: f"{name} 95%"})
    p_values = [name for name in P_VALUES if name in table]
    table = table.assign(
        **{name: table[name].map(shown_p, na_action="ignore") for name in p_values}
    )
    decimals = table.select_dtypes("float")
    return table.assign(**{str(name): decimals[name].map(two_decimals) for name in decimals})


def progress_lines() -> Callable[[str, int, int], None]:
    """Return a function that prints a line at every tenth of a stage, on standard error."""
    tenths: dict[str, int] = {}
    started = time.monotonic()

    def print_tenth(stage: str, done: int, total: int) -> None:
        tenth = 10 * done // max(total, 1)
        if total > 1 and tenth > tenths.get(stage, 0):
            tenths[stage] = tenth
            seconds = time.monotonic() - started
            print(f"{stage}: {done:,} of {total:,} ({seconds:.0f} s)", file=sys.stderr, flush=True)

    return print_tenth


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Print each warning once, without its line of code."""
    with warnings.catch_warnings():
        warnings.simplefilter("once", UserWarning)
        warnings.showwarning = lambda message, *_: print(message, file=sys.stderr)
        yield
