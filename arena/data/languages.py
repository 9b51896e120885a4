"""Languages: codes and names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from arena.data.wording import did_you_mean

LANGUAGE_CODE = r"[a-z]{2,3}"
"""Pattern of a language code: ISO 639-1, or ISO 639-3 where no two-letter code exists."""
UNDETERMINED = "und"
"""ISO 639 code of a language that nobody determined."""

_MIRACL = """ar Arabic, bn Bengali, de German, en English, es Spanish, fa Persian, fi Finnish,
    fr French, hi Hindi, id Indonesian, ja Japanese, ko Korean, ru Russian, sw Swahili,
    te Telugu, th Thai, yo Yoruba, zh Chinese"""
MIRACL_LANGUAGES = MappingProxyType(dict(entry.split(maxsplit=1) for entry in _MIRACL.split(",")))
"""The languages of MIRACL and MIRAGE-Bench (table 1), code to English name."""

_ISO_639 = """
    aa aar Afar, ab abk Abkhazian, ae ave Avestan, af afr Afrikaans, ak aka Akan, am amh Amharic,
    an arg Aragonese, ar ara Arabic, as asm Assamese, av ava Avaric, ay aym Aymara,
    az aze Azerbaijani, ba bak Bashkir, be bel Belarusian, bg bul Bulgarian, bi bis Bislama,
    bm bam Bambara, bn ben Bengali, bo bod Tibetan, br bre Breton, bs bos Bosnian, ca cat Catalan,
    ce che Chechen, ch cha Chamorro, co cos Corsican, cr cre Cree, cs ces Czech,
    cu chu Church Slavic, cv chv Chuvash, cy cym Welsh, da dan Danish, de deu German,
    dv div Divehi, dz dzo Dzongkha, ee ewe Ewe, el ell Greek, en eng English, eo epo Esperanto,
    es spa Spanish, et est Estonian, eu eus Basque, fa fas Persian, ff ful Fulah, fi fin Finnish,
    fj fij Fijian, fo fao Faroese, fr fra French, fy fry Western Frisian, ga gle Irish,
    gd gla Scottish Gaelic, gl glg Galician, gn grn Guarani, gu guj Gujarati, gv glv Manx,
    ha hau Hausa, he heb Hebrew, hi hin Hindi, ho hmo Hiri Motu, hr hrv Croatian, ht hat Haitian,
    hu hun Hungarian, hy hye Armenian, hz her Herero, ia ina Interlingua, id ind Indonesian,
    ie ile Interlingue, ig ibo Igbo, ii iii Sichuan Yi, ik ipk Inupiaq, io ido Ido,
    is isl Icelandic, it ita Italian, iu iku Inuktitut, ja jpn Japanese, jv jav Javanese,
    ka kat Georgian, kg kon Kongo, ki kik Kikuyu, kj kua Kuanyama, kk kaz Kazakh,
    kl kal Kalaallisut, km khm Khmer, kn kan Kannada, ko kor Korean, kr kau Kanuri,
    ks kas Kashmiri, ku kur Kurdish, kv kom Komi, kw cor Cornish, ky kir Kyrgyz, la lat Latin,
    lb ltz Luxembourgish, lg lug Ganda, li lim Limburgish, ln lin Lingala, lo lao Lao,
    lt lit Lithuanian, lu lub Luba-Katanga, lv lav Latvian, mg mlg Malagasy, mh mah Marshallese,
    mi mri Maori, mk mkd Macedonian, ml mal Malayalam, mn mon Mongolian, mr mar Marathi,
    ms msa Malay, mt mlt Maltese, my mya Burmese, na nau Nauru, nb nob Norwegian Bokmål,
    nd nde North Ndebele, ne nep Nepali, ng ndo Ndonga, nl nld Dutch, nn nno Norwegian Nynorsk,
    no nor Norwegian, nr nbl South Ndebele, nv nav Navajo, ny nya Nyanja, oc oci Occitan,
    oj oji Ojibwa, om orm Oromo, or ori Oriya, os oss Ossetian, pa pan Punjabi, pi pli Pali,
    pl pol Polish, ps pus Pashto, pt por Portuguese, qu que Quechua, rm roh Romansh, rn run Rundi,
    ro ron Romanian, ru rus Russian, rw kin Kinyarwanda, sa san Sanskrit, sc srd Sardinian,
    sd snd Sindhi, se sme Northern Sami, sg sag Sango, si sin Sinhala, sk slk Slovak,
    sl slv Slovenian, sm smo Samoan, sn sna Shona, so som Somali, sq sqi Albanian, sr srp Serbian,
    ss ssw Swati, st sot Southern Sotho, su sun Sundanese, sv swe Swedish, sw swa Swahili,
    ta tam Tamil, te tel Telugu, tg tgk Tajik, th tha Thai, ti tir Tigrinya, tk tuk Turkmen,
    tl tgl Filipino, tn tsn Tswana, to ton Tongan, tr tur Turkish, ts tso Tsonga, tt tat Tatar,
    tw twi Twi, ty tah Tahitian, ug uig Uyghur, uk ukr Ukrainian, ur urd Urdu, uz uzb Uzbek,
    ve ven Venda, vi vie Vietnamese, vo vol Volapük, wa wln Walloon, wo wol Wolof, xh xho Xhosa,
    yi yid Yiddish, yo yor Yoruba, za zha Zhuang, zh zho Chinese, zu zul Zulu"""
"""Codes of ISO 639-1, each with that of ISO 639-3 and an English name."""
_ROWS = [row.split(maxsplit=2) for row in _ISO_639.split(",")]
_TWO_LETTERS = frozenset(code for code, _, _ in _ROWS)
# Macrolanguages may be named by their largest member, and libraries have codes of their own.
_FURTHER_CODES = """alb sq, arm hy, baq eu, bur my, chi zh, cze cs, dut nl, fre fr, geo ka, ger de,
    gre el, ice is, mac mk, mao mi, may ms, per fa, rum ro, slo sk, tib bo, wel cy, arb ar, cmn zh,
    ekk et, lvs lv, pes fa, swh sw, uzn uz, azj az, khk mn, zsm ms, als sq, ydd yi, npi ne, ory or,
    fil tl, prs fa, plt mg, pbt ps, gaz om, nob nb"""
_THREE_LETTERS: Mapping[str, str] = MappingProxyType(
    {three: two for two, three, _ in _ROWS}
    | dict(entry.split() for entry in _FURTHER_CODES.split(","))
)
_NAMES = MappingProxyType(
    {name.casefold(): code for code, _, name in _ROWS}
    | {"farsi": "fa", "tagalog": "tl", "mandarin": "zh", "haitian creole": "ht", "odia": "or"}
    | {"castilian": "es", "flemish": "nl", "gaelic": "gd", "uighur": "ug", "norwegian bokmal": "nb"}
    | {"deutsch": "de", "français": "fr", "español": "es", "italiano": "it", "português": "pt"}
    | {"nederlands": "nl", "polski": "pl", "русский": "ru", "українська": "uk", "türkçe": "tr"}
    | {"svenska": "sv", "dansk": "da", "suomi": "fi", "čeština": "cs", "magyar": "hu"}
    | {"中文": "zh", "日本語": "ja", "한국어": "ko", "العربية": "ar", "हिन्दी": "hi"}
)
NO_LANGUAGE = frozenset({"unknown", "undetermined", "unspecified", "undefined", "other", "mixed"})
"""What people write where they do not know the language, in lower case."""
_MISTAKEN = """jp ja, iw he, in id, ji yi, jw jv, cn zh, gr el, cz cs, dk da, ua uk, vn vi, sp es,
    gb en, us en, mo ro, sh sr, ir fa, pk ur, rs sr, al sq, ph tl, eg ar, ge ka, kz kk, mx es,
    at de, bd bn, tj tg, il he, ke sw, lk si, mm my, hk zh"""
_INSTEAD: Mapping[str, str] = MappingProxyType(
    dict(entry.split() for entry in _MISTAKEN.split(","))
)
"""Codes of countries, and withdrawn ones, that people write for languages."""
_TAG = re.compile(r"(?P<code>[a-z]{2,3})(?P<rest>([-_][a-z0-9]{1,8})*)(\.[a-z0-9-]+)?(@\w+)?")


@dataclass(frozen=True)
class LanguageReading:
    """A language as a file or a user names it.

    Attributes:
        code: Its code, or None if none is known by that name.
        remark: What was done to a tag such as ``pt-BR``; empty where it is the code or a name.
        hint: What to write instead, where there is no code.
    """

    code: str | None
    remark: str = ""
    hint: str = ""


def read_language(text: str) -> LanguageReading:
    """Read a language: a code, an English name, or a tag with a region or script (``pt-BR``).

    An arena tells languages apart, not regions and scripts: they are left out of its codes. A
    three-letter code is kept only where the language has no code of two letters.
    """
    name = text.strip().casefold()
    if name in _NAMES:
        return LanguageReading(_NAMES[name])
    tag = _TAG.fullmatch(name)
    if tag is None:
        return LanguageReading(None, hint=_hint(name))
    given = tag["code"]
    code = _THREE_LETTERS.get(given, given)
    if not is_language_code(code):
        return LanguageReading(None, hint=_hint(given))
    remark = "" if name == code else f"{text.strip()!r} is read as {code}"
    return LanguageReading(code, remark)


def is_language_code(code: str) -> bool:
    """Tell whether a text is a code of an arena: of ISO 639-1, or else of ISO 639-3."""
    if len(code) == 2:
        return code in _TWO_LETTERS
    return re.fullmatch(LANGUAGE_CODE, code) is not None and code not in _THREE_LETTERS


def language_hint(text: object) -> str:
    """Say what to write instead of a text that is no language code."""
    if not isinstance(text, str):
        return _hint("")
    reading = read_language(text)
    return f"write {reading.code}" if reading.code else reading.hint


def _hint(name: str) -> str:
    if name in _INSTEAD:
        return f"did you mean {_INSTEAD[name]!r}?"
    if close := did_you_mean(name, _NAMES):
        return f"{close} Or use an ISO 639-1 code such as 'en' or 'zh'"
    return "use an ISO 639-1 code such as 'en' or 'zh', or an English name"


def language_code(name: str) -> str | None:
    """Return the code of a language by its name, code or tag; None if unknown."""
    return read_language(name).code


def named_language(code: str) -> str:
    """Return a language's English name; for one that is not in MIRACL, its code, as such."""
    return MIRACL_LANGUAGES.get(code) or f"the language '{code}' (ISO 639)"
