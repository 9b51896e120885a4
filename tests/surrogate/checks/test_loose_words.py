"""Words of others without the order in which they wrote them."""

import numpy as np
import pandas as pd
import pytest

from surrogate.checks.inspection import notes_on_answers
from surrogate.checks.word_fit import WINDOW, loose_shares

VOCABULARY = [f"word{number}" for number in range(3_000)]


def field(n_questions=12, n_systems=6, n_words=80, seed=0):
    """Answers that share, on a question, a third of their runs of eight words; the rest is new."""
    random = np.random.default_rng(seed)
    rows = []
    for question in range(n_questions):
        common = [random.choice(VOCABULARY, 8) for _ in range(12)]
        for system in range(n_systems):
            parts = []
            for _ in range(n_words // 8):
                is_shared = random.random() < 1 / 3
                run = common[random.integers(12)] if is_shared else random.choice(VOCABULARY, 8)
                parts.append(" ".join(run))
            rows.append((f"s{system}", question, " ".join(parts)))
    return pd.DataFrame(rows, columns=["system", "question", "answer"])


def with_list(text, other, n_words=WINDOW):
    """Put words of another answer behind a text, longest first as a list would have them."""
    words = sorted(other.split(), key=lambda word: word[::-1])[:n_words]
    return f"{text} {' '.join(words)}"


def shares_of(rows, new="new"):
    shares = loose_shares(
        list(rows["answer"]),
        rows["system"],
        rows["question"].to_numpy(),
        (rows["system"] != new).to_numpy(),
    )
    return pd.Series(shares).groupby(rows["system"].to_numpy()).mean()


def as_new(rows, system, change):
    """The rows with one system's answers changed as a new system."""
    others = rows[rows["system"] != system].reset_index(drop=True)
    own = rows[rows["system"] == system].reset_index(drop=True)
    best = others.loc[others["system"] == others["system"].iloc[0], "answer"]
    texts = [change(text, other) for text, other in zip(own["answer"], best, strict=True)]
    return pd.concat([others, own.assign(system="new", answer=texts)], ignore_index=True)


@pytest.mark.slow
def test_a_list_of_anothers_words_is_loose_and_its_sentences_are_not():
    rows = field()
    usual = shares_of(rows)
    assert usual.max() < 0.3
    assert shares_of(as_new(rows, "s5", with_list))["new"] > 0.7
    for change in (lambda text, _: text, lambda _, best: best, lambda text, best: text + best):
        assert shares_of(as_new(rows, "s5", change))["new"] < usual.max() + 0.1


def test_answers_of_systems_that_nobody_judged_lend_no_words():
    rows = as_new(field(), "s5", with_list)
    lent = rows[rows["system"] == "s0"].assign(system="other")
    both = pd.concat([rows[rows["system"] != "s0"], lent], ignore_index=True)
    shares = loose_shares(
        list(both["answer"]),
        both["system"],
        both["question"].to_numpy(),
        (~both["system"].isin(["new", "other"])).to_numpy(),
    )
    assert pd.Series(shares).groupby(both["system"].to_numpy()).mean()["new"] < 0.3


def test_short_answers_hold_no_list():
    rows = as_new(field(), "s5", lambda _, best: with_list("", best, 4))
    assert shares_of(rows)["new"] < 0.25
    few = pd.DataFrame({"answer": ["", "a b"], "system": ["x", "y"], "question": [0, 0]})
    assert shares_of(few).tolist() == [0.0, 0.0]


def test_names_questions_and_the_order_of_rows_do_not_matter():
    rows = as_new(field(), "s5", with_list)
    moved = rows.sample(frac=1, random_state=1)
    moved = moved.assign(system="x" + moved["system"], question=11 - moved["question"])
    again = shares_of(moved, "xnew").rename(lambda name: name[1:])
    pd.testing.assert_series_equal(again, shares_of(rows), rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("change", "is_noted"), [(with_list, True), (lambda text, _: text, False)])
def test_a_list_behind_each_answer_is_noted(change, is_noted):
    rows = as_new(field(), "s5", change)
    answers = rows.rename(columns={"question": "query_id"}).astype({"query_id": str})
    answers["language"] = "en"
    queries = answers[["language", "query_id"]].drop_duplicates()
    queries = queries.assign(query="What?", passages=[[] for _ in range(len(queries))])
    judged = {"en": sorted(set(rows["system"]) - {"new"})}
    notes = notes_on_answers(answers, judged, queries, {}).get(("en", "new"), ())
    assert any(note.name == "loose" for note in notes) == is_noted
