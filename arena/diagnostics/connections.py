"""Whether the systems of a language can be ranked on one scale."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from arena.diagnostics.finding import Finding, listed, subject_of
from arena.diagnostics.systems import LOSES_ALL, WINS_ALL
from arena.diagnostics.verdicts import GROUP


def connections_table(systems: pd.DataFrame) -> pd.DataFrame:
    """Summarize the win graph of every language and judge.

    Args:
        systems: As ``systems_table`` returns it.

    Returns:
        Columns ``language, judge, systems, groups, largest_group, strong_groups,
        largest_strong_group, win_all, lose_all``: numbers of judged systems and of groups.
    """
    judged = systems[systems["judgments"] > 0]
    marked = judged.assign(
        in_first=judged["group"] == 1,
        in_first_strong=judged["strong_group"] == 1,
        wins_all=judged["note"] == WINS_ALL,
        loses_all=judged["note"] == LOSES_ALL,
    )
    table = marked.groupby(GROUP).agg(
        systems=("system", "size"),
        groups=("group", "max"),
        largest_group=("in_first", "sum"),
        strong_groups=("strong_group", "max"),
        largest_strong_group=("in_first_strong", "sum"),
        win_all=("wins_all", "sum"),
        lose_all=("loses_all", "sum"),
    )
    return table.astype(int).reset_index()


def connection_findings(connections: pd.DataFrame, systems: pd.DataFrame) -> Iterator[Finding]:
    """Say what keeps systems off one scale, and whose rating has no finite estimate."""
    named = {key: part for key, part in systems.groupby(GROUP) if isinstance(key, tuple)}
    for row in connections.itertuples():
        subject = subject_of(row.language, row.judge)
        part = named[(row.language, row.judge)]
        if row.groups > 1:
            sentence = _disconnected(row.systems, row.groups, row.largest_group, part)
            yield Finding("error", "connected", subject, sentence)
        elif row.strong_groups > 1:
            sentence = _one_way(row.systems, row.strong_groups, row.largest_strong_group)
            yield Finding("warning", "both ways", subject, sentence)
        for note in (WINS_ALL, LOSES_ALL):
            names = list(part.loc[part["note"] == note, "system"])
            if names:
                yield Finding(
                    "warning",
                    note.replace("every battle", "all"),
                    subject,
                    f"{listed(names)}: {note}; only a prior bounds the rating",
                )


def _disconnected(systems: int, groups: int, largest: int, part: pd.DataFrame) -> str:
    outside = list(part.loc[part["group"] > 1, "system"])
    return (
        f"no judgments connect the {systems:,} systems: they fall into {groups:,} groups, the "
        f"largest of {largest:,}, which cannot be ranked on one scale; outside the largest: "
        f"{listed(outside)}"
    )


def _one_way(systems: int, groups: int, largest: int) -> str:
    return (
        f"wins do not lead from every system to every other: the {systems:,} systems fall into "
        f"{groups:,} groups, the largest of {largest:,}, between which all wins go one way; "
        "how far apart these stand is bounded by a prior only"
    )
