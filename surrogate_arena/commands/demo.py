"""A board to look at: ``demo``."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from arena.data.wording import count_of
from surrogate_arena.cli import options as opt
from surrogate_arena.cli.printing import command, progress_lines, wrapped
from surrogate_arena.commands.boards import SITE, board_site, print_board

if TYPE_CHECKING:
    from surrogate_arena.commands.hidden_verdicts import HiddenComparison, HiddenVerdicts

JUDGE = "gpt-4o"
JUDGED_QUESTIONS = 4


def demo(out: opt.BoardFolder = Path("out/demo")) -> None:
    """Build a board from a few verdicts of the sample arena, and compare it with the others.

    In the sample, people and GPT-4o answered 38 questions from 20 passages each, in three styles.
    The board sees GPT-4o's verdicts on four questions, and none on one of the systems. OUT/arena is
    the sample with all verdicts, including people's.
    """
    from surrogate.board.board import check_board_target

    check_board_target(out)
    from arena.sample import sample_arena, sample_folder
    from surrogate.board.build import build_board
    from surrogate_arena.commands.hidden_verdicts import compare_with_hidden, hide_verdicts

    judged = sample_arena().select(judges=[JUDGE])
    hidden = hide_verdicts(judged, questions=JUDGED_QUESTIONS)
    built = build_board(hidden.shown, n_jobs=-1, progress=progress_lines())
    folder = out / "arena"
    saved = built.save(out, folder)
    # The contents alone: files of an installed package may be read-only.
    shutil.copytree(sample_folder(), folder, copy_function=shutil.copyfile, dirs_exist_ok=True)
    index = board_site(saved, out / SITE, hidden.shown)
    lines = _comparison_lines(hidden, compare_with_hidden(saved, hidden))
    print_board(saved, "\n".join([*lines, command("init", "my-arena")]), index)


def _comparison_lines(hidden: HiddenVerdicts, compared: HiddenComparison) -> list[str]:
    taus = compared.taus.iloc[-1]
    n_shown = count_of(len(hidden.shown.judgments), "verdict")
    saved = (
        f"With {n_shown} the ratings have a Kendall tau of {taus['rating']:.2f} with the "
        f"{len(hidden.hidden):,} verdicts that were kept back; without the surrogate "
        f"{taus['verdicts_alone']:.2f}."
    )
    (place,) = compared.places.itertuples()
    is_placed = not pd.isna(place.place)
    here = f"about place {place.place} here" if is_placed else "no place here"
    unjudged = (
        f"{hidden.unjudged}, which nobody judged: {here}, rank {place.hidden_rank} by the "
        "verdicts that were kept back."
    )
    return [*wrapped(saved), *wrapped(unjudged)]
