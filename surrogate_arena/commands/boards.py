"""Boards: ``board``, ``demo``, and what is printed of one."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from arena.data.errors import UsageError
from surrogate.board.settings import PRESET, BoardSettings, chosen_settings
from surrogate_arena.cli import options as opt
from surrogate_arena.cli.folders import has_folder
from surrogate_arena.cli.options import given_features, given_models
from surrogate_arena.cli.printing import (
    command,
    first_lines,
    print_ranks,
    print_remarks,
    progress_lines,
    show,
    shown_board,
)
from surrogate_arena.cli.setting_options import takes_settings

if TYPE_CHECKING:
    from arena.data.arena import Arena
    from surrogate.board.board import Board
    from surrogate.checks.faults import AnswerFaults

SITE = "site"


@takes_settings(
    BoardSettings,
    "judge",
    "by",
    "features",
    "surrogate",
    "tournaments",
)
def board(
    arena: opt.Arena,
    out: opt.BoardFolder,
    settings: BoardSettings,
    preset: opt.Preset = None,
    feature_table: opt.FeatureTable = None,
    download: opt.Download = False,
    templates: opt.Templates = None,
    site: Annotated[bool, Option("--site/--no-site", help="Write pages to OUT/site.")] = True,
    jobs: opt.Jobs = -1,
    _cluster: opt.Cluster = None,
    as_json: opt.Json = False,
) -> None:
    """Rate every system in an arena by verdicts and surrogate, in each of its languages.

    Without verdicts, systems are ordered by how well answers agree with each other (without
    passages, by what judges in other arenas liked), with reference answers and with relevance
    labels.
    """
    settings = chosen_settings(settings, {PRESET: preset})

    from arena.data.folder import read_arena
    from surrogate.board.board import check_board_target
    from surrogate.board.tables import FEATURE_CACHE
    from surrogate.board.view import board_judges

    read = read_arena(arena)
    check_board_target(out)
    if read.answers.empty:
        raise UsageError(f"{arena} has no answers; to rate systems by verdicts alone: fit {arena}")
    # Before anything slow: a judge that the arena lacks is refused at once.
    judges = board_judges(read, settings)

    from surrogate.board.build import build_board
    from surrogate_arena.cli.judging_records import read_judging_records

    judging_records = read_judging_records(arena, judges[0]) if judges else None
    cache = out / FEATURE_CACHE
    with _no_cache_left(cache):
        built = build_board(
            read,
            settings,
            judging_records=judging_records,
            feature_table=given_features(feature_table, read.answers),
            n_jobs=jobs,
            models=given_models(templates, download=download),
            progress=progress_lines(),
            cache=cache,
        )
        publish_board(built, out, arena, read, site, as_json)


@contextmanager
def _no_cache_left(cache: Path) -> Iterator[None]:
    """Remove a new cache where an error ends the command; killed, it stays for the next run."""
    is_new_cache = not cache.exists()
    is_new_folder = not cache.parent.exists()
    try:
        yield
    except Exception:
        if is_new_cache:
            shutil.rmtree(cache, ignore_errors=True)
        if is_new_folder:
            with suppress(OSError):  # the board is in it
                cache.parent.rmdir()
        raise


def publish_board(
    built: Board,
    out: Path,
    folder: Path,
    arena: Arena,
    site: bool,
    as_json: bool = False,
) -> None:
    """Write a board and its pages, and print it with the page to open."""
    from arena.data.names import look_alike_remarks
    from surrogate.board.remarks import conclusion
    from surrogate.checks.faults import arena_faults

    saved = built.save(out, folder)
    cost_sentence = ""
    if has_folder("costs"):
        from surrogate_arena.costs.costs import frontier_remark, write_costs

        cost_sentence = frontier_remark(write_costs(saved, arena, out)).sentence
    faults = arena_faults(arena)
    index = board_site(saved, out / SITE, arena, faults) if site else None
    if as_json:
        content = {
            "conclusion": conclusion(saved),
            "overall": built.overall,
            "board": built.ratings,
            "summary": built.summary,
        }
        show(content, as_json)
        return
    sentences = [*_voter_sentences(saved, arena), _fault_sentence(faults), cost_sentence]
    print_board(saved, _next_command(saved, folder), index, filter(None, sentences))
    print_remarks(list(look_alike_remarks(built.overall["system"])))


def _voter_sentences(board: Board, arena: Arena) -> Iterator[str]:
    """Name the voter with most votes, of those that decide who is first, in each language."""
    from arena.data.judges import judges_named
    from surrogate.board.remarks import in_its_language

    if not board.judge_report.first_places or not has_folder("diagnosis"):
        return
    from surrogate_arena.diagnosis.decisive_voters import decisive_voters

    judges = judges_named(arena.judges, board.summary.judge)
    votes = arena.judgments[arena.judgments["judge"].isin(judges)]
    has_languages = len(board.languages) > 1
    for language, part in votes.groupby("language"):
        for remark in decisive_voters(part, str(language) if has_languages else "")[:1]:
            yield f"{in_its_language(remark)}."


def _fault_sentence(faults: AnswerFaults | None) -> str:
    """Say how many answers have a certain fault, which, and of whom most; empty if none has."""
    from surrogate.checks.table import CHECKS

    if faults is None or not faults.n_broken:
        return ""
    n_by_check = faults.of_class("certain")["check"].value_counts(sort=False)
    clauses = [CHECKS[str(name)].clause(number) for name, number in n_by_check.items()]
    n_by_system = faults.broken["system"].value_counts()
    clauses.append(f"{n_by_system.index[0]} alone has {n_by_system.iloc[0]:,}")
    return f"{faults.broken_clause}: {'; '.join(clauses)}."


def board_site(
    board: Board, folder: Path, arena: Arena, faults: AnswerFaults | None = None
) -> Path | None:
    """Write a board's pages, and return the first one."""
    if not has_folder("pages"):
        print("No pages: surrogate_arena/pages, or what it needs, is absent", file=sys.stderr)
        return None

    from surrogate_arena.pages.site import write_site

    return write_site(board, folder, arena, faults=faults)


