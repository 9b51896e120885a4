"""A board to look at: ``demo``."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from arena.data.wording import count_of
from surrogate_arena.cli import options as opt
from surrogate_arena.cli.printing import command, progress_lines, wrapped
from surrogate_arena.commands.boards import SITE, board_site, print_board

if TYPE_CHECKING:
    from surrogate_arena.commands.hidden_verdicts import HiddenComparison, HiddenVerdicts


def demo(out: opt.BoardFolder = Path("out/demo")) -> None:
    """Build a board from few verdicts of the sample arena, and compare it with all others.

    The sample is part of NoMIRACL: 11 LLMs answered 40 questions in each of 4 languages. Six
    questions of each are judged here, and one system is not. OUT/arena is the sample with all
    verdicts.
    """
    from surrogate.board.board import check_board_target

    check_board_target(out)
    from arena.sample import sample_arena, sample_folder
    from surrogate.board.build import build_board
    from surrogate_arena.commands.hidden_verdicts import compare_with_hidden, hide_verdicts

    hidden = hide_verdicts(sample_arena(), questions=6)
    built = build_board(hidden.shown, n_jobs=-1, progress=progress_lines())
    folder = out / "arena"
    saved = built.save(out, folder)
    # The contents alone: files of an installed package may be read-only.
    shutil.copytree(sample_folder(), folder, copy_function=shutil.copyfile, dirs_exist_ok=True)
    index = board_site(saved, out / SITE, hidden.shown)
    lines = _comparison_lines(hidden, compare_with_hidden(saved, hidden))
    print_board(saved, "\n".join([*lines, command("init", "my-arena")]), index)


def _comparison_lines(hidden: HiddenVerdicts, compared: HiddenComparison) -> list[str]:
    macro = compared.taus.iloc[-1]
    places = compared.places
    n_languages = len(places)
    of_languages = f"mean of {count_of(n_languages, 'language')}"
    agreement = (
        f"Agreement with {len(hidden.hidden):,} verdicts on other questions (Kendall tau, "
        f"{of_languages}): ratings {macro['rating']:.2f}; the same "
        f"{count_of(len(hidden.shown.judgments), 'verdict')} without a surrogate "
        f"{macro['verdicts_alone']:.2f}."
    )
    hidden_rank = places["hidden_rank"].mean()
    if places["place"].isna().any():
        place = f"no place here in {places['place'].isna().sum()} of {n_languages} languages"
    else:
        place = f"mean place {places['place'].mean():.1f} here"
    unjudged = (
        f"{hidden.unjudged}, which nobody judged: {place}, mean rank {hidden_rank:.1f} by those "
        f"verdicts; its span holds that rank in {places['is_inside'].sum()} of {n_languages}."
    )
    return [*wrapped(agreement), *wrapped(unjudged)]
