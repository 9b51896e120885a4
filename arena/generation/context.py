"""Words of any language, for retrieval by BM25.

Scripts that do not mark where words end (Han, kana, Thai, Lao, Khmer, Burmese), and Korean, which
writes particles onto nouns, are cut into pairs of neighbouring characters, as is customary for
them. In all others a run of letters, marks and digits is a word. Case, full-width forms, and the
vowel marks and stretching of Arabic do not count. There are neither stemming nor stop words.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
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


def context_words(text: str) -> list[str]:
    """Cut a text into the words that BM25 counts."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words: list[str] = [
        word
        for run in _RUNS.finditer(_SILENT.sub("", folded))
        for word in ([run[0]] if run["spaced"] else _pairs(run[0]))
    ]
    return words


def _pairs(run: str) -> list[str]:
    """Return the pairs of neighbouring characters; a single character as it is."""
    characters: list[str] = _CHARACTERS.findall(run)
    if len(characters) < 2:
        return characters
    return [one + other for one, other in pairwise(characters)]


DEFAULT_PASSAGES = 5
CORPUS_COLUMNS = ("passage_id", "text")

Passage = dict[str, Any]


@dataclass(frozen=True)
class SelectedContext:
    """Questions with the passages selected.

    Attributes:
        queries: The table of questions; ``passages`` holds the selected ones, best first.
        replaced: Questions whose last passage made room for a relevant one.
        without_relevant: Questions that have no relevant passage to select.
    """

    queries: pd.DataFrame
    replaced: int
    without_relevant: int


class _Ranking:
    """BM25 (Lucene's, as bm25s has it by default) over some passages."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        bm25s: Any = import_module("bm25s")
        self._passages = passages
        words = [context_words(_full_text(passage)) for passage in passages]
        self._index = bm25s.BM25() if any(words) else None
        if self._index is not None:
            self._index.index(words, show_progress=False)

    def best(self, query: str, count: int) -> list[Passage]:
        """Return the best passages, best first; what is equally good stays in its order."""
        scores = self._scores(query)
        if count < len(scores):
            least = np.partition(scores, len(scores) - count)[len(scores) - count]
            places = np.flatnonzero(scores >= least)
        else:
            places = np.arange(len(scores))
        order = np.argsort(-scores[places], kind="stable")
        return [self._passages[place] for place in places[order][:count]]

    def _scores(self, query: str) -> npt.NDArray[np.float32]:
        words = context_words(query)
        if self._index is None or not words:
            return np.zeros(len(self._passages), dtype=np.float32)
        scores: npt.NDArray[np.float32] = self._index.get_scores(words)
        return scores


class _Corpora:
    """Rankings over a corpus, one a language, made when first asked for."""

    def __init__(self, corpus: pd.DataFrame) -> None:
        absent = [column for column in CORPUS_COLUMNS if column not in corpus]
        if absent:
            raise UsageError(f"the corpus has no column {absent[0]!r}; it needs passage_id, text")
        self._corpus = corpus
        self._rankings: dict[str, _Ranking] = {}

    def of(self, language: str) -> _Ranking:
        if language not in self._rankings:
            self._rankings[language] = _Ranking(list(self._passages(language)))
        return self._rankings[language]

    def _passages(self, language: str) -> Iterator[Passage]:
        rows = self._corpus
        if "language" in rows:
            rows = rows[rows["language"] == language]
        titles = rows["title"] if "title" in rows else [None] * len(rows)
        for passage_id, text, title in zip(rows["passage_id"], rows["text"], titles, strict=True):
            title = title if isinstance(title, str) else None
            yield {"passage_id": passage_id, "text": text, "title": title, "relevance": None}


def select_context(
    queries: pd.DataFrame, corpus: pd.DataFrame | None = None, k: int = DEFAULT_PASSAGES
) -> SelectedContext:
    """Give each question the k best passages by BM25, one that is relevant among them.

    If none of the k best is labeled relevant, the last of them makes room for the best of the
    question's own passages that is. What a question gets does not depend on the other questions:
    its own passages are ranked among themselves.

    Args:
        queries: Questions with their passages and, as far as known, which are relevant.
        corpus: Passages to select from, instead of each question's own: columns ``passage_id,
            text`` and, if any, ``title`` and ``language``. Those that are among a question's own
            passages keep their label.
        k: Passages a question.

    Raises:
        UsageError: If k is below 1, or the corpus lacks a column.
        MissingDependencyError: If bm25s is not installed.
    """
    if k < 1:
        raise UsageError(f"cannot select {k} passages; ask for 1 or more")
    if find_spec("bm25s") is None:
        raise MissingDependencyError("selecting passages by BM25", "bm25s", "bm25")
    corpora = None if corpus is None else _Corpora(corpus)
    selected: list[list[Passage]] = []
    replaced = without_relevant = 0
    rows = queries[["language", "query", "passages"]].itertuples(index=False, name=None)
    for language, query, own in rows:
        ranked = _Ranking(own).best(query, len(own))
        found = ranked[:k] if corpora is None else corpora.of(language).best(query, k)
        best = _labeled(found, own)
        relevant = next(filter(_is_relevant, ranked), None)
        without_relevant += relevant is None
        if relevant is not None and not any(map(_is_relevant, best)):
            best = [*best[: k - 1], relevant]
            replaced += 1
        selected.append(best)
    table = queries.assign(passages=pd.Series(selected, index=queries.index, dtype=object))
    return SelectedContext(table, replaced, without_relevant)


def _labeled(passages: Sequence[Passage], own: Sequence[Passage]) -> list[Passage]:
    """Replace passages that are a question's own by these."""
    known = {passage["passage_id"]: passage for passage in own}
    return [known.get(passage["passage_id"], passage) for passage in passages]


def _is_relevant(passage: Passage) -> bool:
    return passage.get("relevance") == 1


def _full_text(passage: Passage) -> str:
    return f"{passage.get('title') or ''}\n{passage['text']}"
