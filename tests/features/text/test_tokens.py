import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from features.text.tokens import first_words, words, words_and_marks

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


@given(st.text(st.characters(max_codepoint=0xFFFF), max_size=60))
def test_a_letter_past_the_first_plane_changes_no_other_word(text):
    """Texts with one are cut by another library, at a sixth of the speed."""
    assert words(f"{text} \U00010000") == [*words(text), "\U00010000"]
    assert words_and_marks(f"{text} \U00010000") == [*words_and_marks(text), "\U00010000"]


@given(st.text(max_size=40), st.integers(0, 9))
def test_first_words_are_the_first_of_all(text, count):
    assert first_words(text, count) == words(text)[:count]
