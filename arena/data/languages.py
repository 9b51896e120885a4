"""Languages: codes and names."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple

from arena.data.wording import did_you_mean

LANGUAGE_CODE = r"[a-z]{2,3}"
"""Pattern of a language code: ISO 639-1, or ISO 639-3 where no two-letter code exists."""
UNDETERMINED = "und"
"""ISO 639 code of a language that nobody determined."""

_TABLE = tomllib.loads((files(__package__) / "languages.toml").read_text(encoding="utf-8"))
_ISO_639: Mapping[str, Sequence[str]] = _TABLE["iso_639"]
MIRACL_LANGUAGES = MappingProxyType({code: _ISO_639[code][1] for code in _TABLE["miracl"]})
"""The languages of MIRACL and MIRAGE-Bench (table 1), code to English name."""
# Three letters to the two-letter code of the same language.
_THREE_LETTERS: dict[str, str] = {three: two for two, (three, _) in _ISO_639.items()}
_THREE_LETTERS.update(_TABLE["further_codes"])
# Names without case to codes.
_NAMES: dict[str, str] = {name.casefold(): two for two, (_, name) in _ISO_639.items()}
_NAMES.update(_TABLE["further_names"])
_MISTAKEN: Mapping[str, str] = _TABLE["mistaken"]
NO_LANGUAGE = frozenset({"unknown", "undetermined", "unspecified", "undefined", "other", "mixed"})
"""Words that people write for an unknown language, in lower case."""
_TAG = re.compile(r"(?P<code>[a-z]{2,3})(?P<rest>([-_][a-z0-9]{1,8})*)(\.[a-z0-9-]+)?(@\w+)?")


class LanguageReading(NamedTuple):
    """A language as a file or a user names it; a remark says how it was read."""

    code: str | None
    remark: str = ""
    hint: str = ""


def read_language(text: str) -> LanguageReading:
    """Read a language: a code, an English name, or a tag without its region."""
    name = text.strip().casefold()
    if name in _NAMES:
        return LanguageReading(_NAMES[name])
    tag = _TAG.fullmatch(name)
    if tag is None:
        return LanguageReading(None, hint=_hint(name))
    code = _THREE_LETTERS.get(tag["code"], tag["code"])
    if not is_language_code(code):
        return LanguageReading(None, hint=_hint(tag["code"]))
    remark = "" if name == code else f"{text.strip()!r} is read as {code}"
    return LanguageReading(code, remark)


def is_language_code(code: str) -> bool:
    """Return whether a text is a code of ISO 639-1 or 639-3."""
    if len(code) == 2:
        return code in _ISO_639
    return re.fullmatch(LANGUAGE_CODE, code) is not None and code not in _THREE_LETTERS


def language_hint(text: object) -> str:
    """Return what to write instead of a wrong language code."""
    if not isinstance(text, str):
        return _hint("")
    reading = read_language(text)
    return f"write {reading.code}" if reading.code else reading.hint


def _hint(name: str) -> str:
    if name in _MISTAKEN:
        return f"did you mean {_MISTAKEN[name]!r}?"
    suggestion = did_you_mean(name, _NAMES)
    if suggestion:
        return f"{suggestion} Or use an ISO 639-1 code such as 'en' or 'zh'"
    return "use an ISO 639-1 code such as 'en' or 'zh', or an English name"


def language_code(name: str) -> str | None:
    """Return a language's code by name, code or tag."""
    return read_language(name).code


def language_name(code: str) -> str:
    """Return a language's English name, or its code if unknown."""
    if code == UNDETERMINED:
        return "Unknown language"
    return _ISO_639[code][1] if code in _ISO_639 else code


def named_language(code: str) -> str:
    """Return a MIRACL language's English name, else the code with a remark."""
    return MIRACL_LANGUAGES.get(code) or f"the language '{code}' (ISO 639)"
