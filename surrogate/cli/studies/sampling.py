"""``surrogate-arena sampling``: how many judgments a ranking needs."""

from __future__ import annotations

from typing import Annotated

import typer

from arena.data.wording import count_of
from surrogate.board.settings import MOST_DRAWS
from surrogate.cli.options import (
    ArenaArgument,
    JsonOption,
    OneJudgeOption,
    SeedOption,
    checked_option,
    split_names,
)


def sampling(
    arena: ArenaArgument,
    judge: OneJudgeOption = None,
    language: Annotated[
        str | None, typer.Option("--language", help="Language to take; by default each of them.")
    ] = None,
    shares: Annotated[
        str,
        typer.Option("--shares", help="Comma-separated shares of the arena, above 0, at most 1."),
    ] = "0.05,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1",
    repeats: Annotated[
        int,
        typer.Option("--repeats", min=1, max=MOST_DRAWS, help="Subsets of each design and share."),
    ] = 100,
    design: Annotated[
        str,
        typer.Option(
            "--design",
            help="Comma-separated ways to judge less: questions (all pairs of random questions), "
            "pairs (random pairs of each question).",
        ),
    ] = "questions,pairs",
    ties: Annotated[str, typer.Option("--ties", help="How ties count: half or drop.")] = "half",
    ridge: Annotated[
        float,
        typer.Option(
            "--ridge", min=0, help="Precision of the prior on coefficients; 0 for the weakest."
        ),
    ] = 0.1,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Show how well fewer judgments rank the systems, against all judgments of an arena."""
    from arena.data.errors import UsageError
    from arena.data.folder import read_arena
    from arena.rating.battles import TIE_RULES

    tie_rule = checked_option("--ties", ties, TIE_RULES)
    wanted = split_names(design)
    parts = _numbers(shares)
    judgments = read_arena(arena).judged_by(judge).judgments

    from arena.judging.choosing.sampling import study_sampling
    from surrogate.cli import printing

    if language is not None:
        present = sorted(judgments["language"].unique())
        if language not in present:
            raise UsageError(f"no judgments in {language!r} here; there is {', '.join(present)}")
        judgments = judgments[judgments["language"] == language]
    study = study_sampling(judgments, parts, wanted, repeats, tie_rule, ridge, seed)
    if as_json:
        printing.print_json({"table": study.table, "signature": study.signature})
        return
    printing.print_columns(
        f"Kendall tau with the whole arena (mean and 95% of {count_of(study.repeats, 'repeat')})",
        study.table,
        list(study.table),
    )
    print(f"Signature: {study.signature}")


def _numbers(text: str) -> list[float]:
    from arena.data.errors import UsageError

    try:
        return [float(part) for part in split_names(text)]
    except ValueError as error:
        raise UsageError(f"shares {text!r} are no numbers; write such as 0.1,0.5,1") from error
