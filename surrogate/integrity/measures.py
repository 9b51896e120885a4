"""What can be counted in systems' answers beside the judged systems' answers to the same questions.

All is counted in runs of words, so that no model and no list of words is needed.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.preprocessing import normalize

from arena.text.citations import strip_citations
from features.text.sentences import breaks_off
from surrogate.integrity.words import (
    LONGEST,
    Flags,
    Floats,
    Hashes,
    Integers,
    Words,
    keyed,
    mean_of,
)
from surrogate.learning.gaussian_process.answer_texts import hashed

MOST_QUESTIONS = 100
"""Questions of a language that are looked at, evenly spaced."""
RUN, PASSAGE_RUN, PAIR = 5, 8, 2
"""Words in a row that two answers, an answer and a passage, or an answer and its question share."""
FEWEST_DISTINCT = 5
"""Answers from which it is told whether they fit their questions."""
FOLDED = 1024
"""Dimensions of an answer's vector."""


@dataclass(frozen=True)
class TextMeasures:
    """What was counted.

    Attributes:
        shares: A row a system, a column a measure: means over its answers.
        judged: Share of each system's runs of words that each judged system has in its answers to
            the same questions: systems by judged systems; NaN of itself.
    """

    shares: pd.DataFrame
    judged: pd.DataFrame


@dataclass(frozen=True)
class _Answers:
    """N answers in one language: texts without citations, places of their questions and systems."""

    rows: pd.DataFrame
    plain: pd.Series
    questions: Integers
    systems: Integers
    is_judged: Flags


