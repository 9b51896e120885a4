"""Texts for people: counts with their nouns, whose a name may be, cells of spreadsheets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

FORMULA_STARTS = frozenset("=+-@＝＋－＠'\t\r\n")
"""How cells begin that spreadsheets run, or that ``guarded`` made."""
PERSON, PEOPLE = "person:", "people"
"""How the name of a person begins as a judge, and what stands for all people who judged."""
_PEOPLE = "human|crowd|people|person|annotator|arena[ _-]?user"
_VOTERS = "user|voter|worker|rater|expert|author|participant|evaluator|reviewer|labeler|labeller"
_PERSON_NAME = re.compile(
    rf"(?:{_PEOPLE})s?(?![a-z]).*|(?:{_VOTERS})s?|(?:{_VOTERS})[\s_#:.-]*\d+"
    rf"|(?:{_VOTERS})[\s_#:.-]+(?:[0-9a-f]{{6,}}|[0-9a-f-]{{32,}})",
    re.IGNORECASE,
)
_NOBODY = (
    r"unknown|unnamed|undefined|unspecified|not[ _-]given|anonymous|anonym|anon|guest|visitor"
    r"|nobody|somebody|default|none|null|nan|n/?a|[-?]+"
)
_UNNAMED = re.compile(
    rf"(?:person:)?(?:(?:{_NOBODY})?[ _-]?(?:{_PEOPLE}|{_VOTERS})s?|{_NOBODY}|judge)?",
    re.IGNORECASE,
)
MOST_LISTED = 12
"""Names that messages list."""
MOST_COMPARED = 200
"""Characters of a name, and names, that a misspelt one is compared with."""


def count_of(number: int, noun: str, plural: str | None = None) -> str:
    """Show a count with its noun, such as ``1 system`` or ``1,200 systems``."""
    return f"{number:,.0f} {noun if number == 1 else plural or noun + 's'}"


def first_of(names: Sequence[str], most: int = MOST_LISTED) -> str:
    """List names with commas between, the first ones where there are many."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def repeated(names: Iterable[str]) -> list[str]:
    """Return the names that stand several times, sorted."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the question ``did you mean 'x'?`` where a known name is close, in any case."""
    names = list(islice(known, MOST_COMPARED))
    folded = {text.casefold()[:MOST_COMPARED]: text for text in reversed(names)}
    close = get_close_matches(name.casefold()[:MOST_COMPARED], folded, n=1)
    return f"did you mean {folded[close[0]]!r}?" if close else ""


def is_person(judge: str) -> bool:
    """Tell by its name whether a judge is a person, or people, and no machine.

    So are called ``people``, ``human``, ``crowd`` and what begins with one of them, and people by
    what they do with a number or a hash: ``arena_user_17``, ``expert_0``, ``voter-3``.
    """
    return _PERSON_NAME.fullmatch(judge.strip()) is not None


def names_one_judge(judge: str) -> bool:
    """Tell whether a judge's name is that of one judge, rather than of people, or of nobody."""
    return _UNNAMED.fullmatch(judge.strip()) is None


def guarded(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would run as a formula."""
    runs = text[:1] in FORMULA_STARTS or text.lstrip()[:1] in FORMULA_STARTS
    return f"'{text}" if text and runs else text


def guarded_csv(table: pd.DataFrame) -> str:
    """Return a table as CSV for people: no text in it is run by a spreadsheet."""
    texts = table.select_dtypes(["object", "string"])
    safe = {
        name: texts[name].map(lambda cell: guarded(cell) if isinstance(cell, str) else cell)
        for name in texts
    }
    return str(table.assign(**safe).to_csv(index=False, lineterminator="\n"))
