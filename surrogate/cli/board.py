"""``surrogate-arena board``: the batch job over all languages of an arena."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surrogate.cli.options import (
    BatchSizeOption,
    DeviceOption,
    DownloadOption,
    FeaturesOption,
    JobsOption,
    JsonOption,
    QuestionsOption,
    SeedOption,
    TournamentsOption,
    split_names,
)

if TYPE_CHECKING:
    from surrogate.board.board import Board

NO_HOLDOUT = "none"
SITE = "site"


def board(
    arena: Annotated[Path, typer.Argument(help="Arena folder.")],
    out: Annotated[Path, typer.Option("--out", help="Folder to write the board to.")],
    judge: Annotated[
        str | None, typer.Option("--judge", help="Judge to learn from, where there are several.")
    ] = None,
    tournaments: TournamentsOption = 200,
    questions: QuestionsOption = 100,
    holdout: Annotated[
        str | None,
        typer.Option(
            "--holdout",
            help="Comma-separated systems to keep out of training, or none; by default two are "
            "drawn by the seed.",
        ),
    ] = None,
    features: FeaturesOption = "default",
    feature_table: Annotated[
        Path | None,
        typer.Option("--feature-table", help="Feature table to use instead of computing features."),
    ] = None,
    feature_cache: Annotated[
        Path | None,
        typer.Option("--feature-cache", help="Folder that keeps what was measured, by content."),
    ] = None,
    device: DeviceOption = "auto",
    batch_size: BatchSizeOption = 32,
    download: DownloadOption = False,
    ties: Annotated[str, typer.Option("--ties", help="How ties count: half or drop.")] = "half",
    model: Annotated[
        str,
        typer.Option(
            "--model",
            help="Learner of the surrogate: random-forest, extra-trees, linear, ridge or "
            "elastic-net.",
        ),
    ] = "random-forest",
    rows: Annotated[
        str, typer.Option("--rows", help="One training row a system or a question.")
    ] = "system",
    site: Annotated[
        bool, typer.Option("--site/--no-site", help="Write the board's pages to OUT/site too.")
    ] = True,
    examples: Annotated[
        int, typer.Option("--examples", min=0, help="Answers to show of each system at most.")
    ] = 12,
    metaevaluation: Annotated[
        list[Path] | None,
        typer.Option(
            "--metaevaluation",
            metavar="FILE_OR_FOLDER",
            help="Further metaevaluation.json, or a folder that holds one, that says how good the "
            "judge is; the arena folder's own is always read. May be repeated.",
        ),
    ] = None,
    seed: SeedOption = 0,
    jobs: JobsOption = -1,
    as_json: JsonOption = False,
) -> None:
    """Build the synthetic leaderboard of an arena, in all its languages."""
    from arena.data.folder import read_arena
    from arena.rating.battles import checked_tie_rule
    from features.measures.registry import parse_features
    from features.models.scorer import ModelOptions
    from surrogate.board.build import build_board
    from surrogate.board.folder import read_feature_table, write_board
    from surrogate.board.judge_report import read_judging_records
    from surrogate.cli.printing import progress_bar
    from surrogate.learning.saving import check_savable
    from surrogate.learning.surrogates import Recipe
    from surrogate.learning.training import checked_row_kind
    from surrogate.publish.site.site import write_site

    check_savable(model)
    recipe = Recipe(model, checked_row_kind(rows))
    declared = parse_features(features)
    read = read_arena(arena)
    learned_from = read.judged_by(judge).judges[0]
    records = read_judging_records(arena, learned_from, metaevaluation or ())
    with progress_bar() as progress:
        built = build_board(
            read,
            judge,
            declared,
            feature_table=read_feature_table(feature_table) if feature_table else None,
            tournaments=tournaments,
            questions=questions,
            ties=checked_tie_rule(ties),
            holdout=_held_out(holdout),
            recipe=recipe,
            examples=examples,
            records=records,
            seed=seed,
            n_jobs=jobs,
            models=ModelOptions(device, batch_size, download),
            feature_cache=feature_cache,
            progress=progress,
        )
    write_board(built, out, arena)
    index = write_site(out, out / SITE) if site else None
    print_board(built, out, index, as_json)


def print_board(built: Board, out: Path, index: Path | None, as_json: bool) -> None:
    """Print a board, where it was written, and which page to open."""
    from surrogate.cli import printing

    if as_json:
        printing.print_json(
            {
                "summary": built.summary.model_dump(mode="json"),
                "overall": printing.records(built.overall),
                "board": printing.records(built.board),
            }
        )
        return
    languages = sorted(built.board["language"].unique())
    if len(languages) > 1:
        printing.print_overall(built.overall)
    else:
        printing.print_language(built.board, languages[0])
    printing.print_agreement(built.summary)
    _print_intervals(built)
    _print_judge(built)
    print(f"Board written to {out}")
    if index is not None:
        print(f"Open {index}")


def _print_intervals(built: Board) -> None:
    """Print which languages have no interval of ratings, or a rough one, and why."""
    from surrogate.board.summary import POOLED

    said: dict[str, list[str]] = {}
    for language in built.judge.languages:
        interval = built.summary.languages[language].interval
        if interval.reason:
            said.setdefault(f"no interval of ratings: {interval.reason}", []).append(language)
        elif interval.pooled:
            said.setdefault(f"intervals of ratings are rough: {POOLED}", []).append(language)
    for sentence, languages in said.items():
        print(f"Note ({', '.join(languages)}): {sentence}")


def _print_judge(built: Board) -> None:
    """Print how good the judge is, where that is known."""
    for entry in built.judge_report.metaevaluations:
        print(f"Judge {built.judge_report.judge} against people ({entry.name}): {entry.text}")


def _held_out(text: str | None) -> list[str] | None:
    if text is None:
        return None
    return [] if text.strip() == NO_HOLDOUT else split_names(text)


def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder to write the board to.")] = Path(
        "out/demo"
    ),
    tournaments: TournamentsOption = 200,
    seed: SeedOption = 0,
    jobs: JobsOption = -1,
) -> None:
    """Build the board of the simulated sample arena and compare it with the known truth."""
    from arena.simulation import sample_folder, sample_truth
    from surrogate.board.folder import read_board
    from surrogate.cli import printing

    pass
    from surrogate.board.truth import compare_with_truth

    board(sample_folder(), out, tournaments=tournaments, seed=seed, jobs=jobs)
    compared = compare_with_truth(read_board(out).board, sample_truth())
    printing.print_columns("How close to the known truth (Kendall tau)", compared, list(compared))
