"""``surrogate-arena add``: a new system's answers joined to an arena, judged, the board remade."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.data.wording import count_of
from arena.judging.settings import JudgingSettings
from surrogate.cli.options import (
    FOLDER,
    NO_BODY,
    AnswersArgument,
    BodyOption,
    DryRunOption,
    JobsOption,
    PricesOption,
    refuse_judging,
    request_fields,
    with_settings,
)

if TYPE_CHECKING:
    import pandas as pd

    from arena.data.arena import Arena
    from arena.judging import ChosenPairs, LlmJudge
    from arena.llm import Price
    from surrogate.board.board import Board

LEFT_OUT = ("model", "body", "budget", "until", "prior")
"""Settings of judging that are no options here: the command's own, and those of adaptive pairs."""


@with_settings(JudgingSettings, leave_out=LEFT_OUT)
def add(
    arena: Annotated[Path, typer.Argument(help="Arena folder; its answers file grows.", **FOLDER)],
    answers: AnswersArgument,
    settings: JudgingSettings,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", help="Model that judges the new systems' pairs; without it nobody does."
        ),
    ] = None,
    body: BodyOption = NO_BODY,
    dry_run: DryRunOption = False,
    prices: PricesOption = None,
    board: Annotated[
        Path | None,
        typer.Option(
            "--board", help="Board folder to make again, with the settings it has.", **FOLDER
        ),
    ] = None,
    jobs: JobsOption = -1,
) -> None:
    """Join new systems' answers to an arena; judge their pairs, and remake a board, if asked to.

    Only pairs with a new system are judged, on the questions that 'judge' draws by these options,
    by one LLM or a panel. A dry run joins nothing.
    """
    from arena.data.append import add_answers
    from arena.data.folder import read_answers, read_arena
    from arena.llm import read_prices
    from surrogate.board.board import Board
    from surrogate.cli.judging.judge import STORE_FILE, print_dry_runs

    judges: list[LlmJudge] = []
    if model is None:
        given_too = {"body": body != NO_BODY, "dry_run": dry_run, "prices": prices is not None}
        refuse_judging(settings, given_too)
    else:
        settings = settings.model_copy(update={"model": model, "body": request_fields(body)})
        judges = settings.llm_judges()
    for each in () if dry_run else judges:
        each.settings.api_key()
    known_prices = None if prices is None else read_prices(prices)
    published = None if board is None else Board.load(board)
    read = read_arena(arena)
    given = read_answers(answers, read.queries)
    names = list(dict.fromkeys(given["system"]))
    grown = _with_answers(read, given)
    chosen = _chosen(settings, grown, names) if judges else None
    where = settings.store or str(arena / STORE_FILE)
    if dry_run and chosen is not None:
        print_dry_runs(grown, judges, chosen, where, known_prices, as_json=False)
        return
    file, added, there = add_answers(arena, given)
    read = read_arena(arena)
    print(f"{count_of(added, 'answer')} of {', '.join(names)} added to {file}; {there} were there")
    for name in names:
        answered = int((read.answers["system"] == name).sum())
        print(f"  {name}: answers to {answered} of {count_of(len(read.queries), 'question')}")
    if chosen is not None:
        _judge(arena, read, settings, judges, chosen, where, known_prices)
    if published is not None and board is not None:
        _remake(published, board, arena, jobs)


def _chosen(settings: JudgingSettings, arena: Arena, systems: list[str]) -> ChosenPairs:
    """Choose the pairs of the new systems, before their answers join the arena's folder."""
    from arena.data.errors import UsageError

    if settings.pairs == "adaptive":
        raise UsageError(
            "adaptive pairs are chosen among all systems: add the answers without --model, then "
            "run  surrogate-arena judge ARENA --model MODEL --pairs adaptive --budget PAIRS"
        )
    return settings.choose_pairs(arena).with_any(systems)


def _with_answers(arena: Arena, answers: pd.DataFrame) -> Arena:
    """Return an arena with further answers, in memory alone; those it has stay."""
    import pandas as pd

    from arena.data.schema import ANSWER_KEY

    both = pd.concat([arena.answers, answers], ignore_index=True).drop_duplicates(ANSWER_KEY)
    systems = tuple(dict.fromkeys([*arena.info.systems, *answers["system"]]))
    info = arena.info.model_copy(update={"systems": systems})
    return replace(arena, info=info, answers=both.reset_index(drop=True))


def _judge(
    folder: Path,
    arena: Arena,
    settings: JudgingSettings,
    judges: list[LlmJudge],
    chosen: ChosenPairs,
    where: str,
    prices: Mapping[str, Price] | None,
) -> None:
    """Judge the pairs of the new systems."""
    from arena.judging.run import judge
    from arena.llm import Budget, open_store
    from surrogate.cli import printing
    from surrogate.cli.judging.judge import kept_replies, print_judging

    budget = Budget(settings.max_calls)
    with kept_replies(where), open_store(where) as store, printing.progress_bar() as progress:
        judging = judge(
            arena, judges, chosen, store, budget=budget, prices=prices, progress=progress
        )
    print_judging(judging, *judging.write(folder))


def _remake(published: Board, board: Path, arena: Path, jobs: int) -> None:
    """Make a board again as it was made, and its site if it has one."""
    from surrogate.board.build import build_board
    from surrogate.board.judge_report import read_judging_records
    from surrogate.cli.boards.board import SITE, publish
    from surrogate.cli.printing import progress_bar

    records = read_judging_records(arena, published.summary.judge)
    with progress_bar() as progress:
        settings = published.summary.settings.chosen()
        built = build_board(arena, settings, records=records, n_jobs=jobs, progress=progress)
    publish(built, board, arena, (board / SITE).is_dir())
