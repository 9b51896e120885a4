"""Filling the pages' templates: everything from data is escaped, every page is whole in itself."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from surrogate import palette
from surrogate.report import formats, languages

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

FILTERS: Mapping[str, Callable[..., Any]] = {
    "count_of": formats.count_of,
    "decimal": formats.decimal,
    "direction": languages.direction,
    "finite": formats.finite,
    "interval": formats.interval,
    "language_name": languages.language_name,
    "language_tag": languages.language_tag,
    "percent": formats.percent,
    "rank_range": formats.rank_range,
    "significant": formats.significant,
    "whole": formats.whole,
}
SPLIT_NAMES = {"train": "trained on", "holdout": "held out", "unjudged": "not judged"}

_UNSTORABLE = re.compile("[\ud800-\udfff\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True)
class SiteFrame:
    """What all pages of a site share.

    Attributes:
        arena: Name of the arena.
        judge: Name of the judge.
        fingerprint: Digest of the arena's questions.
        version: Version of surrogate-arena.
        style: Style sheet.
        theme_script: Script that runs before anything is drawn.
        script: Script of the page.
        policy: Content security policy: these two scripts run, and nothing is loaded.
    """

    arena: str
    judge: str
    fingerprint: str
    version: str
    style: Markup
    theme_script: Markup
    script: Markup
    policy: str


class Pages:
    """The templates, ready to be filled."""

    def __init__(self, arena: str, judge: str, fingerprint: str, version: str) -> None:
        """Load the templates."""
        from markupsafe import Markup

        self._environment = _environment()
        style = self._environment.get_template("style.css.jinja").render(p=palette)
        theme_script, script = _script("theme.js"), _script("site.js")
        self._frame = SiteFrame(
            arena=arena,
            judge=judge,
            fingerprint=fingerprint,
            version=version,
            style=Markup(style),  # noqa: S704 - from the package
            theme_script=Markup(theme_script),  # noqa: S704 - from the package
            script=Markup(script),  # noqa: S704 - from the package
            policy=_policy(theme_script, script),
        )

    def fill(self, page: str, root: str = "", **values: object) -> str:
        """Fill a template.

        Args:
            page: Name of the page, such as ``index``.
            root: Way from the page to the site's folder, such as ``../``.
            values: What the template shows.
        """
        template = self._environment.get_template(f"{page}.html.jinja")
        filled = template.render(site=self._frame, page=page, root=root, **values)
        return _UNSTORABLE.sub("�", filled)


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("surrogate.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(FILTERS)
    environment.filters["split_name"] = lambda split: SPLIT_NAMES.get(split, split)
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    return environment


def _script(name: str) -> str:
    return files("surrogate.report").joinpath("templates", name).read_text(encoding="utf-8")


def _policy(*scripts: str) -> str:
    allowed = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
