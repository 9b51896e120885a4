"""What a diagnosis counts and says of small arenas."""

import itertools
import json
from dataclasses import replace
from html import escape

import numpy as np
import pandas as pd
import pytest
from simulations import small_simulation

from arena import Arena
from arena.data.errors import UsageError
from arena.quality.decisive_verdicts import first_place
from surrogate_arena.diagnosis import diagnose

CYCLE = [("q1", "x", "y", "a"), ("q1", "y", "z", "a"), ("q1", "z", "x", "a")]


def judgments(rows, language="en", judge="judge"):
    table = pd.DataFrame(rows, columns=["query_id", "system_a", "system_b", "winner"])
    return table.assign(language=language, judge=judge)


def said(found, name):
    return [str(remark) for remark in found.remarks if remark.name == name]


def counts(found, *names):
    return found.counts.iloc[0][list(names)].tolist()


def test_counts_judgments_questions_and_groups():
    found = diagnose(judgments([*CYCLE, ("q2", "y", "x", "tie")]))
    assert counts(found, "judgments", "ties", "systems", "questions") == [4, 1, 3, 2]
    assert counts(found, "groups", "strong_groups", "pairs", "never_met") == [1, 1, 3, 0]
    assert not said(found, "connected")
    assert not said(found, "both ways")
    assert found.worst == "warning"  # one question each
    assert not said(found, "length")


def test_a_disconnected_arena_is_an_error():
    found = diagnose(judgments([*CYCLE, ("q1", "u", "v", "tie")]))
    assert found.worst == found.remarks[0].severity == "error"
    (sentence,) = said(found, "connected")
    assert "5 systems: they fall into 2 groups" in sentence
    assert sentence.endswith("outside the largest: u, v")


def test_wins_that_all_go_one_way_are_a_warning():
    found = diagnose(judgments([*CYCLE, ("q1", "top", "x", "a"), ("q2", "y", "low", "a")]))
    assert counts(found, "groups", "strong_groups") == [1, 3]
    (sentence,) = said(found, "both ways")
    assert "3 groups, the largest of 3" in sentence
    assert said(found, "wins all")[0].startswith("en, judge: top: wins every comparison")
    assert said(found, "loses all")[0].startswith("en, judge: low: loses every comparison")


def test_judges_and_languages_are_looked_at_one_by_one():
    parts = [
        judgments(CYCLE),
        judgments(CYCLE[:1], judge="other"),
        judgments([("q1", "u", "v", "b")], language="fi"),
    ]
    table = pd.concat(parts, ignore_index=True)
    found = diagnose(table)
    keys = [("en", "judge"), ("en", "other"), ("fi", "judge")]
    assert list(found.counts[["language", "judge"]].itertuples(index=False, name=None)) == keys
    assert found.counts["systems"].tolist() == [3, 2, 2]
    one = diagnose(table, judge="other")
    assert one.counts["judge"].tolist() == ["other"]
    assert one.agreement["items"].tolist() == [1]  # still held against the other judge


def test_copies_count_once_and_are_said():
    rows = [(f"q{n}", "x", "y", "a") for n in range(4)]
    found = diagnose(judgments([*rows, *rows], judge="m"))
    assert counts(found, "judgments") == [4]
    assert "4 judgments left out" in said(found, "copies")[0]
    again = diagnose(judgments([*rows, *rows[:1], ("q1", "x", "y", "b")], judge="m"))
    assert counts(again, "judgments") == [5]
    assert "1 judgment left out" in said(again, "copies")[0]
    assert "1 judgment of the same question" in said(again, "repeats")[0]


def test_votes_of_unnamed_people_all_count():
    rows = [(f"q{n}", "x", "y", "a") for n in range(4)]
    found = diagnose(judgments([*rows, *rows], judge="human"))
    assert counts(found, "judgments") == [8]
    assert not said(found, "copies")
    assert "4 judgments of the same question" in said(found, "repeats")[0]


def small_arena(rows, answers, **options):
    table = pd.DataFrame(answers, columns=["query_id", "system", "answer"])
    questions = pd.DataFrame({"query_id": sorted(set(table["query_id"])), "query": "Why?"})
    given = judgments(rows).drop(columns="language") if rows else None
    return Arena.from_frames(questions, table, given, language="en", name="small", **options)


def test_the_longer_answer_is_counted_without_its_reason():
    rows = [("q", "x", "y", "b"), ("q", "z", "y", "b"), ("q", "x", "z", "a"), ("q", "w", "x", "a")]
    reasoned = "##Reason: a long chain of thought ##Answer: www"
    answers = [("q", "x", reasoned), ("q", "y", "w" * 5), ("q", "z", "w" * 3)]
    found = diagnose(small_arena(rows, answers, systems=list("wxyz")))
    assert counts(found, "answers", "not_judged", "judgments_without_answer") == [3, 0, 1]
    assert "the longer one wins" in said(found, "length")[0]


