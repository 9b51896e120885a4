"""Numbers in a text, in one notation however they are written."""

from __future__ import annotations

import re
import unicodedata

from features.sentences import LIST_MARKER

_NATIVE_DIGIT = re.compile(r"[^\D0-9]")
_LIST_MARKERS = re.compile(rf"^(?:{LIST_MARKER.pattern})", re.MULTILINE)
_MARKS = str.maketrans("٬٫’", ",.'")
# Every repetition of groups is bounded, so that no text takes more than linear time.
_SPACED = "[0-9]{1,3}(?:[ \u00a0\u2009\u202f][0-9]{3}){1,6}+(?![0-9])(?:[.,][0-9]++)?"
_NUMBER = re.compile(rf"{_SPACED}|[0-9]++(?:[.,'][0-9]++)*+")
_SPACE = re.compile(r"\s")
_GROUPED = re.compile(
    r"[1-9][0-9]{0,2}([.,'])[0-9]{3}(?:\1[0-9]{3})*+|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}"
)
_DECIMAL = re.compile(r"(?P<whole>.*[0-9])(?P<mark>[.,])(?P<fraction>[0-9]++)")


def numbers_in(text: str) -> list[str]:
    """Return the numbers of a text, in order, repetitions included.

    Digits of any script count. ``1,000``, ``1.000``, ``1 000``, ``1'000`` and ``1000`` are the
    same number, and so are ``10,00,000`` and ``1000000``, ``2.50`` and ``2,5``; what else points
    and commas join, such as a date, is several numbers. A point or comma before three last
    digits is taken to group them. The numbers of list items and number words do not count.
    """
    plain = _NATIVE_DIGIT.sub(_ascii_digit, text).translate(_MARKS)
    written = _NUMBER.findall(_LIST_MARKERS.sub("", plain))
    return [number for token in written for number in _read(_SPACE.sub("", token))]


def _ascii_digit(digit: re.Match[str]) -> str:
    return str(unicodedata.decimal(digit[0]))


def _read(token: str) -> list[str]:
    if token.isdigit():
        return [_whole(token)]
    if _GROUPED.fullmatch(token):
        return [_joined(token)]
    decimal = _DECIMAL.fullmatch(token)
    if decimal and _is_whole(decimal["whole"], decimal["mark"]):
        fraction = decimal["fraction"].rstrip("0")
        whole = _whole(_joined(decimal["whole"]))
        return [f"{whole}.{fraction}" if fraction else whole]
    return [_whole(part) for part in re.split("[.,']", token)]


def _is_whole(text: str, decimal_mark: str) -> bool:
    """Tell whether a decimal mark may follow: digits, or groups of them with another mark."""
    return text.isdigit() or (decimal_mark not in text and bool(_GROUPED.fullmatch(text)))


def _joined(text: str) -> str:
    return re.sub("[.,']", "", text)


def _whole(digits: str) -> str:
    return digits.lstrip("0") or "0"
