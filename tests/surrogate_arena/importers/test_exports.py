"""Exports of tools, forms and sheets in forms that teams bring: what is read of them."""

import json

import openpyxl
import pytest

from arena import DataError, UsageError, import_arena, read_answers
from surrogate_arena.importers.judgments import counted_judgments_of

QUESTIONS = ("Why do cats purr?", "How tall is the mill?")
ANSWERS = {"alpha": ("They are calm.", "It is 31 m."), "beta": ("Of joy.", "Tall.")}


def imported(tmp_path, files, kind="csv", **options):
    paths = []
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".jsonl"):
            content = "\n".join(map(json.dumps, content))
        elif name.endswith(".json"):
            content = json.dumps(content)
        path.write_text(content, encoding="utf-8")
        paths.append(path)
    return import_arena(kind, paths, **{"language": "en", **options})


def answers_in(arena):
    texts = arena.queries.set_index("query_id")["query"]
    rows = arena.answers.to_dict(orient="records")
    return {(texts[row["query_id"]], row["system"]): row["answer"] for row in rows}


def winners_in(arena):
    """Return who won each judgment, sorted; ``tie`` where nobody did."""
    winners = []
    for row in arena.judgments.to_dict(orient="records"):
        side = row["winner"]
        winners.append("tie" if side == "tie" else row[f"system_{side}"])
    return sorted(winners)


EXPECTED = {
    (question, system): texts[number]
    for system, texts in ANSWERS.items()
    for number, question in enumerate(QUESTIONS)
}


def passages_of_cells(tmp_path, *cells):
    rows = []
    for number, cell in enumerate(cells):
        rows.append({"question": f"q{number}", "system": "s", "answer": "x", "contexts": cell})
    read = imported(tmp_path, {"t.jsonl": rows})
    texts = [[p["text"] for p in passages] for passages in read.arena.queries["passages"]]
    return texts, " ".join(read.notes)


@pytest.mark.parametrize(
    "cell",
    [
        "[1] Cats purr.\n[2] Mills turn.",
        "1. Cats purr.\n\n2. Mills turn.",
        "(1) Cats purr.\n(2) Mills turn.",
        "Document 1: Cats purr.\n\nDocument 2: Mills turn.",
        "[Document 0]: Cats purr.\n[Document 1]: Mills turn.",
        "### Passage 1\nCats purr.\n### Passage 2\nMills turn.",
        "Source [1]: Cats purr.\nSource [2]: Mills turn.",
        '<doc id="1">Cats purr.</doc>\n<doc id="2">Mills turn.</doc>',
        "Cats purr.\n---\nMills turn.",
        "Cats purr.\n\n=====\n\nMills turn.",
    ],
)
def test_passages_in_one_text_are_split_where_their_numbers_or_rules_show_them(cell, tmp_path):
    texts, notes = passages_of_cells(tmp_path, cell)
    assert texts == [["Cats purr.", "Mills turn."]]
    assert "the passages of 1 text of 'contexts' are read apart" in notes


@pytest.mark.parametrize(
    "cells",
    [
        ("1. Cats purr.\n2. Mills turn.", "A plain passage."),
        ("1. Cats purr.\n3. Mills turn.",),
        ("In 1999:\n1. Cats purr.\n2. Mills turn.",),
        ("---\ntitle: Cats\n---\nCats purr.",),
        ("Cats purr.\n---\nMills turn.", "Plain.", "Also plain."),
    ],
)
def test_texts_that_may_be_one_passage_stay_whole(cells, tmp_path):
    texts, _ = passages_of_cells(tmp_path, *cells)
    assert texts == [[cell] for cell in cells]


def test_texts_with_blank_lines_stay_whole_and_it_is_said(tmp_path):
    texts, notes = passages_of_cells(tmp_path, "Cats purr.\n\nMills turn.")
    assert texts == [["Cats purr.\n\nMills turn."]]
    assert "each is read as one passage; if it is several, give a list" in notes


@pytest.mark.parametrize(
    "header",
    [
        "Question,Modèle A,Réponse A,Modèle B,Réponse B,Gagnant",
        "问题,模型A,回答A,模型B,回答B,胜者",
        "質問,モデルA,回答A,モデルB,回答B,勝者",
        "Frage,Modell A,Antwort A,Modell B,Antwort B,Gewinner",
        "Pregunta,Modelo A,Respuesta A,Modelo B,Respuesta B,Mejor respuesta",
        "prompt,model1,answer1,model2,answer2,comparison",
    ],
)
def test_pairs_in_sheets_of_several_languages_are_read(header, tmp_path):
    lines = [header]
    for number, question in enumerate(QUESTIONS):
        first, second = (texts[number] for texts in ANSWERS.values())
        lines.append(f"{question},alpha,{first},beta,{second},A")
    read = imported(tmp_path, {"t.csv": "\n".join(lines)})
    assert answers_in(read.arena) == EXPECTED
    assert winners_in(read.arena) == ["alpha", "alpha"]


