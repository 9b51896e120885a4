"""The data of a board's first page: one table of systems, overall or in one language."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from arena.data.errors import ArenaError
from arena.data.folder import read_unlisted
from arena.data.languages import language_name
from arena.data.tables import plain_records
from arena.data.wording import Remark, count_of, first_of
from surrogate.board.board import Board
from surrogate.board.remarks import (
    MOST_NAMED,
    board_remarks,
    cautions,
    facts,
    headlines,
    in_its_language,
    judged_by,
)
from surrogate.board.slices import LANGUAGE
from surrogate.board.summary import HELD_MARK, HELD_OUT
from surrogate.board.tables import BY_JUDGE
from surrogate_arena.cli.shown_numbers import finite, group_of
from surrogate_arena.pages.formats import (
    SEQUENTIAL,
    language_groups,
    name_parts,
    slugs,
)
from surrogate_arena.pages.site_settings import WEB_ADDRESS, SiteSettings

SPLIT_NAMES = {"train": "yes", "holdout": "no, held out", "unjudged": "no, not judged"}
"""Whether the surrogate was trained on a system, by its ``split``."""
PLACED = ("rank", "rank_low", "rank_high", "place_low", "place_high")
NUMBERS = (
    *PLACED,
    "tier",
    "wins",
    "wins_low",
    "wins_high",
    "tier_low",
    "tier_high",
    "rating",
    "low",
    "high",
    "verdict_share",
    "surrogate_rating",
    "arena_rank",
    "arena_rating",
    "coverage",
)
"""Numbers of a row of the table, as templates and scripts read them."""
DESCRIBED = ("organization", "license", "date")
LINK = "link"
"""Attributes of systems that pages show."""
MOST_SHADED = 100
"""Systems whose ranks by language stand side by side: the best, where there are more."""

Row = dict[str, Any]


def compact_numbers(table: pd.DataFrame) -> list[list[float | int | None]]:
    """Return a table's numbers, row by row, as short as JSON has them.

    Wins keep all their decimals: rounded twice, they would differ from those of a sentence.
    """
    digits = {name: 6 if name.startswith("wins") else 4 for name in table}
    rows: list[list[float | int | None]] = []
    for values in table.astype(float).round(digits).to_numpy().tolist():
        # 3 instead of 3.0: most cells of a page are ranks and counts.
        rows.append([int(value) if value.is_integer() else finite(value) for value in values])
    return rows


def described_systems(attributes: pd.DataFrame) -> dict[str, Row]:
    """Return what an arena's ``systems.csv`` says of systems, of what is shown below their names.

    Returns:
        System to its ``texts`` (organization, license, date) and its ``link``, which may be empty.
    """
    described = {}
    for row in plain_records(attributes):
        texts = [row[name] for name in DESCRIBED if row.get(name)]
        link = row.get(LINK) or ""
        address = link if WEB_ADDRESS.fullmatch(link) else ""
        if texts or address:
            described[row["system"]] = {"texts": texts, "link": address}
    return described


def licenses_of(attributes: pd.DataFrame) -> list[str]:
    """Return the licenses that an arena's ``systems.csv`` states, to choose from."""
    return sorted(set(attributes.get("license", pd.Series(dtype=object)).dropna()))