def test_names_that_look_alike_and_systems_never_judged_are_said():
    arena = small_arena(
        [("q", "gpt-4o", "gpt\u20114o", "a")],
        [("q", name, "So.") for name in ("gpt-4o", "gpt\u20114o", "idle")],
    )
    found = diagnose(arena)
    assert "look alike" in said(found, "names")[0]
    assert said(found, "never judged")[0].endswith("1 declared system never judged: idle")


def test_without_judgments_there_is_nothing_to_diagnose():
    with pytest.raises(UsageError):
        diagnose(judgments([]))
    with pytest.raises(UsageError, match="'small' has no judgments"):
        diagnose(small_arena([], [("q", "x", "So.")]))
    with pytest.raises(UsageError, match="no judge 'nobody' here"):
        diagnose(judgments(CYCLE), judge="nobody")
    with pytest.raises(UsageError, match="no language 'sw' here; available: en"):
        diagnose(judgments(CYCLE), language="sw")


def test_a_declared_language_without_judgments_is_an_error():
    arena = small_simulation(questions=5).arena
    assert diagnose(arena).counts["judgments_without_answer"].tolist() == [0, 0]
    part = replace(arena, judgments=arena.judgments[arena.judgments["language"] == "en"])
    (first, *_) = diagnose(part).remarks
    assert (first.severity, first.name, first.subject) == ("error", "no judgments", "sw")


def test_many_voters_are_looked_at_as_people_and_agree_by_name():
    rows = [(f"q{n}", "x", "y", "ab"[n % 2]) for n in range(30)]
    votes = [judgments(rows, judge=f"arena_user_{n}") for n in range(8)]
    found = diagnose(pd.concat(votes, ignore_index=True))
    assert found.counts["judge"].tolist() == ["people"]
    assert {*found.agreement["judge"]} <= {f"arena_user_{n}" for n in range(8)}
    assert len(found.agreement) == 28


def test_voters_of_one_judge_agree_by_name():
    rows = [(f"q{n}", "x", "y", "ab"[n % 2]) for n in range(30)]
    votes = [judgments(rows, judge="crowd").assign(voter=str(n)) for n in range(2)]
    found = diagnose(pd.concat(votes, ignore_index=True))
    assert counts(found, "judgments") == [60]
    assert found.agreement["agreement"].tolist() == [1.0]


def test_that_neither_is_good_is_said():
    rows = [(f"q{n}", "x", "y", "tie") for n in range(4)]
    found = diagnose(judgments(rows, judge="m").assign(both_bad=[True, True, False, False]))
    assert "in 2 judgments of 4 (50%)" in said(found, "both bad")[0]


def test_every_judge_has_a_row_for_each_test_in_each_language():
    found = diagnose(small_simulation(questions=5).arena)
    assert sorted(found.tests["language"].unique()) == ["en", "sw"]
    row = found.tests[(found.tests["name"] == "length") & (found.tests["language"] == "en")].iloc[0]
    assert 0 < row["low"] < row["statistic"] < row["high"] < 1
    assert said(found, "length")[0].endswith(row["sentence"])


def test_a_diagnosis_is_shown_as_its_remarks():
    diagnosis = diagnose(small_simulation(range(4), ["en"], questions=2).arena)
    lines = str(diagnosis).splitlines()
    assert len(lines) == len(diagnosis.remarks)
    for line, remark in zip(lines, diagnosis.remarks, strict=True):
        assert remark.severity in line
        assert remark.sentence in line
        assert remark.severity in repr(diagnosis)
        assert escape(remark.sentence, quote=False) in diagnosis._repr_html_()


def test_a_diagnosis_is_sentences_or_strict_json(run, arena_folder, capsys):
    assert run("diagnose", arena_folder) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "simulated-teacher: " in printed
    assert "more; --json has all" in printed
    assert run("diagnose", arena_folder, "--json", "--language", "sw") == 0
    content = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert {row["language"] for row in content["counts"]} == {"sw"}


def test_a_diagnosis_says_how_few_verdicts_hold_up_first_place_and_lists_them():
    random = np.random.default_rng(5)
    rows = []
    for question in range(300):
        for one, other in itertools.combinations("abc", 2):
            share = 0.5 if other == "b" else 0.73
            winner = "a" if random.random() < share else "b"
            rows.append((f"q{question}", "en", one, other, winner, "j"))
    columns = ["query_id", "language", "system_a", "system_b", "winner", "judge"]
    judgments = pd.DataFrame(rows, columns=columns)
    found = diagnose(judgments)
    place = first_place(judgments, "en", "j")
    (remark,) = [item for item in found.remarks if item.name == "first place"]
    assert f"{place.dropped:,} of 900 verdicts" in remark.sentence
    assert len(found.first_places) == place.dropped
    assert found.as_json()["first_places"][0]["first"] == place.first


def test_a_judge_of_its_own_family_is_named_once():
    rows = [("q1", "gpt-3.5", "claude-2", "a"), ("q1", "claude-2", "llama-3", "a")]
    found = diagnose(pd.concat([judgments(rows, judge="gpt-4o"), judgments(rows, judge="me")]))
    (remark,) = (remark for remark in found.remarks if remark.name == "own family")
    assert (remark.subject, remark.systems) == ("gpt-4o", ("gpt-3.5",))
