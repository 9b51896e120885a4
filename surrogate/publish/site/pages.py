"""The pages of a site: what they share, their scripts, and their templates filled."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from arena.data import __version__
from arena.data.wording import count_of
from surrogate.board.board import Board
from surrogate.board.summary import LOST, UNSEEN_BY_CHANCE
from surrogate.publish import formats, palette
from surrogate.publish.formats import language_name, slugs
from surrogate.publish.view import SPLIT_NAMES

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

FILTERS: Mapping[str, Callable[..., Any]] = {
    "count_of": count_of,
    "decimal": formats.decimal,
    "direction": formats.direction,
    "finite": formats.finite,
    "interval": formats.interval,
    "language_name": formats.language_name,
    "language_tag": formats.language_tag,
    "percent": formats.percent,
    "rank_range": formats.rank_range,
    "significant": formats.significant,
    "whole": formats.whole,
}
THEME, TABLES = "theme.js", "tables.js"
SCRIPTS = {"index": ("board.js",), "pairs": ("pairs.js",)}
"""Name of a page to the scripts it has beside those of all pages."""
FIRST_LANGUAGE = "en"
GRAVEST = (UNSEEN_BY_CHANCE, LOST)

_UNSTORABLE = re.compile("[\ud800-\udfff\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True)
class SiteFrame:
    """What all pages of a site share.

    Attributes:
        arena: Name of the arena.
        judge: Name of the judge.
        fingerprint: Digest of the arena's questions.
        version: Version of surrogate-arena.
        pairs: Slug of the language whose systems the pages' head shows head to head.
        is_first: Whether there is no verdict at all.
        warnings: What limits the board, as sentences.
        language_warnings: What limits it in some languages, likewise.
        style: Style sheet.
        theme_script: Script that runs before anything is drawn.
    """

    arena: str
    judge: str
    fingerprint: str
    version: str
    pairs: str
    is_first: bool
    warnings: tuple[str, ...]
    language_warnings: tuple[str, ...]
    style: Markup
    theme_script: Markup


def language_warnings(board: Board) -> tuple[str, ...]:
    """Return what limits a board in some languages, as sentences, gravest first.

    What it says of all languages together is not said again.
    """
    summary = board.summary
    overall = {item.sentence for item in summary.macro.conclusions}
    languages: dict[str, list[str]] = {}
    for code, found in summary.languages.items():
        for item in found.conclusions:
            if item.is_warning and item.sentence not in overall:
                languages.setdefault(item.sentence, []).append(language_name(code))
    order = {item.sentence: place for place, item in enumerate(GRAVEST)}
    return tuple(
        f"{', '.join(sorted(names))}: {said}"
        for said, names in sorted(
            languages.items(), key=lambda item: order.get(item[0], len(order))
        )
    )


class Pages:
    """The templates, ready to be filled."""

    def __init__(self, board: Board) -> None:
        """Load the templates, and prepare what all pages show."""
        from markupsafe import Markup

        self._environment = _environment()
        style = self._environment.get_template("style.css.jinja").render(p=palette)
        languages = slugs(board.languages)
        first = FIRST_LANGUAGE if FIRST_LANGUAGE in languages else min(languages)
        summary = board.summary
        self._frame = SiteFrame(
            arena=summary.arena,
            judge=summary.judge,
            fingerprint=summary.fingerprint,
            version=__version__,
            pairs=languages[first],
            is_first=summary.is_first,
            warnings=tuple(item.sentence for item in summary.macro.conclusions if item.is_warning),
            language_warnings=language_warnings(board),
            style=Markup(style),  # noqa: S704 - from the package
            theme_script=Markup(_script(THEME)),  # noqa: S704 - from the package
        )

    def fill(self, page: str, root: str = "", **values: object) -> str:
        """Fill a template.

        Args:
            page: Name of the page, such as ``index``.
            root: Way from the page to the site's folder, such as ``../``.
            values: What the template shows.
        """
        from markupsafe import Markup

        script = "".join(map(_script, (TABLES, *SCRIPTS.get(page, ()))))
        template = self._environment.get_template(f"{page}.html.jinja")
        filled = template.render(
            site=self._frame,
            page=page,
            root=root,
            script=Markup(script),  # noqa: S704 - from the package
            policy=content_policy(_script(THEME), script),
            **values,
        )
        return storable(filled)


def storable(text: str) -> str:
    """Replace what no file of HTML holds."""
    return _UNSTORABLE.sub("\ufffd", text)


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("surrogate.publish.site"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(FILTERS)
    environment.filters["split_name"] = lambda split: SPLIT_NAMES.get(split, split)
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    return environment


@cache
def _script(name: str) -> str:
    return files("surrogate.publish.site").joinpath("templates", name).read_text(encoding="utf-8")


def content_policy(*scripts: str) -> str:
    """Return a content security policy: these scripts run, and nothing is loaded."""
    allowed = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
