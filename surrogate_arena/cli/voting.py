"""Commands by which people vote: a page of blind pairs, and its votes read back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from arena.data.errors import UsageError
from arena.data.judge_names import is_person
from arena.data.wording import split_names
from surrogate_arena.cli import options as opt
from surrogate_arena.cli.options import OUT_FILE
from surrogate_arena.cli.printing import command, show

if TYPE_CHECKING:
    from arena.data.arena import Arena


def vote(
    arena: opt.Arena,
    files: Annotated[list[Path] | None, Argument(help="Files that the page exported.")] = None,
    out: Annotated[Path | None, Option(help="HTML file to write.", **OUT_FILE)] = None,
    collect: Annotated[bool, Option("--collect", help="Add the votes of FILES.")] = False,
    questions: Annotated[int, Option(min=1, help="Questions to draw in each language.")] = 20,
    pairs: Annotated[int, Option(min=1, help="Pairs of systems for each question.")] = 3,
    most: Annotated[int, Option(min=1, help="Maximum number of pairs.")] = 60,
    languages: opt.Languages = None,
    systems: Annotated[
        str | None, Option(help="Comma-separated systems to compare, such as v5,v6. Default: all")
    ] = None,
    seed: opt.Seed = 0,
    as_json: opt.Json = False,
) -> None:
    """Write a page on which people judge blind pairs, or read their votes back as judgments."""
    from arena.data.folder import read_arena
    from arena.data.selection import dropped_names, without_rows
    from arena.judging.choosing.drawn_pairs import choose_pairs

    if collect == (out is not None):
        raise UsageError("give a page to write (--out FILE.html), or votes (--collect FILE ...)")
    if bool(files) != collect:
        raise UsageError("files of votes go with --collect, which needs at least one")
    if out is None:
        _collect(arena, files or [], as_json)
        return
    from arena.data.safe_writes import write_text
    from arena.judging import make_ballot
    from surrogate_arena.pages.pages import ballot_page

    read = read_arena(arena)
    if systems is not None:
        dropped = dropped_names("system", split_names(systems), read.info.systems)
        read = replace(read, answers=without_rows(read.answers, {"system": dropped}))
    chosen = choose_pairs(
        read,
        questions=questions,
        pairs=pairs,
        languages=split_names(languages) or None,
        seed=seed,
    )
    ballot = make_ballot(read, chosen, most, seed)
    write_text(ballot_page(ballot), out)
    shown = {
        "file": out,
        "ballot": ballot.id,
        "pairs": len(ballot.pairs),
        "left_out": ballot.left_out,
        "identical": ballot.identical,
    }
    show(shown, as_json)
    if not as_json:
        print("Open or send the page; people export their votes from it")
        print(command("vote", arena, "--collect", "votes.json"))


def _collect(folder: Path, files: list[Path], as_json: bool) -> None:
    from arena.data.folder import append_rows, read_arena
    from arena.judging import collect_votes

    arena = read_arena(folder)
    judgments, n_repeated = collect_votes(arena, files)
    file, _ = append_rows(folder, "judgments", judgments, replacing=True)
    # Votes that are not new rows have replaced older ones, of these files or of the folder.
    collected = read_arena(folder)
    n_added = len(collected.judgments) - len(arena.judgments)
    shown = {
        "file": file,
        "votes": len(judgments),
        "added": n_added,
        "replaced": n_repeated + len(judgments) - n_added,
        "voters": judgments.groupby("judge").size().rename("votes").reset_index(),
    }
    show(shown, as_json)
    if not as_json:
        print(_after_votes(collected, folder))


def _after_votes(arena: Arena, folder: Path) -> str:
    """Return the command that tells most once people have voted."""
    if not all(map(is_person, arena.judges)):
        return command("agreement", folder, "--write")
    judged = {*arena.judgments["system_a"], *arena.judgments["system_b"]}
    if len(judged) > 2:
        return command("board", folder, "--out", "out/board")
    # Of two versions the latest comes last.
    baseline, candidate = sorted(judged, key=arena.info.systems.index)
    return command("gate", "--arena", folder, "--candidate", candidate, "--baseline", baseline)
