"""Made-up arenas of any size, for ``scale.py``: drawn words, and who says what is true."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit

from arena import Arena
from arena.data.types import Flags, Floats, Indices

WORDS = 4000
SENTENCE = 14
FINDINGS = 12
"""True sentences of a question; its passages hold three each."""
PASSAGE = 3
STYLES = 40
"""Kinds of systems that open their answers alike and share their wrong sentences."""
SLOTS = 4
"""Sentences of an answer."""
TIES = 0.1
STREAM = {
    "languages": ["de", "en", "sw"],
    "systems": [f"system-{number:03}" for number in range(100)],
}
FILE_QUESTIONS = 200
"""Of a part file of a stream; all systems answer them."""
MOST_LANGUAGES = 12
"""Of an arena of real sentences."""
VERDICTS = 17
"""On a question of it: 200,000 on 12,000 questions."""
MOST_CHARACTERS = 600
"""Of a sentence of it; answers have about as many."""
SENTENCE_END = re.compile(r"(?<=[.!?।])\s+|(?<=。)")


@dataclass(frozen=True)
class DrawnQuestion:
    """A question, and what may be said about it.

    Attributes:
        query_id: Its id.
        query: Its text.
        passages: Cells ``passage_id`` and ``text``.
        true: What its passages say: sentences that cite one of them.
        wrong: Sentences that no passage holds.
    """

    query_id: str
    query: str
    passages: list[dict[str, str]]
    true: list[str]
    wrong: list[str]

    @property
    def row(self) -> dict[str, object]:
        """Return its row of the arena's queries."""
        return {"query_id": self.query_id, "query": self.query, "passages": self.passages}


def drawn_question(
    query_id: str, starts: Sequence[int], n_wrong: int, rng: np.random.Generator
) -> DrawnQuestion:
    """Draw a question.

    Args:
        query_id: Its id.
        starts: Which true sentence is the first of each passage, rising from 0.
        n_wrong: Number of wrong sentences.
        rng: Draws the words.
    """
    true = [sentence(rng) for _ in range(FINDINGS)]
    wrong = [sentence(rng) for _ in range(n_wrong)]
    query = sentence(rng)
    passages = []
    for number, start in enumerate(starts):
        text = ". ".join(true[start : start + PASSAGE])
        passages.append({"passage_id": f"{query_id}-{number}", "text": text})
    # Of passages that hold a sentence, the last one is cited.
    cited = np.searchsorted(starts, range(FINDINGS), side="right") - 1
    return DrawnQuestion(
        query_id=query_id,
        query=query,
        passages=passages,
        true=[f"{text} [{query_id}-{number}]." for text, number in zip(true, cited, strict=True)],
        wrong=[f"{text}." for text in wrong],
    )


def sentence(rng: np.random.Generator) -> str:
    """Draw words, few of them often."""
    drawn = np.minimum(rng.zipf(1.3, size=SENTENCE), WORDS)
    return " ".join(f"w{word:x}" for word in drawn)


def said(
    statements: Indices, is_true: Flags, true: Sequence[str], wrong: Sequence[str]
) -> list[str]:
    """Return the sentences of an answer: of each statement, what is true or what is wrong."""
    sentences = []
    for statement, says_true in zip(statements, is_true, strict=True):
        sentences.append(true[statement] if says_true else wrong[statement])
    return sentences


def made_up(systems: int, questions: int, judgments: int) -> Arena:
    """Draw an arena: stronger systems say more of what the passages say, and win more often."""
    rng = np.random.default_rng(0)
    strengths = rng.normal(size=systems)
    styles = rng.integers(STYLES, size=systems)
    names = np.array([f"style-{style:02}/system-{index:04}" for index, style in enumerate(styles)])
    queries, answers, battles = [], [], []
    for number in range(questions):
        starts = range(0, FINDINGS, PASSAGE)
        question = drawn_question(f"q{number:04}", starts, STYLES, rng)
        queries.append(question.row)
        statements = rng.integers(FINDINGS, size=(systems, SLOTS))
        is_true = rng.random((systems, SLOTS)) < expit(strengths)[:, None]
        for system, style in enumerate(styles):
            opening = f"{question.wrong[style - 1][:40]}:"
            wrong = [question.wrong[style]] * FINDINGS
            sentences = said(statements[system], is_true[system], question.true, wrong)
            answers.append((question.query_id, names[system], " ".join([opening, *sentences])))
        count = judgments // questions + (number < judgments % questions)
        battles.append(drawn_battles(names, strengths, count, rng, question.query_id))
    return Arena.from_frames(
        pd.DataFrame(queries),
        pd.DataFrame(answers, columns=["query_id", "system", "answer"]),
        pd.concat(battles, ignore_index=True),
        name="scale",
        language="en",
        judge="simulated",
    )


def drawn_battles(
    names: npt.NDArray[np.str_],
    strengths: Floats,
    count: int,
    rng: np.random.Generator,
    query_id: str,
) -> pd.DataFrame:
    """Draw pairs without repetition and their verdicts by Bradley and Terry's model."""
    n_ordered = len(names) ** 2
    drawn = rng.choice(n_ordered, size=min(3 * count + 30, n_ordered), replace=False)
    first, second = np.divmod(drawn, len(names))
    is_pair = first < second
    first, second = first[is_pair][:count], second[is_pair][:count]
    is_swapped = rng.random(len(first)) < 1 / 2
    side_a, side_b = np.where(is_swapped, (second, first), (first, second))
    is_won = rng.random(len(side_a)) < expit(strengths[side_a] - strengths[side_b])
    is_tied = rng.random(len(side_a)) < TIES
    winner = np.where(is_tied, "tie", np.where(is_won, "a", "b"))
    sides = {"system_a": names[side_a], "system_b": names[side_b]}
    return pd.DataFrame({"query_id": query_id, **sides, "winner": winner})


