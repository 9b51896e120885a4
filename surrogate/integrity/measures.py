"""What can be counted in systems' answers beside the judged systems' answers to the same questions.

All is counted in runs of words, by hash, so that no model and no list of words is needed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse
from sklearn.preprocessing import normalize

from arena.text.citations import strip_citations
from features.text.tokens import folded_words
from surrogate.learning.answer_texts import hashed

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]
Hashes = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.bool_]

MOST_QUESTIONS = 100
"""Questions of a language that are looked at, evenly spaced."""
RUN, PASSAGE_RUN, PAIR = 5, 8, 2
"""Words in a row that two answers share, an answer and a passage, or any two texts."""
FEWEST_DISTINCT = 5
"""Answers from which it is told whether they fit their questions."""
LONGEST = 20_000
"""Characters of a text that are read."""
FOLDED = 1024
"""Dimensions of an answer's vector."""
_FACTOR, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)


class Words:
    """The words of N texts by hash, case folded, one text after the other."""

    def __init__(self, texts: Sequence[str]) -> None:
        cut = [folded_words(text[:LONGEST]) for text in texts]
        self.counts = np.array([len(words) for words in cut], np.intp)
        words = np.array([word for words in cut for word in words], dtype=object)
        self._hashes = np.asarray(
            pd.util.hash_array(words) if len(words) else np.empty(0), np.uint64
        )
        self._owners = np.repeat(np.arange(len(cut)), self.counts)

    def runs(self, size: int) -> tuple[Hashes, Integers]:
        """Return the runs of so many words within one text, by hash, and which text each is in."""
        count = max(len(self._hashes) - size + 1, 0)
        value = np.zeros(count, np.uint64)
        for offset in range(size):
            value = value * _FACTOR + self._hashes[offset : offset + count]
            value ^= value >> _SHIFT
        within = self._owners[:count] == self._owners[size - 1 :][:count]
        return value[within], self._owners[:count][within]


