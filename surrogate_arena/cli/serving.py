"""Servers: ``view`` of a board and its voting page, ``mcp`` of commands for assistants."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from arena.data.errors import ArenaError, MissingDependencyError
from arena.data.wording import count_of
from surrogate_arena.cli import options as opt
from surrogate_arena.cli.options import FOLDER, check_target
from surrogate_arena.cli.printing import command

if TYPE_CHECKING:
    from surrogate_arena.voting.app import Service

PORT = 8765


def view(
    board: Annotated[Path, Argument(help="Board folder.", **FOLDER)],
    host: Annotated[
        str,
        Option(
            help="Name or address to serve at. Other machines reach it unless it is 127.0.0.1, "
            "and then need a link with a token."
        ),
    ] = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535, help="Port; 0 for any free one.")] = PORT,
    arena: opt.MovedArena = None,
) -> None:
    """Serve a board with its pages, and a page on which several people vote at the same time.

    Votes are blind, and are written to the arena as they are cast. Anyone who comes back under the
    same name continues. Nothing is lost if the server is killed.
    """
    try:
        from surrogate_arena.voting.server import Server
    except ImportError as error:
        raise MissingDependencyError("view", "starlette", "serve") from error

    service = _service(board, arena)
    server = Server(service, host, port)
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


def _service(folder: Path, named_arena: Path | None) -> Service:
    """Read a board and its arena, and find out whether people can vote."""
    from arena.data.folder import read_arena
    from arena.data.votes import VOTES_FILE
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


def mcp() -> None:
    """Serve check, board, rank, gate and advise as tools over stdio (MCP).

    Tools read and write below the working directory alone, and ask no LLM.
    """
    try:
        from surrogate_arena.mcp.tools import tool_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        raise MissingDependencyError("the MCP server", "mcp", "mcp") from error
    tool_server(Path.cwd()).run("stdio")
