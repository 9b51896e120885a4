"""``surrogate-arena board``: the batch job over all languages of an arena."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surrogate.board.settings import PRESET, BoardSettings, board_judge, chosen_settings
from surrogate.cli.options import (
    ArenaArgument,
    BatchSizeOption,
    DeviceOption,
    DownloadOption,
    FeatureTableOption,
    JobsOption,
    JsonOption,
    PresetOption,
    SeedOption,
    TemplatesOption,
    TournamentsOption,
    given_features,
    with_settings,
)
from surrogate.cli.targets import OUT_FOLDER

if TYPE_CHECKING:
    from arena.data.arena import Arena
    from surrogate.board.board import Board

SITE = "site"


@with_settings(BoardSettings)
def board(
    arena: ArenaArgument,
    out: Annotated[Path, typer.Option("--out", help="Folder to write the board to.", **OUT_FOLDER)],
    settings: BoardSettings,
    preset: PresetOption = None,
    feature_table: FeatureTableOption = None,
    feature_cache: Annotated[
        Path | None,
        typer.Option("--feature-cache", help="Folder that keeps what was measured, by content."),
    ] = None,
    device: DeviceOption = "auto",
    batch_size: BatchSizeOption = 32,
    download: DownloadOption = False,
    templates: TemplatesOption = None,
    metaevaluation: Annotated[
        list[Path] | None,
        typer.Option(
            "--metaevaluation",
            metavar="FILE_OR_FOLDER",
            help="Further metaevaluation.json, or a folder that holds one, that says how good the "
            "judge is; the arena folder's own is always read. May be repeated.",
        ),
    ] = None,
    site: Annotated[
        bool, typer.Option("--site/--no-site", help="Write the board's pages to OUT/site too.")
    ] = True,
    jobs: JobsOption = -1,
    as_json: JsonOption = False,
) -> None:
    """Rate every system of an arena by verdicts and surrogate, in all its languages.

    An arena without verdicts gets a first board: by how far answers agree with each other, with
    reference answers and with relevance labels, and with the pairs to judge first.
    """
    from surrogate.board.board import check_board_target

    check_board_target(out)
    from arena.data.folder import read_arena
    from arena.text.prompts import read_templates

    settings = chosen_settings(settings, {PRESET: preset})
    read = read_arena(arena)
    judge = board_judge(read, settings)  # refused before what is slow to load

    from features.models import FEATURE_PROMPTS, ModelOptions
    from surrogate.board.build import build_board
    from surrogate.board.judge.report import read_judging_records
    from surrogate.cli.printing import progress_bar

    own = read_templates(templates or (), FEATURE_PROMPTS)
    records = None
    if judge is not None:
        records = read_judging_records(arena, judge, metaevaluation or ())
    with progress_bar() as progress:
        built = build_board(
            read,
            settings,
            feature_table=given_features(feature_table),
            records=records,
            n_jobs=jobs,
            models=ModelOptions(device, batch_size, download, templates=own),
            feature_cache=feature_cache,
            progress=progress,
        )
    publish(built, out, arena, site, as_json, read)


def publish(
    built: Board,
    out: Path,
    arena: Path,
    site: bool,
    as_json: bool = False,
    read: Arena | None = None,
) -> None:
    """Write a board and its pages, print it, and say which page to open.

    Args:
        built: The board.
        out: Folder to write to.
        arena: Folder of the arena.
        site: Whether to write pages.
        as_json: Whether to print JSON.
        read: The arena, where it is read already.
    """
    from arena.data.tables.names import alike
    from surrogate.cli import printing
    from surrogate.publish.site import write_site

    saved = built.save(out, arena)
    index = write_site(saved, out / SITE, read or arena) if site else None
    if as_json:
        printing.print_json(
            {
                "summary": built.summary.model_dump(mode="json"),
                "overall": built.overall,
                "board": printing.bounded(built.ratings),
            }
        )
        return
    printing.print_board(built)
    for first, name in alike(built.overall["system"]):
        print(f"Note: the names {first!a} and {name!a} look alike")
    print(f"Board written to {out}")
    if index is not None:
        print(f"Open {index}")


def demo(
    out: Annotated[
        Path, typer.Option("--out", help="Folder to write the board to.", **OUT_FOLDER)
    ] = Path("out/demo"),
    tournaments: TournamentsOption = 200,
    seed: SeedOption = 0,
    jobs: JobsOption = -1,
) -> None:
    """Build the board of the simulated sample arena and compare it with the known truth."""
    from surrogate.board.board import check_board_target

    check_board_target(out)
    from arena.data.folder import read_arena
    from arena.simulation import sample_folder, sample_truth
    from surrogate.board.build import build_board
    from surrogate.board.details import compare_with_truth
    from surrogate.board.judge.report import read_judging_records
    from surrogate.cli import printing

    arena = read_arena(sample_folder())
    with printing.progress_bar() as progress:
        built = build_board(
            arena,
            records=read_judging_records(sample_folder(), arena.judges[0]),
            tournaments=tournaments,
            seed=seed,
            n_jobs=jobs,
            progress=progress,
        )
    publish(built, out, sample_folder(), site=True, read=arena)
    compared = compare_with_truth(built.ratings, sample_truth())
    printing.print_columns("How close to the known truth (Kendall tau)", compared, list(compared))
