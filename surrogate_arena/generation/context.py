"""The best passages of a question by BM25, one that is relevant among them (MEMERAG, 3.2).

Korean, and scripts that do not mark words, are cut into pairs of characters. There are neither
stemming nor stop words.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import regex

from arena.data.errors import MissingDependencyError, UsageError

_DENSE = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー"
_WORD = r"\p{L}\p{M}\p{N}"
_RUNS = regex.compile(
    rf"(?P<dense>[[{_DENSE}]&&[{_WORD}]]\p{{M}}*+)++|(?P<spaced>[[{_WORD}]--[{_DENSE}]]++)",
    regex.V1,
)
_CHARACTERS = regex.compile(r"\X")
_SILENT = regex.compile("[\u0610-\u061a\u0640\u064b-\u065f\u0670\\p{Cf}]")

Passage = dict[str, Any]


def select_context(
    queries: pd.DataFrame, corpus: pd.DataFrame | None = None, k: int = 5
) -> tuple[pd.DataFrame, int, int]:
    """Give each question the k best passages by BM25, including a relevant one.

    If none of them is labeled relevant, the best relevant passage replaces the last.

    Args:
        queries: Questions with passages, labeled or not.
        corpus: Passages to select from instead: ``passage_id, text`` and perhaps ``title,
            language``.
        k: Passages per question.

    Returns:
        The questions with these passages; how many had their last one replaced; how many have no
        relevant one.

    Raises:
        UsageError: If k is below 1.
        MissingDependencyError: If bm25s is not installed.
    """
    if k < 1:
        raise UsageError(f"cannot select {k} passages; ask for 1 or more")
    if find_spec("bm25s") is None:
        raise MissingDependencyError("selecting passages by BM25", "bm25s", "bm25")
    corpus_indexes: dict[str, _Bm25] = {}
    selected: list[list[Passage]] = []
    n_replaced = 0
    n_without_relevant = 0
    rows = queries[["language", "query", "passages"]].itertuples(index=False, name=None)
    for language, query, passages in rows:
        ranked = _Bm25(passages).best(query, len(passages))
        best = ranked[:k]
        if corpus is not None:
            if language not in corpus_indexes:
                corpus_indexes[language] = _Bm25(list(_corpus_passages(corpus, language)))
            # A corpus has no labels: those of the question's passages are put back by id.
            labeled = {passage["passage_id"]: passage for passage in passages}
            from_corpus = corpus_indexes[language].best(query, k)
            best = [labeled.get(passage["passage_id"], passage) for passage in from_corpus]
        selected.append(best)
        relevant = next(filter(_is_relevant, ranked), None)
        if relevant is None:
            n_without_relevant += 1
        elif not any(map(_is_relevant, best)):
            # Of fewer than k passages none is replaced: the relevant one is added.
            best[k - 1 :] = [relevant]
            n_replaced += 1
    table = queries.assign(passages=pd.Series(selected, index=queries.index, dtype=object))
    return table, n_replaced, n_without_relevant


def context_words(text: str) -> list[str]:
    """Cut a text into the words that BM25 counts."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words: list[str] = []
    for run in _RUNS.finditer(_SILENT.sub("", folded)):
        characters = [run[0]] if run["spaced"] else _CHARACTERS.findall(run[0])
        pairs = [one + other for one, other in pairwise(characters)]
        words += pairs or characters
    return words


class _Bm25:
    def __init__(self, passages: Sequence[Passage]) -> None:
        bm25s: Any = import_module("bm25s")
        self._passages = passages
        words = []
        for passage in passages:
            words.append(context_words(f"{passage.get('title') or ''}\n{passage['text']}"))
        self._index = None
        # bm25s cannot index passages without any word.
        if any(words):
            self._index = bm25s.BM25()
            self._index.index(words, show_progress=False)

    def best(self, query: str, count: int) -> list[Passage]:
        words = context_words(query)
        scores = np.zeros(len(self._passages))
        if self._index is not None and words:
            scores = self._index.get_scores(words)
        order = np.argsort(-scores, kind="stable")[:count]
        return [self._passages[index] for index in order]


def _corpus_passages(corpus: pd.DataFrame, language: str) -> Iterator[Passage]:
    rows = corpus[corpus["language"] == language] if "language" in corpus else corpus
    titles = rows["title"] if "title" in rows else [None] * len(rows)
    for passage_id, text, cell in zip(rows["passage_id"], rows["text"], titles, strict=True):
        title = cell if isinstance(cell, str) else None
        yield {"passage_id": passage_id, "text": text, "title": title, "relevance": None}


def _is_relevant(passage: Passage) -> bool:
    return passage.get("relevance") == 1
