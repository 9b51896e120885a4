"""The check finds damage, also of kinds it was not calibrated by, and leaves real systems alone."""

from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from arena import read_arena, sample_arena
from arena.data.errors import UsageError
from arena.data.seeds import generator
from surrogate.integrity.anomalies import FALSE_ALARM_RATE
from surrogate.integrity.calibration import learn_language
from surrogate.integrity.check import IntegrityCheck, learn_integrity
from surrogate.integrity.damage import (
    CUT,
    DAMAGES,
    EMPTIED,
    OTHER_QUESTIONS,
    PASTED,
    QUESTION_REPEATED,
    REPEATED,
    SHUFFLED,
    STUFFED,
    WRONG_NUMBERS,
    Original,
)

RAKUDA = Path(__file__).parents[4] / "shared" / "data" / "arenas" / "rakuda"
ARENAS = [
    pytest.param("sample", "en", id="sample-en"),
    pytest.param("sample", "ja", id="sample-ja"),
    pytest.param(
        *("rakuda", "ja"),
        id="rakuda",
        marks=pytest.mark.skipif(not RAKUDA.is_dir(), reason="the shared arenas are absent"),
    ),
]
NOT_CALIBRATED_BY = {
    "refusing": lambda own: ["I cannot say."] * len(own.texts),
    "letters shuffled": lambda own: [
        "".join(own.random.permutation(list(text)).tolist()) for text in own.texts
    ],
    "one answer to all": lambda own: [own.texts[0]] * len(own.texts),
    "question once": lambda own: list(own.questions),
    "half other questions, half repeated": lambda own: [
        pair[place % 2]
        for place, pair in enumerate(
            zip(DAMAGES[OTHER_QUESTIONS](own), DAMAGES[QUESTION_REPEATED](own), strict=True)
        )
    ],
}
ALWAYS_FOUND = {OTHER_QUESTIONS, SHUFFLED, QUESTION_REPEATED, REPEATED, EMPTIED, CUT}
OWN_MEASURE = {EMPTIED: "empty", QUESTION_REPEATED: "question"}
"""Kinds that other measures find as well, with the measure that is calibrated by them."""


@lru_cache
def arena_of(name):
    return sample_arena() if name == "sample" else read_arena(RAKUDA)


@lru_cache
def answers_of(name, language):
    arena = arena_of(name)
    return tuple(rows[rows["language"] == language] for rows in (arena.answers, arena.queries))


@lru_cache
def check_without(name, language, system):
    answers, queries = answers_of(name, language)
    return learn_language(answers[answers["system"] != system], queries, language).check


def changed(name, language, system, change):
    answers, queries = answers_of(name, language)
    own = answers[answers["system"] == system]
    asked = queries.set_index("query_id").loc[own["query_id"]]
    passages = [[item["text"] for item in items] for items in asked["passages"]]
    original = Original(
        list(own["answer"]), list(asked["query"]), passages, generator(0, "test", system)
    )
    return own.assign(answer=change(original))