def write_stream(folder: Path, answers: int) -> None:
    """Write an arena, a part file of questions and one of answers at a time."""
    rng = np.random.default_rng(0)
    n_systems = len(STREAM["systems"])
    truthfulness = rng.beta(4, 2, size=n_systems)
    for part in range(math.ceil(answers / (n_systems * FILE_QUESTIONS))):
        queries: list[dict[str, object]] = []
        rows: list[dict[str, object]] = []
        for number in range(FILE_QUESTIONS):
            question = drawn_stream_question(f"q{part:05}-{number:03}", rng)
            queries.append(question.row)
            rows += stream_answers(question, truthfulness, rng)
        language = STREAM["languages"][part % len(STREAM["languages"])]
        write_part(folder / "queries.parquet", language, part, queries)
        write_part(folder / "answers.parquet", language, part, rows)
    info = {"name": folder.name, "reference_system": STREAM["systems"][0], **STREAM}
    (folder / "arena.json").write_text(json.dumps(info))


def drawn_stream_question(query_id: str, rng: np.random.Generator) -> DrawnQuestion:
    """Draw a question whose passages overlap: each starts a sentence after the one before."""
    n_passages = FINDINGS - PASSAGE + 1
    return drawn_question(query_id, range(n_passages), FINDINGS, rng)


def stream_answers(
    question: DrawnQuestion, truthfulness: Floats, rng: np.random.Generator
) -> list[dict[str, object]]:
    """Draw every system's answer to a question, by the probability that it says what is true."""
    size = (len(truthfulness), SLOTS)
    statements = rng.integers(len(question.passages), size=size)
    is_true = rng.random(size) < truthfulness[:, None]
    rows: list[dict[str, object]] = []
    for index, system in enumerate(STREAM["systems"]):
        sentences = said(statements[index], is_true[index], question.true, question.wrong)
        answer = " ".join(sentences)
        rows.append({"query_id": question.query_id, "system": system, "answer": answer})
    return rows


def write_multilingual(folder: Path, source: Arena, systems: int, questions: int) -> None:
    """Write an arena of real sentences in twelve languages, a part file per language and table.

    Answers are sentences of the passages of ``source``: the stronger a system, the more of them are
    of the question's own passages.
    """
    rng = np.random.default_rng(0)
    strengths = rng.normal(size=systems)
    names = np.array([f"system-{index:02}" for index in range(systems)])
    battles = []
    languages = source.info.languages[:MOST_LANGUAGES]
    for language in languages:
        originals = source.queries[source.queries["language"] == language]
        texts = [passage["text"] for passages in originals["passages"] for passage in passages]
        queries: list[dict[str, object]] = []
        answers: list[dict[str, object]] = []
        for number in range(questions):
            query_id = f"{language}-{number:04}"
            places = rng.choice(len(texts), size=6, replace=False)
            cells = []
            for index, place in enumerate(places):
                cells.append({"passage_id": f"{query_id}#{index}", "text": texts[place]})
            query = originals["query"].iloc[number % len(originals)]
            queries.append({"query_id": query_id, "query": query, "passages": cells})
            for name, strength in zip(names, strengths, strict=True):
                answer = quoted(cells, texts, float(expit(strength)), rng)
                answers.append({"query_id": query_id, "system": name, "answer": answer})
            drawn = drawn_battles(names, strengths, VERDICTS, rng, query_id)
            battles.append(drawn.assign(language=language, judge="simulated"))
        write_part(folder / "queries.parquet", language, 0, queries)
        write_part(folder / "answers.parquet", language, 0, answers)
    pd.concat(battles, ignore_index=True).to_parquet(folder / "judgments.parquet", index=False)
    info = {"name": folder.name, "languages": languages, "systems": names.tolist()}
    (folder / "arena.json").write_text(json.dumps(info))


def quoted(
    passages: Sequence[dict[str, str]],
    texts: Sequence[str],
    truthfulness: float,
    rng: np.random.Generator,
) -> str:
    """Quote sentences of the passages, with citations, or else of any text."""
    parts: list[str] = []
    length = rng.integers(MOST_CHARACTERS // 4, 5 * MOST_CHARACTERS // 4)
    while sum(map(len, parts)) < length:
        text = texts[int(rng.integers(len(texts)))]
        citation = ""
        if rng.random() < truthfulness:
            place = int(rng.integers(len(passages)))
            text = passages[place]["text"]
            citation = f" [{passages[place]['passage_id']}]"
        sentences = SENTENCE_END.split(text)
        parts.append(sentences[int(rng.integers(len(sentences)))][:MOST_CHARACTERS] + citation)
    return " ".join(parts)


def write_part(table: Path, language: str, part: int, rows: Sequence[dict[str, object]]) -> None:
    """Write one part file of a table that is divided by language."""
    path = table / f"language={language}" / f"{part:05}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_parquet(path, index=False)
