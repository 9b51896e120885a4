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

from arena.data.systems import PassageRecord
from arena.text.citations import strip_citations
from features.text.tokens import folded_words
from surrogate.learning.estimation.answer_texts import FACTOR, hashed, mixed, unit_rows

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]
Hashes = npt.NDArray[np.uint64]
Words = tuple[str, ...]
Passages = Sequence[PassageRecord]

MOST_QUESTIONS = 100
"""Questions of a language that are looked at, evenly spaced."""
AT_ONCE = 100
"""Systems whose vectors are held at a time."""
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


def plain_answers(rows: pd.DataFrame, queries: pd.DataFrame) -> tuple[pd.DataFrame, list[Passages]]:
    """Take the citations out of answers in one language, to questions that are looked at.

    Args:
        rows: Columns ``system, query_id, answer``.
        queries: Columns ``query_id, passages``.

    Returns:
        The rows, sorted, with the columns ``plain`` and ``question``, the place of its passages;
        and the passages of each question.
    """
    names = sorted(rows["query_id"].unique())
    names = names[:: -(-len(names) // MOST_QUESTIONS)]
    rows = rows[rows["query_id"].isin(names)]
    rows = rows.sort_values(["system", "query_id"], kind="stable", ignore_index=True)
    asked = list(queries.drop_duplicates("query_id").set_index("query_id")["passages"].loc[names])
    places = pd.Index(names).get_indexer(rows["query_id"])
    ids = [tuple(str(item["passage_id"]) for item in items) for items in asked]
    pairs = zip(rows["answer"], places, strict=True)
    plain = [strip_citations(text[:LONGEST], ids[place]) for text, place in pairs]
    return rows.assign(plain=pd.Series(plain, dtype="str"), question=places), asked


def measure_fit(rows: pd.DataFrame, judged: Collection[str]) -> pd.DataFrame:
    """Tell how far systems say the same whatever was asked, and what fits other questions.

    Args:
        rows: Of ``plain_answers``.
        judged: The judged systems beside which all are seen, each beside the others.

    Returns:
        By system, ``same`` and ``misfit``.
    """
    plain = rows["plain"].str.strip()
    means = _same(plain, rows["system"]).groupby(rows["system"]).mean().to_frame("same")
    own = rows.groupby("system").indices
    told = {name: at for name, at in own.items() if plain[at].nunique() >= FEWEST_DISTINCT}
    return means.assign(misfit=pd.Series(_misfits(rows, set(judged), told), dtype=np.float64))


def measure_texts(
    rows: pd.DataFrame, judged: Collection[str], asked: Sequence[Passages]
) -> pd.DataFrame:
    """Count what systems' answers have in common, and with what.

    Args:
        rows: Of ``plain_answers``.
        judged: The judged systems among them; each is measured beside the others.
        asked: The passages of each question.

    Returns:
        By system, a column a measure: means over its answers.
    """
    is_judged = rows["system"].isin(set(judged))
    known = {text: _words(text) for text in rows["plain"].unique()}
    words = [known[text] for text in rows["plain"]]
    passages = [
        [_words(f"{item.get('title') or ''} {item['text']}") for item in items] for items in asked
    ]
    questions = rows["question"].to_numpy()
    shares = _of_runs(words, rows.assign(is_judged=is_judged), questions, passages)
    lengths = np.array([len(text) + 1.0 for text in words])
    medians = pd.Series(lengths).where(is_judged).groupby(questions).transform("median")
    means = shares.groupby(rows["system"]).mean()
    return means.assign(length=(lengths / medians).groupby(rows["system"]).median())


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
        "shared": (others & (_times(here, _at(said, shown[place])) == 0), of),
        "repeated": (_times(mine, mine[first]) > 1, of),
    }
    runs, of = _runs(*own, PASSAGE_RUN)
    said, place = _runs(*passages, PASSAGE_RUN)
    flags["passages"] = _times(_at(runs, questions[of]), _at(said, shown[place])) > 0, of
    runs, of = _runs(*own, PAIR)
    usual = _times(runs, runs[_distinct(runs, system[of]) & known[of]])
    flags["new_pairs"] = (usual <= known[of]) & (_times(runs, _runs(*passages, PAIR)[0]) == 0), of
    size = len(words)
    shares = {
        name: np.bincount(of, flag, size) / np.maximum(np.bincount(of, None, size), 1)
        for name, (flag, of) in flags.items()
    }
    return pd.DataFrame(shares)


def _coded(texts: Iterable[Words], codes: defaultdict[str, int]) -> tuple[Hashes, Integers]:
    """Number words, the same one alike, one text after the other; and whose each is."""
    every = list(texts)
    numbers = np.fromiter(map(codes.__getitem__, chain.from_iterable(every)), dtype=np.uint64)
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
    return np.asarray(~pd.Series(_at(runs, of)).duplicated())


def _times(runs: Hashes, among: Hashes) -> Integers:
    """How often each run is among others."""
    codes, values = pd.factorize(np.concatenate([among, runs]))
    times = np.bincount(codes[: len(among)], minlength=len(values))
    return np.asarray(times[codes[len(among) :]])


def _words(text: str) -> Words:
    return tuple(folded_words(text[:LONGEST]))


def _same(plain: pd.Series, system: pd.Series) -> pd.Series:
    """Tell which answers are empty, or the text that a system gave most often, if twice or more."""
    times = plain.groupby([system, plain]).transform("size")
    most = times.groupby(system).transform("max")
    first = plain.where((times == most) & (times > 1)).groupby(system).transform("min")
    return ((plain == first) | (plain == "")).astype(np.float64)


def _folded(answers: pd.Series) -> sparse.csr_array:
    """Count character n-grams in few dimensions, shape (N, D)."""
    found = sparse.coo_array(hashed([text[:LONGEST] for text in answers]))
    folded = (found.data, (found.row, found.col % FOLDED))
    return sparse.csr_array(folded, shape=(len(answers), FOLDED))


def _misfits(
    rows: pd.DataFrame, judged: Collection[str], systems: Mapping[str, Integers]
) -> dict[str, float]:
    """Return the share of other questions whose answers are more like a system's than its own's.

    0.5 is chance. Answers that are like those to no question in particular, "I do not know" say,
    count little: each as much as its similarity to the most similar question exceeds the median.
    A system's answers, at the places of each, are held against the other judged systems'. N-grams
    are weighed by how few of the judged answers have them.
    """
    known, questions = rows[rows["system"].isin(judged)], rows["question"].to_numpy()
    counts, size = _folded(known["answer"]), int(questions.max()) + 1
    present = np.bincount(counts.indices, minlength=FOLDED)
    weights = np.log((1 + len(known)) / (1 + present)) + 1
    entries = (np.ones(len(known)), (known["question"], np.arange(len(known))))
    of_question = sparse.csr_array(entries, shape=(size, len(known)))
    sums = (of_question @ unit_rows(counts, weights)).toarray()
    squares, times = (sums**2).sum(axis=1), np.bincount(known["question"], minlength=size)
    found, names = dict[str, float](), sorted(systems)
    for start in range(0, len(names), AT_ONCE):
        some = names[start : start + AT_ONCE]
        at = np.concatenate([systems[name] for name in some])
        vectors = unit_rows(_folded(rows["answer"].iloc[at]), weights)
        ends = np.cumsum([len(systems[name]) for name in some])
        for name, end in zip(some, ends, strict=True):
            asked, own = questions[systems[name]], vectors[end - len(systems[name]) : end]
            likeness, lengths, others = own @ sums.T, squares.copy(), times.copy()
            if name in judged:  # its own answers are none of the others'
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
                places = kept[asked[usable]]
                found[name] = _above(np.round(cosines[usable][:, others > 0], DIGITS), places)
    return found


def _above(cosines: Floats, asked: Integers) -> float:
    """Weigh how many questions' answers are more like each answer than those to its own."""
    own = cosines[np.arange(len(asked)), asked][:, None]
    above = (cosines > own).sum(axis=1) + ((cosines == own).sum(axis=1) - 1) / 2
    distinct = cosines.max(axis=1) - np.median(cosines, axis=1)
    total = distinct.sum()
    return float(above @ distinct / total / (cosines.shape[1] - 1)) if total > 0 else float("nan")
