"""Notes on answers: facts that keep a system from a rank, and remarks that do not."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from shared_data import shared_path

from arena import read_arena
from surrogate.checks.inspection import notes_on_answers
from surrogate.checks.notes import UNUSUAL, remarks_about, unusual_features


def sentences(text):
    return [part for part in text.replace("\n", " ").split(". ") if part]


HABITS = {
    "as it is": lambda text: text,
    "a link": lambda text: f"{text}\n\nhttps://example.org/{len(text)}",
    "no full stop": lambda text: text.strip().rstrip("."),
    "tags": lambda text: f"<answer>{text}</answer>",
    "one sentence": lambda text: sentences(text)[0],
    "six words": lambda text: " ".join(text.split()[:6]),
    "twelve words": lambda text: " ".join(text.split()[:12]),
    "cut": lambda text: text[:200],
    "three in ten left": lambda text: "I cannot say." if len(text) % 10 < 3 else text,
    "bullets": lambda text: "\n".join(f"- {part}" for part in sentences(text)),
    "summary": lambda text: f"{text}\n\nIn short: {sentences(text)[0]}",
    "json": lambda text: json.dumps({"answer": text}),
    "greeting": lambda text: f"Hello! Thank you for your question. {text}",
    "disclaimer": lambda text: f"{text}\n\nI am an AI model; please verify what matters to you.",
}


@pytest.fixture(scope="module")
def chatbots():
    """Nine chatbots' answers to 80 questions."""
    return read_arena(shared_path("data/arenas/vicuna80"))


def notes_by_system(arena, made):
    """Compare systems made from the first one with the eight others."""
    first, *judged = arena.info.systems
    is_first = arena.answers["system"] == first
    rows = arena.answers[is_first]
    forms = [rows.assign(system=name, answer=make(rows["answer"])) for name, make in made.items()]
    answers = pd.concat([arena.answers[~is_first], *forms])
    notes = notes_on_answers(answers, {"en": judged}, arena.queries, {})
    return {name: notes.get(("en", name), ()) for name in [*made, *judged]}


def barred(notes):
    """Return the systems that a fact keeps from a rank."""
    return {name for name in notes if any(note.severity == "error" for note in notes[name])}


@pytest.mark.slow
def test_honest_habits_keep_no_system_from_a_rank(chatbots):
    made = {name: lambda texts, change=change: texts.map(change) for name, change in HABITS.items()}
    assert barred(notes_by_system(chatbots, made)) == set()


@pytest.mark.slow
def test_answers_that_are_none_do(chatbots):
    random = np.random.default_rng(0)
    made = {
        "empty": lambda texts: texts.map(lambda _: ""),
        "refusing": lambda texts: texts.map(lambda _: "I am sorry, but I cannot answer this."),
        "one for all": lambda texts: texts.map(lambda _: texts.iloc[0]),
        "dealt": lambda texts: random.permutation(texts.to_numpy()),
        "numbered": lambda texts: [f"No answer to number {place}." for place in range(len(texts))],
    }
    notes = notes_by_system(chatbots, made)
    assert barred(notes) == set(made)
    assert not any(notes[name] for name in chatbots.info.systems[1:])


@pytest.mark.slow
def test_answers_to_the_next_questions_of_the_same_kind_cost_a_rank(chatbots):
    """Questions of one kind stand together here, so that these fit better than any others."""
    rows = chatbots.answers[chatbots.answers["system"] == "gpt4"]
    moved = rows.assign(system="moved", answer=np.roll(rows["answer"].to_numpy(), -3))
    answers = pd.concat([chatbots.answers, moved])
    notes = notes_on_answers(answers, {"en": chatbots.info.systems}, chatbots.queries, {})
    assert barred(notes) == {("en", "moved")}
    assert [note.name for note in notes["en", "moved"] if note.severity == "error"] == ["misfit"]


def value_of(measure, notes):
    [value] = [note.statistic for note in notes if note.name == measure]
    return value


