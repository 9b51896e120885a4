"""A ballot as one HTML file that needs neither a server nor the network."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from arena.data import __version__
from arena.people.ballots import FORMAT, LONGEST_NAME, Ballot, BallotPair
from surrogate.publish import palette
from surrogate.publish.formats import direction, language_tag
from surrogate.publish.site.pages import content_policy, storable


def ballot_page(ballot: Ballot) -> str:
    """Write a ballot as a page; the same ballot gives the same bytes.

    Texts of others are escaped by the template, stand in the page as data, and are shown as text;
    a content security policy lets nothing but the page's own scripts run and loads nothing.
    """
    from jinja2 import Environment, PackageLoader, PrefixLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PrefixLoader(
            {
                "voting": PackageLoader("surrogate.publish.voting"),
                "site": PackageLoader("surrogate.publish.site"),
            }
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    theme, script = _text("site", "theme.js"), _text("voting", "vote.js")
    style = environment.get_template("site/style.css.jinja").render(p=palette)
    page = environment.get_template("voting/vote.html.jinja").render(
        arena=ballot.arena,
        version=__version__,
        policy=content_policy(theme, script),
        style=Markup(style),  # noqa: S704 - from the package
        theme_script=Markup(theme),  # noqa: S704 - from the package
        script=Markup(script),  # noqa: S704 - from the package
        longest_name=LONGEST_NAME,
        data=_data(ballot),
    )
    return storable(page)


def _text(package: str, name: str) -> str:
    folder = files(f"surrogate.publish.{package}").joinpath("templates", name)
    return folder.read_text(encoding="utf-8")


def _data(ballot: Ballot) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "ballot": ballot.id,
        "arena": ballot.arena,
        "pairs": [_shown(pair) for pair in ballot.pairs],
    }


def _shown(pair: BallotPair) -> dict[str, Any]:
    comparison = pair.comparison
    language = comparison.key[0]
    return {
        "id": pair.id,
        "language": language_tag(language),
        "direction": direction(language),
        "question": comparison.question,
        "passages": [
            {
                "id": each.passage_id,
                "title": each.title or "",
                "text": each.text,
                "given_to": each.given_to or "",
            }
            for each in comparison.passages
        ],
        "a": comparison.answer_a,
        "b": comparison.answer_b,
    }
