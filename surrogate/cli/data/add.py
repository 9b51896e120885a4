"""``surrogate-arena add``: a new system's answers joined to an arena, judged, the board remade."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.judging.settings import JudgingSettings
from surrogate.cli.options import (
    FOLDER,
    AnswersArgument,
    BodyOption,
    DryRunOption,
    JobsOption,
    PricesOption,
    request_fields,
    with_settings,
)

if TYPE_CHECKING:
    import pandas as pd

    from arena.data.arena import Arena
    from arena.llm import Price
    from surrogate.board.board import Board

OF_CHOSEN_MODEL = ("model", "body", "budget", "until")


@with_settings(JudgingSettings, leave_out=OF_CHOSEN_MODEL)
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
    body: BodyOption = "{}",
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
    from arena.data.errors import UsageError
    from arena.data.folder import read_answers, read_arena
    from arena.llm import read_prices
    from surrogate.board.board import Board

    if model is None and (dry_run or settings.panel):
        raise UsageError("--dry-run and --panel are about judging: name --model, too")
    if model is not None:
        settings = settings.model_copy(update={"model": model, "body": request_fields(body)})
        for each in () if dry_run else settings.llm_judges():
            each.endpoint.api_key()
    known_prices = None if prices is None else read_prices(prices)
    published = None if board is None else Board.load(board)
    read = read_arena(arena)
    given = read_answers(answers, read.queries)
    names = list(dict.fromkeys(given["system"]))
    if dry_run:
        _print_dry_run(arena, _with_answers(read, given), settings, names, known_prices)
        return
    file, added, there = add_answers(arena, given)
    read = read_arena(arena)
    print(f"{added} answers of {', '.join(names)} added to {file}; {there} were there")
    for name in names:
        answered = int((read.answers["system"] == name).sum())
        print(f"  {name}: answers to {answered} of {len(read.queries)} questions")
    if model is not None:
        _judge(arena, read, settings, names, known_prices)
    if published is not None and board is not None:
        _remake(published, board, arena, jobs)


def _with_answers(arena: Arena, answers: pd.DataFrame) -> Arena:
    """Return an arena with further answers, in memory alone; those it has stay."""
    import pandas as pd

    from arena.data.schema import ANSWER_KEY

    both = pd.concat([arena.answers, answers], ignore_index=True).drop_duplicates(ANSWER_KEY)
    systems = tuple(dict.fromkeys([*arena.info.systems, *answers["system"]]))
    info = arena.info.model_copy(update={"systems": systems})
    return replace(arena, info=info, answers=both.reset_index(drop=True))


def _print_dry_run(
    folder: Path,
    arena: Arena,
    settings: JudgingSettings,
    systems: list[str],
    prices: Mapping[str, Price] | None,
) -> None:
    """Say what judging the new systems' pairs would take."""
    from surrogate.cli.judging.judge import STORE_FILE, print_dry_runs

    chosen = settings.choose_pairs(arena).with_any(systems)
    where = settings.store or str(folder / STORE_FILE)
    print_dry_runs(arena, settings.llm_judges(), chosen, where, prices, as_json=False)


def _judge(
    folder: Path,
    arena: Arena,
    settings: JudgingSettings,
    systems: list[str],
    prices: Mapping[str, Price] | None,
) -> None:
    """Judge the pairs of the new systems."""
    from arena.judging import judge_folder
    from arena.llm import open_store
    from surrogate.cli import printing
    from surrogate.cli.judging.judge import STORE_FILE, kept_replies, print_judging

    chosen = settings.choose_pairs(arena).with_any(systems)
    where = settings.store or str(folder / STORE_FILE)
    with kept_replies(where), open_store(where) as store, printing.progress_bar() as progress:
        judging = judge_folder(
            *(folder, arena, settings.llm_judges(), chosen, store),
            aggregate=settings.aggregate,
            max_calls=settings.max_calls,
            prices=prices,
            progress=progress,
        )
    print_judging(judging, chosen)


def _remake(published: Board, board: Path, arena: Path, jobs: int) -> None:
    """Make a board again as it was made, and its site if it has one."""
    from surrogate.board.build import rebuild_board
    from surrogate.board.judge.report import read_judging_records
    from surrogate.cli.boards.board import SITE, publish
    from surrogate.cli.printing import progress_bar

    records = read_judging_records(arena, published.summary.judge)
    with progress_bar() as progress:
        built = rebuild_board(published, arena, records=records, n_jobs=jobs, progress=progress)
    publish(built, board, arena, (board / SITE).is_dir())