@pytest.mark.slow
def test_what_is_unusual_is_noted_in_numbers(chatbots):
    answers = chatbots.answers.pivot(index="query_id", columns="system", values="answer")
    one, other = (answers[name] for name in chatbots.info.systems[1:3])

    def joined(texts):
        rows = chatbots.answers[chatbots.answers["system"] == chatbots.info.systems[0]]
        return [
            one[name][: len(one[name]) // 2] + other[name][len(other[name]) // 2 :]
            for name in rows["query_id"]
        ]

    made = {
        "joined": joined,
        "padded": lambda texts: texts + " There are many aspects of this to consider here." * 6,
        "shuffled": lambda texts: texts.map(
            lambda text: " ".join(np.random.default_rng(0).permutation(text.split()))
        ),
    }
    notes = notes_by_system(chatbots, made)
    assert value_of("shared", notes["joined"]) > 0.4
    assert value_of("repeated", notes["padded"]) > 0.15
    assert value_of("new_pairs", notes["shuffled"]) > 0.6
    assert barred(notes) == set()


def test_with_nobody_to_compare_only_one_text_for_all_is_a_fact():
    rows = pd.DataFrame(
        {"system": "a", "language": "en", "query_id": list("uvwxyz"), "answer": "The same."}
    )
    queries = rows[["language", "query_id"]].assign(query="What?", passages=[[]] * 6)
    [note] = notes_on_answers(rows, {"en": []}, queries, {})["en", "a"]
    assert note.severity == "error"
    assert notes_on_answers(rows.assign(answer=rows["query_id"]), {"en": []}, queries, {}) == {}


def copied_half(arena, first):
    """Answers of which every second one is the best system's."""
    rows = arena.answers[arena.answers["system"] == first].reset_index(drop=True)
    best = arena.answers[arena.answers["system"] == "gpt4"].set_index("query_id")["answer"]
    is_copied = np.arange(len(rows)) % 2 == 0
    copied = rows["query_id"].map(best)
    return rows.assign(system="copied", answer=rows["answer"].where(~is_copied, copied)), copied


def measures_of(arena, first, rows):
    judged = [name for name in arena.info.systems if name != first]
    answers = pd.concat([arena.answers[arena.answers["system"] != first], rows])
    notes = notes_on_answers(answers, {"en": judged}, arena.queries, {})
    return {note.name for note in notes.get(("en", "copied"), ())}


def without_every_fifth(text):
    return " ".join(word for place, word in enumerate(text.split()) if place % 5 != 4)


@pytest.mark.slow
def test_copies_are_noted_whatever_words_were_left_out_or_negated(chatbots):
    answers = chatbots.answers.pivot(index="query_id", columns="system", values="answer")
    best = answers["gpt4"]
    rows = chatbots.answers[chatbots.answers["system"] == chatbots.info.systems[0]]
    copied = rows["query_id"].map(best)
    made = {
        "shorter": lambda _: copied.map(without_every_fifth),
        "negated": lambda _: copied.str.replace(" is ", " is not ").map(without_every_fifth),
        "half": lambda texts: texts.where(
            np.arange(len(texts)) % 2 == 0, copied.map(without_every_fifth)
        ),
    }
    notes = notes_by_system(chatbots, made)
    for name in made:
        [note] = [note for note in notes[name] if note.name == "shared"]
        assert "gpt4" in note.sentence


@pytest.mark.slow
def test_judged_versions_of_one_system_hide_no_copy(chatbots):
    """Two judged systems whose answers are alike do not make likeness usual."""
    first = chatbots.info.systems[0]
    rows, _ = copied_half(chatbots, first)
    twin = chatbots.answers[chatbots.answers["system"] == "bard"].assign(system="bard-2")
    judged = [name for name in chatbots.info.systems if name != first]
    judged_answers = chatbots.answers[chatbots.answers["system"] != first]
    answers = pd.concat([judged_answers, twin, rows])
    notes = notes_on_answers(answers, {"en": [*judged, "bard-2"]}, chatbots.queries, {})
    assert "shared" in {note.name for note in notes["en", "copied"]}


def remarked_share(n_judged, spread, distance):
    """Return how often a system gets one remark, when it lies at a distance from the others' mean.

    Distance and spread are in typical deviations.
    """
    random = np.random.default_rng(0)
    names = [remark.measure for remark in UNUSUAL]
    typical = np.array([remark.typical_deviation for remark in UNUSUAL])
    n_boards = 200
    n_remarks = 0
    for _ in range(n_boards):
        values = random.normal(0.0, spread * typical, (n_judged + 1, len(names)))
        values[-1] += distance * typical
        table = pd.DataFrame(values, columns=names).assign(nearest="a")
        n_remarks += len(list(remarks_about(table.iloc[-1], table.iloc[:-1])))
    return n_remarks / (n_boards * len(names))


@pytest.mark.slow
@pytest.mark.parametrize("n_judged", [3, 5, 30])
def test_ordinary_systems_are_seldom_remarked_on(n_judged):
    # 3 in 1,000 by construction; the lower half's deviation is a little less sure.
    assert remarked_share(n_judged, spread=1.0, distance=0.0) < 0.01


@pytest.mark.slow
def test_few_judged_systems_show_what_lies_far_away():
    assert remarked_share(5, spread=1.0, distance=6.0) > 0.9


@pytest.mark.slow
def test_many_judged_systems_show_how_far_apart_they_are():
    # Where judged systems differ three times as much as usual, so may one more.
    assert remarked_share(60, spread=3.0, distance=3.0) < 0.1
    assert remarked_share(60, spread=0.5, distance=3.0) > 0.9


class Effects:
    """A surrogate that has nothing but the effects of features."""

    def __init__(self, rows):
        self.rows = rows

    def feature_effects(self, X):
        return self.rows[self.rows["system"].isin(X["system"])]


def test_features_far_from_the_judged_are_named_where_they_raise_a_rating():
    columns = ["system", "feature", "added", "value"]
    rows = [
        ("far", "citations", 0.4, 9.0),
        ("far", "answer_length", 0.2, 1.0),
        ("below", "citations", -0.4, 9.0),
        ("near", "citations", 0.4, 2.0),
    ]
    effects = pd.DataFrame(rows, columns=columns)
    effects = effects.assign(language="en", usual=0.0, deviation=1.0, count=12)
    X = pd.DataFrame({"system": ["far", "below", "near"], "language": "en"})
    notes = unusual_features(Effects(effects), X)
    assert set(notes) == {("en", "far")}
    (note,) = notes["en", "far"]
    assert note.statistic == pytest.approx(0.4)
    assert "citations" in note.sentence
    assert "answer_length" not in note.sentence
    assert unusual_features(Effects(effects), X.iloc[:0]) == {}


@pytest.mark.slow
def test_passages_that_a_new_system_brings_do_not_excuse_what_it_copied(chatbots):
    first = chatbots.info.systems[0]
    rows, copied = copied_half(chatbots, first)
    assert "shared" in measures_of(chatbots, first, rows)
    brought = [
        [{"passage_id": "1", "text": text, "title": None, "relevance": None}] for text in copied
    ]
    rows = rows.assign(passages=pd.Series(brought, index=rows.index, dtype=object))
    assert "shared" in measures_of(chatbots, first, rows)


@pytest.mark.slow
def test_text_behind_a_long_gap_is_read_as_the_surrogate_reads_it(chatbots):
    first = chatbots.info.systems[0]
    rows, copied = copied_half(chatbots, first)
    texts = chatbots.answers.loc[chatbots.answers["system"] == first, "answer"].to_numpy()
    hidden = [f"{text}{' ' * 25_000}{best}" for text, best in zip(texts, copied, strict=True)]
    assert "shared" in measures_of(chatbots, first, rows.assign(answer=hidden))


def test_no_note_claims_more_than_all_of_the_wording():
    """Where all answer one question alike, a copy is likelier than all of its wording."""
    random = np.random.default_rng(0)
    vocabulary = [f"word{number}" for number in range(400)]
    judged = [f"s{number}" for number in range(4)]
    rows = []
    for question in range(12):
        common = " ".join(random.choice(vocabulary, 40))
        for system in judged:
            # Half of the questions have one answer, which all give.
            text = common if question % 2 else " ".join(random.choice(vocabulary, 40))
            rows.append(("en", system, f"q{question}", text))
    answers = pd.DataFrame(rows, columns=["language", "system", "query_id", "answer"])
    copied = answers[answers["system"] == "s0"].assign(system="copy")
    queries = answers[["language", "query_id"]].drop_duplicates()
    queries = queries.assign(query="What?", passages=[[] for _ in range(len(queries))])
    both = pd.concat([answers, copied], ignore_index=True)
    (note,) = [
        note
        for note in notes_on_answers(both, {"en": judged}, queries, {})["en", "copy"]
        if note.name == "shared"
    ]
    assert note.statistic <= 1
    (share,) = re.findall(r"explain (\d+)%", note.sentence)
    assert int(share) <= 100
