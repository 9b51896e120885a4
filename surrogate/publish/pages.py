"""Templates of pages, filled: what all pages of a site share, and a ballot as a page alone."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from arena.data import __version__
from arena.data.wording import count_of
from arena.judging.ballots import FORMAT, LONGEST_NAME, Ballot
from surrogate.publish import formats

if TYPE_CHECKING:
    from jinja2 import Environment

FILTERS = (
    "decimal",
    "direction",
    "finite",
    "interval",
    "language_name",
    "language_tag",
    "percent",
    "rank_range",
    "sentence",
    "significant",
    "site_name",
    "whole",
)
THEME = "theme.js"
UNSTORABLE = re.compile("[\ud800-\udfff\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def filled(page: str, scripts: tuple[str, ...], **values: object) -> str:
    """Fill the template of a page; the same values give the same text.

    Texts of others are escaped by the template; a content security policy lets nothing but the
    page's own scripts run, and loads nothing.
    """
    from markupsafe import Markup

    environment = _environment()
    theme = _text(THEME)
    script = "".join(map(_text, scripts))
    # Only scripts with these digests run, so that a text that slips through escaping does nothing.
    digests = [hashlib.sha256(text.encode()).digest() for text in (theme, script)]
    allowed = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    text = environment.get_template(f"{page}.html.jinja").render(
        page=page,
        version=__version__,
        policy=f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'",
        style=Markup(_style()),  # noqa: S704 - from the package
        theme_script=Markup(theme),  # noqa: S704 - from the package
        script=Markup(script),  # noqa: S704 - from the package
        **values,
    )
    return UNSTORABLE.sub("\ufffd", text)


def ballot_page(ballot: Ballot) -> str:
    """Write a ballot as one page that needs neither a server nor the network.

    The same ballot gives the same bytes. Other people's texts are embedded as data and shown as
    text.
    """
    pairs: list[dict[str, Any]] = []
    for pair in ballot.pairs:
        comparison = pair.comparison
        language = comparison.key[0]
        passages = [
            {
                "id": passage.passage_id,
                "title": passage.title or "",
                "text": passage.text,
                "given_to": passage.given_to,
            }
            for passage in comparison.passages
        ]
        pairs.append(
            {
                "id": pair.id,
                "language": formats.language_tag(language),
                "direction": formats.direction(language),
                "question": comparison.question,
                "turns": [asdict(turn) for turn in comparison.history],
                "passages": passages,
                "a": comparison.answer_a,
                "b": comparison.answer_b,
            }
        )
    data = {"format": FORMAT, "ballot": ballot.id, "arena": ballot.arena, "pairs": pairs}
    values = {"arena": ballot.arena, "longest_name": LONGEST_NAME, "data": data}
    return filled("vote", ("vote.js",), **values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("surrogate.publish"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = {name: getattr(formats, name) for name in FILTERS}
    environment.filters.update(filters, count_of=count_of)
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    return environment


@cache
def _style() -> str:
    return _environment().get_template("style.css.jinja").render(p=formats)


@cache
def _text(name: str) -> str:
    return files("surrogate.publish").joinpath("templates", name).read_text(encoding="utf-8")
