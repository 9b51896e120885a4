"""Names of systems that look the same as others', or show other than they are written."""

import unicodedata

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import Arena, DataError, diagnose
from arena.adapters.judgments import checked_judgments
from arena.data.folder import open_arena, read_answers, write_arena
from arena.data.tables.systems import odd_names, seen_name, twins

TWINS = {
    "composed and decomposed": ("caf\u00e9", "cafe\u0301"),
    "zero width space": ("gpt", "g\u200bpt"),
    "zero width joiner": ("gpt", "gp\u200dt"),
    "byte order mark": ("gpt", "\ufeffgpt"),
    "soft hyphen": ("gpt", "g\u00adpt"),
    "override": ("gpt", "\u202dgpt\u202c"),
    "isolate": ("gpt", "\u2068gpt\u2069"),
    "control": ("gpt", "gpt\x07"),
    "spaces": ("a b", "a  b "),
    "Hangul": ("\uac00", "\u1100\u1161"),
}


def arena_of(*systems):
    questions = pd.DataFrame({"query_id": ["1", "2"], "query": ["q", "r"]})
    answers = pd.DataFrame(
        [(q, s, f"{s} {q}") for q in ("1", "2") for s in systems],
        columns=["query_id", "system", "answer"],
    )
    judgments = pd.DataFrame(
        {"query_id": ["1", "2"], "system_a": systems[0], "system_b": systems[1], "winner": "a"}
    )
    return Arena.from_frames(questions, answers, judgments, language="en", judge="j")


@pytest.mark.parametrize("kind", TWINS)
def test_twins_are_refused_wherever_systems_are_named(kind, tmp_path):
    first, second = TWINS[kind]
    assert twins([second, first]) == [tuple(sorted((first, second)))]
    with pytest.raises(DataError, match=r"looks the same as .*, but is another name") as caught:
        arena_of(first, second)
    assert str(caught.value).isascii() or "…" in str(caught.value)
    judgments = pd.DataFrame({"system_a": [first], "system_b": [second], "winner": ["a"]})
    with pytest.raises(DataError, match="looks the same as"):
        checked_judgments(judgments)
    arena = arena_of("one", "two")
    path = tmp_path / "answers.jsonl"
    rows = arena.answers.assign(system=[first, second, first, second])
    rows.to_json(path, orient="records", lines=True)
    with pytest.raises(DataError, match="looks the same as"):
        read_answers(path, arena.queries)
    write_arena(arena, tmp_path / "arena")
    info = (tmp_path / "arena/arena.json").read_text()
    (tmp_path / "arena/arena.json").write_text(
        info.replace('"two"', f'"two", {_json(first)}, {_json(second)}')
    )
    with pytest.raises(DataError, match=r"arena.json: systems = .*looks the same as"):
        open_arena(tmp_path / "arena")


def _json(text):
    return '"' + "".join(f"\\u{ord(letter):04x}" for letter in text) + '"'


ODD = {
    "a\u202eb": "direction of writing",
    "a\u2067b": "direction of writing",
    "a\x1b[31mb": "control characters",
    "a\nb": "control characters",
    "a\u2028b": "control characters",
    "a\u200bb": "invisible characters",
    "a\U000e0041b": "invisible characters",
    "a\u3164b": "invisible characters",
}


@pytest.mark.parametrize("name", ODD)
def test_names_that_show_otherwise_are_reported(name):
    assert ODD[name] in odd_names(["plain", name])[name]
    findings = diagnose(arena_of("plain", name)).findings
    (said,) = [str(finding) for finding in findings if finding.check == "names"]
    assert ascii(name) in said
    assert ODD[name] in said


@pytest.mark.parametrize("name", ["gpt-4o", "मॉडल", "نموذج", "模型 1", "e\u0301x", "Ⅳ", "a/b:c@d"])
def test_other_names_are_not(name):
    assert odd_names([name]) == {}


@given(st.text(max_size=20))
def test_what_is_seen_is_composed_and_stays(name):
    seen = seen_name(name)
    assert seen_name(seen) == seen
    assert seen_name(unicodedata.normalize("NFD", name)) == seen
    assert odd_names([seen]) == {}


@given(st.lists(st.text(max_size=4), max_size=6))
def test_names_seen_as_different_are_no_twins(names):
    found = twins(names)
    assert len(found) == len(set(names)) - len({seen_name(name) for name in names})
    assert all(seen_name(first) == seen_name(name) and first != name for first, name in found)


@pytest.mark.parametrize(
    ("times", "judge", "severity"), [(3, "j", "warning"), (2, "judge", "info")]
)
def test_repeated_judgments_are_said(times, judge, severity):
    row = {"query_id": "1", "language": "en", "system_a": "a", "system_b": "b", "judge": judge}
    judgments = pd.DataFrame([row | {"winner": "a"}] * times + [row | {"winner": "b"}])
    arena = arena_of("a", "b")
    (said,) = [
        item
        for item in diagnose(
            Arena.from_frames(arena.queries.drop(columns="passages"), arena.answers, judgments)
        ).findings
        if item.check == "copies"
    ]
    assert said.severity == severity
    assert f"{times} judgments of the same question, sides and judge as others" in said.sentence
    assert f"{times - 1} with the same verdict" in said.sentence


def test_other_orders_judges_and_questions_are_no_repeats():
    row = {"query_id": "1", "language": "en", "system_a": "a", "system_b": "b", "judge": "j"}
    others = [{"query_id": "2"}, {"judge": "k"}, {"system_a": "b", "system_b": "a"}]
    judgments = pd.DataFrame([row | {"winner": "a"} | other for other in ({}, *others)])
    arena = arena_of("a", "b")
    questions = arena.queries.drop(columns="passages")
    findings = diagnose(Arena.from_frames(questions, arena.answers, judgments)).findings
    assert "copies" not in {finding.check for finding in findings}
