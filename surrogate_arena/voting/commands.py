"""Commands by which people vote: ``vote`` with a page and its file, ``view`` with a server."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from arena.data.errors import ArenaError, MissingDependencyError, UsageError
from arena.data.judges import is_person
from arena.data.wording import count_of, split_names
from surrogate_arena.cli import options as opt
from surrogate_arena.cli.options import FOLDER, OUT_FILE, OUT_FOLDER, check_target
from surrogate_arena.cli.printing import command, show

if TYPE_CHECKING:
    from arena.data.arena import Arena
    from surrogate_arena.voting.app import Service
    from surrogate_arena.voting.labeling import Labeling


Host = Annotated[
    str,
    Option(
        help="Name or address to serve at. Other machines can reach any but 127.0.0.1, and "
        "then need a link with a token."
    ),
]
Port = Annotated[int, Option(min=0, max=65535, help="Port; 0 for any free one.")]


def vote(
    arena: opt.Arena,
    files: Annotated[list[Path] | None, Argument(help="Files that the page exported.")] = None,
    out: Annotated[Path | None, Option(help="HTML file to write.", **OUT_FILE)] = None,
    collect: Annotated[bool, Option("--collect", help="Add the votes of FILES.")] = False,
    labels: Annotated[
        Path | None,
        Option(
            help="Serve a page to label sentences on, and keep the labels in this folder.",
            **OUT_FOLDER,
        ),
    ] = None,
    quality: Annotated[
        str, Option(help="What --labels asks: faithfulness or relevance.")
    ] = "faithfulness",
    whole: Annotated[bool, Option("--whole", help="With --labels: label whole answers.")] = False,
    questions: Annotated[int, Option(min=1, help="Questions to draw in each language.")] = 20,
    pairs: Annotated[int, Option(min=1, help="Pairs of systems for each question.")] = 3,
    most: Annotated[int, Option(min=1, help="Maximum number of pairs.")] = 60,
    systems: Annotated[
        str | None, Option(help="Comma-separated systems to compare, such as v5,v6. Default: all")
    ] = None,
    seed: opt.Seed = 0,
    host: Host = "127.0.0.1",
    port: Port = 8765,
    as_json: opt.Json = False,
) -> None:
    """Write a page on which people judge blind pairs, or read their votes back as judgments.

    --labels serves a page on which people label the sentences of one answer to each question.
    """
    from arena.judging.choosing.drawn_pairs import choose_pairs
    from surrogate_arena.voting.labeling import Labeling

    if [collect, out is not None, labels is not None].count(True) != 1:
        raise UsageError(
            "give a page to write (--out FILE.html), votes (--collect FILE ...), or a folder of "
            "labels (--labels FOLDER)"
        )
    if bool(files) != collect:
        raise UsageError("files of votes go with --collect, which needs at least one")
    if labels is not None:
        read = _read_among(arena, systems)
        _serve_labels(Labeling(read, labels, quality, questions, seed, whole), labels, host, port)
        return
    if out is None:
        _collect(arena, files or [], as_json)
        return
    from arena.data.writing import write_text
    from arena.judging import make_ballot
    from surrogate_arena.pages.pages import ballot_page

    read = _read_among(arena, systems)
    chosen = choose_pairs(
        read,
        questions=questions,
        pairs=pairs,
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
        # Without quotes, so that a shell finds the files.
        print(command("vote", arena, "--collect"), "votes-*.json")


def _read_among(folder: Path, systems: str | None) -> Arena:
    """Read an arena, with the answers of some systems alone where these are named."""
    from arena.data.folder import read_arena
    from arena.data.names import dropped_names
    from arena.data.rows import without_rows

    arena = read_arena(folder)
    if systems is None:
        return arena
    dropped = dropped_names("system", split_names(systems), arena.info.systems)
    return replace(arena, answers=without_rows(arena.answers, {"system": dropped}))


def _collect(folder: Path, files: list[Path], as_json: bool) -> None:
    from arena.data.folder import read_arena
    from arena.judging import collect_votes
    from arena.judging.appending import append_rows

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
    if not all(map(is_person, arena.judges)):
        return command("agreement", folder, "--write")
    judged = {*arena.judgments["system_a"], *arena.judgments["system_b"]}
    if len(judged) > 2:
        return command("board", folder, "--out", "out/board")
    # Of two versions the latest comes last.
    baseline, candidate = sorted(judged, key=arena.info.systems.index)
    return command("gate", "--arena", folder, "--candidate", candidate, "--baseline", baseline)


def view(
    board: Annotated[Path, Argument(help="Board folder.", **FOLDER)],
    host: Host = "127.0.0.1",
    port: Port = 8765,
    arena: opt.MovedArena = None,
) -> None:
    """Serve a board with its pages, and a page on which several people vote at the same time.

    Votes are blind, and are written to the arena as they are cast. Anyone who comes back under the
    same name continues where they stopped. Nothing is lost if the server is killed.
    """
    try:
        from surrogate_arena.voting.server import Server
    except ImportError as error:
        raise MissingDependencyError("view", "starlette", "serve") from error

    service = _service(board, arena)
    server = Server(service.app(), host, port)
    print(f"Board: {server.board_link}")
    if service.voting is None:
        print(f"Nobody can vote: {service.why_not}")
    else:
        audience = "for voters, without the board" if server.is_open else "for several people"
        print(f"Vote ({audience}): {server.voting_link}")
        print(f"Votes are written to {service.arena_folder} as they are cast")
    print("Stop with Ctrl+C", flush=True)
    server.run()
    if service.voting is not None and service.arena_folder is not None:
        print(f"{count_of(service.voting.n_votes, 'vote')} of people in {service.arena_folder}")
        print(command("agreement", service.arena_folder))


def _serve_labels(labeling: Labeling, folder: Path, host: str, port: int) -> None:
    try:
        from surrogate_arena.voting.label_app import LabelService
        from surrogate_arena.voting.server import Server
    except ImportError as error:
        raise MissingDependencyError("vote", "starlette", "serve") from error

    server = Server(LabelService(labeling).app(), host, port)
    print(f"Label: {server.voting_link}")
    print("Stop with Ctrl+C", flush=True)
    server.run()
    print(command("metaeval", "memerag", folder, "--statistics"))


def _service(folder: Path, named_arena: Path | None) -> Service:
    from arena.data.folder import VOTES_FILE, read_arena
    from surrogate.board.board import Board
    from surrogate_arena.voting.app import Service
    from surrogate_arena.voting.served_board import ServedBoard
    from surrogate_arena.voting.voting import Voting

    board = Board.load(folder)
    arena_folder = named_arena
    voting = None
    why_not = ""
    try:
        arena_folder = named_arena or board.arena_folder()
        if board.summary.settings.criterion is None:
            check_target(arena_folder / VOTES_FILE, is_folder=False)
            voting = Voting(read_arena(arena_folder), arena_folder)
        else:
            why_not = "the board is by a criterion, and people judge answers as a whole"
    except ArenaError as error:
        # Without its arena a board can be looked at, unless the user wants that arena.
        if named_arena is not None:
            raise
        why_not = str(error)
    if arena_folder is not None:
        arena_folder = arena_folder.resolve()
    return Service(ServedBoard(folder, named_arena), folder, arena_folder, voting, why_not)
