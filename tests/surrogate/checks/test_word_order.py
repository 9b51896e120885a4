"""Pairs of neighboring words in the reverse order of what others write."""

import numpy as np
import pandas as pd
import pytest
from shared_data import shared_path

from arena import read_arena
from surrogate.checks.inspection import notes_on_answers
from surrogate.checks.word_fit import reversed_shares


def answers_of(name, language):
    """One system's answers, and those of the others."""
    arena = read_arena(shared_path(f"data/arenas/{name}"))
    rows = arena.answers[arena.answers["language"] == language]
    is_first = rows["system"] == arena.info.systems[0]
    return arena, rows[is_first], rows[~is_first].reset_index(drop=True)


def share_of(texts, others):
    """Measure texts as those of a new system, beside the judged others."""
    new = pd.DataFrame({"answer": list(texts), "system": "new"})
    rows = pd.concat([others[["answer", "system"]], new], ignore_index=True)
    is_judged = (rows["system"] != "new").to_numpy()
    return reversed_shares(list(rows["answer"]), rows["system"], is_judged)["new"]


def shuffled(text):
    return " ".join(np.random.default_rng(len(text)).permutation(text.split()))


def backward(text):
    return " ".join(reversed(text.split()))


def listed(text):
    return " ".join(sorted(set(text.lower().split())))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "language"), [("mt-bench-ko-en", "ko"), ("vicuna80", "en")])
def test_shuffled_words_are_as_often_reversed_as_not(name, language):
    _, rows, others = answers_of(name, language)
    texts = rows["answer"]
    assert share_of(texts, others) < 0.25
    assert share_of(texts.map(shuffled), others) == pytest.approx(0.5, abs=0.03)
    assert share_of(texts.map(backward), others) == pytest.approx(1 - share_of(texts, others))


def test_a_script_without_spaces_is_measured_by_its_characters():
    _, rows, others = answers_of("rakuda", "ja")
    texts = rows["answer"].str.replace(r"\s", "", regex=True)
    flipped = texts.map(lambda text: text[::-1])
    assert share_of(texts, others) < 0.35
    assert share_of(flipped, others) > 0.65


@pytest.mark.slow
def test_names_and_the_order_of_rows_do_not_matter():
    _, rows, others = answers_of("vicuna80", "en")
    table = pd.concat([rows, others], ignore_index=True)
    renamed = table.sample(frac=1, random_state=0)
    renamed = renamed.assign(system="x" + renamed["system"].str[::-1])
    everybody = np.ones(len(table), dtype=bool)
    shares = reversed_shares(list(table["answer"]), table["system"], everybody)
    again = reversed_shares(list(renamed["answer"]), renamed["system"], everybody)
    assert again.rename(lambda name: name[:0:-1])[shares.index].tolist() == shares.tolist()


def test_too_few_known_pairs_give_no_share():
    assert np.isnan(share_of(["a b c"], pd.DataFrame({"answer": ["a b c"], "system": ["one"]})))
    assert np.isnan(share_of(["", ""], pd.DataFrame({"answer": [""], "system": ["one"]})))


@pytest.mark.slow
def test_words_in_no_order_are_noted_where_half_of_the_answers_or_all_are_so():
    arena, rows, others = answers_of("mt-bench-ko-en", "ko")
    texts = rows["answer"]
    is_changed = np.arange(len(texts)) % 2 == 0
    made = {"plain": texts}
    for change in (shuffled, backward, listed):
        made[change.__name__] = texts.map(change)
        made[f"half {change.__name__}"] = texts.where(~is_changed, texts.map(change))
    forms = [rows.assign(system=name, answer=answers) for name, answers in made.items()]
    answers = pd.concat([others, *forms], ignore_index=True)
    judged = {"ko": sorted(others["system"].unique())}
    notes = notes_on_answers(answers, judged, arena.queries, {})
    measures = {name: {note.name for note in notes.get(("ko", name), ())} for name in made}
    reversed_systems = {name for name in made if "reversed" in measures[name]}
    # Half of the answers as lists have few pairs that anybody writes.
    assert reversed_systems - {"half listed"} == set(made) - {"plain", "half listed"}
