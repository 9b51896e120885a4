"""``surrogate-arena advise``: which judgments would settle the rank of a new system."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surrogate.cli.options import (
    AnswersArgument,
    BoardOption,
    FeatureTableOption,
    JobsOption,
    JsonOption,
    MovedArenaOption,
    given_features,
)

if TYPE_CHECKING:
    from surrogate.ranking.advice import Advice


def advise_command(
    answers: AnswersArgument,
    board: BoardOption,
    judgments: Annotated[
        Path | None,
        typer.Option(
            "--judgments",
            help="Judgments of the new systems against systems on the board, which count in their "
            "ratings.",
            exists=True,
        ),
    ] = None,
    arena: MovedArenaOption = None,
    questions: Annotated[
        int, typer.Option("--questions", min=1, help="Number of questions to suggest.")
    ] = 20,
    level: Annotated[
        float, typer.Option("--level", help="Confidence that two neighbors differ.")
    ] = 0.95,
    feature_table: FeatureTableOption = None,
    jobs: JobsOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Say which questions to judge to settle a new system's rank, and how many judgments."""
    from arena.adapters.judgments import read_judgments
    from arena.data.folder import read_answers, read_arena
    from surrogate.board.board import Board
    from surrogate.ranking.advice import advise as advise_systems
    from surrogate.ranking.rank import rank_systems

    published = Board.load(board)
    read = read_arena(arena or published.arena_folder())
    table = rank_systems(
        published,
        read_answers(answers, read.queries),
        read,
        jobs,
        feature_table=given_features(feature_table),
    ).features
    judged = None if judgments is None else read_judgments(judgments, read.queries)
    advice = advise_systems(published, table, judged=judged, questions=questions, level=level)
    _print(advice, level, as_json)


def _print(advice: Advice, level: float, as_json: bool) -> None:
    from surrogate.cli import printing
    from surrogate.ranking.advice import POWER

    if as_json:
        printing.print_json(
            {"neighbors": advice.neighbors, "questions": advice.questions, "level": level}
        )
        return
    title = (
        f"Judgments that separate a system from its neighbors at {level:.0%} (power "
        f"{POWER:.0%}), if its predicted rating is right"
    )
    printing.print_columns(title, advice.neighbors, list(advice.neighbors))
    if advice.questions.empty:
        print("\nNo question is left to judge: all that were answered are judged.")
    else:
        title = "Questions to judge, the most telling first"
        printing.print_columns(title, advice.questions, list(advice.questions))
