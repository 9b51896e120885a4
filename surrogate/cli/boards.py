"""Boards: ``board``, ``demo``, and what is printed of one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from arena.data.errors import UsageError, argument
from surrogate.board.settings import PRESET, BoardSettings, board_judges, chosen_settings
from surrogate.cli import options as opt
from surrogate.cli.options import (
    given_features,
    given_models,
    named_values,
    setting,
    settings_of,
    split_names,
)
from surrogate.cli.printing import (
    INTERVAL,
    cell,
    command,
    cut_middle,
    print_ranks,
    progress_lines,
    show,
    shown_board,
    spans,
    two_decimals,
    wrapped,
)

if TYPE_CHECKING:
    from arena.data.arena import Arena
    from surrogate.board.board import Board
    from surrogate.runs.criteria import Overview

SITE = "site"
MOST_CRITERIA = 3
"""Of an overview, as it is printed; its file has all."""
LONGEST_CRITERION = 10


def board(
    arena: opt.Arena,
    out: opt.BoardFolder,
    judge: Annotated[str | None, setting(BoardSettings, "judge")] = None,
    weights: Annotated[
        str | None,
        Option(metavar="NAME=WEIGHT,...", help="Of criteria in their overview. Default: 1 each"),
    ] = None,
    by: Annotated[str | None, setting(BoardSettings, "by")] = None,
    features: Annotated[str | None, setting(BoardSettings, "features")] = None,
    surrogate: Annotated[str | None, setting(BoardSettings, "surrogate")] = None,
    preset: opt.Preset = None,
    tournaments: Annotated[int | None, setting(BoardSettings, "tournaments")] = None,
    config: opt.Config = None,
    feature_table: opt.FeatureTable = None,
    download: opt.Download = False,
    templates: opt.Templates = None,
    site: Annotated[bool, Option("--site/--no-site", help="Write pages to OUT/site.")] = True,
    jobs: opt.Jobs = -1,
    _backend: opt.Backend = None,
    _scheduler: opt.Scheduler = None,
    as_json: opt.Json = False,
) -> None:
    """Rate every system of an arena by verdicts and surrogate, in all its languages.

    An arena without verdicts gets a first board: by how far answers agree with each other, with
    reference answers and with relevance labels. Judgments by several criteria give one board each,
    in folders of their own, and an overview.
    """
    settings = chosen_settings(settings_of(BoardSettings, config, locals()), {PRESET: preset})

    from arena.data.folder import read_arena
    from surrogate.board.board import check_board_target
    from surrogate.board.tables import FEATURE_CACHE

    read = read_arena(arena)
    shares = named_values("--weights", split_names(weights), "faithfulness=2,fluency=1")
    has_several = len(read.criteria) > 1 and settings.judge not in read.judges
    is_overview = settings.criterion is None and has_several
    if shares and not is_overview:
        raise UsageError(
            f"{argument('weights')} are of several criteria, which judgments here do not have"
        )
    judges: tuple[str, ...] = ()
    if not is_overview:
        check_board_target(out)
        judges = board_judges(read, settings)  # refused before what is slow to load

    from surrogate.board.build import build_board
    from surrogate.board.judge_report import read_judging_records

    options: dict[str, Any] = {
        "feature_table": given_features(feature_table, read.answers),
        "n_jobs": jobs,
        "models": given_models(templates, download=download),
        "progress": progress_lines(),
        "cache": out / FEATURE_CACHE,
    }
    if is_overview:
        from surrogate.runs.criteria import build_criteria, check_overview_target, weighted_overview

        check_overview_target(out)
        found = weighted_overview(*build_criteria(read, settings, arena, **options), shares)
        publish_overview(found, out, arena, read, site, as_json)
        return
    records = read_judging_records(arena, judges[0]) if judges else None
    built = build_board(read, settings, records=records, **options)
    publish_board(built, out, arena, read, site, as_json)


def demo(out: opt.BoardFolder = Path("out/demo"), jobs: opt.Jobs = -1) -> None:
    """Build the board of the simulated sample arena and compare it with the known truth."""
    from surrogate.board.board import check_board_target

    check_board_target(out)
    from arena.data.folder import read_arena
    from arena.simulation import sample_folder, sample_truth
    from surrogate.board.build import build_board
    from surrogate.board.detail_tables import compare_with_truth
    from surrogate.board.judge_report import read_judging_records
    from surrogate.publish.site import write_site

    arena = read_arena(sample_folder())
    records = read_judging_records(sample_folder(), arena.judges[0])
    built = build_board(arena, records=records, n_jobs=jobs, progress=progress_lines())
    found = compare_with_truth(built.ratings, sample_truth()).iloc[-1].drop("language")
    taus = ", ".join(f"{name.replace('_', ' ')} {tau:.3f}" for name, tau in found.items())
    saved = built.save(out, sample_folder())
    truth = f"How close to the known truth (Kendall tau, mean of languages):\n  {taus}\n"
    then = truth + command("init", "my-arena")
    print_board(saved, then, write_site(saved, out / SITE, arena))


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
    print_board(saved, next_of(saved, folder), index)
    for first, name in alike(built.overall["system"]):
        print(f"Note: the names {first!a} and {name!a} look alike")


def publish_overview(
    found: Overview, out: Path, folder: Path, arena: Arena, site: bool, as_json: bool
) -> None:
    """Write boards of criteria and their overview, and print it."""
    from surrogate.runs.criteria import save_overview

    saved, index = save_overview(found, out, folder, arena, site)
    if as_json:
        show({"weights": found.weights, "left_out": found.left_out, "overview": found.table}, True)
        return
    shown = found.table.assign(
        score=found.table["score"].map(two_decimals),
        **{INTERVAL: spans(found.table)},
    )
    columns = ["rank", "system", "score", INTERVAL]
    for name in list(found.weights)[:MOST_CRITERIA]:
        ratings, ranks = (found.table[f"{name}_{end}"] for end in ("rating", "rank"))
        pairs = zip(ratings.map(two_decimals), ranks.map(cell), strict=True)
        columns.append(cut_middle(name, LONGEST_CRITERION))
        shown[columns[-1]] = [f"{rating} ({rank})" for rating, rank in pairs]
    said = [found.sentence, *(f"{name} left out: {why}" for name, why in found.left_out.items())]
    last = [f"Open {index}" if index else f"Overview written to {out}"]
    heaviest = max(found.weights, key=found.weights.__getitem__)
    print_ranks(shown, columns, said, [*last, next_of(saved[heaviest], folder)])


def print_board(board: Board, then: str, index: Path | None = None) -> None:
    """Print a board's ranks, what it concludes, what limits that, and what to do next."""
    from surrogate.board.first_place import conclusion

    rows, columns = shown_board(board.ratings, board.overall)
    if board.summary.is_compared:  # where ranks are means, in place of the best and worst
        columns[1 : 1 + ("mean_rank" in columns)] = ["arena_rank"]
    beside = board.summary.macro.beside[:1]
    said = [conclusion(board), *(line for text in beside for line in wrapped(text, 1))]
    said += [text for text in board.summary.macro.warnings if text not in said[0]][:1]
    said += fragile_places(board)
    last = [f"Open {index}" if index else f"Board written to {board.folder}"]
    print_ranks(rows, columns, said, [*last, then])


def fragile_places(board: Board) -> list[str]:
    """Say of the language whose first place rests on the fewest verdicts how many these are."""
    from surrogate.publish.formats import language_name, sentence

    places = board.judge_report.first_places
    if not places or board.summary.macro.is_unreliable:
        return []
    weakest = min(places, key=lambda place: place.dropped)
    where = f"{language_name(weakest.language)}: " if len(places) > 1 else ""
    return [where + sentence(weakest.sentence)]


def next_of(board: Board, arena: Path) -> str:
    """Return the command that tells most about a board: what its judge is worth, if unknown."""
    summary, labels = board.summary, board.judge_report.metaevaluations
    if summary.is_first:
        return command("judge", arena, "--model", "MODEL", "--dry-run")
    label = summary.macro.judge
    if label is not None and label.faults:
        return command("diagnose", arena, "--judge", summary.judge)
    if label is not None and not labels and label.grade in ("not known", "consistent"):
        return command("vote", arena, "--out", "vote.html")
    return command("validate", arena, "--judge", summary.judge)
