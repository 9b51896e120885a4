import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sentences import SENTENCES

from features import Question, Sample
from features.declare.sample import EMPTY_ANSWER, NO_LETTERS, NO_REFERENCE_SYSTEM
from features.measures.registry import FEATURES, GROUPS
from features.text.tokens import SCRIPTS


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("a b c d", 0.0),
        ("a b c d a b c d", 4 / 8),
        ("A b c D. a B, c d!", 4 / 8),
        ("a b c a b c", 0.0),
        ("a b c d x b c d e", 0.0),
        # The run starting at the second word has stood at the first: words 2 to 5.
        ("no no no no no", 4 / 5),
        # Eight characters are a run, and they have to stand before.
        ("北京是中国的首都", 0.0),
        ("北京是中国的首都北京是中国的首", 0.0),
        ("北京是中国的首都,北京是中国的首都", 8 / 16),
        ("!!!", EMPTY_ANSWER),
    ],
)
def test_golden_repetition(text, share, make_sample):
    assert FEATURES["repetition"].measure(make_sample(text)) == share


@pytest.mark.parametrize(
    ("text", "language", "share"),
    [
        ("Paris is big", "en", 0.0),
        ("巴黎 Paris", "zh", 0.0),
        ("巴黎は Paris", "zh", 1 / 8),
        ("東京タワー Tokyo", "ja", 0.0),
        ("서울은 首都", "ko", 2 / 5),
        ("Суфи", "hi", 1.0),
        ("राजधानी Paris है", "hi", 0.0),
        # Marks are no letters: पेरिस has three, Moskva in Cyrillic six.
        ("पेरिस Москва", "hi", 6 / 9),
        ("พริส 巴黎", "th", 2 / 5),
        ("Αθήνα", "el", 0.0),
        ("Αθήνα", "xx", 1.0),
        ("42!", "en", NO_LETTERS),
        ("", "en", NO_LETTERS),
    ],
)
def test_golden_script_mixing(text, language, share, make_sample):
    assert FEATURES["script_mixing"].measure(make_sample(text, language)) == share


def test_every_miracl_language_has_its_scripts_listed():
    latin = {"de", "en", "es", "fi", "fr", "id", "sw", "yo"}
    assert {code for code in SENTENCES if code not in SCRIPTS} == latin


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Plain text, 3 < 5 & 7 > 2: [1], *emphasis*, **bold**, `code`.", 0),
        ("```\nx\n``` and **b**", 0),
        ("See https://example.org/a?b=c&d=e and C:\\new.", 0),
        ("It is.<|im_end|>", 1),
        ("[INST] Say it. [/INST] It is.</s>", 3),
        ("<think>so</think> It is.", 0),
        ("It is, said <think> it.", 1),
        ("It is. ##Answer it is", 1),
        ("### Response: It is.", 1),
        ("### Responses in general", 0),
        ("It is.\nUser: and now?\nAssistant: now too", 2),
        ("The user: a person", 0),
        ("<p>It is<br/>big &amp; old</p>", 4),
        ("It is **big", 1),
        ("```python\nx", 1),
        ('{"answer": "Paris"}', 1),
        ("{Paris}", 0),
        ("It is.\\n\\nIt was.\\n", 1),
        ("caf\\u00e9", 1),
        ("", 0),
    ],
)
def test_golden_artifacts(text, count, make_sample):
    assert FEATURES["markup_artifacts"].measure(make_sample(text)) == count


@settings(max_examples=100)
@given(text=st.text(st.characters(), max_size=60), code=st.sampled_from(sorted(SENTENCES)))
def test_any_text_has_values_in_range(text, code):
    question = Question(code, "q", "?", (), NO_REFERENCE_SYSTEM)
    for feature in GROUPS["fluency"]:
        value = feature.measure(Sample(question, text))
        if feature is FEATURES["markup_artifacts"]:
            assert value >= 0
        elif isinstance(value, float):
            assert 0.0 <= value <= 1.0
