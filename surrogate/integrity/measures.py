"""What can be counted in systems' answers beside the judged systems' answers to the same questions.

All is counted in runs of words, so that no model and no list of words is needed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse
from sklearn.preprocessing import normalize

from arena.text.citations import strip_citations
from features.text.tokens import folded_words
from surrogate.learning.estimation.answer_texts import hashed

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]
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
    vectors = _vectors(rows["answer"], known)
    own = rows.groupby("system").indices
    means["misfit"] = {
        name: _misfit(vectors, questions, known, places)
        for name, places in own.items()
        if plain[places].nunique() >= FEWEST_DISTINCT
    }
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
    holders = defaultdict[int, Counter[Words]](Counter)
    own_runs = defaultdict[str, Counter[Words]](Counter)
    pairs = defaultdict[str, set[Words]](set)
    answers = list(zip(words, questions, rows["system"], rows["is_judged"], strict=True))
    for text, place, system, is_judged in answers:
        found = set(_runs(text, RUN))
        own_runs[system].update(found)
        if is_judged:
            holders[place].update(found)
            pairs[system].update(_runs(text, PAIR))
    usual = Counter(chain.from_iterable(pairs.values()))
    shown, quoted, copied = (
        [{run for text in texts for run in _runs(text, size)} for texts in asked]
        for size in (PAIR, RUN, PASSAGE_RUN)
    )
    is_shown = set().union(*shown)
    shares = []
    for text, place, system, is_judged in answers:
        theirs, own, said = holders[place], own_runs[system], quoted[place]
        is_known = [theirs[run] > is_judged and run not in said for run in _runs(text, RUN)]
        is_repeated = [own[run] > 1 for run in _runs(text, RUN)]
        is_copied = [run in copied[place] for run in _runs(text, PASSAGE_RUN)]
        is_new = [usual[pair] <= is_judged and pair not in is_shown for pair in _runs(text, PAIR)]
        every = (is_known, is_repeated, is_copied, is_new)
        shares.append([sum(flags) / max(len(flags), 1) for flags in every])
    return pd.DataFrame(shares, columns=["shared", "repeated", "passages", "new_pairs"])


def _runs(words: Words, size: int) -> Iterator[Words]:
    """Return the runs of so many words."""
    return zip(*(words[start:] for start in range(size)), strict=False)


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
