"""What a diagnosis counts and says of small arenas."""

import json

import numpy as np
import pandas as pd
import pytest

from arena import Arena
from arena.data.errors import DataError, UsageError
from arena.diagnostics import diagnose, diagnose_judgments, diagnose_languages
from arena.diagnostics.diagnosis import TABLES
from arena.diagnostics.systems import LOSES_ALL, WINS_ALL
from arena.simulation import simulate


def judgments(rows, language="en", judge="judge"):
    table = pd.DataFrame(rows, columns=["query_id", "system_a", "system_b", "winner"])
    return table.assign(language=language, judge=judge)


def said(found, check):
    return [str(finding) for finding in found.findings if finding.check == check]


def severities(found, check):
    return {finding.severity for finding in found.findings if finding.check == check}


def record(found, system):
    table = found.systems
    return table[table["system"] == system].iloc[0]


CYCLE = [("q1", "x", "y", "a"), ("q1", "y", "z", "a"), ("q1", "z", "x", "a")]


def test_counts_judgments_questions_and_records():
    rows = [*CYCLE, ("q2", "y", "x", "tie")]
    found = diagnose_judgments(judgments(rows))
    overview = found.overview.iloc[0]
    expected = {"judgments": 4, "wins_a": 3, "wins_b": 0, "ties": 1, "systems": 3, "questions": 2}
    assert {name: overview[name] for name in expected} == expected
    assert overview["tie_share"] == 0.25
    assert overview["questions_median"] == 2
    assert pd.isna(overview["questions_asked"])
    x = record(found, "x")
    assert [x["judgments"], x["wins"], x["losses"], x["ties"], x["on_side_a"]] == [3, 1, 1, 1, 1]
    assert list(found.pairs["battles"]) == [2, 1, 1]
    assert found.lengths is None
    assert found.absent is None


def test_a_cycle_of_wins_is_one_group_both_ways():
    found = diagnose_judgments(judgments(CYCLE))
    assert found.connections.iloc[0][["groups", "strong_groups"]].tolist() == [1, 1]
    assert not said(found, "connected")
    assert not said(found, "both ways")


def test_a_disconnected_arena_is_an_error():
    rows = [*CYCLE, ("q1", "u", "v", "tie")]
    found = diagnose_judgments(judgments(rows))
    assert found.worst == "error"
    assert found.findings[0].severity == "error"
    (sentence,) = said(found, "connected")
    assert "no judgments connect the 5 systems: they fall into 2 groups" in sentence
    assert sentence.endswith("outside the largest: u, v")
    assert [record(found, system)["group"] for system in "uvxyz"] == [2, 2, 1, 1, 1]


def test_wins_that_all_go_one_way_are_a_warning():
    rows = [*CYCLE, ("q1", "top", "x", "a"), ("q2", "y", "low", "a")]
    found = diagnose_judgments(judgments(rows))
    connections = found.connections.iloc[0]
    assert connections[["groups", "strong_groups", "largest_strong_group"]].tolist() == [1, 3, 3]
    assert severities(found, "both ways") == {"warning"}
    assert record(found, "top")["note"] == WINS_ALL
    assert record(found, "low")["note"] == LOSES_ALL
    assert said(found, "wins all") == [
        "en, judge: top: wins every battle; only a prior bounds the rating"
    ]


def test_judges_and_languages_are_looked_at_one_by_one():
    parts = [
        judgments(CYCLE),
        judgments(CYCLE[:1], judge="other"),
        judgments([("q1", "u", "v", "b")], language="fi"),
    ]
    found = diagnose_judgments(pd.concat(parts, ignore_index=True))
    keys = [("en", "judge"), ("en", "other"), ("fi", "judge")]
    for name in ("overview", "connections", "coverage", "position", "order_consistency"):
        table = getattr(found, name)
        assert list(table[["language", "judge"]].itertuples(index=False, name=None)) == keys
    assert found.connections["systems"].tolist() == [3, 2, 2]


def test_sides_that_never_change_are_said():
    rows = [(f"q{n}", "x", "y", "a") for n in range(20)]
    found = diagnose_judgments(judgments(rows))
    assert found.position.iloc[0][["repeated_pairs", "fixed_pairs"]].tolist() == [1, 1]
    assert "mixes position with strength" in said(found, "fixed sides")[0]
    chance = diagnose_judgments(judgments(rows[:2]))
    assert chance.position.iloc[0]["fixed_pairs"] == 1
    assert not said(chance, "fixed sides")


BOTH_ORDERS = [
    *[("same", "x", "y", "a"), ("same", "y", "x", "b")],
    *[("ties", "x", "y", "tie"), ("ties", "y", "x", "tie")],
    *[("to a", "x", "y", "a"), ("to a", "y", "x", "a")],
    *[("to b", "x", "y", "b"), ("to b", "y", "x", "b")],
    *[("half", "x", "y", "b"), ("half", "y", "x", "tie")],
    ("once", "x", "y", "a"),
]


def test_flips_are_counted_with_the_side_they_favor():
    found = diagnose_judgments(judgments(BOTH_ORDERS)).order_consistency.iloc[0]
    assert found[["items", "consistent", "flipped", "tie_vs_win"]].tolist() == [5, 2, 2, 1]
    assert found[["flipped_to_a", "flipped_to_b", "flip_rate"]].tolist() == [1, 1, 0.4]


