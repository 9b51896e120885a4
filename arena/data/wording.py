"""Wording: remarks, counted nouns, lists of names, suggestions for misspelt ones, digests."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pandas as pd

MOST_LISTED = 12
"""Number of names that messages list."""
MOST_COMPARED = 200
"""Number of names that a misspelt one is compared with, and of characters of each."""
DIGEST_DIGITS = 8


def sentence(text: str) -> str:
    """Add a capital letter and a full stop."""
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}."


def short_digest(text: str, digits: int = DIGEST_DIGITS) -> str:
    """Return the first hexadecimal digits of a text's SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits]


def count_of(number: int, noun: str, plural: str | None = None) -> str:
    """Show a count with its noun: ``1,200 systems``."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,.0f} {plural or noun + 's'}"


def percent_of(share: float, digits: int) -> str:
    """Show a share in percent; what is not quite all never rounds to 100%."""
    most = math.inf if share >= 1 else 100 - 10.0**-digits
    return f"{min(100 * share, most):z,.{digits}f}%"


def first_of(names: Sequence[str], most: int = MOST_LISTED) -> str:
    """List the first names, with commas between."""
    listed = ", ".join(names[:most])
    n_more = len(names) - most
    return f"{listed} and {n_more:,} more" if n_more > 0 else listed


def all_of(names: Sequence[str]) -> str:
    """List all names: ``a, b and c``."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def split_names(text: str | None) -> list[str]:
    """Split a list at commas outside parentheses; spaces around them do not count."""
    parts = re.split(r",(?![^()]*\))", text or "")
    return [name.strip() for name in parts if name.strip()]


def repeated(names: Iterable[str]) -> list[str]:
    """Return the names that appear several times, sorted."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return ``did you mean 'x'?`` if a name is close."""
    names = list(islice(names, MOST_COMPARED))
    # Reversed: of names that differ in case only, the first is offered.
    folded = {text.casefold()[:MOST_COMPARED]: text for text in reversed(names)}
    close = get_close_matches(name.casefold()[:MOST_COMPARED], folded, n=1)
    return f"did you mean {folded[close[0]]!r}?" if close else ""


Severity = Literal["error", "warning", "info", "good"]


@dataclass(frozen=True)
class Remark:
    """One thing that a user should know.

    Attributes:
        name: One word for remarks of a kind, such as ``connected``.
        severity: ``error``: systems cannot be ranked; ``warning``: something limits trust;
            ``info``: no concern; ``good``: a test that was passed.
        sentence: Without its subject.
        subject: What it is about; empty where its place says so.
        statistic: The number it rests on, or the first of several.
        systems: Names of systems in its sentence.
    """

    name: str
    severity: Severity
    sentence: str
    subject: str = ""
    statistic: float | None = None
    systems: tuple[str, ...] = ()

    @property
    def is_warning(self) -> bool:
        """Return whether it limits what something can be used for."""
        return self.severity in ("error", "warning")

    def __str__(self) -> str:
        return f"{self.subject}: {self.sentence}" if self.subject else self.sentence


P_VALUES = ("p", "p_holm")
"""Columns of p-values, also those corrected for their number."""


def shown_p(p: float) -> str:
    """Show a p-value; none is 0."""
    return "<0.001" if p < 0.0005 else f"{p:.3f}"


def notebook_html(
    caption: str, summary: str | Iterable[Remark], table: pd.DataFrame, footnote: str = ""
) -> str:
    """Show a table below caption and remarks, escaped."""
    if not isinstance(summary, str):
        summary = " ".join(sentence(str(remark)) for remark in summary)
    html = table.to_html(index=False, na_rep="–", float_format="{:z.2f}".format, escape=True)
    last = f"<p><small>{escape(footnote)}</small></p>" if footnote else ""
    return f"<p><b>{escape(caption)}</b><br>{escape(summary)}</p>{html}{last}"
