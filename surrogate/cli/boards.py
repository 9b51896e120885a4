"""Boards: ``board``, ``demo``, and what is printed of one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from surrogate.board.settings import PRESET, BoardSettings, board_judge, chosen_settings
from surrogate.cli import options as opt
from surrogate.cli.options import given_features, setting, settings_of
from surrogate.cli.printing import (
    print_notes,
    print_table,
    progress_lines,
    show,
    shown_ratings,
    with_spans,
)

if TYPE_CHECKING:
    from arena.data.arena import Arena
    from surrogate.board.board import Board
    from surrogate.board.summary import BoardSummary

SITE = "site"
SHOWN_NOTES = 6


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
    """Print a board's ranks, how far they agree with the arena, and what limits them."""
    summary = board.summary
    if summary.macro.judging:
        print(summary.macro.judging)
    if len(board.languages) > 1:
        rows = board.overall.rename(columns={"arena_rank": "rank_by_verdicts_alone"})
        columns = ["rank", "system", "mean_rank", "coverage"]
        columns += ["rank_by_verdicts_alone"] * bool(board.overall["arena_rank"].notna().any())
        print_table(f"Leaderboard, mean rank over languages (by {summary.rated_by})", rows, columns)
    else:
        columns = ["rank", "ranks", "system", "rating", "interval"]
        rows, columns = shown_ratings(board.ratings, columns)
        title = f"Leaderboard: ratings by {summary.rated_by}, with 90% intervals"
        print_table(title, rows, columns)
    if not summary.is_first:
        print_agreement(summary)
    for item in summary.macro.conclusions:
        if item.sentence != summary.macro.judging:
            print(item.sentence)
    for entry in board.judge_report.metaevaluations:
        print(f"Judge {board.judge_report.judge} against labels ({entry.judge}): {entry}")
    print_notes(notes_of(summary), most=SHOWN_NOTES)


def print_agreement(summary: BoardSummary) -> None:
    """Print how ratings replicate, and how the surrogate does without verdicts, by language."""
    import pandas as pd

    items: dict[str, Any] = {**summary.languages, "macro": summary.macro}
    if len(summary.languages) == 1:
        del items["macro"]
    rows = [
        {
            **{"language": language, "split half": item.split_half},
            **{"verdicts alone": item.split_half_verdicts, "unseen": item.tau_unseen},
            **{"unseen_low": item.tau_unseen_low, "unseen_high": item.tau_unseen_high},
            "trained on": item.tau,
        }
        for language, item in items.items()
    ]
    shown, said = pd.DataFrame(rows), ""
    if summary.macro.holdout_r2_mean is not None:
        found = {name: item.holdout_r2 for name, item in summary.languages.items()}
        means = {name: each.mean for name, each in found.items()}
        shown["R²"] = shown["language"].map(means | {"macro": summary.macro.holdout_r2_mean})
        for bound in ("low", "high"):
            values = {name: getattr(each, bound) for name, each in found.items()}
            shown[f"R²_{bound}"] = shown["language"].map(values)
        said = "; R² on held-out systems"
    print_table(
        f"Kendall tau with the verdicts of {summary.judge}: of half of the questions with the "
        f"other half; of the surrogate, on unseen systems and on those it was trained on{said}",
        with_spans(shown),
    )


def notes_of(summary: BoardSummary) -> list[str]:
    """Say what limits each language, each sentence once."""
    from surrogate.board.summary import POOLED

    said: dict[str, list[str]] = {}
    for language, item in summary.languages.items():
        found = list(item.notes)
        if len(summary.languages) > 1 and item.systems_judged:
            found += item.warnings  # of one language they are said already
        if item.interval.reason and not summary.is_first:
            found.append(f"no interval of the surrogate's predictions: {item.interval.reason}")
        elif item.interval.pooled:
            found.append(f"intervals of the surrogate's predictions are rough: {POOLED}")
        for note in found:
            said.setdefault(note, []).append(language)
    return [f"{note} ({', '.join(languages)})" for note, languages in said.items()]
