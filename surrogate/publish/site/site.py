"""A board as a site: its templates filled, its folder replaced whole."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.data.errors import UsageError
from arena.data.files import replaced_folder
from arena.data.version import __version__
from surrogate.board.board import Board
from surrogate.publish import formats, palette
from surrogate.publish.formats import slugs
from surrogate.publish.site.judge_page import judge_page, judged_sentence
from surrogate.publish.site.method_page import method_page, skipped_in_all
from surrogate.publish.site.overview import heatmap, overview
from surrogate.publish.site.system_page import SystemPages

MARKER = "site.json"
"""Tells a site of ours from other folders, and lists its files."""

_GENERATOR = "surrogate-arena report"


def check_replaceable(out: Path) -> None:
    """Check that nothing but a site of ours would be lost.

    Raises:
        UsageError: If something else would be.
    """
    if not out.exists():
        return
    if not out.is_dir():
        raise UsageError(f"{out} is a file; name a folder to write the site to")
    present = _files(out)
    if not any(out.iterdir()):
        return
    known = _listed(out)
    if known is None:
        raise UsageError(f"{out} is not empty and holds no site; name a folder of its own")
    foreign = sorted(present - known - {MARKER})
    if foreign:
        named = ", ".join(foreign[:3]) + (" …" if len(foreign) > 3 else "")
        raise UsageError(
            f"{out} holds files that are not of the site: {named}; move them elsewhere, "
            "for the site is replaced whole"
        )


def _files(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_symlink() or not path.is_dir()
    }


def _listed(folder: Path) -> set[str] | None:
    """Return the files that a site lists; None for a folder that is no site."""
    try:
        content = json.loads((folder / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(content, Mapping) or content.get("generator") != _GENERATOR:
        return None
    files = content.get("files")
    return {str(name) for name in files} if isinstance(files, list) else None


def _write_marker(folder: Path) -> None:
    content = {
        "generator": _GENERATOR,
        "version": __version__,
        "files": sorted(_files(folder)),
    }
    text = json.dumps(content, indent=1) + "\n"
    (folder / MARKER).write_text(text, encoding="utf-8")


if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

FILTERS: Mapping[str, Callable[..., Any]] = {
    "count_of": formats.count_of,
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
            policy=content_policy(theme_script, script),
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


INDEX = "index.html"


def write_site(board: Board, out: Path | str) -> Path:
    """Write a board as HTML pages that need neither a server nor the network.

    The same board gives the same bytes.

    Args:
        board: The board.
        out: Folder to write to, created if absent; a site that is there is replaced whole, and
            stays as it was if anything fails.

    Returns:
        The path of ``index.html``.

    Raises:
        UsageError: If ``out`` holds anything but a site.
    """
    out = Path(out)
    check_replaceable(out)
    summary = board.summary
    pages = Pages(summary.arena, summary.judge, summary.fingerprint, __version__)
    with replaced_folder(out) as folder:
        _write_pages(board, pages, folder)
        _write_marker(folder)
    return out / INDEX


def _write_pages(board: Board, pages: Pages, folder: Path) -> None:
    names = slugs(board.systems)
    judged = judged_sentence(board)
    method = method_page(board)
    filled = {
        "index": pages.fill(
            "index",
            view=overview(board, names),
            slugs=names,
            judged=judged,
            macro=board.summary.macro,
            rated_by=board.summary.rated_by,
            is_first=board.summary.is_first,
            notes=sum(map(len, method.notes.values())),
        ),
        "heatmap": pages.fill("heatmap", view=heatmap(board), slugs=names),
        "judge": pages.fill("judge", view=judge_page(board), is_first=board.summary.is_first),
        "method": pages.fill(
            "method",
            view=method,
            judged=judged,
            skipped=skipped_in_all(method),
            made_by=board.summary.settings.ratings,
        ),
    }
    for name, text in filled.items():
        _write(folder / f"{name}.html", text)
    (folder / "systems").mkdir()
    systems = SystemPages(board)
    for system in board.systems:
        text = pages.fill(
            *("system", "../"),
            view=systems.page(system),
            slugs=names,
            rated_by=board.summary.rated_by,
            scale=board.summary.scale,
        )
        _write(folder / "systems" / f"{names[system]}.html", text)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
