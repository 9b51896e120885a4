import importlib.util

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.data.errors import MissingDependencyError
from arena.data.languages import MIRACL_LANGUAGES
from features.text import sentences
from features.text.sentences import (
    ends_in_mid_sentence,
    require_sentences,
    sentence_spans,
    split_sentences,
)


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("ar", ["ما هي العاصمة؟", "باريس.", "نعم!"]),
        ("bn", ["রাজধানী প্যারিস।", "এটি বড়।"]),
        ("de", ["Das kostet z. B. 3,50 Euro.", "Dr. Meier zahlt."]),
        ("en", ["Dr. Smith paid 3.14 dollars.", "Was it e.g. the U.S. Army?", "Yes!"]),
        ("es", ["¿Es París?", "Sí, según el Sr. López.", "¡Claro!"]),
        ("fa", ["پایتخت کجاست؟", "پاریس است."]),
        ("fi", ["Pääkaupunki on Pariisi.", "Se on suuri."]),
        ("fr", ["Il habite p. ex. à Paris.", "Vraiment ?", "Oui."]),
        ("hi", ["राजधानी पेरिस है।", "यह बड़ा है।"]),
        ("id", ["Prof. Budi tinggal di Paris.", "Ya."]),
        ("ja", ["首都はパリです。", "本当ですか？", "はい！"]),
        ("ko", ["수도는 파리이다.", "정말 크다."]),
        ("ru", ["Столица — Париж.", "Да?", "Да, 3.14."]),
        ("sw", ["Mji mkuu ni Paris.", "Ni mkubwa."]),
        ("te", ["రాజధాని పారిస్.", "ఇది నగరం."]),
        ("th", ["เขาเกิดในปี พ.ศ. 2540 ที่กรุงเทพครับ", "ผมไม่ไปครับ"]),
        ("yo", ["Olú-ìlú ni Párísì.", "Ó tóbi."]),
        ("zh", ["首都是巴黎。", "对吗？", "对！"]),
        ("xx", ["One.", "二。", "तीन।", "Four؟"]),
    ],
)
def test_sentences_of_every_language(language, expected):
    assert split_sentences(" ".join(expected), language) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t\u2028 ", []),
        ("One\nTwo\n\nThree", ["One", "Two", "Three"]),
        ("One\r\nTwo\x85Three\u2029Four", ["One", "Two", "Three", "Four"]),
        (
            "- one\n* two\n1. three\n(2) four. Five",
            ["- one", "* two", "1. three", "(2) four.", "Five"],
        ),
        ("Three: • one • two ▪ three", ["Three:", "• one", "• two", "▪ three"]),
        ("１．東京。２０２０年", ["１．東京。", "２０２０年"]),
        ("In 1990. Then", ["In 1990.", "Then"]),
        ("1. ", ["1."]),
        ("A\u2028.", ["A", "."]),
        ("B\xa0.\u3000C", ["B\xa0.\u3000C"]),
        ("Half \ud800 a pair. Next.", ["Half \ud800 a pair.", "Next."]),
        ("\x7f\nNext.", ["\x7f", "Next."]),
        ("\u200fهذا. \u200fذلك.", ["\u200fهذا.", "\u200fذلك."]),
    ],
)
def test_lines_items_and_odd_characters(text, expected):
    assert split_sentences(text, "en") == expected


ODD = (
    "aA1 .?!。।؟\"'“”「」（）()[]-*•:;,กา字😀é\u0301"
    "\t\n\r\x00\x1c\x85\xa0\u2028\u3000\u200f\ufeff\ud800"
)
LANGUAGES = [*MIRACL_LANGUAGES, "xx", "zzz"]


@given(
    text=st.text(ODD, max_size=60) | st.text(st.characters(codec=None), max_size=60),
    language=st.sampled_from(LANGUAGES),
)
@example(text="A\x85.B", language="en")
@example(text="「a。" * 900, language="ja")
@example(text="One sentence without an end " * 200, language="en")
def test_no_text_is_lost(text, language):
    found = split_sentences(text, language)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert found == [text[start:end] for start, end in sentence_spans(text, language)]
    assert all(sentence and sentence == sentence.strip() for sentence in found)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize(
    "unit", ["Hello you. ", "「a。", "（あ。", '("hi. ") ', "• ", "\n", "a", "?"]
)
def test_long_texts_of_any_kind_are_cut_in_linear_time(unit, language):
    text = unit * (30_000 // len(unit))
    found = split_sentences(text, language)
    assert "".join("".join(found).split()) == "".join(text.split())


@pytest.mark.parametrize("absent", ["pythainlp", "pycrfsuite"])
def test_thai_without_its_packages_is_refused(absent, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(sentences, "find_spec", lambda name: None if name == absent else find(name))
    with pytest.raises(MissingDependencyError, match=r"\[thai\]"):
        split_sentences("ผมไปครับ", "th")
    with pytest.raises(MissingDependencyError, match="cutting Thai"):
        require_sentences(["en", "th"])
    require_sentences(["en", "zh"])
    assert split_sentences("No Thai here. None.", "th") == ["No Thai here.", "None."]
    assert split_sentences("ผมไปครับ", "en") == ["ผมไปครับ"]


@pytest.mark.parametrize(
    ("text", "is_cut"),
    [
        ("The tower was built in 1889. It is made of iron and of", True),
        ("The tower was built by people who came from the town,", True),
        ("1. The tower is tall.\n2. The tower is old.\n3.", True),
        ("Here is how to do it.\n```\nprint(1)", True),
        ("この塔は古い。1889年に建てられ、多くの人々が訪れる場所となって", True),
        ("برج قديم. بني البرج في سنة طويلة مضت على يد أهل", True),
        ("| Tower | Year |\n|---|---|\n| Paris | 1889 |\n| Ber", True),
        (
            "1. It is tall.\n2. It is old.\n3. It is iron.\n4. The tower was built by people who",
            True,
        ),
        ("The tower was built in 1889.", False),
        ("この塔は1889年に建てられました。", False),
        ("The tower", False),
        ("De 10 h à 16 h", False),
        ("The tower was built by people who came from the town", False),
        ("- The tower is tall.\n- It was built in France\n- It is visited by many people", False),
        ("Dear all,\n\nthe tower is closed today.\n\nKind regards\nAnna", False),
        ("It was built in 1889 [3].\n\nSource: https://example.org/tower", False),
        ("The tower is closed in winter, so write a letter to tower@example.org", False),
        ("The sum of both is then 3 + 4 * 5 = 23", False),
        ("roses are red and violets are blue\nsugar is sweet and so are you", False),
        ("- iron that was made in France\n- stone that came from Italy", False),
        ("เมืองนี้สร้างขึ้นเมื่อนานมาแล้ว", None),
        ("", None),
    ],
)
def test_a_text_that_ends_in_mid_sentence(text, is_cut):
    assert ends_in_mid_sentence(text) is is_cut
