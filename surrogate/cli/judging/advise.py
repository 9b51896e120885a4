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
    SeedOption,
    given_features,
)

if TYPE_CHECKING:
    import pandas as pd

    from surrogate.ranking.advice import Advice


def advise_command(
    answers: AnswersArgument,
    board: BoardOption,
    judgments: Annotated[
        Path | None,
        typer.Option(
            "--judgments",
            help="Judgments of the new systems against systems on the board, of questions drawn "
            "at random: they count in its rating, and a win rate is estimated from them and the "
            "surrogate that holds however bad the surrogate is.",
            exists=True,
        ),
    ] = None,
    arena: MovedArenaOption = None,
    questions: Annotated[
        int, typer.Option("--questions", min=1, help="Questions to name, by either order.")
    ] = 20,
    level: Annotated[
        float, typer.Option("--level", help="Confidence of separations and intervals.")
    ] = 0.95,
    seed: SeedOption = 0,
    feature_table: FeatureTableOption = None,
    jobs: JobsOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Say which questions to judge to settle a new system's rank, and how many judgments."""
    from arena.adapters.judgments import read_judgments
    from arena.data.folder import read_answers, read_arena
    from surrogate.board.board import Board
    from surrogate.ranking.advice import advise as advise_systems
    from surrogate.ranking.prediction_powered import estimate_win_rates
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
    advice = advise_systems(
        published, table, judged=judged, questions=questions, level=level, seed=seed
    )
    estimates = None if judged is None else estimate_win_rates(published, table, judged, level)
    _print(advice, estimates, as_json)


def _print(advice: Advice, estimates: pd.DataFrame | None, as_json: bool) -> None:
    from surrogate.cli import printing

    if as_json:
        printing.print_json(
            {
                "neighbors": advice.neighbors,
                "questions": advice.questions,
                "estimates": estimates,
                "level": advice.level,
                "power": advice.power,
            }
        )
        return
    title = (
        f"Judgments that tell a system from its neighbors at {advice.level:.0%} (power "
        f"{advice.power:.0%}), if its predicted rating is right"
    )
    printing.print_columns(title, advice.neighbors, list(advice.neighbors))
    title = "Questions to judge: by order for the neighbors, by random order for a win rate"
    if advice.questions.empty:
        print("\nNo question is left to judge: all that were answered are judged.")
    else:
        printing.print_columns(title, advice.questions, list(advice.questions))
    if estimates is not None:
        columns = ["language", "system", "judgments", "questions", "win_rate", "low", "high"]
        title = "Win rate against the opponents judged, with the surrogate's predictions"
        columns += ["judged_alone", "judged_alone_low", "judged_alone_high", "width_ratio"]
        printing.print_columns(title, estimates, columns)
        columns = ["language", "system", "predicted", "rating", "rating_low", "rating_high"]
        title = "Rating on the board's scale, and what the surrogate alone predicts as win rate"
        printing.print_columns(title, estimates, [*columns, "weight", "reason"])
