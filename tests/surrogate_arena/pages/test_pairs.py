"""Two systems head to head and their answers side by side: what pages hold and leave out."""

import json
import re
from collections import Counter
from dataclasses import replace

import pandas as pd
import pytest
from altered_boards import of_arena

from arena import UsageError
from surrogate.board.conclusions import LOST, on_mean
from surrogate_arena.pages import pair_texts
from surrogate_arena.pages.formats import slugs
from surrogate_arena.pages.pair_texts import LONGEST_ANSWER, Texts
from surrogate_arena.pages.pairs import MOST_ROWS, WINNERS, pair_page
from surrogate_arena.pages.site import write_site


@pytest.fixture(scope="module")
def texts(small_arena):
    return Texts(small_arena, seed=3)


@pytest.fixture(scope="module")
def english(board, texts):
    return pair_page(board, texts, slugs(board.systems), board.languages, "en", "")


def pair_places(count):
    return [(a, b) for a in range(count) for b in range(a + 1, count)]


def test_numbers_of_pairs_are_the_boards(board, english):
    names = [name for name, _ in english["data"]["systems"]]
    rows = board.differences[board.differences["language"] == "en"]
    known = rows.set_index(["system", "opponent"])
    met = board.win_matrix[board.win_matrix["language"] == "en"].set_index(["system", "opponent"])
    assert len(rows) == english["pairs"] == len(english["rows"]) < MOST_ROWS
    places = pair_places(len(names))
    for (a, b), [ahead], battles in zip(
        places, english["data"]["ahead"], english["data"]["met"], strict=True
    ):
        row = known.loc[(names[a], names[b])]
        assert ahead == pytest.approx(row["probability"], abs=6e-4)
        assert battles == met.loc[(names[a], names[b]), ["wins", "ties", "losses"]].tolist()


def test_verdicts_by_question_are_the_judgments(small_arena, english):
    names = [name for name, _ in english["data"]["systems"]]
    found = Counter()
    for (query_id, _, _), codes in zip(
        english["data"]["questions"], english["data"]["verdicts"], strict=True
    ):
        for code in codes:
            pair, winner = divmod(code, 3)
            a, b = divmod(pair, len(names))
            found[query_id, names[a], names[b], WINNERS[winner]] += 1
    judged = small_arena.judgments[small_arena.judgments["language"] == "en"]
    columns = ["query_id", "system_a", "system_b", "winner"]
    assert found == Counter(judged[columns].itertuples(index=False, name=None))
    assert english["verdicts_left_out"] == 0


def shown(arena, verdicts=None, **options):
    said = pd.DataFrame(columns=["query_id", "reason"]) if verdicts is None else verdicts
    return Texts(arena, seed=3, **options).of("en", arena.info.systems, said)


def test_pages_show_as_many_questions_as_they_have_room_for(small_arena, monkeypatch):
    whole = shown(small_arena)
    assert (len(whole["questions"]), whole["answered"]) == (10, 10)
    assert shown(small_arena, most=3)["questions"] == whole["questions"][:3]
    assert shown(small_arena, most=0)["questions"] == []
    answers = [answer for each in whole["questions"] for answer in each["answers"]]
    texts = [text for answer in answers for text, _, _ in answer["parts"]]
    monkeypatch.setattr(pair_texts, "LONGEST_PAGE", sum(map(len, texts)))
    cut = shown(small_arena)
    assert 0 < len(cut["questions"]) < 10
    assert cut["answered"] == 10
    ids = [question["key"][1] for question in whole["questions"]]
    long = pd.DataFrame({"query_id": ids, "reason": "because " * 500})
    assert len(shown(small_arena, long)["questions"]) < len(cut["questions"])


def test_long_texts_are_cut_and_counted(small_arena):
    answers = small_arena.answers.assign(answer="word " * 10_000)
    (question,) = shown(replace(small_arena, answers=answers), most=1)["questions"]
    for answer in question["answers"]:
        assert answer["cut"] == len("word " * 10_000) - 1 - LONGEST_ANSWER
        assert len("".join(part[0] for part in answer["parts"])) == LONGEST_ANSWER


def test_turns_before_a_question_are_shown_above_its_answers(board, small_arena, tmp_path):
    turns = [{"role": "user", "content": "<b>Hello?"}, {"role": "assistant", "content": "Hi."}]
    queries = small_arena.queries.assign(history=[turns] * len(small_arena.queries))
    arena = replace(small_arena, queries=queries)
    (question,) = shown(arena, most=1)["questions"]
    assert [turn.text for turn in question["turns"]] == ["<b>Hello?", "Hi."]
    page = (write_site(board, tmp_path / "site", arena).parent / "pairs/en.html").read_text()
    assert "&lt;b&gt;Hello?" in page
    assert "2 turns before the question" in page


