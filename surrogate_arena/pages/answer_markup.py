"""Answers as a chat shows them: Markdown as HTML, in which whatever else is HTML stays text."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import MutableMapping, Sequence
    from typing import Any

    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererProtocol
    from markdown_it.token import Token
    from markdown_it.utils import OptionsDict


def markup(text: str) -> str:
    """Return an answer's Markdown as HTML that is safe in a page.

    HTML in the answer is escaped, images are not loaded, and links lead to web pages alone.
    """
    html: str = _markdown().render(text)
    return html


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "breaks": True})
    parser.enable(["table", "strikethrough"]).disable("image")
    parser.add_render_rule("link_open", _link_elsewhere)
    return parser


def _link_elsewhere(
    self: RendererProtocol,
    tokens: Sequence[Token],
    index: int,
    options: OptionsDict,
    _env: MutableMapping[str, Any],
) -> str:
    """Open a link beside the page, which learns nothing of it."""
    tokens[index].attrSet("target", "_blank")
    tokens[index].attrSet("rel", "noopener noreferrer")
    return str(self.renderToken(tokens, index, options, {}))  # type: ignore[attr-defined]
