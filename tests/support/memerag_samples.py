"""Labeled answers and verdicts made up for tests."""

import json

import pandas as pd


def labeled(sentence, factuality, fine=None, relevance="Directly answers the question", number=0):
    return {
        "sentence_id": number,
        "sentence": sentence,
        "factuality": factuality,
        "fine_grained_factuality": fine,
        "relevance": relevance,
        "comments": "",
    }


def answered(query_id, *sentences, query="Where?", passages=("Paris is in France.", "Oslo.")):
    return {
        "query_id": query_id,
        "query": query,
        "context": [{"text": text} for text in passages],
        "answer": list(sentences),
    }


def lines_of(*records):
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def verdict_table(rows, judge="j", prompt="p", language="en"):
    """Make verdicts of (human label, judge's label) pairs, each a question of its own."""
    return pd.DataFrame(
        {
            "judge": judge,
            "prompt": prompt,
            "language": language,
            "query_id": [f"q{number}" for number in range(len(rows))],
            "sentence_id": 0,
            "truth": [truth for truth, _ in rows],
            "fine": None,
            "value": pd.Series([label for _, label in rows], dtype=object),
            "failure": pd.Series(
                [None if label else "unparsable" for _, label in rows], dtype=object
            ),
            "was_asked": True,
        }
    )
