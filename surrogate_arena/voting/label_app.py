"""The application on which people label sentences: at the addresses of the page to vote on."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from surrogate_arena.pages.pages import blind_sentence, labeling_page
from surrogate_arena.voting.app import Wish, application, read_body
from surrogate_arena.voting.labeling import Labeling, NamedLabel


@dataclass(frozen=True)
class LabelService:
    """What the server answers from."""

    labeling: Labeling

    def app(self) -> Starlette:
        """Return the application."""
        return application(
            Route("/vote.html", self.page, methods=["GET"]),
            Route("/pair", self.sentence, methods=["POST"]),
            Route("/vote", self.label, methods=["POST"]),
            Route("/", self.first_page, methods=["GET"]),
        )

    async def first_page(self, _request: Request) -> Response:
        """Lead to the page to label on."""
        return RedirectResponse("/vote.html", 303)

    async def page(self, _request: Request) -> Response:
        """Return the page to label on."""
        labeling = self.labeling
        labels = labeling.label_set
        return HTMLResponse(
            labeling_page(labeling.name, labeling.languages, labels.question, labels.labels)
        )

    async def sentence(self, request: Request) -> Response:
        """Return the next sentence for a person."""
        labeling = self.labeling
        wish = await read_body(request, Wish)
        languages = wish.languages or labeling.languages
        sentence = await run_in_threadpool(
            labeling.next_sentence, wish.voter, languages, wish.skipped
        )
        shown = None
        if sentence is not None:
            answer = sentence.answer
            shown = blind_sentence(
                language=answer.language,
                question=answer.question,
                turns=answer.turns,
                passages=answer.passages,
                sentences=answer.sentences,
                marked=sentence.number,
            )
            shown["id"] = sentence.id
        return JSONResponse({"pair": shown, "judged": labeling.n_labeled(wish.voter)})

    async def label(self, request: Request) -> Response:
        """Write a label; the reply comes when it is on the disk."""
        label = await read_body(request, NamedLabel)
        await run_in_threadpool(self.labeling.label, label)
        return JSONResponse({"judged": self.labeling.n_labeled(label.voter)})
