"""Systems with retrievers of their own: one takes what is given, two have their own passages."""

import json

SHARED = [
    {"passage_id": "p1", "text": "Ada wrote the first program.", "title": None, "relevance": 1},
    {"passage_id": "p2", "text": "Oslo is cold in winter.", "title": None, "relevance": 0},
    {"passage_id": "p3", "text": "Bern has 140,000 people.", "title": "Bern", "relevance": 1},
]
OWN = [
    {"passage_id": "1", "text": "Ada died in 1852.", "title": None, "relevance": None},
    {"passage_id": "p1", "text": "Ada wrote the first program.", "title": None, "relevance": None},
]
ANSWERS = {
    "given": "Ada wrote the first program [p1].",
    "chosen": "Bern has 140,000 people [p3] [p1].",
    "own": "Ada died in 1852 [1].",
}
PASSAGES = {"given": None, "chosen": ["p3", "p2"], "own": OWN}


def row(name, passages=None):
    return {
        "query_id": "q",
        "language": "en",
        "system": name,
        "answer": ANSWERS.get(name, "?"),
        "passages": PASSAGES.get(name) if passages is None else passages,
    }


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
