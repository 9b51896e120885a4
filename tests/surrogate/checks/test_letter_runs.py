"""Text taken from a judged answer or the question, word for word."""

import numpy as np
import pandas as pd
import pytest
from shared_data import shared_path

from arena import read_arena
from surrogate.checks.inspection import notes_on_answers
from surrogate.checks.measures import LENGTH, letter_runs, measure_runs

N_QUESTIONS = 10
N_SYSTEMS = 5


def sentence(random):
    """Return a text without spaces, of letters that no other text has in their order."""
    return "".join(random.choice(list("abcdefghijklmnopqrstuvwxyz"), 150))


@pytest.fixture
def rows():
    """Answers of three sentences each, all different."""
    random = np.random.default_rng(0)
    made = []
    for question in range(N_QUESTIONS):
        for system in range(N_SYSTEMS):
            text = "".join(sentence(random) for _ in range(3))
            made.append((f"s{system}", question, text))
    return pd.DataFrame(made, columns=["system", "question", "letters"])


def with_new(rows, change):
    """The rows, and a new system's: its own sentences and the first one's answer, changed."""
    random = np.random.default_rng(1)
    best = rows[rows["system"] == "s0"].reset_index(drop=True)
    texts = [change("".join(sentence(random) for _ in range(3)), text) for text in best["letters"]]
    return pd.concat([rows, best.assign(system="new", letters=texts)], ignore_index=True)


def measured(rows, questions=(), passages=()):
    """The mean measures of each system."""
    is_judged = (rows["system"] != "new").to_numpy()
    questions = questions or [""] * N_QUESTIONS
    runs = measure_runs(list(rows["letters"]), rows, is_judged, questions, passages)
    return runs.groupby(rows["system"]).mean()


def test_runs_stay_within_their_text():
    runs, owners = letter_runs(["abcd", "abc", "", "xabcd"], 4)
    assert owners.tolist() == [0, 3, 3]
    assert runs[0] == runs[2]
    assert runs[0] != runs[1]
    assert letter_runs([], 4)[0].size == 0


def test_one_sentence_of_anothers_shows_in_a_long_answer(rows):
    pasted = measured(with_new(rows, lambda own, best: own + best[:150]))
    assert pasted.loc["new", "verbatim"] > 0.8
    assert pasted.drop("new")["verbatim"].tolist() == [0.0] * N_SYSTEMS
    assert measured(with_new(rows, lambda own, _: own)).loc["new", "verbatim"] == 0


def test_short_phrases_in_common_are_no_sentence(rows):
    def phrases(own, best):
        return "".join(own[start : start + 20] + best[start : start + 20] for start in (0, 40, 80))

    assert measured(with_new(rows, phrases)).loc["new", "verbatim"] == 0


def test_what_judged_systems_were_shown_is_no_copying(rows):
    best = rows[rows["system"] == "s0"].sort_values("question")
    pasted = with_new(rows, lambda own, best: own + best[:150])
    excused = measured(pasted, passages=[text[:150] for text in best["letters"]])
    assert excused.loc["new", "verbatim"] == 0


def test_answers_of_systems_that_nobody_judged_are_no_source(rows):
    pasted = with_new(rows, lambda _, best: best)
    unjudged = pasted.assign(system=pasted["system"].replace("s0", "new"))
    assert measured(unjudged).loc["new", "verbatim"] == 0


def test_the_questions_share_is_that_of_its_runs(rows):
    random = np.random.default_rng(2)
    questions = [sentence(random)[: LENGTH + 9] for _ in range(N_QUESTIONS)]
    # Of its ten runs, the first LENGTH + 3 letters hold four.
    asked = with_new(rows, lambda own, _: own)
    is_new = asked["system"] == "new"
    parts = asked["question"].map(lambda place: questions[place][: LENGTH + 3])
    asked["letters"] = asked["letters"].where(~is_new, parts + asked["letters"])
    shares = measured(asked, questions)["asked"]
    assert shares["new"] == pytest.approx(0.4)
    assert shares.drop("new").tolist() == [0.0] * N_SYSTEMS
    twice = asked.assign(letters=asked["letters"] * 2)
    assert measured(twice, questions)["asked"]["new"] == pytest.approx(0.4)


def test_questions_too_short_for_a_run_count_nothing(rows):
    shares = measured(rows, ["short"] * N_QUESTIONS)["asked"]
    assert shares.isna().all()


def test_names_questions_and_the_order_of_rows_do_not_matter(rows):
    pasted = with_new(rows, lambda own, best: own[:100] + best[:90])
    moved = pasted.sample(frac=1, random_state=1)
    names = {f"s{number}": f"t{9 - number}" for number in range(N_SYSTEMS)}
    moved = moved.assign(
        system=moved["system"].replace(names), question=N_QUESTIONS - 1 - moved["question"]
    )
    again = measured(moved.reset_index(drop=True)).rename({new: old for old, new in names.items()})
    pd.testing.assert_frame_equal(again.sort_index(), measured(pasted), rtol=1e-12)


def last_sentence(text):
    return text.strip().rstrip(".").split(". ")[-1]


@pytest.mark.slow
def test_a_sentence_of_the_best_or_the_question_is_noted_and_one_answer_in_forty_is_not():
    arena = read_arena(shared_path("data/arenas/vicuna80"))
    queries = arena.queries.head(40)
    answers = arena.answers[arena.answers["query_id"].isin(queries["query_id"])]
    first, *judged = arena.info.systems
    own = answers[answers["system"] == first].merge(queries[["query_id", "query"]])
    best = own["query_id"].map(answers[answers["system"] == "gpt4"].set_index("query_id")["answer"])
    made = {
        "as it is": own["answer"],
        "a sentence": own["answer"] + " " + best.map(last_sentence),
        "hyphens": best.str.replace(" ", "-"),
        "the question": own["query"] + " " + own["answer"],
        "one answer": own["answer"].where(own.index != 7, best),
    }
    forms = [own.assign(system=name, answer=texts) for name, texts in made.items()]
    compared = pd.concat([answers[answers["system"] != first], *forms])
    notes = notes_on_answers(compared, {"en": judged}, queries, {})
    measures = {name: {note.name for note in notes.get(("en", name), ())} for name in made}
    assert "verbatim" in measures["a sentence"]
    assert "verbatim" in measures["hyphens"]
    assert measures["the question"] == {"asked"}
    assert measures["as it is"] == measures["one answer"] == set()
