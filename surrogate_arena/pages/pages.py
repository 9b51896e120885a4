"""Templates of pages, filled."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import tomllib
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from arena.data import __version__
from arena.data.files import cache_folder
from arena.data.languages import language_name
from arena.data.wording import count_of, sentence
from arena.judging.answer_pairs import ShownPassage, ShownTurn
from arena.judging.ballots import FORMAT, LONGEST_NAME, Ballot, BallotPair
from surrogate_arena.cli import shown_numbers
from surrogate_arena.pages import formats
from surrogate_arena.pages.answer_markup import markup

if TYPE_CHECKING:
    from jinja2 import Environment

NUMBER_FILTERS = (
    "decimal",
    "group_of",
    "percent",
    "place",
    "rank_interval",
    "whole",
    "wins",
    "wins_interval",
)
FILTERS = ("direction", "interval", "language_tag", "significant", "site_name")
THEME = "theme.js"
UNSTORABLE = re.compile("[\ud800-\udfff\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
"""Characters that neither HTML nor XML can hold."""


def filled(
    page: str, scripts: tuple[str, ...], *, is_served: bool = False, **values: object
) -> str:
    """Fill the template of a page; the same values give the same text.

    Texts of others are escaped, and a content security policy lets nothing but the page's own
    scripts run.
    """
    from markupsafe import Markup

    theme = _text(THEME)
    script = "".join(map(_text, scripts))
    # Only scripts with these digests run, so that a text that slips through escaping does nothing.
    digests = [hashlib.sha256(text.encode()).digest() for text in (theme, script)]
    allowed = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    asked = "connect-src 'self'; " if is_served else ""
    return filled_template(
        f"{page}.html",
        page=page,
        is_served=is_served,
        policy=f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        f"{asked}img-src data:; base-uri 'none'; form-action 'none'",
        style=Markup(_style()),  # noqa: S704 - from the package
        theme_script=Markup(theme),  # noqa: S704 - from the package
        script=Markup(script),  # noqa: S704 - from the package
        **values,
    )


def filled_template(name: str, **values: object) -> str:
    """Fill a template, with every text of others escaped."""
    template = _environment().get_template(f"{name}.jinja")
    text = template.render(version=__version__, **values)
    return UNSTORABLE.sub("\ufffd", text)


def ballot_page(ballot: Ballot) -> str:
    """Write a ballot as one page that needs neither a server nor the network."""
    pairs = list(map(blind_pair, ballot.pairs))
    languages = {pair.comparison.key[0] for pair in ballot.pairs}
    data = {"format": FORMAT, "ballot": ballot.id, "arena": ballot.arena, "pairs": pairs}
    return _vote_page(("vote_pair.js", "vote.js"), ballot.arena, languages, data)


def voting_page(arena: str, languages: Sequence[str], overlap: int) -> str:
    """Write the page on which people vote while ``view`` serves it."""
    return _vote_page(
        ("vote_pair.js", "vote_served.js"),
        arena,
        set(languages),
        {"arena": arena},
        is_served=True,
        overlap=overlap,
        languages={code: language_name(code) for code in languages},
    )


def labeling_page(
    arena: str, languages: Sequence[str], question: str, labels: Sequence[object]
) -> str:
    """Write the page on which people label sentences; ``labels`` have key, name and meaning."""
    words = {
        **_words()["en"],
        "title": question,
        "count": "{}, sentences labeled: {}",
        "no_pair": "No sentence is left for you. Labeled: {}. Thank you.",
    }
    return filled(
        "label",
        ("vote_pair.js", "vote_served.js"),
        is_served=True,
        arena=arena,
        longest_name=LONGEST_NAME,
        lang="en",
        words=words,
        data={"arena": arena, "words": words},
        labels=labels,
        languages={code: language_name(code) for code in languages},
    )


def _vote_page(
    scripts: tuple[str, ...],
    arena: str,
    spoken: Set[str],
    data: Mapping[str, object],
    **values: Any,  # noqa: ANN401 - of the template
) -> str:
    """Fill the page to vote on, in the language of its questions or in English."""
    words_by_language = _words()
    # Of several languages a voter may read one alone.
    known = [code for code in spoken if code in words_by_language and len(spoken) == 1]
    language = known[0] if known else "en"
    words = words_by_language[language]
    return filled(
        "vote",
        scripts,
        arena=arena,
        longest_name=LONGEST_NAME,
        lang=language,
        words=words,
        data={**data, "words": words},
        **values,
    )


@cache
def _words() -> Mapping[str, Mapping[str, str]]:
    """Return the words of the page to vote on, by language."""
    text = files("surrogate_arena.pages").joinpath("vote_words.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def blind_pair(pair: BallotPair) -> dict[str, Any]:
    """Return what a person sees of a pair, answers as HTML; no name of a system is in it."""
    comparison = pair.comparison
    return {
        "id": pair.id,
        **_shown_question(
            comparison.key[0], comparison.question, comparison.history, comparison.passages
        ),
        "a": markup(comparison.answer_a),
        "b": markup(comparison.answer_b),
    }


def blind_sentence(
    language: str,
    question: str,
    turns: Sequence[ShownTurn],
    passages: Sequence[ShownPassage],
    sentences: Sequence[str],
    marked: int,
) -> dict[str, Any]:
    """Return what a person sees of an answer, one of its sentences marked, as HTML."""
    parts = [escape(sentence) for sentence in sentences]
    parts[marked] = f"<mark>{parts[marked]}</mark>"
    return {
        **_shown_question(language, question, turns, passages),
        "answer": "<p>" + " ".join(parts).replace("\n", "<br>") + "</p>",
    }


def _shown_question(
    language: str,
    question: str,
    turns: Sequence[ShownTurn],
    passages: Sequence[ShownPassage],
) -> dict[str, Any]:
    shown_passages = [
        {
            "id": passage.passage_id,
            "title": passage.title or "",
            "text": passage.text,
            "given_to": passage.given_to,
        }
        for passage in passages
    ]
    return {
        "language": formats.language_tag(language),
        "direction": formats.direction(language),
        "question": question,
        "turns": [asdict(turn) for turn in turns],
        "passages": shown_passages,
    }


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemBytecodeCache, PackageLoader, StrictUndefined

    folder = cache_folder(f"templates-{__version__}")
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    compiled = FileSystemBytecodeCache(str(folder)) if os.access(folder, os.W_OK) else None
    environment = Environment(
        loader=PackageLoader("surrogate_arena.pages"),
        bytecode_cache=compiled,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = {name: getattr(formats, name) for name in FILTERS}
    filters |= {name: getattr(shown_numbers, name) for name in NUMBER_FILTERS}
    environment.filters.update(
        filters, count_of=count_of, language_name=language_name, sentence=sentence
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    return environment


@cache
def _style() -> str:
    return _environment().get_template("style.css.jinja").render(p=formats)


@cache
def _text(name: str) -> str:
    return files("surrogate_arena.pages").joinpath("templates", name).read_text(encoding="utf-8")