def asked(small_arena, answer, own=None):
    """One question with passages 1 to 3; the first system may have passages of its own."""
    queries = small_arena.queries[small_arena.queries["language"] == "en"].head(1)
    key = queries.iloc[0]["query_id"]
    passages = [
        {"passage_id": str(number), "text": f"text {number}", "title": None, "relevance": None}
        for number in (1, 2, 3)
    ]
    answers = small_arena.answers
    answers = answers[(answers["query_id"] == key) & (answers["language"] == "en")].head(2)
    arena = replace(
        small_arena,
        queries=queries.assign(passages=[passages]),
        answers=answers.assign(answer=answer, passages=[own, None]),
        judgments=small_arena.judgments.iloc[:0],
    )
    none = pd.DataFrame(columns=["query_id", "reason"])
    (question,) = Texts(arena, seed=0).of("en", list(answers["system"]), none)["questions"]
    return question


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("Yes [2]. No.", [("[2]", 1)]),
        ("[1-3]", [("1", 0), ("3", 2)]),
        ("See 【２】", [("【２】", 1)]),
        ("[7] and [see below]", [("[7]", None)]),
        ("[Doc 3][1]", [("[Doc 3]", 2), ("[1]", 0)]),
        ("", []),
    ],
)
def test_citations_lead_to_their_passages(small_arena, answer, cited):
    parts = asked(small_arena, answer)["answers"][1]["parts"]
    assert "".join(text for text, _, _ in parts) == answer
    assert [part[:2] for part in parts if part[1] is not None or part[2]] == cited


def test_citations_of_own_passages_lead_to_these(small_arena):
    own = [{"passage_id": "2", "text": "another", "title": None, "relevance": None}]
    question = asked(small_arena, "[2]", own)
    places = [answer["parts"][0][1] for answer in question["answers"]]
    passages = [question["passages"][place] for place in places]
    assert [passage["text"] for passage in passages] == ["another", "text 2"]
    names = [[answer["system"]] for answer in question["answers"]]
    assert [passage["systems"] for passage in passages] == names


def test_of_judgments_only_verdict_and_reason_are_shown(hostile_site):
    pages = {path.name: path.read_text("utf-8") for path in hostile_site.rglob("*.html")}
    assert not any("sk-secret" in text for text in pages.values())
    data = pages["en.html"].split('<script type="application/json" id="data">')[1]
    data = data.split("</script>")[0]
    assert "<" not in data
    reasons = json.loads(data)["reasons"]
    assert {said for of_question in reasons.values() for said in of_question} == {
        "because </script><script>alert(3)</script><img src=x onerror=alert(4)>"
    }


def test_a_site_says_why_it_has_no_answers(board, small_arena, tmp_path):
    page = write_site(board, tmp_path / "site").parent / "pairs" / "en.html"
    assert "does not say where arena" in page.read_text("utf-8")
    assert json.loads(page.read_text("utf-8").split('id="data">')[1].split("</script>")[0])["ahead"]
    other = replace(small_arena, queries=small_arena.queries.iloc[1:])
    with pytest.raises(UsageError, match="other questions"):
        write_site(board, tmp_path / "site", other)
    others = replace(small_arena, judgments=small_arena.judgments.assign(judge="another"))
    with pytest.raises(UsageError, match=f"no judge {board.summary.judge!r} here"):
        write_site(of_arena(board, small_arena), tmp_path / "site", others)
    with pytest.raises(UsageError, match="`questions`"):
        write_site(board, tmp_path / "site", small_arena, questions=-1)


@pytest.mark.slow
def test_one_caution_leads_every_page_and_the_judges_has_all(board, small_arena, tmp_path):
    sure = {"tau_unseen": 0.8, "tau_unseen_low": 0.6, "tau_unseen_high": 0.9}
    lost = {
        **sure,
        "split_half": 0.6,
        "split_half_verdicts": 0.8,
        "gain_low": -0.3,
        "gain_high": -0.1,
    }
    macro = board.summary.macro.model_copy(update=lost)
    languages = {
        code: item.model_copy(update=lost if code == "sw" else sure)
        for code, item in board.summary.languages.items()
    }
    summary = board.summary.model_copy(update={"macro": macro, "languages": languages})
    bad = of_arena(replace(board, summary=summary), small_arena)
    site = write_site(bad, tmp_path / "site", small_arena).parent
    in_mean = on_mean(LOST, "mean over 2 languages")
    for path in site.rglob("*.html"):
        text = path.read_text("utf-8")
        top = text[: min(text.index(mark) for mark in ("<table", "<form") if mark in text)]
        cautions = re.findall(r"<strong>Caution.</strong> (?:<span>)?([^<]+)", top)
        if path.parent.name == "pairs":
            assert cautions == ([LOST.sentence] if path.name == "sw.html" else [])
        elif path.name == "judge.html":
            lost_there = f"{LOST.sentence[0].lower()}{LOST.sentence[1:]}"
            assert cautions == [in_mean.sentence, f"In Swahili, {lost_there}"]
        else:
            assert cautions == [in_mean.sentence], path.name
