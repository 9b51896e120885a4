"""What pages say of a board, told from the words of their templates."""

from contextlib import contextmanager

import pytest
from jinja2 import pass_environment
from jinja2.compiler import CodeGenerator
from lxml import html
from markupsafe import Markup

from arena.data import __version__
from arena.data.languages import language_name
from arena.data.wording import Remark, short_digest
from surrogate.board.remarks import in_its_language
from surrogate_arena.pages import pages

START, END = "\ue000", "\ue001"
"""Around each value that a template fills in."""
DATA = (
    *("script", "style", "noscript", "td", "th", "blockquote", "pre", "code", "article"),
    *("option", "nav", "h1/bdi", "h3[@lang]", "button", "ol[@class='best']", "div[@class='plot']"),
    "details[contains(@class, 'passages')]",
)
"""Parts of a page that hold cells, answers, questions, code and names, but no sentence."""


class TemplateText(str):
    """A text that a template holds, such as a heading over which it loops."""


class TextTellingCodeGenerator(CodeGenerator):
    """Tells texts of templates from values that are equal to them."""

    def visit_Const(self, node, frame):  # noqa: N802 - a hook of jinja2
        if isinstance(node.value, str) and not isinstance(node.value, Markup):
            self.write(f"environment.template_text({node.value!r})")
        else:
            super().visit_Const(node, frame)


@pass_environment
def marked(_environment, value):
    return value if isinstance(value, Markup | TemplateText) else f"{START}{value}{END}"


@contextmanager
def filled_in_values():
    """Mark all that templates fill in and do not hold themselves."""
    environment = pages._environment()
    environment.cache.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(environment, "bytecode_cache", None)
        patch.setattr(environment, "finalize", marked)
        patch.setattr(environment, "template_text", TemplateText, raising=False)
        patch.setattr(environment, "code_generator_class", TextTellingCodeGenerator)
        yield environment
    environment.cache.clear()


def sentences_of(records):
    """All sentences of records, each also with its language."""
    texts = set()
    for row in records:
        names = tuple(row["systems"])
        remark = Remark(row["name"], "info", row["sentence"], row["subject"], systems=names)
        texts |= {remark.sentence, in_its_language(remark)}
    return texts


def without(text, sentences):
    """Return what is left of a text without sentences."""
    left = " ".join(text.split())
    for sentence in sorted(sentences, key=len, reverse=True):
        left = left.replace(" ".join(sentence.split()), "")
    return left.strip(" ,.")


def names_on(board):
    """Names that pages show outside sentences: of the board and its parts."""
    summary = board.summary
    words = summary.words
    names = {words.scale, words.wins, words.meaning}
    names |= {summary.arena, summary.part, summary.parts, __version__}
    names.add(short_digest(summary.signature))
    names |= {summary.part.capitalize(), summary.parts.capitalize()}
    return names | {*board.languages, *map(language_name, board.languages)}


def unrecorded(page, sentences, names):
    """Return what a page fills in besides sentences and names."""
    tree = html.fromstring(page)
    for part in DATA:
        for element in tree.xpath(f"//body//{part}"):
            element.drop_tree()
    text = tree.xpath("//body")[0].text_content().replace(END + START, "")
    assert START in text
    found = []
    for part in text.split(START)[1:]:
        value = part.partition(END)[0]
        if without(value, {*sentences, *names}):
            found.append(value)
    return found


SHOWN = """leaving => [...document.querySelectorAll("body *")]
  .filter((part) => !part.closest(leaving) && part.checkVisibility())
  .flatMap((part) => [...part.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE))
  .map((node) => node.data.trim()).filter((text) => /[\\p{L}\\p{N}]/u.test(text))"""


def shown_texts(page, leaving_out):
    """Return the pieces of text that a browser shows, without those in parts of a page."""
    texts = page.evaluate(SHOWN, f"script, style, {leaving_out}")
    return {text.strip(" .,") for text in texts}


BLIND = ".text, ol, kbd"
"""Parts of a page to vote on that hold questions, answers, passages and keys."""


def without_figures(words):
    """Return the words of a page to vote on that are the same on all of them."""
    return {text.strip(" .,") for text in words.values() if "{}" not in text}