def systems_of(name, language):
    names = sorted(answers_of(name, language)[0]["system"].unique())
    return names[:: len(names) // 3][:3]


def found(name, language, system, change):
    rows = changed(name, language, system, change)
    check = check_without(name, language, system)
    return check.anomalies(rows, answers_of(name, language)[1]).get(system, [])


@pytest.mark.parametrize(("name", "language"), ARENAS)
def test_damage_to_all_answers_of_a_system_it_has_not_seen_is_found(name, language):
    for system in systems_of(name, language):
        told = set(check_without(name, language, system).damages(are_told=True))
        assert told >= ALWAYS_FOUND
        for kind in told:
            anomalies = found(name, language, system, DAMAGES[kind])
            assert any(item.is_grave for item in anomalies), (system, kind)


@pytest.mark.parametrize(("name", "language"), ARENAS)
@pytest.mark.parametrize("kind", NOT_CALIBRATED_BY)
def test_kinds_it_was_not_calibrated_by_are_found(name, language, kind):
    for system in systems_of(name, language):
        anomalies = found(name, language, system, NOT_CALIBRATED_BY[kind])
        assert any(item.is_grave for item in anomalies), system


@pytest.mark.parametrize(("name", "language"), ARENAS)
@pytest.mark.parametrize("kind", OWN_MEASURE)
def test_kinds_are_found_without_the_measure_calibrated_by_them(name, language, kind):
    for system in systems_of(name, language):
        others = [
            item
            for item in found(name, language, system, DAMAGES[kind])
            if item.measure != OWN_MEASURE[kind]
        ]
        assert any(item.is_grave for item in others), system


def test_passages_of_an_answers_own_are_evidence():
    """What is pasted from them is copied, though the question's passages do not hold it."""
    system = systems_of("sample", "en")[0]
    answers, queries = answers_of("sample", "en")
    check = IntegrityCheck({"en": check_without("sample", "en", system)})
    own = answers[answers["system"] == system]
    pasted = [f"{text} {text[::-1]}" for text in own["answer"]]
    given = [[{"passage_id": "x", "text": f"{text} And more."}] for text in pasted]
    rows = own.assign(answer=pasted)

    def measures(rows):
        return {item.measure for item in check.anomalies(rows, queries).get(("en", system), ())}

    assert "passages" not in measures(rows)
    assert "passages" in measures(rows.assign(passages=given))


def test_real_systems_are_left_alone():
    judged, alarms = 0, 0
    cases = [("sample", name) for name in arena_of("sample").info.languages]
    if RAKUDA.is_dir():
        cases.append(("rakuda", "ja"))
    for case in cases:
        answers, queries = answers_of(*case)
        looked_at = learn_language(answers, queries, case[1]).judged
        judged += answers["system"].nunique()
        alarms += sum(any(item.is_grave for item in items) for items in looked_at.values())
    assert judged >= 72
    assert alarms <= FALSE_ALARM_RATE * judged


@pytest.mark.skipif(not RAKUDA.is_dir(), reason="the shared arenas are absent")
def test_what_cannot_be_told_is_said():
    check = check_without("rakuda", "ja", systems_of("rakuda", "ja")[0])
    assert check.damages(are_told=False) == (WRONG_NUMBERS,)  # there are no passages
    assert not {PASTED, STUFFED} & set(check.damages(are_told=True))
    assert WRONG_NUMBERS in check_without("sample", "en", systems_of("sample", "en")[0]).damages(
        are_told=True
    )


def test_a_quarter_of_the_answers_is_noted_and_most_of_them_are_grave():
    system = systems_of("sample", "en")[0]

    def moved(share):
        def some(own):
            pairs = zip(own.texts, DAMAGES[OTHER_QUESTIONS](own), strict=True)
            return [
                other if place < share * len(own.texts) else text
                for place, (text, other) in enumerate(pairs)
            ]

        anomalies = found("sample", "en", system, some)
        return next((item for item in anomalies if item.measure == "other_questions"), None)

    assert moved(0.1) is None
    assert moved(0.3).is_grave is False
    assert moved(0.6).is_grave is True
    assert moved(0.6).share == pytest.approx(0.6, abs=0.15)
    assert moved(1.0).sentence.endswith("of its answers fit other questions better than their own")


def test_names_and_order_of_rows_change_nothing():
    answers, queries = answers_of("sample", "sw")
    names = sorted(answers["system"].unique())
    other = dict(zip(names, names[::-1], strict=True))
    renamed = answers.assign(system=answers["system"].map(other)).sample(frac=1, random_state=1)
    one, two = (learn_language(rows, queries, "sw").check for rows in (answers, renamed))
    for name, array in one.arrays().items():
        np.testing.assert_allclose(array, two.arrays()[name], rtol=1e-3, atol=1e-6)


def test_fewer_than_three_systems_tell_nothing():
    answers, queries = answers_of("sample", "en")
    two = answers[answers["system"].isin(sorted(answers["system"].unique())[:2])]
    assert learn_language(two, queries, "en") is None
    check, anomalies = learn_integrity(two, queries, {"en": ["a"]})
    assert (dict(check.languages), anomalies) == ({}, {})
    assert check.anomalies(answers, queries) == {}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    answers, queries = answers_of("sample", "en")
    systems = sorted(answers["system"].unique())
    check, _ = learn_integrity(answers, queries, {"en": systems})
    path = tmp_path_factory.mktemp("check") / "integrity.zip"
    check.save(path)
    return check, path


def test_a_loaded_check_finds_what_the_saved_one_does(saved):
    check, path = saved
    queries = answers_of("sample", "en")[1]
    loaded = IntegrityCheck.load(path)
    rows = pd.concat(
        changed("sample", "en", systems_of("sample", "en")[0], DAMAGES[kind]).assign(system=kind)
        for kind in DAMAGES
    )
    assert loaded.anomalies(rows, queries) == check.anomalies(rows, queries)
    again = path.with_name("again.zip")
    loaded.save(again)
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("words", lambda array: array[:-1]),
        ("sums", lambda array: array.astype(np.int16)),
        ("levels", lambda array: np.full_like(array, np.inf)),
        ("weights", lambda array: np.full_like(array, np.nan)),
        ("pair_codes", lambda array: array + np.uint32(2**20)),
        ("effects", lambda array: array[:2]),
    ],
)
def test_arrays_of_something_else_are_refused(saved, name, change):
    check, _ = saved
    language = check.languages["en"]
    arrays = dict(language.arrays())
    arrays[name] = change(arrays[name])
    with pytest.raises(UsageError, match="its "):
        type(language).from_arrays(language.questions, arrays)


def test_a_damaged_file_is_refused(saved):
    path = saved[1].with_name("damaged.zip")
    content = bytearray(saved[1].read_bytes())
    for cut in (b"", bytes(content[:100]), bytes(content[: len(content) // 2])):
        path.write_bytes(cut)
        with pytest.raises(UsageError, match="no integrity check"):
            IntegrityCheck.load(path)
