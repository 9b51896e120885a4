"""New systems beside a board: ``rank``, ``advise``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from surrogate.cli import options as opt
from surrogate.cli.options import OUT_FILE, given_features, given_models, named_columns
from surrogate.cli.printing import (
    command,
    is_missing,
    plain,
    print_notes,
    print_ranks,
    show,
    shown_board,
)

if TYPE_CHECKING:
    import pandas as pd

    from arena.data.arena import Arena
    from surrogate.board.board import Board
    from surrogate.ranking.ranked_systems import RankedSystems

NONE_RANKED = 1
"""Exit status where no new system has a rank."""
MOST_EXPLAINED = 2
"""New systems of which it is printed why they stand where they do."""
MOST_NEIGHBORS, MOST_JUDGMENTS = 6, 10_000


def _about(judgments: int) -> str:
    return f"about {judgments:,}" if judgments <= MOST_JUDGMENTS else f"over {MOST_JUDGMENTS:,}"


def _place(rank: object, expected: int) -> str:
    """Say which rank a new system has, or that it has none and which is expected."""
    return f"no rank yet, expected at {expected}" if is_missing(rank) else f"rank {rank}"


def read_to_rank(
    board: Path,
    arena: Path | None,
    answers: Path,
    columns: Sequence[str] | None,
    *,
    repeats: str | None = None,
    is_judged: bool = False,
) -> tuple[Board, Path, Arena, pd.DataFrame]:
    """Read a board, say where its arena is, and read that and answers to its questions."""
    from arena.adapters.new_answers import read_answers
    from arena.data.folder import read_arena
    from surrogate.board.board import Board

    published = Board.load(board)
    folder = arena or published.arena_folder()
    read = read_arena(folder, is_judged=is_judged)
    new = read_answers(answers, read.queries, named_columns(columns), repeats)
    return published, folder, read, new


def _judged(path: Path | None, arena: Arena) -> pd.DataFrame | None:
    if path is None:
        return None
    from arena.adapters.judgments import read_judgments

    return read_judgments(path, arena.queries)


def rank(
    answers: opt.Answers,
    board: opt.Board,
    arena: opt.MovedArena = None,
    out: Annotated[Path | None, Option(help="CSV file for the new board.", **OUT_FILE)] = None,
    columns: opt.Columns = None,
    repeats: opt.Repeats = None,
    feature_table: opt.FeatureTable = None,
    judgments: opt.Judgments = None,
    jobs: opt.Jobs = 1,
    download: opt.Download = False,
    templates: opt.Templates = None,
    as_json: opt.Json = False,
) -> None:
    """Place new systems on a board by their answers, and by judgments of them if there are any.

    The board's rows stay as they are, and no LLM is called.
    """
    from arena.data.files import write_text
    from arena.data.tables import guarded_csv
    from surrogate.ranking.rank import rank_systems

    published, _, read, new = read_to_rank(board, arena, answers, columns, repeats=repeats)
    placed = rank_systems(
        published,
        new,
        read,
        jobs,
        given_models(templates, download=download),
        feature_table=given_features(feature_table, new),
        judgments=_judged(judgments, read),
    )
    if out is not None:
        write_text(guarded_csv(placed.board), out)
    _print_ranked(placed, command("advise", answers, "--board", board), as_json)
    if placed.new["rank"].isna().all():
        raise SystemExit(NONE_RANKED)


def _print_ranked(placed: RankedSystems, then: str, as_json: bool) -> None:
    import pandas as pd

    from arena.data.wording import count_of

    new = placed.new
    if as_json:
        rows = zip(plain(new), plain(placed.explanations), strict=True)
        shown = {"new": [row | why for row, why in rows], "board": placed.board}
        show(shown | {"overall": placed.overall, "notes": placed.notes}, as_json)
        return
    whole, columns = shown_board(placed.board, placed.overall)
    is_mean = "mean_rank" in columns
    places = placed.overall["mean_rank"] if is_mean else -placed.board["rating"]
    whole["rank"] = places.where(whole["rank"].notna()).rank(method="min").astype("Int64")
    whole["new"] = whole["system"].isin(set(new["system"])).map({True: "new", False: ""})
    whole = whole.sort_values("rank", kind="stable")
    ranked = whole.dropna(subset="rank")
    said, reasons = [], placed.reasons
    for system, rank in whole.loc[whole["new"] != "", ["system", "rank"]].to_numpy():
        place = "" if pd.isna(rank) else f"rank {rank} of {len(ranked)}"
        said.append(f"{system}: {'; '.join(filter(None, (place, reasons[system])))}")
    if len(said) > MOST_EXPLAINED:
        more = count_of(len(said) - MOST_EXPLAINED, "more new system")
        said[MOST_EXPLAINED:] = [f"… and {more}: --json says why of all"]
    print_ranks(whole, [*columns, "new"], [*said, *placed.notes[:1]], [then])


def advise(
    answers: opt.Answers,
    board: opt.Board,
    judgments: opt.Judgments = None,
    arena: opt.MovedArena = None,
    columns: opt.Columns = None,
    questions: Annotated[int, Option(min=1, help="Number of questions to suggest.")] = 20,
    feature_table: opt.FeatureTable = None,
    as_json: opt.Json = False,
) -> None:
    """Suggest which questions to judge to settle a new system's rank, and how many judgments."""
    from surrogate.ranking.advice import advise as suggest
    from surrogate.ranking.rank import rank_systems

    published, _, read, new = read_to_rank(board, arena, answers, columns)
    table, judged = given_features(feature_table, new), _judged(judgments, read)
    placed = rank_systems(published, new, read, feature_table=table, judgments=judged)
    advice = suggest(published, placed, questions=questions)
    if as_json:
        shown = {"neighbors": advice.neighbors, "questions": advice.questions}
        show(shown | {"notes": placed.notes}, as_json)
        return
    said = [
        f"{row.system} ({row.language}), {_place(row.rank, row.expected_rank)}: "
        + (row.reason or f"{_about(row.judgments)} judgments separate it")
        + f" from {row.neighbor}, {row.side} it"
        for row in advice.neighbors.itertuples()
    ]
    said = [*placed.notes[:2], *said[:MOST_NEIGHBORS]]
    if advice.questions.empty:
        said.append("No question is left to judge: all that were answered are judged.")
    for (language, system), rows in advice.questions.groupby(["language", "system"]):
        listed = ", ".join(rows["query_id"].astype(str))
        said.append(f"Questions to judge first for {system} ({language}): {listed}")
    print_notes(said, "")
