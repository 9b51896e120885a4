"""Tables of README.md from the results of all methods.

An arena counts once, however many tasks and halves of questions it has: scores are means over
arenas, and differences from the anchor are paired by arena.
"""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

ANCHOR = "random_pairs"
CEILING = "ceiling"
COLUMNS = ("50 calls", "100 calls", "200 calls", "400 calls", "not asked about", "no calls")


def write_tables(page: Path, results: Path) -> None:
    """Replace the page's tables by what the results say."""
    scores = mean_scores(read_results(results))
    tables = {
        "tau": difference_table(scores["tau"]),
        "arenas": arena_table(scores["tau"]),
        "seconds": mean_table(scores["seconds"]),
    }
    text = page.read_text(encoding="utf-8")
    for name, table in tables.items():
        block = f"<!-- table: {name} -->\n{table.to_markdown(disable_numparse=True)}\n<!-- end -->"
        text = re.sub(rf"<!-- table: {name} -->.*?<!-- end -->", block, text, flags=re.DOTALL)
    page.write_text(text, encoding="utf-8")


def read_results(folder: Path) -> pd.DataFrame:
    """Return all runs of all methods."""
    parts = [pd.read_csv(path).assign(method=path.stem) for path in sorted(folder.glob("*.csv"))]
    return with_columns(pd.concat(parts, ignore_index=True))


def with_columns(runs: pd.DataFrame) -> pd.DataFrame:
    """Add each run's ``arena``, and the ``column`` of tables that it belongs to.

    Where systems may not be asked about, scores are those over pairs with such a system.
    """
    is_hidden = runs["track"] == "hidden"
    column = runs["budget"].astype(str) + " calls"
    column = column.mask(runs["track"] == "none", "no calls").mask(is_hidden, "not asked about")
    return runs.assign(
        arena=runs["task"].str.split(" ").str[0],
        column=column,
        tau=runs["tau"].mask(is_hidden, runs["hidden_tau"]),
    )


def mean_scores(runs: pd.DataFrame) -> pd.DataFrame:
    """Return mean scores by method, column and arena."""
    names = ["tau", "seconds"]
    of_tasks = runs.groupby(["method", "column", "arena", "task"])[names].mean()
    return of_tasks.groupby(["method", "column", "arena"]).mean()


def mean_table(scores: pd.Series) -> pd.DataFrame:
    """Return means over arenas, the best method by 100 calls first."""
    means = scores.groupby(["method", "column"]).mean().unstack()
    return in_order(means).map(lambda value: "–" if pd.isna(value) else f"{value:.2f}")


def difference_table(scores: pd.Series) -> pd.DataFrame:
    """Return means over arenas, with paired differences from the anchor and standard errors."""
    shown = mean_table(scores)
    by_arena = scores.unstack("arena")
    for method, column in by_arena.index:
        if method in (ANCHOR, CEILING) or column not in COLUMNS:
            continue
        differences = (by_arena.loc[method, column] - by_arena.loc[ANCHOR, column]).dropna()
        shown.loc[method, column] += f" ({shown_difference(differences)})"
    return shown


def shown_difference(differences: pd.Series) -> str:
    """Show a mean difference, with its standard error if there are several arenas."""
    mean = f"{differences.mean():+.2f}"
    if len(differences) < 2:
        return mean
    error = differences.std(ddof=1) / len(differences) ** 0.5
    return f"{mean} ± {error:.2f}"


def arena_table(scores: pd.Series) -> pd.DataFrame:
    """Return tau at 100 calls by arena."""
    by_arena = scores.xs("100 calls", level="column").unstack("arena")
    order = in_order(scores.groupby(["method", "column"]).mean().unstack()).index
    return by_arena.loc[order].map("{:.2f}".format)


def in_order(means: pd.DataFrame) -> pd.DataFrame:
    """Sort methods by their mean at 100 calls, between the ceiling and what is worst."""
    columns = [column for column in COLUMNS if column in means]
    by_mean = means["100 calls"].sort_values(ascending=False).index
    return means.loc[sorted(by_mean, key=lambda name: name != CEILING), columns]
