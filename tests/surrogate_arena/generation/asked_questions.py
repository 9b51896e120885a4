"""Questions to answer, and how to find them in a prompt."""

import pandas as pd

PASSAGES = [
    {"passage_id": "1#0", "text": "The Weekly Newes of 1622.", "title": "News", "relevance": 1},
    {"passage_id": "2#4", "text": "Printing came in 1476.", "title": None, "relevance": 0},
]


def build_queries(count=3, languages=("en",), passages=PASSAGES):
    rows = [
        (f"q{n}", language, f"Question {n} in {language}?", list(passages))
        for language in languages
        for n in range(count)
    ]
    return pd.DataFrame(rows, columns=["query_id", "language", "query", "passages"])


def question_of(prompt):
    return next(
        line.removeprefix("Question: ")
        for line in prompt.splitlines()
        if line.startswith("Question: ")
    )