@pytest.mark.parametrize("names", [("o1", "o3-mini"), ("o4-mini", "Command R+")])
def test_names_of_models_that_are_no_words_head_columns_of_answers(names, tmp_path):
    lines = [f"question,{names[0]},{names[1]},score {names[0]},score {names[1]}"]
    for number, question in enumerate(QUESTIONS):
        lines.append(",".join((question, *(texts[number] for texts in ANSWERS.values()), "2,5")))
    arena = imported(tmp_path, {"t.csv": "\n".join(lines)}).arena
    assert set(arena.info.systems) == set(names)
    assert winners_in(arena) == [names[1], names[1]]


def test_stars_and_thumbs_are_marks(tmp_path):
    for marks in (("★★★★☆", "★★"), ("⭐⭐⭐", "⭐"), ("👍", "👎")):
        text = f"question,model,answer,rating\nq?,alpha,x,{marks[0]}\nq?,beta,y,{marks[1]}\n"
        assert winners_in(imported(tmp_path, {"t.csv": text}).arena) == ["alpha"]


def test_samples_of_harnesses_are_read_one_folder_a_system(tmp_path):
    files = {}
    for system, texts in ANSWERS.items():
        rows = []
        for number, question in enumerate(QUESTIONS):
            doc = {"question": question, "answer": "the right one"}
            rows.append({"doc_id": number, "doc": doc, "filtered_resps": [texts[number]]})
        files[f"{system}/samples.jsonl"] = rows
    arena = imported(tmp_path, files).arena
    assert answers_in(arena) == EXPECTED
    one_file = read_answers(tmp_path / "alpha/samples.jsonl", arena.queries)
    assert sorted(one_file["answer"]) == sorted(ANSWERS["alpha"])


def test_items_of_evaluations_are_read_by_the_fields_in_them(tmp_path):
    rows = []
    for system, texts in ANSWERS.items():
        for number, question in enumerate(QUESTIONS):
            sample = {"output_text": texts[number], "model": system}
            rows.append({"item": {"question": question}, "sample": sample})
    assert answers_in(imported(tmp_path, {"t.jsonl": rows}).arena) == EXPECTED


@pytest.mark.parametrize(
    "text",
    [
        "model_a,model_b,wins_a,wins_b,ties\nalpha,beta,2,1,1\n",
        "model_a,model_b,a_wins,b_wins,draws\nalpha,beta,2,1,1\n",
        "model,opponent,wins,losses,ties\nalpha,beta,2,1,1\n",
    ],
)
def test_counts_of_wins_are_battles(text, tmp_path):
    arena = imported(tmp_path, {"t.csv": text}, kind="lmarena").arena
    assert winners_in(arena) == ["alpha", "alpha", "beta", "tie"]
    assert len(arena.queries) == 4
    assert len(counted_judgments_of(tmp_path / "t.csv").table) == 4


def test_a_matrix_counts_the_wins_of_its_rows(tmp_path):
    text = ",alpha,beta\nalpha,,3\nbeta,1,\n"
    arena = imported(tmp_path, {"t.csv": text}, kind="lmarena").arena
    assert winners_in(arena) == ["alpha", "alpha", "alpha", "beta"]
    assert set(arena.judgments["system_a"]) == {"alpha"}


def test_columns_that_say_by_1_and_0_who_won_are_no_counts(tmp_path):
    text = "model_a,model_b,a_wins,b_wins\nalpha,beta,1,0\nalpha,beta,0,1\nalpha,beta,0,0\n"
    arena = imported(tmp_path, {"t.csv": text}, kind="lmarena").arena
    assert winners_in(arena) == ["alpha", "beta", "tie"]


def choices():
    rows = []
    for number, question in enumerate(QUESTIONS):
        options = [{"id": name, "text": texts[number]} for name, texts in ANSWERS.items()]
        row = {"text": question, "options": options, "accept": ["beta"], "answer": "accept"}
        rows.append({**row, "_annotator_id": "anna"})
    return rows


def test_options_that_people_chose_from_are_pairs(tmp_path):
    ignored = {**choices()[0], "answer": "ignore"}
    read = imported(tmp_path, {"t.jsonl": [*choices(), ignored]})
    assert answers_in(read.arena) == EXPECTED
    assert winners_in(read.arena) == ["beta", "beta"]
    assert set(read.arena.judgments["judge"]) == {"person:anna"}
    assert "1 record without a choice left out" in " ".join(read.notes)


def test_options_that_are_numbered_name_no_systems(tmp_path):
    rows = choices()
    for row in rows:
        row["options"] = [{**option, "id": n} for n, option in enumerate(row["options"])]
    with pytest.raises(UsageError, match="no column is known for"):
        imported(tmp_path, {"t.jsonl": rows})


def feedback(number, rated, siblings, rating, *, with_sibling=False):
    question = QUESTIONS[number]
    messages = {
        "q": {"role": "user", "content": question, "parentId": None},
        "r": {"role": "assistant", "content": ANSWERS[rated][number], "model": rated},
    }
    messages["r"]["parentId"] = "q"
    for name in siblings if with_sibling else ():
        messages[name] = {"content": ANSWERS[name][number], "model": name, "parentId": "q"}
    return {
        "id": f"{number}{rated}{rating}",
        "user_id": "u1",
        "data": {"rating": rating, "model_id": rated, "sibling_model_ids": siblings},
        "meta": {"message_id": "r"},
        "snapshot": {"chat": {"chat": {"history": {"messages": messages}}}},
    }


