"""``surrogate-arena vote``: people judge pairs of answers in a page, and their votes come back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.data.wording import count_of
from surrogate.cli.options import (
    JsonOption,
    LanguagesOption,
    SeedOption,
    checked_option,
    split_names,
)
from surrogate.cli.targets import OUT_FILE

if TYPE_CHECKING:
    from arena.data.arena import Arena
    from arena.judging.choosing.drawn import ChosenPairs


def vote(
    arena: Annotated[Path, typer.Argument(help="Arena folder.")],
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="With --collect: files of votes that the page exported."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="HTML file to write.", **OUT_FILE)
    ] = None,
    collect: Annotated[
        bool,
        typer.Option("--collect", help="Read votes back and add them to the arena's judgments."),
    ] = False,
    questions: Annotated[
        int, typer.Option("--questions", min=1, help="Questions drawn of each language.")
    ] = 20,
    pairs: Annotated[
        int, typer.Option("--pairs", min=1, help="Pairs of systems on each question.")
    ] = 3,
    judged_by: Annotated[
        str | None,
        typer.Option(
            "--judged-by", help="Take pairs that this judge has judged, to hold it against people."
        ),
    ] = None,
    most: Annotated[int, typer.Option("--most", min=1, help="Most pairs on the page.")] = 60,
    languages: LanguagesOption = None,
    show: Annotated[
        str,
        typer.Option(
            "--show",
            help="output: all that a system wrote; answer: the text after ##Answer: alone.",
        ),
    ] = "output",
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Write a page on which people judge blind pairs, or read their votes back as judgments."""
    from arena.data.errors import UsageError
    from arena.data.folder import read_arena
    from arena.judging.pairs import SHOWS

    shown = checked_option("--show", show, SHOWS)
    if collect == (out is not None):
        raise UsageError("give a page to write (--out FILE.html), or votes (--collect FILE ...)")
    if bool(files) != collect:
        raise UsageError("files of votes belong to --collect, and it needs one at least")
    read = read_arena(arena)
    if collect:
        _collect(arena, read, files or [], as_json)
        return
    from arena.judging.choosing.drawn import choose_pairs, pairs_judged_in

    chosen_languages = split_names(languages) or None
    if judged_by is None:
        chosen = choose_pairs(read, questions, pairs, False, chosen_languages, seed, shown)
    else:
        judgments = read.judged_by(judged_by).judgments
        if chosen_languages:
            judgments = judgments[judgments["language"].isin(chosen_languages)]
        chosen = pairs_judged_in(read, judgments, False, seed, shown)
    _write(read, chosen, out or Path(), most, seed, as_json)


def _write(
    arena: Arena, chosen: ChosenPairs, out: Path, most: int, seed: int, as_json: bool
) -> None:
    from arena.data.files import atomic_path
    from arena.people import make_ballot
    from surrogate.cli import printing
    from surrogate.publish.voting import ballot_page

    ballot = make_ballot(arena, chosen, most, seed)
    with atomic_path(out) as path:
        path.write_text(ballot_page(ballot), encoding="utf-8", newline="\n")
    if as_json:
        printing.print_json(
            {
                "file": str(out),
                "ballot": ballot.id,
                "pairs": len(ballot.pairs),
                "left_out": ballot.left_out,
                "identical": ballot.identical,
            }
        )
        return
    print(
        f"{count_of(len(ballot.pairs), 'pair')} to judge in {out}; "
        f"left out: {ballot.left_out} beyond --most, "
        f"{ballot.identical} of identical answers"
    )
    print("Open it in a browser, or send it; then  surrogate-arena vote ARENA --collect FILE ...")


def _collect(folder: Path, arena: Arena, files: list[Path], as_json: bool) -> None:
    from arena.data.append import append_rows
    from arena.data.folder import read_arena
    from arena.people import collect_votes
    from surrogate.cli import printing

    judgments, replaced = collect_votes(arena, files)
    file, _ = append_rows(folder, "judgments", judgments, replacing=True)
    added = len(read_arena(folder).judgments) - len(arena.judgments)
    again = replaced + len(judgments) - added
    voters = judgments.groupby("judge").size().rename("votes").reset_index()
    if as_json:
        counts = {"votes": len(judgments), "added": added, "replaced": again, "voters": voters}
        printing.print_json({"file": str(file), **counts})
        return
    printing.print_columns("Votes", voters, list(voters))
    print(
        f"{count_of(added, 'vote')} added to {file}, {again} in the place of earlier ones on the "
        "same pair"
    )
