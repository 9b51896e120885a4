"""What questions and passages hold that an answer may have been made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from surrogate.integrity.texts import (
    Hashes,
    Words,
    among,
    hash_texts,
    keyed,
    long_numbers,
    read_words,
)

COPIED = 8
"""Words in a row that are copied, where a passage has them too."""
ECHOED = 2
"""Words in a row that repeat the question, where it has them too."""


@dataclass(frozen=True)
class Evidence:
    """What the questions of a language and their passages hold, by hash; all arrays are sorted.

    Attributes:
        questions: Pairs of words of each question.
        passages: Runs of eight words of each question's passages.
        numbers: Numbers of each question and its passages.
        has_passages: Which questions have passages, shape (Q,).
        passage_ids: Ids of each question's passages, Q tuples.
    """

    questions: Hashes
    passages: Hashes
    numbers: Hashes
    has_passages: npt.NDArray[np.bool_]
    passage_ids: tuple[tuple[str, ...], ...]


def read_evidence(queries: pd.DataFrame, questions: Sequence[str]) -> Evidence:
    """Read questions and passages.

    Args:
        queries: Columns ``query_id, query, passages`` of one language.
        questions: The Q questions whose places matter; others are left out.
    """
    place = {name: index for index, name in enumerate(questions)}
    rows = queries[queries["query_id"].isin(place)]
    asked = rows["query_id"].map(place).to_numpy(np.intp)
    shown = [[_text(item) for item in passages] for passages in rows["passages"]]
    texts = [text for own in shown for text in own]
    sources = np.repeat(asked, [len(own) for own in shown])
    has_passages = np.zeros(len(questions), np.bool_)
    has_passages[sources] = True
    ids: list[tuple[str, ...]] = [()] * len(questions)
    for asked_place, passages in zip(asked, rows["passages"], strict=True):
        ids[asked_place] = tuple(dict.fromkeys(str(item["passage_id"]) for item in passages))
    queried = list(rows["query"].astype(str))
    return Evidence(
        _runs(read_words(queried), asked, ECHOED),
        _runs(read_words(texts), sources, COPIED),
        _numbers([*queried, *texts], np.concatenate([asked, sources])),
        has_passages,
        tuple(ids),
    )


def copied_words(
    words: Words, places: npt.NDArray[np.intp], evidence: Evidence
) -> npt.NDArray[np.bool_]:
    """Tell which words stand in a run of eight that a passage of their question has, shape (W,)."""
    runs, starts = words.ngrams(COPIED)
    found = starts[among(keyed(runs, places[words.owners[starts]]), evidence.passages)]
    edges = np.zeros(len(words.hashes) + COPIED, np.intp)
    np.add.at(edges, found, 1)
    np.add.at(edges, found + COPIED, -1)
    return np.asarray(np.cumsum(edges)[: len(words.hashes)] > 0)


def _text(passage: Mapping[str, Any]) -> str:
    return f"{passage.get('title') or ''} {passage['text']}"


def _runs(words: Words, places: npt.NDArray[np.intp], size: int) -> Hashes:
    found, starts = words.ngrams(size)
    return np.unique(keyed(found, places[words.owners[starts]]))


def _numbers(texts: Sequence[str], places: npt.NDArray[np.intp]) -> Hashes:
    found = [list(set(long_numbers(text))) for text in texts]
    owners = np.repeat(places, [len(own) for own in found])
    return np.unique(keyed(hash_texts([number for own in found for number in own]), owners))
