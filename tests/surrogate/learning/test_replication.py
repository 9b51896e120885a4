"""Replication: what is learned from, and how sure the gain of surrogates is."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from surrogate.learning import training_data
from surrogate.learning.answers_surrogate import AnswersSurrogate
from surrogate.learning.cross_fitting import Repeats, leave_systems_out
from surrogate.learning.language_data import TournamentSettings, language_data
from surrogate.learning.replication import replicate
from surrogate.learning.surrogate import find_surrogate

SYSTEMS, QUESTIONS = 10, 12


def arena_of(arena, seed):
    """Return data of equal systems, and of a feature that says nothing of any."""
    random = np.random.default_rng(seed)
    names = [f"s{number}" for number in range(SYSTEMS)]
    first, second = np.triu_indices(SYSTEMS, 1)
    judgments = pd.DataFrame(
        [
            ("en", f"q{question}", names[i], names[j], random.choice(["a", "b"]), "judge")
            for question in range(QUESTIONS)
            for i, j in zip(first, second, strict=True)
        ],
        columns=["language", "query_id", "system_a", "system_b", "winner", "judge"],
    )
    rows = [("en", name, f"q{q}") for name in names for q in range(QUESTIONS)]
    X = pd.DataFrame(rows, columns=["language", "system", "query_id"])
    X["length"] = random.normal(size=len(X)) + X["system"].map(
        dict(zip(names, random.normal(size=SYSTEMS), strict=True))
    )
    queries = pd.DataFrame({"language": "en", "query_id": sorted(set(X["query_id"]))})
    made = replace(arena, judgments=judgments, queries=queries)
    return language_data(made, X, TournamentSettings(tournaments=2, seed=seed))


class Seeing:
    """Keeps the questions whose answers a surrogate is fitted to."""

    def __init__(self, surrogate):
        self.surrogate, self.asked = surrogate, []

    def __getattr__(self, name):
        return getattr(self.surrogate, name)

    def fit(self, X, ratings):
        self.asked.append(set(X["query_id"]))
        return self.surrogate.fit(X, ratings)


def test_answers_to_the_other_half_are_not_learned_from(english_arena, monkeypatch):
    seen = Seeing(find_surrogate("default"))
    monkeypatch.setattr(Repeats, "reseeded", lambda *_, **__: seen)
    found = replicate(arena_of(english_arena, 0), seen, Repeats(2, 0), with_surrogate=False)
    assert [len(asked) for asked in seen.asked] == [QUESTIONS // 2] * 2
    assert found.rows["questions"].tolist() == [QUESTIONS // 2] * 2


@pytest.mark.slow
def test_without_a_gain_none_is_found(english_arena):
    """Percentiles over splits said GAINED or LOST in a fifth of such arenas."""
    surrogate = find_surrogate("default")
    decided = []
    for seed in range(40):
        data = arena_of(english_arena, seed)
        found = replicate(data, surrogate, Repeats(5, seed), with_surrogate=False).summary()
        decided.append(found["gain_low"] > 0 or found["gain_high"] < 0)
    assert np.mean(decided) <= 0.1


def test_a_split_that_is_repeated_is_no_surer(english_arena):
    found = replicate(
        arena_of(english_arena, 3),
        find_surrogate("default"),
        Repeats(2, 0),
        with_surrogate=False,
    )
    once, again = found.summary(), replace(found, rows=pd.concat([found.rows] * 9)).summary()
    assert once == pytest.approx(again)
    assert once["gain"] == pytest.approx(once["tau"] - once["tau_verdicts"])
    assert once["gain_low"] <= once["gain"] <= once["gain_high"]


def test_other_judges_verdicts_on_the_other_half_are_not_learned_from(english_arena, monkeypatch):
    [data] = arena_of(english_arena, 0)
    learned = []

    def learn(reference, others):
        learned.append((set(reference["query_id"]), set(others["query_id"])))

    monkeypatch.setattr("surrogate.learning.other_judges.learn_from_other_judges", learn)
    helped = replace(data, others=data.judgments.assign(judge="other"))
    replicate([helped], find_surrogate("default"), Repeats(2, 0), 3, with_surrogate=False)
    for judged, by_others in learned:
        # The other judge helps on the whole half, of which three questions are judged here.
        assert judged < by_others
        assert (len(judged), len(by_others)) == (3, QUESTIONS // 2)


@pytest.fixture
def sent(monkeypatch):
    """How many questions' answers the tasks of each study are sent, at most."""
    run = Repeats.run
    sent = []

    def noted(repeats, tasks):
        parts = [part for task in tasks for part in task.keywords.get("halved") or task.args[0]]
        tables = [getattr(part, "data", part).X for part in parts]
        sent.append(max(X["query_id"].nunique() for X in tables))
        return run(repeats, tasks)

    monkeypatch.setattr(Repeats, "run", noted)
    return sent


def unseen(languages, surrogate, repeats):
    [outcome] = leave_systems_out(languages, surrogate, repeats)
    return pd.DataFrame(outcome.predicted)


def halves(languages, surrogate, repeats):
    return replicate(languages, surrogate, repeats, with_surrogate=False).rows


@pytest.mark.parametrize("study", [unseen, halves])
def test_workers_are_sent_the_answers_that_they_read_and_find_the_same(
    study, english_arena, monkeypatch, sent
):
    few_questions = 4
    monkeypatch.setattr(training_data, "MOST_QUESTIONS", few_questions)
    languages = arena_of(english_arena, 0)
    surrogate = find_surrogate("default")
    by_read = study(languages, surrogate, Repeats(2, 0))
    monkeypatch.setattr(AnswersSurrogate, "unread_questions", lambda *_: set())
    by_all = study(languages, surrogate, Repeats(2, 0))
    assert sent[0] == few_questions < sent[1]
    pd.testing.assert_frame_equal(by_read, by_all)