def measure_texts(
    rows: pd.DataFrame, judged: Collection[str], queries: pd.DataFrame
) -> TextMeasures:
    """Count what systems' answers in one language have in common, and with what.

    Args:
        rows: Columns ``system, query_id, answer``.
        judged: The judged systems among them; each is measured beside the others.
        queries: Columns ``query_id, query, passages``.
    """
    names = sorted(rows["query_id"].unique())
    names = names[:: -(-len(names) // MOST_QUESTIONS)]
    rows = rows[rows["query_id"].isin(set(names))]
    rows = rows.sort_values(["system", "query_id"], kind="stable", ignore_index=True)
    asked = queries.drop_duplicates("query_id").set_index("query_id").loc[names]
    questions = pd.Index(names).get_indexer(rows["query_id"])
    ids = [tuple(str(item["passage_id"]) for item in items) for items in asked["passages"]]
    plain = [
        strip_citations(text[:LONGEST], ids[place])
        for text, place in zip(rows["answer"], questions, strict=True)
    ]
    answers = _Answers(
        rows,
        pd.Series(plain, dtype="str").str.strip(),
        questions,
        pd.factorize(rows["system"])[0],
        rows["system"].isin(set(judged)).to_numpy(),
    )
    words = Words.of(plain)
    shares, common = _of_runs(answers, words, asked)
    shares["empty"] = (answers.plain == "").astype(np.float64)
    shares["same"] = _same(answers)
    shares["length"] = _relative_length(answers, words.counts)
    shares["unfinished"] = [
        np.nan if end is None else float(end) for end in map(breaks_off, answers.plain)
    ]
    means = shares.groupby(rows["system"]).mean()
    means["length"] = shares.groupby(rows["system"])["length"].median()
    return TextMeasures(means.join(_misfit(answers)), common)


def _of_runs(
    answers: _Answers, words: Words, asked: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Count runs of words that stand elsewhere: a row an answer; and with which judged system."""
    size, systems = len(answers.rows), answers.systems
    passages = [[f"{item.get('title') or ''} {item['text']}" for item in items]
                for items in asked["passages"]]  # fmt: skip
    shown = Words.of([text for texts in passages for text in texts])
    source = np.repeat(np.arange(len(passages)), [len(texts) for texts in passages])

    def of_question(run: int) -> tuple[Hashes, Integers, Flags]:
        hashes, owners = words.runs(run)
        theirs, texts = shown.runs(run)
        keys = keyed(hashes, answers.questions[owners])
        return keys, owners, _among(keys, keyed(theirs, source[texts]))

    keys, owners, is_quoted = of_question(RUN)
    own = ~is_quoted
    common = _in_common(keys[own], systems[owners[own]], answers)
    hashes, _ = words.runs(RUN)
    elsewhere = pd.DataFrame({"run": keyed(hashes, systems[owners]), "answer": owners})
    several = elsewhere.drop_duplicates()["run"]
    pairs, pair_owners = words.runs(PAIR)
    _, copy_owners, is_copied = of_question(PASSAGE_RUN)
    queried = keyed(*Words.of(list(asked["query"].astype(str))).runs(PAIR))
    is_new = ~_of_others(pairs, systems[pair_owners], answers.is_judged[pair_owners])
    is_new &= ~_among(pairs, shown.runs(PAIR)[0])
    is_known = _of_others(keys, systems[owners], answers.is_judged[owners]) & own
    is_echo = _among(keyed(pairs, answers.questions[pair_owners]), queried)
    is_elsewhere = _among(elsewhere["run"].to_numpy(), several[several.duplicated()].to_numpy())
    columns = {
        "shared": mean_of(is_known, owners, size),
        "repeated": mean_of(is_elsewhere, owners, size),
        "looped": mean_of(elsewhere.duplicated().to_numpy(), owners, size),
        "passages": mean_of(is_copied, copy_owners, size),
        "question": mean_of(is_echo, pair_owners, size),
        "new_pairs": mean_of(is_new, pair_owners, size),
    }
    return pd.DataFrame(columns), common


def _among(keys: Hashes, known: Hashes) -> Flags:
    return np.asarray(pd.Series(keys).isin(pd.unique(known)), dtype=np.bool_)


def _of_others(keys: Hashes, systems: Integers, is_judged: Flags) -> Flags:
    """Tell which runs judged systems have other than the one whose run it is."""
    codes, _ = pd.factorize(keys)
    width = int(systems.max(initial=0)) + 1
    owned = pd.unique((codes * width + systems)[is_judged]) // width
    holders = np.bincount(owned, minlength=int(codes.max(initial=-1)) + 1)
    return np.asarray(holders[codes] > is_judged)


def _in_common(keys: Hashes, systems: Integers, answers: _Answers) -> pd.DataFrame:
    codes, distinct = pd.factorize(keys)
    names = list(pd.unique(answers.rows["system"]))
    held = sparse.csr_array(
        (np.ones(len(codes)), (systems, codes)), shape=(len(names), max(len(distinct), 1))
    )
    held.data[:] = 1.0
    table = pd.DataFrame((held @ held.T).toarray(), names, names)
    table = table.div(np.maximum(held.sum(axis=1), 1), axis=0)
    table = table.mask(np.eye(len(names), dtype=bool))
    return table[list(pd.unique(answers.rows.loc[answers.is_judged, "system"]))]


def _same(answers: _Answers) -> pd.Series:
    """Tell which answers are empty, or the text that a system gave most often, if twice or more."""
    times = answers.plain.groupby([answers.systems, answers.plain]).transform("size")
    most = times.groupby(answers.systems).transform("max")
    first = answers.plain.where((times == most) & (times > 1)).groupby(answers.systems)
    return ((answers.plain == first.transform("min")) | (answers.plain == "")).astype(np.float64)


def _relative_length(answers: _Answers, counts: Integers) -> pd.Series:
    """Return the length of answers in that of the judged systems' to the same question."""
    judged = pd.Series(counts + 1.0).where(answers.is_judged)
    return (counts + 1) / judged.groupby(answers.questions).transform("median")


def _misfit(answers: _Answers) -> pd.Series:
    """Return the share of other questions whose answers are more like a system's than its own's.

    0.5 is chance. Answers that are like those to no question in particular, "I do not know" say,
    count little: each as much as its similarity to the most similar question exceeds the median.
    NaN of a system with fewer than ``FEWEST_DISTINCT`` different answers.
    """
    found = sparse.coo_array(hashed([text[:LONGEST] for text in answers.rows["answer"]]))
    size, known = len(answers.questions), answers.is_judged
    folded = (found.data, (found.row, found.col % FOLDED))
    counts = sparse.csr_array(folded, shape=(size, FOLDED))
    present = np.bincount(counts[known].indices, minlength=FOLDED)
    weights = np.log((1 + known.sum()) / (1 + present)) + 1
    vectors = sparse.csr_array(normalize(counts @ sparse.diags_array(weights)))
    places = (answers.questions, np.arange(size))
    of_question = sparse.csr_array((known.astype(np.float64), places))
    sums = (of_question @ vectors).toarray()
    times = np.bincount(answers.questions[known], minlength=len(sums))
    values = {}
    for name, own in answers.rows.groupby("system").indices.items():
        if answers.plain[own].nunique() < FEWEST_DISTINCT:
            continue
        values[str(name)] = _misfit_of(
            vectors[own].toarray(), answers.questions[own], sums, times, bool(known[own[0]])
        )
    return pd.Series(values, name="misfit", dtype="float64")


def _misfit_of(
    vectors: Floats, questions: Integers, sums: Floats, times: Integers, is_judged: bool
) -> float:
    if is_judged:
        sums, times = sums.copy(), times.copy()
        np.subtract.at(sums, questions, vectors)
        np.subtract.at(times, questions, 1)
    usable = times[questions] > 0
    vectors, questions = vectors[usable], questions[usable]
    if len(vectors) < FEWEST_DISTINCT:
        return float("nan")
    place = np.cumsum(times > 0) - 1
    cosines = vectors @ np.asarray(normalize(sums[times > 0])).T
    own = cosines[np.arange(len(vectors)), place[questions]][:, None]
    above = (cosines > own).sum(axis=1) + ((cosines == own).sum(axis=1) - 1) / 2
    distinct = cosines.max(axis=1) - np.median(cosines, axis=1)
    total = distinct.sum()
    return float(above @ distinct / total / (cosines.shape[1] - 1)) if total > 0 else float("nan")