def test_pooled_judges_are_one_but_do_not_contradict_each_other():
    one = judgments([("q", "x", "y", "a")], judge="one")
    other = judgments([("q", "y", "x", "a")], judge="other")
    found = diagnose_judgments(pd.concat([one, other]), pool=True)
    assert found.overview[["judge", "judgments"]].to_numpy().tolist() == [["all judges", 2]]
    assert found.order_consistency.iloc[0]["items"] == 0
    assert found.agreement.iloc[0][["judge", "other_judge", "items"]].tolist() == [
        *["one", "other"],
        1,
    ]


def answers(lengths, query_id="q", language="en"):
    rows = [(query_id, language, system, "w" * length) for system, length in lengths.items()]
    return pd.DataFrame(rows, columns=["query_id", "language", "system", "answer"])


def test_the_longer_answer_is_counted_without_its_reason():
    rows = [("q", "x", "y", "b"), ("q", "z", "y", "b"), ("q", "x", "z", "a"), ("q", "w", "x", "a")]
    table = answers({"x": 3, "y": 5, "z": 3})
    reasoned = "##Reason: a long chain of thought ##Answer: www"
    table.loc[table["system"] == "x", "answer"] = reasoned
    found = diagnose_judgments(judgments(rows), table)
    lengths = found.lengths.iloc[0]
    counts = ["decided", "longer_won", "same_length", "missing"]
    assert lengths[counts].tolist() == [2, 2, 1, 1]
    assert np.isnan(lengths["slope"])
    assert "1 decided battle left out" in said(found, "length")[0]


def test_without_judgments_there_is_nothing_to_diagnose():
    with pytest.raises(UsageError, match="there is no judgment in it"):
        diagnose_judgments(judgments([]))
    with pytest.raises(UsageError, match="arena 'unjudged' has no judgments to diagnose"):
        diagnose(
            Arena.from_frames(
                pd.DataFrame({"query_id": ["q"], "query": ["Why?"]}),
                pd.DataFrame({"query_id": ["q"], "system": ["x"], "answer": ["So."]}),
                language="en",
                name="unjudged",
            )
        )
    with pytest.raises(UsageError, match="no judge 'nobody' here; there is judge"):
        diagnose_judgments(judgments(CYCLE), judge="nobody")
    with pytest.raises(UsageError, match="no language 'sw' here; there is en"):
        diagnose_judgments(judgments(CYCLE), language="sw")


def test_bad_judgments_are_refused_all_together():
    rows = [("q", "x", "y", "A"), ("q", "x", "y", None), (float("nan"), "x", "y", "a")]
    with pytest.raises(DataError) as caught:
        diagnose_judgments(judgments(rows))
    assert [(p.line, p.field) for p in caught.value.problems] == [
        *[(1, "winner"), (2, "winner"), (3, "query_id")]
    ]
    with pytest.raises(DataError, match="is judged against itself; remove this judgment"):
        diagnose_judgments(judgments([("q", "x", "x", "a")]))


def test_ten_thousand_systems_with_one_battle_each():
    rows = [(f"q{n}", f"s{2 * n:05}", f"s{2 * n + 1:05}", "a") for n in range(5000)]
    found = diagnose_judgments(judgments(rows))
    connections = found.connections.iloc[0]
    assert connections[["systems", "groups", "strong_groups"]].tolist() == [10000, 5000, 10000]
    assert found.coverage.iloc[0]["never_met"] == 10000 * 9999 // 2 - 5000
    assert "and 4995 more" in said(found, "wins all")[0]


def test_an_arena_is_diagnosed_with_its_answers_and_questions():
    arena = simulate(languages=("en", "sw"), questions=5, seed=1).arena
    found = diagnose(arena)
    assert found.overview["questions_asked"].tolist() == [5, 5]
    assert found.absent["judgments_without_answer"].tolist() == [0, 0]
    assert found.lengths["missing"].tolist() == [0, 0]
    assert set(diagnose(arena, language="sw").overview["language"]) == {"sw"}


def test_json_is_strict_and_complete():
    found = diagnose_judgments(judgments(CYCLE), systems=["idle"])
    text = json.dumps(found.as_json(), allow_nan=False)
    content = json.loads(text)
    assert content["lengths"] is None
    assert content["order_consistency"][0]["flip_rate"] is None
    assert {row["system"] for row in content["systems"]} == {"x", "y", "z", "idle"}
    assert set(content["findings"][0]) == {"severity", "check", "subject", "sentence"}
    assert diagnose_judgments(judgments(CYCLE)).worst == "warning"


def test_languages_diagnosed_together_are_found_as_each_alone():
    arena = simulate(languages=("en", "sw"), questions=5, seed=1).arena
    table = arena.judgments
    gpt = dict(zip(arena.info.systems[:3], ("gpt-4o", "gpt-4o-mini", "gpt\u20114o"), strict=True))
    both_orders = table.head(9).rename(columns={"system_a": "system_b", "system_b": "system_a"})
    english = table["language"] == "en"
    rows = pd.concat([table[english], table[~english].iloc[: len(both_orders)], both_orders])
    for side in ("system_a", "system_b"):
        rows[side] = rows[side].replace(gpt)
    rows = rows.assign(judge="gpt-4o-judge").sample(frac=1, random_state=1)
    answers = arena.answers.assign(system=arena.answers["system"].replace(gpt))
    together = diagnose_languages(rows, answers)
    assert list(together) == ["en", "sw"]
    for language, found in together.items():
        alone = diagnose_judgments(
            rows[rows["language"] == language], answers[answers["language"] == language]
        )
        assert found.findings == alone.findings
        assert said(found, "self-preference")
        for name in TABLES:
            pd.testing.assert_frame_equal(getattr(found, name), getattr(alone, name))
