"""Exports of tools, forms and sheets in forms that teams bring: what is read of them."""

import json

import pytest

from arena import import_arena, read_answers

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
