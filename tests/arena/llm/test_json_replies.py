"""JSON in replies: as models write it, and never a value that the reply does not state."""

import ast
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.llm.json_replies import JsonReplyError, last_json_object

WHOLE = {"answer_2": {"why": "Both facts.", "score": 5}}


def read(text, is_whole=True):
    return last_json_object(text, ["answer_2"], is_whole)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(WHOLE),
        f"Sure!\n```json\n{json.dumps(WHOLE, indent=2)}\n```\nIs {{this}} fine?",
        f"```\n{json.dumps(WHOLE)}\n```",
        '{"answer_2": {"why": "Both facts.", "score": 5} // the best {answer}\n}',
        '{"answer_2": {"why": "Both facts.", # it\'s "good"\n "score": 5}}',
        '{"answer_2": {/* "score": 1, */ "why": "Both facts.", "score": 5}}',
        '{"answer_2": {"why": "Both facts.", "score": 5,},}',
        "{'answer_2': {'why': 'Both facts.', 'score': 5}}",
        "{“answer_2”: {“why”: “Both facts.”, “score”: 5}}",
        '{answer_2: {why: "Both facts.", score: 5}}',
        '{"answer_2":\t{"why": "Both facts."\n "score": 5}}',
        '{{"answer_2": {"why": "Both facts.", "score": 5}}}',
        r"As $\frac{a}{b}$ says, {x}: " + json.dumps(WHOLE),
        '{"answer_2": {"why": "Both facts.", "score": 5}',
        '```json\n{"answer_2": {"why": "Both facts.", "score": 5\n```',
        'Draft: {"answer_2": {"score": 1}}. Final: ' + json.dumps(WHOLE),
        'Form: {"answer_2": {"why": ..., "score": S}}\n' + json.dumps(WHOLE),
        json.dumps(WHOLE) + ' {"other": 1}',
        '{"Answer 2": {"why": "Both facts.", "score": 5}}',
        json.dumps(json.dumps(WHOLE)),
        f"```json\n{json.dumps(json.dumps(WHOLE))}\n```",
    ],
)
def test_objects_are_read_as_models_write_them(text):
    assert read(text) == WHOLE


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('"Both facts.\nNothing is missing."', "Both facts.\nNothing is missing."),
        ('"a\tb"', "a\tb"),
        (r'"\(x\) and a\_b"', r"\(x\) and a\_b"),
        ('"he said "no" to it"', 'he said "no" to it'),
        ('"see http://x.org // a # b"', "see http://x.org // a # b"),
        ("None", None),
        ("True", True),
        ("'it's fine'", "it's fine"),
        ('"{\\"answer_2\\": {\\"score\\": 1}}"', '{"answer_2": {"score": 1}}'),
    ],
)
def test_values_are_what_they_say(written, meant):
    text = f'{{"answer_2": {{"why": {written}, "score": 5,}}}}'
    assert read(text) == {"answer_2": {"why": meant, "score": 5}}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I would say 5.",
        "The set {answer_2} is fine.",
        '{"answer_1": {"score": 5}}',
        '{"a": ' * 5000,
        '{"a": ' * 5000 + "1" + "}" * 5000,
    ],
)
def test_a_reply_without_the_object_has_no_value(text):
    with pytest.raises(JsonReplyError):
        read(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"answer_2": {"score": ',
        '{"answer_2": {"score": 5, "why": "he sa',
        '{"answer_2": {"score": 5}',
        '{"answer_2": {"why": "\\"answer_2\\": {\\"score\\": 5}", "sc',
    ],
)
def test_a_reply_that_was_cut_off_is_not_completed(text):
    with pytest.raises(JsonReplyError, match="cut off"):
        read(text, is_whole=False)
    assert read(json.dumps(WHOLE) + " so I", is_whole=False) == WHOLE


@pytest.mark.parametrize(
    "text",
    ["{" * 100_000, '{"' * 50_000, '{"a": "' + '"x' * 50_000, '{"a": 1 ' + "/*" * 50_000,
     r"\frac{a}{b}" * 10_000, '{"a": "' + "\\" * 60_000 + '",}'],
)  # fmt: skip
def test_hostile_replies_take_no_long_time(text):
    started = time.process_time()
    with pytest.raises(JsonReplyError):
        read(text)
    assert time.process_time() - started < 5


SCALARS = st.none() | st.booleans() | st.integers(-999, 999) | st.text(max_size=20)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1), inner, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = VALUES.map(lambda value: {"answer_2": value, "z": 1})


@given(OBJECTS, st.sampled_from(["", "Sure! ", "```json\n"]), st.sampled_from(["", "\n```", " ok"]))
def test_json_is_read_as_it_is(value, before, after):
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        assert read(before + text + after) == value
        assert read(before + text + after, is_whole=False) == value


PLAIN = st.text("abz {}[],:.!\n", max_size=20)
PLAIN_OBJECTS = st.dictionaries(
    st.text("abc", min_size=1), st.none() | st.booleans() | st.integers(0, 99) | PLAIN, max_size=4
).map(lambda value: {"answer_2": value, "z": 1})


def stripped(value):
    """White space at the edges of texts may be lost where an object is repaired."""
    if isinstance(value, dict):
        return {key: stripped(part) for key, part in value.items()}
    return value.strip() if isinstance(value, str) else value


@given(PLAIN_OBJECTS, st.integers(0, 4))
def test_a_manner_of_writing_changes_no_value(value, manner):
    """It is the same object, or none; but for texts that look like JSON it is the same."""
    text = json.dumps(value, indent=1)
    text = {
        0: text.replace("\\n", "\n"),
        1: text.replace(",\n", ", // so\n"),
        2: text.replace("\n}", ",\n}"),
        3: repr(value),
        4: text.replace(": ", ":\t# why\n"),
    }[manner]
    texts = [part for part in value["answer_2"].values() if isinstance(part, str)]
    try:
        record = read(text)
    except JsonReplyError:
        assert any(set(part) & set("{}[],:") for part in texts) or not value["answer_2"]
        return
    if not any(set(part) & set(",:{}[]") for part in texts):
        assert stripped(record) == stripped(value)


@given(PLAIN_OBJECTS, st.data())
def test_what_was_cut_off_holds_no_value_that_was_not_there(value, data):
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    with pytest.raises(JsonReplyError):
        read(cut, is_whole=False)


@given(st.text("{}[]\"':,/*#\\abn 12\n`“”", max_size=60))
def test_any_text_is_read_or_refused(text):
    try:
        record = read(text)
    except JsonReplyError:
        return
    assert "answer_2" in record


@given(PLAIN_OBJECTS)
def test_python_literals_are_their_values(value):
    text = repr(value)
    assert ast.literal_eval(text) == value
    texts = [part for part in value["answer_2"].values() if isinstance(part, str)]
    try:
        record = read(text)
    except JsonReplyError:
        assert "'" in text
        return
    # Marks of JSON within single quotes are more than a repair can tell.
    if not any(set(part) & set(",:{}[]") for part in texts):
        assert record["z"] == 1
