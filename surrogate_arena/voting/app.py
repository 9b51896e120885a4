"""The application: pages of a board, news of votes, and voting."""

from __future__ import annotations

import asyncio
import shlex
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from arena.data.errors import ArenaError
from arena.judging.ballots import Digest, Name, NamedVote
from surrogate_arena.pages.pages import blind_pair, voting_page
from surrogate_arena.pages.site import INDEX
from surrogate_arena.voting.served_board import ServedBoard, news_of_votes
from surrogate_arena.voting.voting import OVERLAP, Voting

Body = TypeVar("Body", bound=BaseModel)


class Wish(BaseModel):
    """A person's wish for a pair to judge."""

    model_config = ConfigDict(strict=True, extra="forbid")

    voter: Name
    languages: list[str] = Field(default=[], max_length=200)
    skipped: Digest | None = None


def application(*routes: Route) -> Starlette:
    """Return an application that answers errors as JSON."""
    return Starlette(
        routes=routes,
        exception_handlers={
            HTTPException: error_reply,
            ArenaError: arena_error_reply,
            OSError: disk_error_reply,
        },
    )


@dataclass(frozen=True)
class Service:
    """What the server answers from; ``why_not`` says why nobody can vote."""

    board: ServedBoard
    board_folder: Path
    arena_folder: Path | None
    voting: Voting | None
    why_not: str = ""

    def app(self) -> Starlette:
        """Return the application."""
        return application(
            Route("/news", self.news, methods=["GET"]),
            Route("/vote.html", self.voting_page, methods=["GET"]),
            Route("/pair", self.pair, methods=["POST"]),
            Route("/vote", self.vote, methods=["POST"]),
            Route("/", self.first_page, methods=["GET"]),
            Route("/{place:path}", self.page, methods=["GET"]),
        )

    async def first_page(self, _request: Request) -> Response:
        """Lead to the board."""
        return RedirectResponse(f"/{INDEX}", 303)

    async def page(self, request: Request) -> Response:
        """Return a page of the board."""
        text = await run_in_threadpool(self.board.page, request.path_params["place"])
        if text is None:
            raise HTTPException(404, "There is no such page.")
        return HTMLResponse(text)

    async def news(self, _request: Request) -> Response:
        """Return what is new of votes, and the command that counts them."""
        summary = await run_in_threadpool(lambda: self.board.summary)
        remarks = [] if self.voting is None else news_of_votes(summary, self.voting.n_votes)
        words = ["surrogate-arena", "board", str(self.arena_folder)]
        words += ["--out", str(self.board_folder)]
        return JSONResponse({"remarks": list(map(asdict, remarks)), "command": shlex.join(words)})

    async def voting_page(self, _request: Request) -> Response:
        """Return the page to vote on."""
        voting = self._voting()
        arena = self.board.summary.arena
        return HTMLResponse(voting_page(arena, voting.languages, OVERLAP))

    async def pair(self, request: Request) -> Response:
        """Return the next pair for a person."""
        voting = self._voting()
        wish = await read_body(request, Wish)
        languages = wish.languages or voting.languages
        pair = await run_in_threadpool(voting.next_pair, wish.voter, languages, wish.skipped)
        shown = None if pair is None else blind_pair(pair)
        return JSONResponse({"pair": shown, "judged": voting.n_judged(wish.voter)})

    async def vote(self, request: Request) -> Response:
        """Write a vote; the reply comes when it is on the disk."""
        voting = self._voting()
        vote = await read_body(request, NamedVote)
        await run_in_threadpool(voting.cast, vote)
        return JSONResponse({"judged": voting.n_judged(vote.voter)})

    def _voting(self) -> Voting:
        if self.voting is None:
            raise HTTPException(404, f"Nobody can vote here: {self.why_not}.")
        return self.voting


async def read_body(request: Request, model: type[Body]) -> Body:
    """Read the JSON of a request."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "Send JSON.")
    content = b""
    try:
        # Nobody may hold a connection by a body that never ends.
        async with asyncio.timeout(10):
            async for chunk in request.stream():
                content += chunk
                if len(content) > 4096:
                    raise HTTPException(413, "The request is too long.")
    except TimeoutError:
        raise HTTPException(408, "The request took too long.") from None
    try:
        return model.model_validate_json(content)
    except ValidationError as error:
        fault = error.errors()[0]
        field = ".".join(map(str, fault["loc"])) or "request"
        raise HTTPException(422, f"{field}: {fault['msg']}") from None


async def error_reply(_request: Request, error: Exception) -> Response:
    """Return an error of a request as JSON."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = error.detail if isinstance(error, HTTPException) else "The server failed."
    return JSONResponse({"error": detail}, status)


async def arena_error_reply(_request: Request, error: Exception) -> Response:
    """Return an error of the arena as JSON."""
    return JSONResponse({"error": str(error)}, 409)


async def disk_error_reply(_request: Request, error: Exception) -> Response:
    """Say that a vote could not be written."""
    reason = getattr(error, "strerror", None) or "the disk failed"
    return JSONResponse({"error": f"Nothing was saved: {reason}."}, 507)
