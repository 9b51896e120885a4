"""Languages: codes and names."""

from __future__ import annotations

import re
from types import MappingProxyType

LANGUAGE_CODE = r"[a-z]{2,3}"
"""Pattern of a language code: ISO 639-1, or ISO 639-3 where no two-letter code exists."""

MIRACL_LANGUAGES = MappingProxyType(
    {
        "ar": "Arabic",
        "bn": "Bengali",
        "de": "German",
        "en": "English",
        "es": "Spanish",
        "fa": "Persian",
        "fi": "Finnish",
        "fr": "French",
        "hi": "Hindi",
        "id": "Indonesian",
        "ja": "Japanese",
        "ko": "Korean",
        "ru": "Russian",
        "sw": "Swahili",
        "te": "Telugu",
        "th": "Thai",
        "yo": "Yoruba",
        "zh": "Chinese",
    }
)
"""The languages of MIRACL and MIRAGE-Bench (table 1), code to English name."""


UNDETERMINED = "und"
"""ISO 639 code of a language that nobody determined."""

_FURTHER = {
    "Afrikaans": "af",
    "Albanian": "sq",
    "Amharic": "am",
    "Armenian": "hy",
    "Azerbaijani": "az",
    "Basque": "eu",
    "Belarusian": "be",
    "Bosnian": "bs",
    "Bulgarian": "bg",
    "Burmese": "my",
    "Catalan": "ca",
    "Croatian": "hr",
    "Czech": "cs",
    "Danish": "da",
    "Dutch": "nl",
    "Esperanto": "eo",
    "Estonian": "et",
    "Farsi": "fa",
    "Filipino": "tl",
    "Galician": "gl",
    "Georgian": "ka",
    "Greek": "el",
    "Gujarati": "gu",
    "Hausa": "ha",
    "Hebrew": "he",
    "Hungarian": "hu",
    "Icelandic": "is",
    "Igbo": "ig",
    "Irish": "ga",
    "Italian": "it",
    "Javanese": "jv",
    "Kannada": "kn",
    "Kazakh": "kk",
    "Khmer": "km",
    "Kurdish": "ku",
    "Kyrgyz": "ky",
    "Lao": "lo",
    "Latin": "la",
    "Latvian": "lv",
    "Lithuanian": "lt",
    "Luxembourgish": "lb",
    "Macedonian": "mk",
    "Malay": "ms",
    "Malayalam": "ml",
    "Maltese": "mt",
    "Marathi": "mr",
    "Mongolian": "mn",
    "Nepali": "ne",
    "Norwegian": "no",
    "Norwegian Bokmål": "nb",
    "Norwegian Nynorsk": "nn",
    "Pashto": "ps",
    "Polish": "pl",
    "Portuguese": "pt",
    "Punjabi": "pa",
    "Romanian": "ro",
    "Serbian": "sr",
    "Sinhala": "si",
    "Slovak": "sk",
    "Slovenian": "sl",
    "Somali": "so",
    "Swedish": "sv",
    "Tagalog": "tl",
    "Tajik": "tg",
    "Tamil": "ta",
    "Tatar": "tt",
    "Turkish": "tr",
    "Ukrainian": "uk",
    "Urdu": "ur",
    "Uzbek": "uz",
    "Vietnamese": "vi",
    "Welsh": "cy",
    "Xhosa": "xh",
    "Yiddish": "yi",
    "Zulu": "zu",
}

_CODES = MappingProxyType(
    {
        name.casefold(): code
        for name, code in [
            *((name, code) for code, name in MIRACL_LANGUAGES.items()),
            *_FURTHER.items(),
        ]
    }
)


def language_code(name: str) -> str | None:
    """Return the code of a language given by code or by English name, in any case.

    Returns:
        The code, or None if the language is not known.
    """
    if re.fullmatch(LANGUAGE_CODE, name):
        return name
    return _CODES.get(name.strip().casefold())


def named_language(code: str) -> str:
    """Return a language's English name; for one that is not in MIRACL, its code, as such."""
    return MIRACL_LANGUAGES.get(code) or f"the language '{code}' (ISO 639)"
