"""Changes of boards as an Atom feed (RFC 4287)."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urljoin

from surrogate_arena.pages.pages import filled_template

FEED = "feed.xml"


class FeedEntry(NamedTuple):
    """A change of a board.

    Attributes:
        key: What tells it from all other entries of the feed, always the same.
        time: When it was made, in UTC.
        number: Its place among the changes of the board on that day, from 1.
        page: Page that shows it, relative to the feed.
    """

    board: str
    key: str
    date: datetime.date
    page: str
    lead: str
    points: tuple[str, ...] = ()
    number: int = 1
    time: datetime.time = datetime.time()


def atom_feed(
    entries: Sequence[FeedEntry], *, title: str, address: str = "", rights: str = ""
) -> str:
    """Write changes as a feed, the latest first; the same ones give the same text.

    Without the address where pages are served, links are relative to the feed.
    """
    if address and not address.endswith("/"):
        address += "/"
    ordered = sorted(entries, key=lambda entry: (entry.date, entry.number, entry.key))
    oldest = ordered[0]
    feed_id = uuid.uuid5(uuid.NAMESPACE_URL, address or f"{oldest.date} {oldest.key}")
    latest = ordered[::-1][:50]  # a reader keeps the older ones
    return filled_template(
        "feed.xml",
        title=title,
        rights=rights,
        id=feed_id.urn,
        updated=_moment(latest[0]),
        feed=address and urljoin(address, FEED),
        page=urljoin(address, "index.html"),
        entries=[
            {
                "title": f"{entry.board}: {entry.lead}",
                "id": uuid.uuid5(feed_id, entry.key).urn,
                "updated": _moment(entry),
                "page": urljoin(address, entry.page),
                "lead": entry.lead,
                "points": entry.points,
            }
            for entry in latest
        ],
    )


def _moment(entry: FeedEntry) -> str:
    return f"{entry.date.isoformat()}T{entry.time.isoformat()}Z"
