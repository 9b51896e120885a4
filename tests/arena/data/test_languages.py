"""Languages: codes, names and tags, and what is none."""

import pandas as pd
import pytest

from arena import Arena, DataError
from arena.data.languages import is_language_code, language_code, language_hint, read_language


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("pt-BR", "pt"),
        ("zh_CN", "zh"),
        ("zh-Hans", "zh"),
        ("en-us", "en"),
        ("en_US.UTF-8", "en"),
        ("zh-Hant-TW", "zh"),
        ("eng", "en"),
        ("ger", "de"),
        ("sr-Latn-RS", "sr"),
        ("es-419", "es"),
        ("cmn-Hans", "zh"),
        ("en-ru_RU", "en"),
    ],
)
def test_a_tag_loses_its_region_and_says_so(given, code):
    reading = read_language(given)
    assert reading.code == code
    assert given in reading.remark
    assert code in reading.remark


@pytest.mark.parametrize("name", ["en", "EN", "und", "yue", "English", " farsi ", "Swahili", "zh"])
def test_codes_and_english_names_are_read_without_a_remark(name):
    assert read_language(name).code
    assert read_language(name).remark == ""


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("jp", "ja"), ("iw", "he"), ("cn", "zh"), ("gr", "el"), ("jp-JP", "ja"), ("kz", "kk")],
)
def test_codes_that_are_none_are_refused_with_a_suggestion(wrong, right):
    assert language_code(wrong) is None
    assert repr(right) in read_language(wrong).hint
    assert not is_language_code(wrong)


@pytest.mark.parametrize("wrong", ["xx", "qq", "zz-ZZ", "Klingon", "", "e", "english, german", "1"])
def test_what_is_no_language_is_refused(wrong):
    assert language_code(wrong) is None
    assert language_hint(wrong)


@pytest.mark.parametrize("code", ["jp", "xx", "eng", "pt-BR"])
def test_an_arena_has_codes_alone(code):
    questions = [{"query_id": "1", "language": code, "query": "q", "passages": []}]
    answers = pd.DataFrame(
        [{"query_id": "1", "language": code, "system": name, "answer": "a"} for name in "ab"]
    )
    with pytest.raises(DataError, match="language"):
        Arena.from_frames(pd.DataFrame(questions), answers)
