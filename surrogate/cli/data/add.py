"""``surrogate-arena add``: a new system's answers joined to an arena, judged, the board remade."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.judging.settings import JudgingSettings
from surrogate.cli.options import (
    FOLDER,
    AnswersArgument,
    BodyOption,
    JobsOption,
    request_fields,
    with_settings,
)

if TYPE_CHECKING:
    from arena.data.folder import Arena
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
    board: Annotated[
        Path | None,
        typer.Option(
            "--board", help="Board folder to make again, with the settings it has.", **FOLDER
        ),
    ] = None,
    jobs: JobsOption = -1,
) -> None:
    """Join new systems' answers to an arena; judge their pairs, and remake a board, if asked to.

    Only pairs with a new system are judged, on the questions that 'judge' draws by these options.
    """
    from arena.data.append import add_answers
    from arena.data.folder import read_answers, read_arena
    from surrogate.board.board import Board

    if model is not None:
        asked = {"model": model, "body": request_fields(body)}
        settings = settings.model_copy(update=asked)
        settings.llm_judge().endpoint.api_key()
    published = None if board is None else Board.load(board)
    given = read_answers(answers, read_arena(arena).queries)
    file, added, there = add_answers(arena, given)
    read = read_arena(arena)
    names = list(dict.fromkeys(given["system"]))
    print(f"{added} answers of {', '.join(names)} added to {file}; {there} were there")
    for name in names:
        answered = int((read.answers["system"] == name).sum())
        print(f"  {name}: answers to {answered} of {len(read.queries)} questions")
    if model is not None:
        _judge(arena, read, settings, names)
    if published is not None and board is not None:
        _remake(published, board, arena, jobs)


def _judge(folder: Path, arena: Arena, settings: JudgingSettings, systems: list[str]) -> None:
    """Judge the pairs of the new systems."""
    from arena.judging import judge_folder
    from arena.llm import open_store
    from surrogate.cli import printing
    from surrogate.cli.judging.judge import STORE_FILE, print_judging

    chosen = settings.choose_pairs(arena).with_any(systems)
    where = settings.store or str(folder / STORE_FILE)
    with open_store(where) as store, printing.progress_bar() as progress:
        judging = judge_folder(
            *(folder, arena, [settings.llm_judge()], chosen, store),
            max_calls=settings.max_calls,
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
