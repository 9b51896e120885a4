"""What can be counted in systems' answers beside the judged systems' answers to the same questions.

All is counted in runs of words, so that no model and no list of words is needed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, count

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from arena.text.citations import strip_citations
from features.text.tokens import folded_words
from surrogate.learning.estimation.answer_texts import FACTOR, hashed, mixed, unit_rows

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]
Hashes = npt.NDArray[np.uint64]
Words = tuple[str, ...]

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
SHORTEST = 1e-6
"""Length of a sum of vectors that is more than a rounding error."""
DIGITS = 12
"""Of cosines, so that rounding errors make none larger than its equal."""


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
    is_judged = rows["system"].isin(set(judged))
    known = is_judged.to_numpy()
    words = [_words(text) for text in plain]
    passages = [
        [_words(f"{item.get('title') or ''} {item['text']}") for item in items]
        for items in asked["passages"]
    ]
    shares = _of_runs(words, rows.assign(is_judged=is_judged), questions, passages)
    plain = plain.str.strip()
    shares["same"] = _same(plain, rows["system"])
    lengths = np.array([len(text) + 1.0 for text in words])
    medians = pd.Series(lengths).where(is_judged).groupby(questions).transform("median")
    means = shares.groupby(rows["system"]).mean()
    means["length"] = (lengths / medians).groupby(rows["system"]).median()
    own = rows.groupby("system").indices
    told = {name: at for name, at in own.items() if plain[at].nunique() >= FEWEST_DISTINCT}
    means["misfit"] = _misfits(_vectors(rows["answer"], known), questions, known, told)
    return means


def _of_runs(
    words: Sequence[Words],
    rows: pd.DataFrame,
    questions: Integers,
    asked: Sequence[Sequence[Words]],
) -> pd.DataFrame:
    """Count runs of words that stand elsewhere: a row an answer, shares of its runs.

    Args:
        words: Of each answer.
        rows: By answer: ``system``, and whether it ``is_judged``.
        questions: Place of each answer's question.
        asked: Of each question, the words of its passages.
    """
    known, system = rows["is_judged"].to_numpy(bool), pd.factorize(rows["system"])[0]
    shown = np.repeat(np.arange(len(asked)), [len(texts) for texts in asked])
    codes = defaultdict[str, int](count(1).__next__)
    own, passages = _coded(words, codes), _coded(chain.from_iterable(asked), codes)
    runs, of = _runs(*own, RUN)
    said, place = _runs(*passages, RUN)
    here, first = _at(runs, questions[of]), _distinct(runs, of)
    others = _times(here, here[first & known[of]]) > known[of]
    mine = _at(runs, system[of])
    flags = {
        "shared": (others & ~np.isin(here, _at(said, shown[place])), of),
        "repeated": (_times(mine, mine[first]) > 1, of),
    }
    runs, of = _runs(*own, PASSAGE_RUN)
    said, place = _runs(*passages, PASSAGE_RUN)
    flags["passages"] = np.isin(_at(runs, questions[of]), _at(said, shown[place])), of
    runs, of = _runs(*own, PAIR)
    usual = _times(runs, runs[_distinct(runs, system[of]) & known[of]])
    flags["new_pairs"] = (usual <= known[of]) & ~np.isin(runs, _runs(*passages, PAIR)[0]), of
    size = len(words)
    shares = {
        name: np.bincount(of, flag, size) / np.maximum(np.bincount(of, None, size), 1)
        for name, (flag, of) in flags.items()
    }
    return pd.DataFrame(shares)


def _coded(texts: Iterable[Words], codes: defaultdict[str, int]) -> tuple[Hashes, Integers]:
    """Number words, the same one alike, one text after the other; and whose each is."""
    every = list(texts)
    numbers = np.array([codes[word] for text in every for word in text], dtype=np.uint64)
    return mixed(numbers), np.repeat(np.arange(len(every)), list(map(len, every)))


def _runs(words: Hashes, text: Integers, size: int) -> tuple[Hashes, Integers]:
    """Hash the runs of so many words, and say whose each is."""
    windows = max(len(words) - size + 1, 0)
    value = np.zeros(windows, np.uint64)
    for offset in range(size):
        value = value * FACTOR + words[offset : offset + windows]
    inside = text[:windows] == text[size - 1 : size - 1 + windows]
    return value[inside], text[:windows][inside]


def _at(runs: Hashes, places: Integers) -> Hashes:
    """Tell runs apart by their places, too."""
    return runs ^ mixed(places.astype(np.uint64) + np.uint64(1))


def _distinct(runs: Hashes, of: Integers) -> Flags:
    """Tell the first of each run in what it is of."""
    is_first = np.zeros(len(runs), np.bool_)
    is_first[np.unique(_at(runs, of), return_index=True)[1]] = True
    return is_first


def _times(runs: Hashes, among: Hashes) -> Integers:
    """How often each run is among others."""
    values, times = np.unique(among, return_counts=True)
    place = np.searchsorted(values, runs)
    there = np.append(values, 0)[place] == runs
    return np.where(there, np.append(times, 0)[place], 0)


def _words(text: str) -> Words:
    return tuple(folded_words(text[:LONGEST]))


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
    return unit_rows(counts, weights)


def _misfits(
    vectors: sparse.csr_array,
    questions: Integers,
    is_judged: Flags,
    systems: Mapping[str, Integers],
) -> dict[str, float]:
    """Return the share of other questions whose answers are more like a system's than its own's.

    0.5 is chance. Answers that are like those to no question in particular, "I do not know" say,
    count little: each as much as its similarity to the most similar question exceeds the median.
    A system's answers, at the places of each, are held against the other judged systems'.
    """
    size = int(questions.max()) + 1
    of_question = sparse.csr_array(
        (is_judged.astype(np.float64), (questions, np.arange(len(questions)))),
        shape=(size, len(questions)),
    )
    sums = (of_question @ vectors).toarray()
    squares, times = (sums**2).sum(axis=1), np.bincount(questions[is_judged], minlength=size)
    found = {}
    for name, places in systems.items():
        asked, own = questions[places], vectors[places]
        likeness, lengths, others = own @ sums.T, squares.copy(), times.copy()
        if is_judged[places[0]]:  # its own answers are none of the others'
            among = (own @ own.T).toarray()
            lengths[asked] += np.diag(among) - 2 * np.diag(likeness[:, asked])
            likeness[:, asked] -= among
            others[asked] -= 1
        usable = others[asked] > 0
        found[name] = float("nan")
        if usable.sum() >= FEWEST_DISTINCT:
            lengths = np.sqrt(np.maximum(lengths, 0.0))
            cosines = likeness / np.where(lengths > SHORTEST, lengths, 1.0)
            kept = np.cumsum(others > 0) - 1
            at = kept[asked[usable]]
            found[name] = _above(np.round(cosines[usable][:, others > 0], DIGITS), at)
    return found


def _above(cosines: Floats, asked: Integers) -> float:
    """Weigh how many questions' answers are more like each answer than those to its own."""
    own = cosines[np.arange(len(asked)), asked][:, None]
    above = (cosines > own).sum(axis=1) + ((cosines == own).sum(axis=1) - 1) / 2
    distinct = cosines.max(axis=1) - np.median(cosines, axis=1)
    total = distinct.sum()
    return float(above @ distinct / total / (cosines.shape[1] - 1)) if total > 0 else float("nan")
