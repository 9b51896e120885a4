"""Unit tests of judges: those in files, what is wrong with them, and those of this project."""

from collections import Counter
from itertools import product

import pytest
from grouse_samples import lines_of, written

from arena import DataError, UsageError
from surrogate_arena.papers.grouse.metrics import JUDGED_METRICS
from surrogate_arena.papers.grouse.unit_tests import (
    LANGUAGES,
    TYPE_NAMES,
    Condition,
    builtin_tests,
    choose_tests,
    read_unit_tests,
)


def conditions(**texts):
    known = written()["conditions"]
    return known | {f"{name}_condition": text for name, text in texts.items()}


def read(tmp_path, *lines, name="tests.jsonl"):
    path = tmp_path / name
    path.write_text(lines_of(*lines), encoding="utf-8")
    return read_unit_tests(path)


def test_the_published_schema(tmp_path):
    said = conditions(answer_relevancy="<5", faithfulness="==1")
    first, second = read(
        tmp_path,
        written(input="Où ? <b>", metadata={"test_type": "Low relevancy 1", "goal": "…"}),
        written(
            conditions=said,
            metadata={"test_type": "Highest marks 3", "language": "fr", "topic": "river"},
        ),
    )
    assert (first.test_id, first.test_type, first.language) == (
        "tests.jsonl:1",
        "low_relevancy_1",
        None,
    )
    assert first.sample.question == "Où ? <b>"
    assert first.sample.references == ("A & B", "C")
    assert set(first.conditions) == set(JUDGED_METRICS)
    assert second.conditions["answer_relevancy"] == Condition("<", 5.0)
    assert second.conditions["faithfulness"] == Condition("==", 1.0)
    assert (second.test_type, second.language, second.topic) == ("highest_marks_3", "fr", "river")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (written(references=["A", ""]), r"references.1 = '': is empty"),
        (written(conditions=None), r"conditions = None: is missing"),
        (written(conditions=conditions(completeness="=5")), r"conditions.completeness_condition"),
        (written(metadata={"language": "French"}), r"metadata.language = 'French'"),
        (written(input="\ud800"), r"half a surrogate"),
    ],
)
def test_faults_name_line_field_and_hint(tmp_path, line, message):
    path = tmp_path / "tests.jsonl"
    text = lines_of(written()) + lines_of(line).replace("\ud800", "\\ud800")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"tests\.jsonl:2: .*" + message):
        read_unit_tests(path)


def test_choosing_by_language_and_number(tmp_path):
    tests = read(
        tmp_path,
        *(
            written(metadata={"test_type": kind, "language": language})
            for language in ("en", "de")
            for kind in ("highest_marks_1", "highest_marks_1", "highest_marks_2")
        ),
    )
    assert len(choose_tests(tests)) == 6
    assert len(choose_tests(tests, limit=1)) == 4
    chosen = choose_tests(tests, ["de"], limit=1)
    assert [test.test_id for test in chosen] == ["tests.jsonl:4", "tests.jsonl:6"]
    with pytest.raises(UsageError, match="unknown language of unit tests 'fr'; use one of en, de"):
        choose_tests(tests, ["fr"])


TESTS, TRAINING = builtin_tests(), builtin_tests(is_training=True)
TOPICS = ("river", "vaccine", "bridge", "composer")


def test_each_type_topic_and_language_is_there_once():
    found = Counter((test.language, test.topic, test.test_type) for test in TESTS)
    assert set(found) == set(product(LANGUAGES, TOPICS, TYPE_NAMES))
    assert set(found.values()) == {1}
    assert len(TESTS) == 16 * 4 * 3
    assert [test.test_type for test in TRAINING] == list(TYPE_NAMES)
    assert not {test.sample.question for test in TRAINING} & {t.sample.question for t in TESTS}