def board_page(
    board: Board,
    system_slugs: Mapping[str, str],
    languages: Sequence[str],
) -> Row:
    """Prepare the first page, with languages in the order given.

    ``rows`` are the table as it stands without scripts; ``data`` is what these put in its place for
    one language.
    """
    overall = _overall_rows(board)
    views = {"": overall}
    # The only language of a board is the board.
    for language in languages if len(languages) > 1 else ():
        views[language] = board.ratings[board.ratings["language"] == language]
    index_of = {name: index for index, name in enumerate(board.systems)}
    files = slugs(board.languages)
    macro = board.summary.macro
    # Why no system has a rank
    without_ranks = macro.judge_fault if macro.is_one_sided else ""
    data: Row = {}
    for code, table in views.items():
        rows = _with_tiers(table)
        numbers = compact_numbers(rows[list(NUMBERS)])
        cells = zip(rows["system"].map(index_of), numbers, rows["note"], strict=True)
        data[code] = {
            "name": language_name(code) if code else f"{len(languages)} {board.summary.parts}",
            "pairs": files.get(code, ""),
            "sentences": [
                name_parts(in_its_language(remark), remark.systems)
                for remark in headlines(board, code)
            ],
            "caution": without_ranks or caution_of(board, code),
            "facts": [_parts_of(fact) for fact in facts(board, code)],
            "rows": [[index, *row, note] for index, row, note in cells],
        }
    first, last, step = _axis(views.values())
    columns = ("index", *NUMBERS, "note")
    is_by_language = board.summary.settings.by == LANGUAGE
    groups = language_groups(languages) if is_by_language else {"": list(languages)}
    return {
        "rows": [dict(zip(columns, row, strict=True)) for row in data[""]["rows"]],
        "languages": {code: language_name(code) for code in languages},
        "language_groups": groups,
        "axis": (first, last),
        "ticks": list(range(first, last + 1, step)),
        "step": step,
        "facts": data[""]["facts"],
        "judged_by": _parts_of(judged_by(board), board.summary.judge),
        "unlisted": list(map(_parts_of, unlisted_remarks(board))),
        "has_intervals": any(table["wins_low"].notna().any() for table in views.values()),
        "caution": data[""]["caution"],
        "counts": Counter(map(group_of, overall.to_dict("records"))),
        "judges": _judges(board),
        # With one language the table would repeat the ranks above it.
        "ranks": _ranks(board, languages) if len(languages) > 1 else [],
        "held": (HELD_MARK, HELD_OUT),
        "data": {
            "columns": columns,
            "systems": [[name, system_slugs[name]] for name in index_of],
            "views": data,
        },
    }


def board_record(board: Board, settings: SiteSettings, further: Sequence[Remark]) -> Row:
    """Return what a site's ``board.json`` holds: all remarks of its pages, and rows.

    ``further`` remarks are on the answers.
    """
    columns = ["system", *PLACED, "wins", "wins_low", "wins_high"]
    remarks = [*board_remarks(board), *unlisted_remarks(board), *further]
    return {
        "title": settings.title or board.summary.arena,
        "description": settings.description,
        "date": None if settings.date is None else settings.date.isoformat(),
        "judge": board.summary.judge,
        "languages": list(board.languages),
        "remarks": [asdict(remark) for remark in remarks],
        "systems": plain_records(board.overall[columns]),
    }


def caution_of(board: Board, language: str = "") -> str:
    """Return what limits a language most, or the board, but for its judge's fault; or nothing."""
    first = next(cautions(board, language), None)
    return "" if first is None else first.sentence


def _overall_rows(board: Board) -> pd.DataFrame:
    """Return the overall rows as those of a language, of every system, with reasons in notes."""
    table = board.overall.set_index("system").reindex(list(board.systems))
    table = table.rename(columns={"mean_rating": "rating"}).reset_index(names="system")
    empty = ["low", "high", "verdict_share", "surrogate_rating", "arena_rating"]
    table[empty] = np.nan
    if len(board.languages) == 1:
        of_language = board.ratings.set_index("system").reindex(table["system"])
        for name in (*empty, "note"):
            table[name] = of_language[name].to_numpy()
    else:
        table["note"] = table["system"].map(_reasons(board)).where(table["rank"].isna(), "")
    return table.assign(note=table["note"].fillna(""))


