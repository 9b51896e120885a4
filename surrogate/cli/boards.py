"""Boards: ``board``, ``demo``, and what is printed of one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from surrogate.board.settings import PRESET, BoardSettings, board_judge, chosen_settings
from surrogate.cli import options as opt
from surrogate.cli.options import given_features, setting, settings_of
from surrogate.cli.printing import print_table, progress_lines, show, shown_ratings

if TYPE_CHECKING:
    from arena.data.arena import Arena
    from surrogate.board.board import Board

SITE = "site"


def board(
    arena: opt.Arena,
    out: opt.BoardFolder,
    judge: Annotated[str | None, setting(BoardSettings, "judge")] = None,
    features: Annotated[str | None, setting(BoardSettings, "features")] = None,
    surrogate: Annotated[str | None, setting(BoardSettings, "surrogate")] = None,
    preset: opt.Preset = None,
    tournaments: Annotated[int | None, setting(BoardSettings, "tournaments")] = None,
    holdout: Annotated[str | None, setting(BoardSettings, "holdout")] = None,
    seed: Annotated[int | None, setting(BoardSettings, "seed")] = None,
    config: opt.Config = None,
    feature_table: opt.FeatureTable = None,
    download: opt.Download = False,
    templates: opt.Templates = None,
    site: Annotated[bool, Option("--site/--no-site", help="Write pages to OUT/site.")] = True,
    jobs: opt.Jobs = -1,
    as_json: opt.Json = False,
) -> None:
    """Rate every system of an arena by verdicts and surrogate, in all its languages.

    An arena without verdicts gets a first board: by how far answers agree with each other, with
    reference answers and with relevance labels, and with the pairs to judge first.
    """
    settings = chosen_settings(settings_of(BoardSettings, config, locals()), {PRESET: preset})

    from surrogate.board.board import check_board_target

    check_board_target(out)
    from arena.data.folder import read_arena
    from arena.text.prompts import read_templates

    read = read_arena(arena)
    by = board_judge(read, settings)  # refused before what is slow to load

    from features.models import FEATURE_PROMPTS, ModelOptions
    from surrogate.board.build import build_board
    from surrogate.board.judge_report import read_judging_records

    own = read_templates(templates or (), FEATURE_PROMPTS)
    built = build_board(
        *(read, settings),
        feature_table=given_features(feature_table),
        records=None if by is None else read_judging_records(arena, by),
        n_jobs=jobs,
        models=ModelOptions(download=download, templates=own),
        progress=progress_lines(),
    )
    publish_board(built, out, arena, read, site, as_json)


def demo(out: opt.BoardFolder = Path("out/demo"), jobs: opt.Jobs = -1) -> None:
    """Build the board of the simulated sample arena and compare it with the known truth."""
    from surrogate.board.board import check_board_target

    check_board_target(out)
    from arena.data.folder import read_arena
    from arena.simulation import sample_folder, sample_truth
    from surrogate.board.build import build_board
    from surrogate.board.details import compare_with_truth
    from surrogate.board.judge_report import read_judging_records

    arena = read_arena(sample_folder())
    records = read_judging_records(sample_folder(), arena.judges[0])
    built = build_board(arena, records=records, n_jobs=jobs, progress=progress_lines())
    publish_board(built, out, sample_folder(), arena)
    compared = compare_with_truth(built.ratings, sample_truth())
    print_table("How close to the known truth (Kendall tau)", compared)


def publish_board(
    built: Board, out: Path, folder: Path, arena: Arena, site: bool = True, as_json: bool = False
) -> None:
    """Write a board and its pages, print it, and say which page to open."""
    from arena.data.systems import alike
    from surrogate.publish.site import write_site

    saved = built.save(out, folder)
    index = write_site(saved, out / SITE, arena) if site else None
    if as_json:
        ratings = {"summary": built.summary, "overall": built.overall, "board": built.ratings}
        show(ratings, as_json)
        return
    print_board(built)
    for first, name in alike(built.overall["system"]):
        print(f"Note: the names {first!a} and {name!a} look alike")
    print(f"Board written to {out}")
    if index is not None:
        print(f"Open {index}")


def print_board(board: Board) -> None:
    """Print a board's ranks, what it concludes, and what limits that."""
    from surrogate.board.summary import conclusion

    summary = board.summary
    if len(board.languages) > 1:
        title = f"Leaderboard, mean rank over languages (by {summary.rated_by})"
        print_table(title, board.overall, ["rank", "system", "mean_rank", "coverage"])
    else:
        columns = ["rank", "ranks", "system", "rating", "interval"]
        rows, columns = shown_ratings(board.ratings, columns)
        print_table(f"Ratings by {summary.rated_by}, with 90% intervals", rows, columns)
    print("\n".join((conclusion(board), *summary.macro.warnings)))
