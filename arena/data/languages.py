"""Languages: codes and names."""

from __future__ import annotations

import re
from types import MappingProxyType

LANGUAGE_CODE = r"[a-z]{2,3}"
"""Pattern of a language code: ISO 639-1, or ISO 639-3 where no two-letter code exists."""
UNDETERMINED = "und"
"""ISO 639 code of a language that nobody determined."""

_MIRACL = """ar Arabic, bn Bengali, de German, en English, es Spanish, fa Persian, fi Finnish,
    fr French, hi Hindi, id Indonesian, ja Japanese, ko Korean, ru Russian, sw Swahili,
    te Telugu, th Thai, yo Yoruba, zh Chinese"""
MIRACL_LANGUAGES = MappingProxyType(dict(entry.split(maxsplit=1) for entry in _MIRACL.split(",")))
"""The languages of MIRACL and MIRAGE-Bench (table 1), code to English name."""

_FURTHER = """
    af Afrikaans, sq Albanian, am Amharic, hy Armenian, az Azerbaijani, eu Basque, be Belarusian,
    bs Bosnian, bg Bulgarian, my Burmese, ca Catalan, hr Croatian, cs Czech, da Danish, nl Dutch,
    eo Esperanto, et Estonian, tl Filipino, gl Galician, ka Georgian, el Greek, gu Gujarati,
    ha Hausa, he Hebrew, hu Hungarian, is Icelandic, ig Igbo, ga Irish, it Italian, jv Javanese,
    kn Kannada, kk Kazakh, km Khmer, ku Kurdish, ky Kyrgyz, lo Lao, la Latin, lv Latvian,
    lt Lithuanian, lb Luxembourgish, mk Macedonian, ms Malay, ml Malayalam, mt Maltese, mr Marathi,
    mn Mongolian, ne Nepali, no Norwegian, nb Norwegian Bokmål, nn Norwegian Nynorsk, ps Pashto,
    pl Polish, pt Portuguese, pa Punjabi, ro Romanian, sr Serbian, si Sinhala, sk Slovak,
    sl Slovenian, so Somali, sv Swedish, tg Tajik, ta Tamil, tt Tatar, tr Turkish, uk Ukrainian,
    ur Urdu, uz Uzbek, vi Vietnamese, cy Welsh, xh Xhosa, yi Yiddish, zu Zulu"""
_CODES = MappingProxyType(
    {name.casefold(): code for code, name in (e.split(maxsplit=1) for e in _FURTHER.split(","))}
    | {name.casefold(): code for code, name in MIRACL_LANGUAGES.items()}
    | {"farsi": "fa", "tagalog": "tl"}
)


def language_code(name: str) -> str | None:
    """Return the code of a language by its English name, or its code as it is; None if unknown."""
    if re.fullmatch(LANGUAGE_CODE, name):
        return name
    return _CODES.get(name.strip().casefold())


def named_language(code: str) -> str:
    """Return a language's English name; for one that is not in MIRACL, its code, as such."""
    return MIRACL_LANGUAGES.get(code) or f"the language '{code}' (ISO 639)"
