"""The pages of a board in memory, made again when the board is built again."""

from __future__ import annotations

import tempfile
from pathlib import Path
from threading import Lock

from arena.data.errors import ArenaError
from arena.data.judges import is_person
from arena.data.wording import Remark, count_of
from features.measures.choosing import chosen_features
from surrogate.board.board import Board
from surrogate.board.settings import BoardSettings, ResolvedSettings
from surrogate.board.summary import BoardSummary
from surrogate.board.tables import MANIFEST_FILE
from surrogate_arena.pages.site import write_site

Stamp = tuple[int, int]


class ServedBoard:
    """Pages of a board, as files of a site."""

    def __init__(self, folder: Path, arena: Path | None) -> None:
        self._folder = folder
        self._arena = arena
        self._lock = Lock()
        self._stamp = self._read_stamp()
        self._summary, self._pages = self._make()

    def page(self, place: str) -> str | None:
        """Return the page at a path of the site."""
        self._refresh()
        return self._pages.get(place)

    @property
    def summary(self) -> BoardSummary:
        """The summary of the board as it is now."""
        self._refresh()
        return self._summary

    def _refresh(self) -> None:
        with self._lock:
            try:
                stamp = self._read_stamp()
                if stamp != self._stamp:
                    self._summary, self._pages = self._make()
                    self._stamp = stamp
            except (ArenaError, OSError):
                return  # it is being written: the pages of the former one stay until it is whole

    def _read_stamp(self) -> Stamp:
        status = (self._folder / MANIFEST_FILE).stat()
        return status.st_mtime_ns, status.st_ino

    def _make(self) -> tuple[BoardSummary, dict[str, str]]:
        board = Board.load(self._folder)
        with tempfile.TemporaryDirectory() as temporary:
            site = Path(temporary) / "site"
            write_site(board, site, self._arena, is_served=True)
            pages = {
                path.relative_to(site).as_posix(): path.read_text(encoding="utf-8")
                for path in site.rglob("*.html")
            }
        return board.summary, pages


def has_settings(settings: ResolvedSettings) -> bool:
    """Return whether a board has other settings than the default ones."""
    default_features = {str(feature) for feature in chosen_features("default")}
    if not set(settings.features) <= default_features:
        return True
    # The seed draws who is held out, if anybody is.
    depend_on_arena = {"judge", "features", "holdout"}
    default = BoardSettings().model_dump(exclude=depend_on_arena)
    return settings.model_dump(include=set(default)) != {**default, "ratings": settings.ratings}


def news_of_votes(summary: BoardSummary, n_votes: int) -> list[Remark]:
    """Say how many of people's votes a board does not count, and how it is built again."""
    n_counted = 0
    if is_person(summary.judge):
        for language in summary.languages.values():
            n_counted += language.judgments + language.dropped_ties
    n_new = n_votes - n_counted
    if n_new <= 0:
        return []
    text = f"{count_of(n_new, 'new vote')}: run board again."
    remarks = [Remark("new votes", "info", text, statistic=n_new)]
    if has_settings(summary.settings):
        text = "This board has settings of its own: the page Method has them (leave out the judge)."
        remarks.append(Remark("settings", "info", text))
    return remarks
