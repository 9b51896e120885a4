"""An answer as a reader sees it, made once for everybody.

Judges, people, checks and features get the ``visible`` text. Surrogate, copies and features of
wording read what a page shows of it (``as_read``).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import regex

from arena.text.thoughts import without_thoughts

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# Joiners shape words of Persian and Indic scripts; variation selectors choose a glyph.
_INVISIBLE = regex.compile(
    r"[\p{Default_Ignorable_Code_Point}--[\u200c\u200d\ufe00-\ufe0f]]", regex.VERSION1
)
_HTML = re.compile(r"<!--.*?(?:-->|\Z)|<[^<>]*>", re.DOTALL)
_MARKED_BLOCKS = {"heading_open", "list_item_open", "blockquote_open"}
_MARKED_SPANS = {"strong_open", "strong_close", "em_open", "em_close"}
_NOTHING = regex.compile(r"[\s\p{C}]*+(?:([\p{P}^`|~+=<>])(?:\1|[\s\p{C}])*+)?", regex.VERSION1)
_ADDRESS = re.compile(r"http(?<=\bhttp)s?://[!-~]+")


@lru_cache(maxsize=4096)  # an answer is in many pairs
def visible(output: str) -> str:
    """Return the visible output: no thoughts, no invisible characters."""
    return without_thoughts(output if output.isascii() else _INVISIBLE.sub("", output))


def as_read(output: str) -> str:
    """Return what a page shows of a system's output."""
    return rendered(visible(output))


@lru_cache(maxsize=2**14)
def rendered(text: str) -> str:
    """Return what a page shows of Markdown, with its marks.

    Link addresses, comments, tags and pictures go; without the marks a surrogate often predicts
    worse.
    """
    # Without an address or a definition no bracket is a link: citations are read sooner.
    may_link = "](" in text or "]:" in text
    return _ADDRESS.sub(" ", "".join(_texts(_markdown(may_link).parse(text)))).strip()


def shows_nothing(text: str) -> bool:
    """Return whether a page shows nothing of a text, or one mark again and again."""
    # Nearly all texts begin with a word, and need not be rendered.
    if text.lstrip()[:1].isalnum():
        return False
    return _NOTHING.fullmatch(rendered(text)) is not None


@cache
def _markdown(may_link: bool) -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    # Text is read up to a mark, which may not be within a word if it is an underscore.
    marks = r"\n&*<\\`"
    if may_link:
        marks += r"!\[\]"
    else:
        parser.disable(["link", "image"])
    parser.inline.terminator_re = re.compile(rf"[{marks}]|_(?!(?<=[^\W_]_)[^\W_])")
    return parser


def _texts(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type == "inline":
            yield from _texts(token.children or [])
            yield "\n"
        elif token.type == "html_block":
            yield html.unescape(_HTML.sub(" ", token.content))
        elif token.type in ("softbreak", "hardbreak"):
            yield "\n"
        elif token.tag == "code" and token.block:
            yield f"{token.markup}\n{token.content}{token.markup}\n"
        elif token.type == "text":
            yield token.content
        elif token.type == "code_inline":
            yield f"{token.markup}{token.content}{token.markup}"
        elif token.type in _MARKED_BLOCKS:
            yield f"{token.info}{token.markup} "
        elif token.type in _MARKED_SPANS:
            yield token.markup
