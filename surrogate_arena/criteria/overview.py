"""One board a criterion of the same arena, and an overview of them by stated weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError, argument, checked_choice
from arena.data.folder import open_arena
from arena.data.rows import finite_number
from arena.data.tables import guarded_csv, plain_records
from arena.data.wording import Remark, count_of
from arena.data.writing import write_text
from surrogate.board.board import Board
from surrogate.board.build import build_board
from surrogate.board.remarks import conclusion, first_place_of, remark_table
from surrogate.board.settings import BoardSettings, chosen_settings
from surrogate.board.tables import DECIMALS, FEATURE_CACHE, REMARKS, write_board_table
from surrogate.board.view import board_judges
from surrogate.checks.faults import arena_faults
from surrogate_arena.cli.judging_records import read_judging_records
from surrogate_arena.pages.formats import slugs
from surrogate_arena.pages.pages import filled
from surrogate_arena.pages.site import INDEX, write_site
from surrogate_arena.pages.site_settings import SiteSettings

OVERVIEW = "overview.csv"
BOUNDS = ["rating", "low", "high"]


@dataclass(frozen=True)
class Overview:
    """Systems by several criteria.

    Attributes:
        table: Best first. The score is the weighted mean of ratings that are standardized over the
            systems which every criterion with a weight ranks; ``low, high`` are as if errors of the
            criteria were fully correlated. Ranks hold whatever scores are within their bounds.
        boards: Criterion to its board.
        weights: Criterion to its weight, as stated.
        left_out: Criterion that does not count, to why.
    """

    table: pd.DataFrame
    boards: Mapping[str, Board]
    weights: Mapping[str, float]
    left_out: Mapping[str, str]

    @property
    def remarks(self) -> list[Remark]:
        """Who leads, and by what weights; then what does not count or cannot be relied on."""
        ranked = self.table[self.table["rank"].notna()]
        first = Remark("none", "info", "No system is ranked by every criterion.")
        if not ranked.empty:
            first = first_place_of(ranked)
        shown = ", ".join(f"{name} {weight:g}" for name, weight in self.weights.items())
        text = f"{first.sentence.removesuffix('.')}; weights: {shown}."
        remarks = [replace(first, sentence=text)]
        for name, why in self.left_out.items():
            remarks.append(Remark("left out", "warning", f"{name} is left out: {why}.", name))
        for name in self.weights:
            fault = self.boards[name].summary.macro.judge_fault
            if fault:
                remarks.append(Remark("unreliable", "warning", f"{name}: {fault}", name))
        return remarks


def build_criteria(
    arena: Arena | Path | str,
    settings: BoardSettings | None = None,
    folder: Path | str | None = None,
    **options: Any,  # noqa: ANN401 - of build_board
) -> tuple[dict[str, Board], dict[str, str]]:
    """Build one board per criterion; answers are measured once.

    Return the boards, and why others could not be built, by criterion.
    """
    arena = open_arena(arena)
    boards: dict[str, Board] = {}
    left_out: dict[str, str] = {}
    for criterion in arena.criteria:
        board_options = {**options, "criterion": criterion}
        if boards:
            # Answers are the same for every criterion: they are measured once.
            board_options["feature_table"] = next(iter(boards.values())).features
        values = {
            name: value
            for name, value in board_options.items()
            if name in BoardSettings.model_fields
        }
        try:
            judges = board_judges(arena, chosen_settings(settings, values))
            if folder is not None and judges:
                board_options["judging_records"] = read_judging_records(folder, judges[0])
            boards[criterion] = build_board(arena, settings, **board_options)
        except UsageError as error:
            left_out[criterion] = str(error)
    if not boards:
        reason = next(iter(left_out.values()), "no judgment names one")
        raise UsageError(f"no board of any criterion: {reason}")
    return boards, left_out


def weighted_overview(
    boards: Mapping[str, Board],
    left_out: Mapping[str, str] | None = None,
    weights: Mapping[str, float | str] | None = None,
) -> Overview:
    """Sum up boards of several criteria by weights; those that are not stated are 1."""
    skipped = dict(left_out or {})
    for name, board in boards.items():
        shortage = _shortage(board)
        if shortage:
            skipped[name] = shortage
    used_weights = _used_weights(weights or {}, boards, skipped)
    ratings = {name: _ratings(boards[name]) for name in used_weights}
    weighted = {}
    for name, weight in used_weights.items():
        if weight:
            weighted[name] = ratings[name][ratings[name]["rank"].notna()]
    table = _overview_table(ratings, weighted, used_weights)
    return Overview(table, boards, used_weights, skipped)


def _overview_table(
    ratings: Mapping[str, pd.DataFrame],
    weighted: Mapping[str, pd.DataFrame],
    weights: Mapping[str, float],
) -> pd.DataFrame:
    systems = sorted(set().union(*(rows.index for rows in ratings.values())))
    score = _scores(systems, weighted, weights)
    table = pd.DataFrame(index=pd.Index(systems, name="system"))
    table[["rank", "rank_low", "rank_high"]] = _ranks(score).reindex(table.index)
    table[["score", "low", "high"]] = score[BOUNDS].reindex(table.index)
    notes = []
    for system in systems:
        absent = [name for name, rows in weighted.items() if system not in rows.index]
        notes.append(f"no rank by {', '.join(absent)}" if absent else "")
    table["note"] = notes
    for name, rows in ratings.items():
        table[f"{name}_rating"] = rows["rating"].where(rows["rank"].notna())
        table[f"{name}_rank"] = rows["rank"]
    return table.reset_index().sort_values(["rank", "system"], ignore_index=True)


def _shortage(board: Board) -> str:
    n_ranked = board.overall["rank"].count()
    fewest = 3  # standardized ratings of two say who is better and no more
    if n_ranked >= fewest:
        return ""
    n_judgments = sum(summary.judgments for summary in board.summary.languages.values())
    return (
        f"it ranks {count_of(n_ranked, 'system')}, by {count_of(n_judgments, 'judgment')}; "
        f"{fewest} are needed"
    )


def _used_weights(
    weights: Mapping[str, float | str], boards: Mapping[str, Board], skipped: Mapping[str, str]
) -> dict[str, float]:
    numbers: dict[str, float] = {}
    for name, weight in weights.items():
        checked_choice(name, [*boards, *skipped], f"criterion ({argument('weights')})")
        number = finite_number(weight)
        if number is None or number < 0:
            raise UsageError(
                f"{argument('weights')}: {name} has {weight}; give a number, 0 or more"
            )
        numbers[name] = number
    stated = {name: numbers.get(name, 1.0) for name in boards if name not in skipped}
    if not sum(stated.values()):
        reasons = "; ".join(f"{name}: {reason}" for name, reason in skipped.items())
        raise UsageError(
            f"no criterion has a weight ({argument('weights')}) that counts; {reasons}"
        )
    return stated


def _scores(
    systems: Sequence[str], weighted: Mapping[str, pd.DataFrame], weights: Mapping[str, float]
) -> pd.DataFrame:
    """Return the weighted mean of standardized ratings, and of their bounds.

    Only systems that every criterion with a weight ranks have a score, so that none counts more for
    having ranked more of them.
    """
    ranked = [name for name in systems if all(name in rows.index for rows in weighted.values())]
    total = sum(weights.values())
    score = pd.DataFrame(0.0, index=ranked, columns=BOUNDS)
    for name, rows in weighted.items():
        bounds = rows.loc[ranked, BOUNDS]
        center = bounds["rating"].mean()
        # Where all ratings are equal their spread is 0, and they stay 0.
        spread = float(bounds["rating"].std(ddof=0)) or 1.0
        score += weights[name] / total * (bounds - center) / spread
    return score.round(DECIMALS)


def _ranks(score: pd.DataFrame) -> pd.DataFrame:
    low = score["low"].fillna(-np.inf)
    high = score["high"].fillna(np.inf)
    ranks = {
        "rank": score["rating"].rank(ascending=False, method="min"),
        # Systems that are surely above, and those that may be above or are the system itself.
        "rank_low": pd.Series([1 + (low > bound).sum() for bound in high], score.index),
        "rank_high": pd.Series([(high >= bound).sum() for bound in low], score.index),
    }
    return pd.DataFrame(ranks).astype("Int64")


def _ratings(board: Board) -> pd.DataFrame:
    means = board.ratings.groupby("system")[BOUNDS].mean()
    return means.assign(rank=board.overall.set_index("system")["rank"])


def check_overview_target(out: Path) -> None:
    """Check that a folder holds nothing, or an overview to replace."""
    present = {path.name for path in out.iterdir()} if out.is_dir() else set()
    if present - {FEATURE_CACHE} and OVERVIEW not in present:
        raise UsageError(f"{out} is not empty and holds no overview of criteria; name a new folder")


def save_overview(
    overview: Overview, out: Path, folder: Path, arena: Arena, *, site: bool
) -> tuple[dict[str, Board], Path | None]:
    """Write the boards, the overview with its remarks, and a page over all."""
    names = slugs(overview.boards)
    saved = {name: board.save(out / names[name], folder) for name, board in overview.boards.items()}
    write_text(guarded_csv(overview.table), out / OVERVIEW)
    write_board_table(remark_table(overview.remarks), REMARKS, out)
    if not site:
        return saved, None
    links = {}
    faults = arena_faults(arena)
    for name, board in saved.items():
        write_site(board, out / names[name] / "site", arena, faults=faults)
        links[name] = f"{names[name]}/site/{INDEX}"
    write_text(_overview_page(overview, links, SiteSettings(title=arena.info.name)), out / INDEX)
    return saved, out / INDEX


def _overview_page(overview: Overview, links: Mapping[str, str], settings: SiteSettings) -> str:
    boards = []
    for name, board in overview.boards.items():
        boards.append({"name": name, "conclusion": conclusion(board), "link": links[name]})
    headline, *cautions = [remark.sentence for remark in overview.remarks]
    ends = overview.table[["low", "score", "high"]].to_numpy(float)
    finite_ends = ends[np.isfinite(ends)].tolist()
    return filled(
        "criteria",
        ("tables.js",),
        headline=headline,
        cautions=cautions,
        criteria=list(overview.weights),
        settings=settings,
        rows=plain_records(overview.table),
        boards=boards,
        least=min(finite_ends, default=0),
        most=max(finite_ends, default=1),
    )