def measure_texts(
    rows: pd.DataFrame, judged: Collection[str], queries: pd.DataFrame
) -> pd.DataFrame:
    """Count what systems' answers in one language have in common, and with what.

    Args:
        rows: Columns ``system, query_id, answer``.
        judged: The judged systems among them; each is measured beside the others.
        queries: Columns ``query_id, passages``.

    Returns:
        A row a system, a column a measure: means over its answers.
    """
    names = sorted(rows["query_id"].unique())
    names = names[:: -(-len(names) // MOST_QUESTIONS)]
    rows = rows[rows["query_id"].isin(set(names))]
    rows = rows.sort_values(["system", "query_id"], kind="stable", ignore_index=True)
    asked = queries.drop_duplicates("query_id").set_index("query_id").loc[names]
    questions = pd.Index(names).get_indexer(rows["query_id"])
    ids = [tuple(str(item["passage_id"]) for item in items) for items in asked["passages"]]
    plain = pd.Series(
        [
            strip_citations(text[:LONGEST], ids[place])
            for text, place in zip(rows["answer"], questions, strict=True)
        ],
        dtype="str",
    )
    systems, is_judged = pd.factorize(rows["system"])[0], rows["system"].isin(set(judged))
    known = is_judged.to_numpy()
    words = Words(list(plain))
    shares = _of_runs(words, asked, questions, systems, known)
    plain = plain.str.strip()
    shares["same"] = _same(plain, rows["system"])
    lengths = words.counts + 1.0
    medians = pd.Series(lengths).where(is_judged).groupby(questions).transform("median")
    means = shares.groupby(rows["system"]).mean()
    means["length"] = (lengths / medians).groupby(rows["system"]).median()
    vectors = _vectors(rows["answer"], known)
    own = rows.groupby("system").indices
    means["misfit"] = {
        name: _misfit(vectors, questions, known, places)
        for name, places in own.items()
        if plain[places].nunique() >= FEWEST_DISTINCT
    }
    return means


def _of_runs(
    words: Words, asked: pd.DataFrame, questions: Integers, systems: Integers, is_judged: Flags
) -> pd.DataFrame:
    """Count runs of words that stand elsewhere: a row an answer, shares of its runs."""
    passages = [
        (place, f"{item.get('title') or ''} {item['text']}")
        for place, items in enumerate(asked["passages"])
        for item in items
    ]
    shown = Words([text for _, text in passages])
    source = np.array([place for place, _ in passages], np.intp)

    def of_question(run: int) -> tuple[Hashes, Integers, Flags]:
        hashes, owners = words.runs(run)
        theirs, texts = shown.runs(run)
        keys = _keyed(hashes, questions[owners])
        return keys, owners, _among(keys, _keyed(theirs, source[texts]))

    def share(values: npt.ArrayLike, owners: Integers) -> Floats:
        times = np.bincount(owners, minlength=len(systems))
        return np.bincount(owners, np.asarray(values), len(systems)) / np.maximum(times, 1)

    keys, owners, is_quoted = of_question(RUN)
    hashes, _ = words.runs(RUN)
    own = pd.DataFrame({"run": _keyed(hashes, systems[owners]), "answer": owners})
    several = own.drop_duplicates()["run"]
    pairs, pair_owners = words.runs(PAIR)
    _, copy_owners, is_copied = of_question(PASSAGE_RUN)
    is_known = _of_others(keys, systems[owners], is_judged[owners]) & ~is_quoted
    is_usual = _of_others(pairs, systems[pair_owners], is_judged[pair_owners])
    is_usual |= _among(pairs, shown.runs(PAIR)[0])
    return pd.DataFrame(
        {
            "shared": share(is_known, owners),
            "repeated": share(_among(own["run"], several[several.duplicated()]), owners),
            "passages": share(is_copied, copy_owners),
            "new_pairs": share(~is_usual, pair_owners),
        }
    )


def _keyed(hashes: Hashes, places: Integers) -> Hashes:
    """Make hashes distinct between questions, texts or systems, by their places."""
    mixed = hashes ^ ((places.astype(np.uint64) + np.uint64(1)) * _FACTOR)
    return np.asarray((mixed ^ (mixed >> _SHIFT)) * _FACTOR)


def _among(keys: npt.ArrayLike, known: npt.ArrayLike) -> Flags:
    return np.asarray(pd.Series(keys).isin(pd.unique(np.asarray(known))), dtype=np.bool_)


def _of_others(keys: Hashes, systems: Integers, is_judged: Flags) -> Flags:
    """Tell which runs judged systems have other than the one whose run it is."""
    codes, _ = pd.factorize(keys)
    width = int(systems.max(initial=0)) + 1
    owned = pd.unique((codes * width + systems)[is_judged]) // width
    holders = np.bincount(owned, minlength=int(codes.max(initial=-1)) + 1)
    return np.asarray(holders[codes] > is_judged)


def _same(plain: pd.Series, system: pd.Series) -> pd.Series:
    """Tell which answers are empty, or the text that a system gave most often, if twice or more."""
    times = plain.groupby([system, plain]).transform("size")
    most = times.groupby(system).transform("max")
    first = plain.where((times == most) & (times > 1)).groupby(system).transform("min")
    return ((plain == first) | (plain == "")).astype(np.float64)


def _vectors(answers: pd.Series, is_judged: Flags) -> sparse.csr_array:
    """Weigh character n-grams by how few of the judged answers have them, shape (N, D)."""
    found = sparse.coo_array(hashed([text[:LONGEST] for text in answers]))
    folded = (found.data, (found.row, found.col % FOLDED))
    counts = sparse.csr_array(folded, shape=(len(answers), FOLDED))
    present = np.bincount(counts[is_judged].indices, minlength=FOLDED)
    weights = np.log((1 + is_judged.sum()) / (1 + present)) + 1
    return sparse.csr_array(normalize(counts @ sparse.diags_array(weights)))


def _misfit(
    vectors: sparse.csr_array, questions: Integers, is_judged: Flags, places: Integers
) -> float:
    """Return the share of other questions whose answers are more like a system's than its own's.

    0.5 is chance. Answers that are like those to no question in particular, "I do not know" say,
    count little: each as much as its similarity to the most similar question exceeds the median.
    """
    known = is_judged.copy()
    known[places] = False
    size = int(questions.max()) + 1
    of_question = sparse.csr_array(
        (known.astype(np.float64), (questions, np.arange(len(known)))), shape=(size, len(known))
    )
    times = np.bincount(questions[known], minlength=size)
    usable = places[times[questions[places]] > 0]
    if len(usable) < FEWEST_DISTINCT:
        return float("nan")
    sums = normalize((of_question @ vectors).toarray()[times > 0])
    asked = (np.cumsum(times > 0) - 1)[questions[usable]]
    cosines = vectors[usable].toarray() @ np.asarray(sums).T
    own = cosines[np.arange(len(usable)), asked][:, None]
    above = (cosines > own).sum(axis=1) + ((cosines == own).sum(axis=1) - 1) / 2
    distinct = cosines.max(axis=1) - np.median(cosines, axis=1)
    total = distinct.sum()
    return float(above @ distinct / total / (cosines.shape[1] - 1)) if total > 0 else float("nan")
