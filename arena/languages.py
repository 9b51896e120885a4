"""Language codes (ISO 639-1) and the names of MIRACL's 18 languages."""

from __future__ import annotations

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
