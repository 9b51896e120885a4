"""Long answers cost memory in proportion to their length."""

import tracemalloc

import numpy as np
import pandas as pd

from arena import Arena
from features import extract

WORDS = np.array([f"word{number}" for number in range(2000)], dtype=object)


def arena_of(words):
    """One question, a short answer and one of so many words in sentences."""
    drawn = np.random.default_rng(0).choice(WORDS, words)
    drawn[::15] = [word.capitalize() for word in drawn[::15]]
    drawn[14::15] += ". "
    text = " ".join(drawn) + " [1]"
    passages = [["Some words of note.", "Others, about cars."]]
    questions = pd.DataFrame({"query_id": ["q"], "query": ["What is it?"], "passages": passages})
    answers = pd.DataFrame({"query_id": "q", "system": ["a", "b"], "answer": [text, "Short [2]."]})
    return Arena.from_frames(questions, answers, language="en", reference_system="b")


def peak(arena):
    tracemalloc.start()
    extract(arena, "default")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def test_four_times_the_text_takes_four_times_the_memory():
    extract(arena_of(100), "default")  # what is loaded once
    assert peak(arena_of(8_000)) < 6 * peak(arena_of(2_000))
