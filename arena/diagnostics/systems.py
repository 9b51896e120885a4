"""Every system's record for a language and a judge, and the groups that judgments connect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.diagnostics.finding import Finding, listed, subject_of
from arena.diagnostics.verdicts import GROUP, PAIR, groups_of
from arena.rating.pairs import connected_groups

Integers = npt.NDArray[np.intp]

WINS_ALL = "wins every battle"
LOSES_ALL = "loses every battle"
NEVER_JUDGED = "is declared but was never judged"

_NODE = [*GROUP, "system"]
_COUNTS = ["judgments", "wins", "losses", "ties", "on_side_a"]


def systems_table(
    table: pd.DataFrame, pairs: pd.DataFrame, declared: Sequence[str] = ()
) -> pd.DataFrame:
    """Count what every system did, and number the groups of systems that judgments connect.

    ``group`` numbers the weakly connected components of the win graph: systems that any chain
    of battles links. ``strong_group`` numbers its strongly connected components, an edge from
    winner to loser and a tie counting both ways: where there is one alone, and only there, the
    ratings have a finite maximum likelihood (Ford, 1957, "Solution of a ranking problem from
    binary comparisons"). Both count from 1, the largest first, equal ones by first name.

    Args:
        table: As ``verdicts`` returns it.
        pairs: As ``pairs_table`` returns it.
        declared: Systems that should have been judged.

    Returns:
        Columns ``language, judge, system, judgments, wins, losses, ties, on_side_a, questions,
        group, strong_group, note``, sorted; no group for a system that was never judged.
    """
    records = _records(table, pairs)
    first, second = _positions(records, pairs, "first"), _positions(records, pairs, "second")
    won = (pairs["wins"] + pairs["ties"] > 0).to_numpy()
    lost = (pairs["losses"] + pairs["ties"] > 0).to_numpy()
    winners = np.concatenate([first[won], second[lost]])
    losers = np.concatenate([second[won], first[lost]])
    size = len(records)
    judged = records.assign(
        group=_numbered(records, connected_groups(first, second, size)),
        strong_group=_numbered(records, connected_groups(winners, losers, size, one_way=True)),
        note="",
    )
    judged.loc[judged["wins"] == judged["judgments"], "note"] = WINS_ALL
    judged.loc[judged["losses"] == judged["judgments"], "note"] = LOSES_ALL
    return _with_unjudged(judged, declared)


def _records(table: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Add up each system's pairs, and count its questions."""
    as_first = pairs[GROUP].assign(
        system=pairs["first"],
        judgments=pairs["battles"],
        wins=pairs["wins"],
        losses=pairs["losses"],
        ties=pairs["ties"],
        on_side_a=pairs["first_on_a"],
    )
    as_second = as_first.assign(
        system=pairs["second"],
        wins=pairs["losses"],
        losses=pairs["wins"],
        on_side_a=pairs["battles"] - pairs["first_on_a"],
    )
    counts = pd.concat([as_first, as_second]).groupby(_NODE)[_COUNTS].sum()
    sides = [
        table[[*GROUP, "query_id"]].assign(system=table[side]).drop_duplicates() for side in PAIR
    ]
    questions = pd.concat(sides).drop_duplicates().groupby(_NODE).size()
    return counts.assign(questions=questions).reset_index()


def _positions(records: pd.DataFrame, pairs: pd.DataFrame, side: str) -> Integers:
    nodes = pd.MultiIndex.from_frame(records[_NODE])
    wanted = pd.MultiIndex.from_frame(pairs[[*GROUP, side]], names=_NODE)
    return np.asarray(nodes.get_indexer(wanted), dtype=np.intp)


def _numbered(records: pd.DataFrame, groups: Integers) -> pd.Series:
    """Number groups, which come the largest first, within each language and judge from 1."""
    return records[GROUP].assign(group=groups).groupby(GROUP)["group"].rank("dense").astype(int)


def _with_unjudged(judged: pd.DataFrame, declared: Sequence[str]) -> pd.DataFrame:
    numbered = judged.astype({"group": "Int64", "strong_group": "Int64"})
    wanted = groups_of(judged).merge(
        pd.DataFrame({"system": sorted(declared)}, dtype="str"), "cross"
    )
    known = pd.MultiIndex.from_frame(judged[_NODE])
    absent = wanted[~pd.MultiIndex.from_frame(wanted[_NODE]).isin(known)]
    if absent.empty:
        return numbered
    zeros = dict.fromkeys([*_COUNTS, "questions"], 0)
    added = absent.assign(**zeros, group=pd.NA, strong_group=pd.NA, note=NEVER_JUDGED)
    full = pd.concat([numbered, added.astype(numbered.dtypes)], ignore_index=True)
    return full.sort_values(_NODE, ignore_index=True)


def pairs_table(table: pd.DataFrame) -> pd.DataFrame:
    """Count the battles of every pair of systems that met.

    Returns:
        Columns ``language, judge, first, second, battles, wins, losses, ties`` (of the first
        system, the first by name) and ``first_on_a`` (battles with it on side A), sorted.
    """
    outcome = table["outcome"]
    marked = table[[*GROUP, *PAIR, "first_on_a"]].assign(
        battles=1, wins=outcome == 1, losses=outcome == -1, ties=outcome == 0
    )
    columns = ["battles", "wins", "losses", "ties", "first_on_a"]
    counts = marked.groupby([*GROUP, *PAIR])[columns].sum()
    return counts.astype(int).reset_index()


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
