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
from arena.data.types import Flags, Floats, Indices
from arena.text.citations import strip_citations
from features.text.tokens import folded_words
from surrogate.learning.estimation.answer_texts import FACTOR, hashed, mixed, unit_rows

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
FOLDED = 1024
"""Dimensions of an answer's vector."""
SHORTEST = 1e-6
"""Length of a sum of vectors that is more than a rounding error."""
DIGITS = 12
"""Of cosines, so that rounding errors make none larger than its equal."""


def plain_answers(rows: pd.DataFrame, queries: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Take the citations out of answers in one language, to questions that are looked at.

    Answers are read whole, as the surrogate reads them: text that only one of the two reads could
    lift a rating without a note.

    Args:
        rows: Columns ``system, query_id, answer``.
        queries: Columns ``query_id, passages``: all that any system was shown.

    Returns:
        The rows, sorted, with the columns ``plain`` and ``question`` (place of the question); and
        the ids of the questions.
    """
    names = sorted(rows["query_id"].unique())
    names = names[:: -(-len(names) // MOST_QUESTIONS)]
    rows = rows[rows["query_id"].isin(names)]
    rows = rows.sort_values(["system", "query_id"], kind="stable", ignore_index=True)
    places = pd.Index(names).get_indexer(rows["query_id"])
    passage_ids = [
        tuple(str(item["passage_id"]) for item in items)
        for items in passages_of_questions(queries, names)
    ]
    plain = [
        strip_citations(text, passage_ids[place])
        for text, place in zip(rows["answer"], places, strict=True)
    ]
    return rows.assign(plain=pd.Series(plain, dtype="str"), question=places), names


def passages_of_questions(queries: pd.DataFrame, names: Sequence[str]) -> list[Passages]:
    """Return the passages of some questions, in their order."""
    by_question = queries.drop_duplicates("query_id").set_index("query_id")["passages"]
    return list(by_question.loc[list(names)])


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
    rows: pd.DataFrame,
    judged: Collection[str],
    shown: Sequence[Passages],
    brought: Sequence[Passages],
) -> pd.DataFrame:
    """Count what systems' answers have in common, and with what.

    Args:
        rows: Of ``plain_answers``.
        judged: The judged systems among them; each is measured beside the others.
        shown: Passages of each question that its judged systems were shown. Text that stands there
            is nobody's own.
        brought: Passages of each question that any system says it was shown. A new system brings
            its own, so they excuse nothing; what is copied from them counts as copied.

    Returns:
        By system, a column a measure: means over its answers.
    """
    is_judged = rows["system"].isin(set(judged))
    by_text = {text: _words(text) for text in rows["plain"].unique()}
    words = [by_text[text] for text in rows["plain"]]
    questions = rows["question"].to_numpy()
    shares = _shares_of_runs(
        words, rows.assign(is_judged=is_judged), _passage_words(shown), _passage_words(brought)
    )
    lengths = np.array([len(text) + 1.0 for text in words])
    medians = pd.Series(lengths).where(is_judged).groupby(questions).transform("median")
    means = shares.groupby(rows["system"]).mean()
    return means.assign(length=(lengths / medians).groupby(rows["system"]).median())


def _passage_words(passages: Sequence[Passages]) -> list[list[Words]]:
    return [
        [_words(f"{item.get('title') or ''} {item['text']}") for item in items]
        for items in passages
    ]


def _shares_of_runs(
    words: Sequence[Words],
    rows: pd.DataFrame,
    shown: Sequence[Sequence[Words]],
    brought: Sequence[Sequence[Words]],
) -> pd.DataFrame:
    """Count runs of words that stand elsewhere: a row an answer, shares of its runs.

    Args:
        words: Of each answer.
        rows: By answer: ``system``, the place of its ``question``, whether it ``is_judged``.
        shown: Of each question, the words of the passages that judged systems were shown.
        brought: Likewise of those that any system was shown.
    """
    is_judged = rows["is_judged"].to_numpy(bool)
    questions = rows["question"].to_numpy()
    systems = pd.factorize(rows["system"])[0]
    codes = defaultdict[str, int](count(1).__next__)
    answer_words = _coded(words, codes)
    shown_words = _coded(chain.from_iterable(shown), codes)
    shown_questions = np.repeat(np.arange(len(shown)), list(map(len, shown)))
    brought_words = _coded(chain.from_iterable(brought), codes)
    brought_questions = np.repeat(np.arange(len(brought)), list(map(len, brought)))

    runs, answers = _runs(*answer_words, RUN)
    passage_runs, passages = _runs(*shown_words, RUN)
    runs_here = _at(runs, questions[answers])
    is_first = _distinct(runs, answers)
    times_judged = _times(runs_here, runs_here[is_first & is_judged[answers]])
    in_passages = _times(runs_here, _at(passage_runs, shown_questions[passages])) > 0
    # An answer of a judged system is itself one of those that hold its runs.
    is_shared = (times_judged > is_judged[answers]) & ~in_passages
    own_runs = _at(runs, systems[answers])
    is_repeated = _times(own_runs, own_runs[is_first]) > 1
    shares = {
        "shared": _share(is_shared, answers, len(words)),
        "repeated": _share(is_repeated, answers, len(words)),
    }

    runs, answers = _runs(*answer_words, PASSAGE_RUN)
    runs_here = _at(runs, questions[answers])
    passage_runs, passages = _runs(*shown_words, PASSAGE_RUN)
    in_shown = _times(runs_here, _at(passage_runs, shown_questions[passages])) > 0
    passage_runs, passages = _runs(*brought_words, PASSAGE_RUN)
    in_brought = _times(runs_here, _at(passage_runs, brought_questions[passages])) > 0
    # What is usual among judged systems must not depend on what a new one brings.
    is_copied = np.where(is_judged[answers], in_shown, in_brought)
    shares["passages"] = _share(is_copied, answers, len(words))

    runs, answers = _runs(*answer_words, PAIR)
    is_first = _distinct(runs, systems[answers])
    times_judged = _times(runs, runs[is_first & is_judged[answers]])
    in_passages = _times(runs, _runs(*shown_words, PAIR)[0]) > 0
    is_new = (times_judged <= is_judged[answers]) & ~in_passages
    shares["new_pairs"] = _share(is_new, answers, len(words))
    return pd.DataFrame(shares)


def _share(flags: Flags, answers: Indices, n_answers: int) -> Floats:
    """Return the share of each answer's runs that are flagged, shape (N,); 0 without runs."""
    flagged = np.bincount(answers, flags, n_answers)
    return np.asarray(flagged / np.maximum(np.bincount(answers, None, n_answers), 1))


def _coded(texts: Iterable[Words], codes: defaultdict[str, int]) -> tuple[Hashes, Indices]:
    """Number words, the same one alike, one text after the other; and whose each is."""
    every = list(texts)
    numbers = np.fromiter(map(codes.__getitem__, chain.from_iterable(every)), dtype=np.uint64)
    return mixed(numbers), np.repeat(np.arange(len(every)), list(map(len, every)))


def _runs(words: Hashes, text: Indices, size: int) -> tuple[Hashes, Indices]:
    """Hash the runs of so many words, and say whose each is."""
    windows = max(len(words) - size + 1, 0)
    value = np.zeros(windows, np.uint64)
    for offset in range(size):
        value = value * FACTOR + words[offset : offset + windows]
    inside = text[:windows] == text[size - 1 : size - 1 + windows]
    return value[inside], text[:windows][inside]


def _at(runs: Hashes, places: Indices) -> Hashes:
    """Tell runs apart by their places, too."""
    return runs ^ mixed(places.astype(np.uint64) + np.uint64(1))


def _distinct(runs: Hashes, of: Indices) -> Flags:
    """Tell the first of each run in what it is of."""
    return np.asarray(~pd.Series(_at(runs, of)).duplicated())


def _times(runs: Hashes, among: Hashes) -> Indices:
    """How often each run is among others."""
    codes, values = pd.factorize(np.concatenate([among, runs]))
    times = np.bincount(codes[: len(among)], minlength=len(values))
    return np.asarray(times[codes[len(among) :]])


def _words(text: str) -> Words:
    return tuple(folded_words(text))


def _same(plain: pd.Series, system: pd.Series) -> pd.Series:
    """Tell which answers are empty, or the text that a system gave most often, if twice or more."""
    times = plain.groupby([system, plain]).transform("size")
    most = times.groupby(system).transform("max")
    first = plain.where((times == most) & (times > 1)).groupby(system).transform("min")
    return ((plain == first) | (plain == "")).astype(np.float64)


def _folded(answers: pd.Series) -> sparse.csr_array:
    """Count character n-grams in few dimensions, shape (N, D)."""
    found = sparse.coo_array(hashed(list(answers)))
    folded = (found.data, (found.row, found.col % FOLDED))
    return sparse.csr_array(folded, shape=(len(answers), FOLDED))


def _misfits(
    rows: pd.DataFrame, judged: Collection[str], systems: Mapping[str, Indices]
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


def _above(cosines: Floats, asked: Indices) -> float:
    """Weigh how many questions' answers are more like each answer than those to its own."""
    own = cosines[np.arange(len(asked)), asked][:, None]
    above = (cosines > own).sum(axis=1) + ((cosines == own).sum(axis=1) - 1) / 2
    distinct = cosines.max(axis=1) - np.median(cosines, axis=1)
    total = distinct.sum()
    return float(above @ distinct / total / (cosines.shape[1] - 1)) if total > 0 else float("nan")