def _reasons(board: Board) -> dict[str, str]:
    """Return why systems lack a rank, with the languages that each reason holds in."""
    ratings = board.ratings[board.ratings["rank"].isna()]
    reasons: dict[str, str] = {}
    for system, rows in ratings.groupby("system"):
        texts = []
        for note, part in rows.groupby("note", sort=False):
            languages = list(part["language"])
            names = first_of(list(map(language_name, languages)), MOST_NAMED)
            texts.append(f"{names}: {note or no_reason(board, languages[0])}")
        reasons[str(system)] = "; ".join(texts)
    return reasons


def no_reason(board: Board, language: str) -> str:
    """Return why a row without a note has no rank."""
    summary = board.summary.languages.get(language)
    remarks = () if summary is None else summary.remarks
    limits = [str(remark) for remark in remarks if remark.is_warning]
    return "; ".join(limits) or "the board gives no reason"


def _with_tiers(table: pd.DataFrame) -> pd.DataFrame:
    """Add the interval of the first system of each row's tier."""
    firsts = table[table["tier"].notna()].drop_duplicates("tier").set_index("tier")
    return table.assign(
        tier_low=table["tier"].map(firsts["wins_low"]),
        tier_high=table["tier"].map(firsts["wins_high"]),
    )


def unlisted_remarks(board: Board) -> Iterator[Remark]:
    """Count the systems that the board's arena holds back or has withdrawn."""
    try:
        states = Counter(read_unlisted(board.arena_folder()).values())
    except ArenaError:
        # Pages are made without the arena's folder, too.
        return
    for state, number in sorted(states.items()):
        text = f"{count_of(number, 'system')} {state}"
        yield Remark("unlisted", "info", text, state, number)


def _parts_of(remark: Remark, *names_of_judges: str) -> list[str]:
    """Cut a remark at its number and at names, which pages show in bold."""
    names = [*names_of_judges, *remark.systems]
    if remark.statistic is not None:
        names.append(f"{remark.statistic:,.0f}")
    return name_parts(remark.sentence, names)


def _axis(tables: Any) -> tuple[int, int, int]:  # noqa: ANN401 - of tables
    """Return the ends of the axis of wins in percent, which hold all intervals, and its step."""
    columns = ["wins", "wins_low", "wins_high"]
    ends = np.concatenate([table[columns].to_numpy(float).ravel() for table in tables])
    known = 10 * ends[np.isfinite(ends)]
    if not len(known):
        return 0, 100, 20
    first, last = 10 * math.floor(known.min()), 10 * math.ceil(known.max())
    step = 10 if last - first <= 60 else 20
    # Both ends have a tick.
    first -= first % step
    return first, max(last + -last % step, first + step), step


def _ranks(
    board: Board, languages: Sequence[str]
) -> list[tuple[str, list[tuple[float | None, ...]]]]:
    """Return of each system, by language: shade, rank, and rank by verdicts alone."""
    ranks = board.by_language("rank")[list(languages)]
    verdict_ranks = board.by_language("arena_rank")[list(languages)]
    # The best rank of a language has the first shade, the worst one the last.
    worst = (ranks.max() - 1).clip(lower=1)
    shades = ((ranks - 1) / worst * (len(SEQUENTIAL) - 1)).round()
    rows: list[tuple[str, list[tuple[float | None, ...]]]] = []
    for system in board.systems[:MOST_SHADED]:
        columns = [map(finite, table.loc[system]) for table in (shades, ranks, verdict_ranks)]
        rows.append((system, list(zip(*columns, strict=True))))
    return rows


def _judges(board: Board) -> dict[str, Any]:
    """Return mean ranks by each judge alone; a board of one judge has no such columns."""
    names = [name for name in board.ratings if name.startswith(BY_JUDGE)]
    ranks = board.ratings.groupby("language")[names].rank(ascending=False, method="min")
    means = ranks.groupby(board.ratings["system"]).mean().reindex(board.systems)
    rows = zip(means.index, means.to_numpy().tolist(), strict=True)
    return {
        "names": [name.removeprefix(BY_JUDGE) for name in names],
        "rows": [(system, list(map(finite, values))) for system, values in rows],
    }
