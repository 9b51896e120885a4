"""A board as a site: its pages written, its folder replaced whole."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from arena.data import __version__
from arena.data.arena import Arena
from arena.data.errors import ArenaError, MissingDependencyError, UsageError
from arena.data.files import replaced_folder
from arena.data.folder import open_arena
from surrogate.board.board import Board
from surrogate.board.summarize import fingerprint
from surrogate.publish.figures.figure import svg_text
from surrogate.publish.figures.studies import (
    read_replication,
    replication_curves,
    replication_part,
)
from surrogate.publish.formats import language_name, slugs
from surrogate.publish.site.judge_page import judge_page, judged_sentence
from surrogate.publish.site.method_page import method_page, skipped_in_all
from surrogate.publish.site.overview import heatmap, overview
from surrogate.publish.site.pages import Pages
from surrogate.publish.site.pair_page import PairPages
from surrogate.publish.site.side_by_side import MOST_QUESTIONS, Texts
from surrogate.publish.site.system_page import SystemPages

REPLICATION_FILE = "replication.json"
"""Of a board folder: the study that the learning curve is drawn from, if somebody put it there."""
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


INDEX = "index.html"


def write_site(
    board: Board,
    out: Path | str,
    arena: Arena | Path | str | None = None,
    *,
    questions: int = MOST_QUESTIONS,
    replication: Path | str | None = None,
) -> Path:
    """Write a board as HTML pages that need neither a server nor the network.

    The same board and arena give the same bytes.

    Args:
        board: The board.
        out: Folder to write to, created if absent; a site that is there is replaced whole, and
            stays as it was if anything fails.
        arena: The arena the board was built from, or its folder, for results by question and
            answers side by side; by default it is read from where it was. Pages say so where it
            is not there any more, or where it has lost the verdicts of the board's judge.
        questions: Questions of a language whose answers are shown, while a page has room for them
            (``side_by_side.LONGEST_PAGE``); 0 for none.
        replication: File that ``surrogate-arena validate --protocol replication --json`` printed,
            drawn as learning curve; by default ``replication.json`` of the board's folder, if it
            is there.

    Returns:
        The path of ``index.html``.

    Raises:
        UsageError: If ``out`` holds anything but a site, the arena is not the board's, or a number
            is negative.
        DataError: If a file is damaged.
    """
    out = Path(out)
    check_replaceable(out)
    if questions < 0:
        raise UsageError(f"`questions` is {questions}; use 0 or more")
    curve = _learning_curve(board, replication)
    texts = _texts(board, arena, questions)
    with replaced_folder(out) as folder:
        _write_pages(board, texts, curve, folder)
        _write_marker(folder)
    return out / INDEX


def _learning_curve(board: Board, replication: Path | str | None) -> dict[str, Any] | None:
    """Return a study of replication as rows, and as a picture where matplotlib is installed."""
    if replication is None and board.folder is not None:
        found = board.folder / REPLICATION_FILE
        replication = found if found.is_file() else None
    if replication is None:
        return None
    table, signature = read_replication(replication)
    rows, part = replication_part(table)
    if rows.empty:
        return None
    try:
        svg = svg_text(replication_curves(table, signature, board.summary.arena))
        picture = base64.b64encode(svg.encode()).decode()
    except MissingDependencyError:
        picture = ""
    return {"part": language_name(part), "rows": rows.to_dict("records"), "picture": picture}


def _texts(board: Board, given: Arena | Path | str | None, questions: int) -> Texts | str:
    """Return the arena's texts and verdicts, or why they are not at hand."""
    try:
        arena = open_arena(board.arena_folder() if given is None else given)
        if fingerprint(arena) != board.summary.fingerprint:
            raise UsageError(
                f"arena {arena.info.name!r} has other questions, passages or reference answers "
                "than the one the board was built from; build the board again"
            )
    except ArenaError as error:
        if given is not None:
            raise
        return f"The answers are not here: {error}"
    judged, unjudged = replace(arena, judgments=arena.judgments.iloc[:0]), ""
    if not board.summary.is_first:
        try:
            judged = arena.judged_by(board.summary.judge)
        except UsageError as error:
            unjudged = f"The verdicts are not here: {error}"
    return Texts(judged, board.summary.settings.seed, questions, unjudged)


def _write_pages(
    board: Board, texts: Texts | str, curve: Mapping[str, Any] | None, folder: Path
) -> None:
    names = slugs(board.systems)
    pages = Pages(board)
    judged = judged_sentence(board)
    method = method_page(board)
    summary = board.summary
    shared: dict[str, Any] = {"slugs": names, "rated_by": summary.rated_by}
    filled = {
        "index": pages.fill(
            "index",
            **shared,
            view=overview(board, names),
            judged=judged,
            macro=summary.macro,
            is_first=summary.is_first,
            notes=sum(map(len, method["notes"].values())),
        ),
        "heatmap": pages.fill("heatmap", view=heatmap(board), slugs=names),
        "judge": pages.fill(
            "judge", view=judge_page(board), is_first=summary.is_first, curve=curve
        ),
        "method": pages.fill(
            "method",
            view=method,
            judged=judged,
            skipped=skipped_in_all(method),
            made_by=summary.settings.ratings,
        ),
    }
    for name, text in filled.items():
        _write(folder / f"{name}.html", text)
    systems = SystemPages(board)
    (folder / "systems").mkdir()
    for system in board.systems:
        view = systems.page(system)
        text = pages.fill("system", "../", **shared, view=view, scale=summary.scale)
        _write(folder / "systems" / f"{names[system]}.html", text)
    pairs = PairPages(board, texts, names)
    (folder / "pairs").mkdir()
    for language, slug in pairs.slugs.items():
        text = pages.fill("pairs", "../", **shared, view=pairs.page(language))
        _write(folder / "pairs" / f"{slug}.html", text)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