def test_rated_replies_won_or_lost_against_their_siblings(tmp_path):
    records = [
        feedback(0, "alpha", ["beta"], 1),
        feedback(1, "alpha", ["beta"], -1),
        feedback(1, "beta", None, 1),
    ]
    read = imported(tmp_path, {"t.json": records}, kind="lmarena")
    assert winners_in(read.arena) == ["alpha", "beta"]
    assert set(read.arena.judgments["judge"]) == {"person:u1"}
    assert any("1 rating of single replies left out" in text for text in read.skipped["reason"])


def test_replies_beside_a_rated_one_are_answers(tmp_path):
    records = [
        feedback(0, "alpha", ["beta"], 1, with_sibling=True),
        feedback(1, "beta", ["alpha"], 1, with_sibling=True),
    ]
    arena = imported(tmp_path, {"t.json": records}).arena
    assert answers_in(arena) == EXPECTED
    assert winners_in(arena) == ["alpha", "beta"]


def test_votes_in_the_logs_of_a_server_are_battles(tmp_path):
    rows = []
    for number, event in enumerate(["rightvote", "tievote", "chat"]):
        states = []
        for system, texts in ANSWERS.items():
            turns = [["USER", QUESTIONS[number % 2]], ["ASSISTANT", texts[number % 2]]]
            states.append({"model_name": system, "messages": turns})
        rows.append({"type": event, "states": states, "tstamp": 1.5})
    arena = imported(tmp_path, {"t.jsonl": rows}, kind="lmarena").arena
    assert winners_in(arena) == ["beta", "tie"]
    assert answers_in(arena) == EXPECTED


TWO_ROWS = [
    ["Question", "alpha", None, "beta", None],
    [None, "Answer", "Score", "Answer", "Score"],
    [QUESTIONS[0], ANSWERS["alpha"][0], 5, ANSWERS["beta"][0], 3],
    [QUESTIONS[1], ANSWERS["alpha"][1], 4, ANSWERS["beta"][1], 4],
]


def test_a_header_of_two_rows_names_systems_over_their_columns(tmp_path):
    book = openpyxl.Workbook()
    for row in TWO_ROWS:
        book.active.append(row)
    book.active.merge_cells("B1:C1")
    book.active.merge_cells("A1:A2")
    book.save(tmp_path / "t.xlsx")
    lines = [",".join("" if cell is None else str(cell) for cell in row) for row in TWO_ROWS]
    for read in (
        import_arena("csv", [tmp_path / "t.xlsx"], language="en"),
        imported(tmp_path, {"t.csv": "\n".join(lines)}),
    ):
        assert answers_in(read.arena) == EXPECTED
        assert winners_in(read.arena) == ["alpha", "tie"]
        assert "the header has two rows, read as Question, alpha Answer" in " ".join(read.notes)


def test_a_row_below_columns_without_names_is_no_header(tmp_path):
    text = "question,alpha,,beta,\nq?,x,5,y,3\n"
    with pytest.raises(DataError, match="more or fewer cells than the header"):
        imported(tmp_path, {"t.csv": text + ",,,,\n"})


def votes_table(*voters):
    header = "question,model_a,answer_a,model_b,answer_b"
    lines = [",".join((header, *voters))]
    for number, question in enumerate(QUESTIONS):
        first, second = (texts[number] for texts in ANSWERS.values())
        lines.append(f"{question},alpha,{first},beta,{second},A,{'B' if number else 'tie'}")
    return "\n".join(lines)


def test_a_column_of_votes_for_each_person_is_read_beside_answers(tmp_path):
    read = imported(tmp_path, {"t.csv": votes_table("rater 1", "rater 2")})
    assert answers_in(read.arena) == EXPECTED
    assert winners_in(read.arena) == ["alpha", "alpha", "beta", "tie"]
    assert len(set(read.arena.judgments["judge"])) == 2


def test_columns_that_may_hold_verdicts_are_named_where_there_is_no_winner(tmp_path):
    read = imported(tmp_path, {"t.csv": votes_table("Anna", "Ben")})
    assert read.arena.judgments.empty
    notes = " ".join(read.notes)
    assert "--column winner=Anna, or another of Anna, Ben" in notes
    assert "begin them with 'voter '" in notes


def test_the_answer_of_an_example_is_not_that_of_the_system(tmp_path):
    files = {}
    for system, texts in ANSWERS.items():
        rows = []
        for number, question in enumerate(QUESTIONS):
            example = {"question": question, "answer": "the right one"}
            rows.append({"example": example, "prediction": {"answer": texts[number]}})
        files[f"{system}.json"] = rows
    assert answers_in(imported(tmp_path, files).arena) == EXPECTED


def test_a_text_with_more_than_tags_stays_whole(tmp_path):
    cell = "See <doc>Cats purr.</doc>"
    texts, _ = passages_of_cells(tmp_path, cell)
    assert texts == [[cell]]
