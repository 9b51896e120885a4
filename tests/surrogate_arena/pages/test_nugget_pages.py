"""Pages show which facts of a good answer an answer states, and which it does not."""

from dataclasses import replace

import pandas as pd
import pytest
from hostile_pages import HOSTILE

from arena.data.answer_digests import answer_digest
from arena.judging.nuggets.tables import Nuggets
from surrogate_arena.pages.answer_nuggets import AnswerMarks
from surrogate_arena.pages.pair_texts import Texts
from surrogate_arena.pages.site import write_site

FACTS = [("1", "Tea is red.", "okay"), ("2", "Tea is green.", "vital"), ("3", HOSTILE, "okay")]
SUPPORTS = {"1": "not", "2": "not", "3": "supported"}


def with_marks(arena, judge):
    """Mark every answer in English alike."""
    queries = arena.queries[arena.queries["language"] == "en"]
    rows = [("en", name, *fact) for name in queries["query_id"] for fact in FACTS]
    columns = ["language", "query_id", "nugget_id", "text", "importance"]
    table = pd.DataFrame(rows, columns=columns)
    answers = arena.answers[arena.answers["language"] == "en"]
    answers = answers.assign(answer_digest=answers["answer"].map(answer_digest))
    marks = answers.merge(table, on=["language", "query_id"]).rename(columns={"text": "nugget"})
    marks = marks.assign(support=marks["nugget_id"].map(SUPPORTS), judge=judge)
    kept = ["language", "query_id", "system", "nugget_id", "nugget", "support", "judge"]
    return replace(arena, further=Nuggets(table, marks[[*kept, "answer_digest"]]).tables)


@pytest.fixture(scope="module")
def marked(small_arena):
    return with_marks(small_arena, "some:nuggets")


def test_facts_that_an_answer_misses_come_first_and_vital_ones_before_okay_ones(marked):
    (first, *_) = marked.answers[marked.answers["language"] == "en"].itertuples()
    marks_of = AnswerMarks(marked).of
    marks = marks_of((first.language, first.query_id), first.answer)
    shown = [(nugget["support"], nugget["importance"]) for nugget in marks["nuggets"]]
    assert shown == [("not", "vital"), ("not", "okay"), ("supported", "okay")]
    assert (marks["judge"], marks["n_supported"]) == ("some:nuggets", 1)
    assert marks["score"] == pytest.approx(0.5 / 2)
    assert marks_of((first.language, first.query_id), "another answer") is None


def test_an_answer_with_thoughts_which_no_page_shows_keeps_its_facts(small_arena):
    answers = small_arena.answers.assign(
        answer="<think>Tea?</think>" + small_arena.answers["answer"]
    )
    marked = with_marks(replace(small_arena, answers=answers), "some:nuggets")
    systems = sorted(set(answers["system"]))
    verdicts = marked.judgments.assign(reason="")
    questions = Texts(marked, seed=0).of("en", systems, verdicts)["questions"]
    for answer in questions[0]["answers"]:
        assert "Tea?" not in answer["parts"][0][0]
        assert answer["marks"]["n_supported"] == 1


def test_pages_show_facts_below_answers_and_nothing_in_them_runs(board, marked, tmp_path):
    folder = write_site(board, tmp_path / "site", marked).parent
    page = (folder / "pairs" / "en.html").read_text(encoding="utf-8")
    n_answers = page.count('<article class="answer"')
    assert n_answers > 0
    assert page.count("States 1 of 3 facts of a good answer; score 25%") == n_answers
    assert page.count("Tea is green.") == n_answers
    assert "<script>alert(3)" not in page
    other = next(path for path in (folder / "pairs").glob("*.html") if path.name != "en.html")
    assert "of a good answer" not in other.read_text(encoding="utf-8")
