"""A board to look at: ``demo``."""

from __future__ import annotations

import shutil
from pathlib import Path

from surrogate_arena.cli import options as opt
from surrogate_arena.cli.printing import command, progress_lines, wrapped
from surrogate_arena.commands.boards import SITE, board_site, print_board

JUDGE = "gpt-4o"
JUDGED_QUESTIONS = 4


def demo(out: opt.BoardFolder = Path("out/demo")) -> None:
    """Build a board from a few of the sample arena's verdicts, and compare it with the others.

    In the sample, people and GPT-4o answered 38 questions from 20 passages each, in three styles.
    The board sees GPT-4o's verdicts on four questions, and no verdict at all on one of the systems.
    OUT/arena is the sample with all verdicts, including people's.
    """
    from surrogate.board.board import check_board_target

    check_board_target(out)
    from arena.sample import sample_arena, sample_folder
    from surrogate.board.build import build_board
    from surrogate_arena.commands.hidden_verdicts import comparison_sentences, hide_verdicts

    judged = sample_arena().select(judges=[JUDGE])
    hidden = hide_verdicts(judged, questions=JUDGED_QUESTIONS)
    built = build_board(hidden.shown, n_jobs=-1, progress=progress_lines())
    folder = out / "arena"
    saved = built.save(out, folder)
    # The contents alone: files of an installed package may be read-only.
    shutil.copytree(sample_folder(), folder, copy_function=shutil.copyfile, dirs_exist_ok=True)
    index = board_site(saved, out / SITE, hidden.shown)
    lines: list[str] = []
    for sentence in comparison_sentences(saved, hidden):
        lines += wrapped(sentence)
    print_board(saved, "\n".join([*lines, command("init", "my-arena")]), index)
