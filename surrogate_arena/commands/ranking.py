"""New systems on a board: ``rank``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from surrogate_arena.cli import options as opt
from surrogate_arena.cli.options import (
    given_answers,
    given_board,
    given_features,
    given_judgments,
    given_models,
)
from surrogate_arena.cli.printing import (
    command,
    first_lines,
    plain,
    print_ranks,
    show,
    shown_board,
)

if TYPE_CHECKING:
    from surrogate.ranking.ranked_systems import RankedSystems


def rank(
    answers: opt.Answers,
    board: opt.Board,
    arena: opt.MovedArena = None,
    columns: opt.Columns = None,
    features: opt.OtherFeatures = None,
    feature_table: opt.FeatureTable = None,
    judgments: opt.Judgments = None,
    download: opt.Download = False,
    templates: opt.Templates = None,
    as_json: opt.Json = False,
) -> None:
    """Place new systems on a board by their answers, and by judgments if there are any.

    The board's rows stay as they are, and no LLM is called.
    """
    from arena.data.folder import read_arena
    from surrogate.ranking.rank import rank_systems

    published = given_board(board, features)
    folder = arena or published.arena_folder()
    read = read_arena(folder, is_judged=False)
    new = given_answers(answers, read.queries, columns)
    placed = rank_systems(
        published,
        new,
        read,
        # Those of most boards read no model.
        models=given_models(templates, download=download) if templates or download else None,
        feature_table=given_features(feature_table, new),
        judgments=given_judgments(judgments, read),
    )
    if as_json:
        show(ranked_content(placed), as_json)
    else:
        named = [word for column in columns or () for word in ("--column", column)]
        # With its answers in the arena, ``judge --prior`` asks what tells most about its rank.
        # A board's folder notes the arena's by a way through itself.
        shortest = os.path.relpath(folder.resolve())
        print_ranked(placed, command("add", shortest, answers, *named))
    has_neither = placed.new["rank"].isna() & placed.new["place"].isna()
    if has_neither.all():
        raise SystemExit(1)


def ranked_content(placed: RankedSystems) -> dict[str, Any]:
    """Return the places of new systems as JSON has them, each with its reasons."""
    rows = zip(plain(placed.new), plain(placed.explanations), strict=True)
    return {
        "new": [{**row, **explanation} for row, explanation in rows],
        "remarks": placed.remarks,
        "faults": None if placed.faults is None else placed.faults.found,
        "overall": placed.overall,
        "board": placed.board,
    }


def print_ranked(placed: RankedSystems, then: str = "") -> None:
    """Print the places of new systems, why they have them, and what to do next."""
    table, columns = shown_board(placed.board, placed.overall)
    # Ranks are those of the board, which does not change, and of each new system among its rows.
    is_new = table["system"].isin(set(placed.new["system"]))
    table["new"] = is_new.map({True: "new", False: ""})
    sentences = first_lines(list(place_sentences(placed)), 2)
    sentences += first_lines(placed.remarks, 3)
    print_ranks(table, [*columns, "new"], sentences, [then] if then else [])


def place_sentences(placed: RankedSystems) -> Iterator[str]:
    """Say of each new system which rank or place it has, and why."""
    import pandas as pd

    from surrogate_arena.commands.place_reasons import place_reasons

    reasons = place_reasons(placed)
    rows = placed.board if placed.board["language"].nunique() == 1 else placed.overall
    is_new = rows["system"].isin(set(placed.new["system"]))
    n_ranked = int(rows.loc[~is_new, "rank"].notna().sum())
    for row in rows[is_new].itertuples():
        system = row.system
        place = ""
        if not pd.isna(row.rank):
            place = f"rank {row.rank} of {n_ranked + 1}"
        elif not pd.isna(row.place):
            bounds = ""
            if not pd.isna([row.place_low, row.place_high]).any():
                bounds = f" ({row.place_low} to {row.place_high})"
            place = f"about place {row.place}{bounds} if it joins the {n_ranked} ranked systems"
        parts = [part for part in (place, reasons[system]) if part]
        if parts:
            yield f"{system}: {'; '.join(parts)}"