def print_board(
    board: Board, then: str, index: Path | None = None, further: Iterable[str] = ()
) -> None:
    """Print a board's ranks, what limits them, ``further`` sentences, and what to do next."""
    from surrogate.board.remarks import cautions, conclusion, fragile_places, in_its_language

    summary = board.summary.macro
    rows, columns = shown_board(board.ratings, board.overall)
    if board.summary.is_compared:
        columns.insert(1, "arena_rank")
    headline = conclusion(board)
    sentences = [headline]
    # A board is printed on one screen.
    sentences += first_lines(summary.remarks, 2)
    limits = [*islice(cautions(board), 1), *islice(fragile_places(board), 1)]
    sentences += [in_its_language(remark) for remark in limits]
    sentences += further
    last = [f"Open {index}" if index else f"Board written to {board.folder}", then]
    if len(board.languages) > 1:
        last.insert(0, "Ranks by language: board.csv in the board's folder")
    print_ranks(rows, columns, sentences, last)


def _next_command(board: Board, arena: Path) -> str:
    from surrogate.learning.cross_fitting import FEWEST_SYSTEMS_TO_FOLD

    summary = board.summary
    if summary.is_first:
        return command("judge", arena, "--model", "MODEL", "--dry-run")
    label = summary.macro.judge
    if label is not None and label.faults:
        return command("diagnose", arena, "--judge", summary.judge)
    is_unchecked = label is not None and label.grade in ("not known", "consistent")
    needs_people = is_unchecked and not board.judge_report.metaevaluations
    n_judged = board.verdict_ratings["system"].nunique()
    if needs_people or n_judged < FEWEST_SYSTEMS_TO_FOLD:
        return command("vote", arena, "--out", "vote.html")
    return command("validate", arena, "--judge", summary.judge)
