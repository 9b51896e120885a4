import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from features.text import tokens
from features.text.tokens import is_part_of_word, words, words_and_marks

GOLDEN = {
    "en": (
        "Don't panic: it's 3.14, not 1,000!",
        ["Don't", "panic", "it's", "3.14", "not", "1,000"],
    ),
    "de": ("Größe über alles", ["Größe", "über", "alles"]),
    "ru": ("Столица — Москва.", ["Столица", "Москва"]),
    "ar": ("نَصٌّ عربي، مرحبا", ["نَصٌّ", "عربي", "مرحبا"]),
    "fa": ("می\u200cخواهم بروم", ["میخواهم", "بروم"]),
    "hi": ("सिकंदर ने कहा।", ["सिकंदर", "ने", "कहा"]),
    "bn": ("ক্রীড়া বাংলা", ["ক্রীড়া", "বাংলা"]),
    "te": ("తెలుగు క్రీడ", ["తెలుగు", "క్రీడ"]),
    "th": ("น้ำดี ABC 12", ["น้ำ", "ดี", "ABC", "12"]),
    "yo": ("ẹ̀kọ́ Yorùbá", ["ẹ̀kọ́", "Yorùbá"]),
    "zh": ("北京2008年，OK。", ["北", "京", "2008", "年", "OK"]),
    "ja": ("東京タワーは333mです。", [*"東京タワーは", "333m", "で", "す"]),
    "ko": ("서울은 수도", [*"서울은수도"]),
}


@pytest.mark.parametrize("language", GOLDEN)
def test_words_of_each_script(language):
    text, expected = GOLDEN[language]
    assert words(text) == [unicodedata.normalize("NFC", word) for word in expected]


def test_punctuation_marks_are_single_tokens():
    assert words_and_marks("Yes, (1)!") == ["Yes", ",", "(", "1", ")", "!"]
    assert words_and_marks("是的。") == ["是", "的", "。"]
    assert words_and_marks("कहा।") == ["कहा", "।"]


def test_spellings_of_the_same_text_are_equal():
    assert words("ＡＢＣ１２") == words("ABC12")
    assert words(unicodedata.normalize("NFD", "서울 Größe")) == words("서울 Größe")
    assert words("\u200fمرحبا\u200e") == words("مرحبا")
    assert words_and_marks("l’eau ’tis") == words_and_marks("l'eau 'tis")


@pytest.mark.parametrize("text", ["", " \n", "\x00\x1c\x07", "\u200f\u200e", "\ud800", "\ue000"])
def test_texts_without_words(text):
    assert words(text) == []


@pytest.mark.parametrize("unit", ["a", "a ", "'", "a'", "1.", "\u0301", "ก", "ー", "東", "\u200d"])
def test_long_texts_are_cut(unit):
    assert len(words(unit * 100_000)) <= 100_000


@pytest.mark.parametrize("with_marks", [False, True])
def test_the_quick_pattern_cuts_every_character_as_the_exact_one(with_marks):
    exact, quick = tokens._exact_pattern(with_marks), tokens._quick_pattern(with_marks)
    beyond = tokens._beyond_tables()
    for start in range(0, 0x10000, 64):
        line = " ".join(f"a{chr(code)}b1{chr(code)}2" for code in range(start, start + 64))
        if beyond.search(line) is None:
            assert quick.findall(line) == exact.findall(line)


MIXED = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(
            "a1.,'’ \u3000\u2000\u200d\u200bกำ้東ー゙か\u0301한\u1100\u1161！ａ１\u0345नि१"
        ),
    ),
    max_size=40,
)


@settings(max_examples=150)
@given(MIXED)
def test_the_quick_pattern_cuts_texts_as_the_exact_one(text):
    text = tokens._normalized(text)
    for with_marks in (False, True):
        exact = tokens._exact_pattern(with_marks).findall(text)
        assert tokens._cut(text, with_marks=with_marks) == exact


def test_parts_of_words_are_told():
    assert all(map(is_part_of_word, [*"東かカ한กー"]))
    assert not any(map(is_part_of_word, ["a", "Paris", "नि", "город", "1", "é"]))
