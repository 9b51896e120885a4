"""What can be counted in systems' answers beside the judged systems' answers to the same questions.

No model and no list of words is needed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import sparse

from arena.data.systems import PassageRecord
from arena.data.types import Flags, Floats, Indices
from arena.text.citations import strip_citations
from features.text.tokens import folded_words
from surrogate.integrity.likeness import Hashes, Words, measure_likeness, word_hashes, word_runs
from surrogate.learning.estimation.answer_texts import hashed, mixed, unit_rows

Passages = Sequence[PassageRecord]

MOST_QUESTIONS = 100
"""Questions of a language that are looked at, evenly spaced."""
AT_ONCE = 100
"""Systems whose vectors are held at a time."""
IN_A_ROW = 30
"""Pairs of words in which a list of words, say, shows."""
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
    rows: pd.DataFrame, judged: Collection[str], shown: Sequence[Passages]
) -> pd.DataFrame:
    """Measure how far systems' answers consist of other texts, or of text that nobody else writes.

    Args:
        rows: Of ``plain_answers``.
        judged: The judged systems among them; each is measured beside the others.
        shown: Passages of each question that its judged systems were shown. Those that a new
            system brings excuse nothing.

    Returns:
        By system, NaN where too few judged systems answered: ``shared``, what judged answers to
            the same questions explain of its answers, on average; ``shared_most``, the same of
            the quarter of its answers that they explain best; ``nearest``, the judged system that
            explains most; ``repeated`` and ``elsewhere``, see ``Likeness``; ``doubled``, the share
            of its runs of three words that its answer has elsewhere; ``new_pairs``, the share of
            its pairs of words that stand in no judged answer and no passage; ``new_run``, the
            same of those ``IN_A_ROW`` of an answer where it is largest.
    """
    is_judged = rows["system"].isin(set(judged)).to_numpy()
    # Texts that stand often, such as refusals, are cut into words once.
    by_text = {text: _words(text) for text in rows["plain"].unique()}
    words = [by_text[text] for text in rows["plain"]]
    texts = word_hashes([*words, *_passage_words(shown)])
    answers = texts[: len(words)]
    passages = texts[len(words) :]
    likeness = measure_likeness(answers, rows, is_judged)
    shares = _shares_of_runs(answers, rows["system"], is_judged, passages)
    by_system = likeness.answers.join(shares).groupby(rows["system"])
    best_quarters = by_system["shared"].agg(_mean_of_best_quarter)
    return by_system.mean().assign(shared_most=best_quarters, nearest=likeness.nearest)


def _mean_of_best_quarter(values: pd.Series) -> float:
    known = values.dropna()
    return float(known.nlargest(-(-len(known) // 4)).mean())


def _passage_words(passages: Sequence[Passages]) -> list[Words]:
    return [
        _words(f"{item.get('title') or ''} {item['text']}") for items in passages for item in items
    ]


def _shares_of_runs(
    texts: Sequence[Hashes], systems: pd.Series, is_judged: Flags, passages: Sequence[Hashes]
) -> pd.DataFrame:
    """Return shares of each answer's runs of words: ``doubled, new_pairs, new_run``.

    Args:
        texts: Words of each of N answers.
        systems: The system of each answer.
        is_judged: Whether a judged system's, shape (N,).
        passages: Words of the passages that judged systems were shown.
    """
    triples, owners = word_runs(texts, (0, 1, 2))
    doubled = _share(~_distinct(triples, owners), owners, len(texts))

    pairs, owners = word_runs(texts, (0, 1))
    is_first = _distinct(pairs, pd.factorize(systems)[0][owners])
    times_judged = _times(pairs, pairs[is_first & is_judged[owners]])
    shown_pairs, _ = word_runs(passages, (0, 1))
    in_passages = _times(pairs, shown_pairs) > 0
    # An answer of a judged system is itself one of those that hold its pairs.
    is_new = (times_judged <= is_judged[owners]) & ~in_passages
    columns = {
        "doubled": doubled,
        "new_pairs": _share(is_new, owners, len(texts)),
        "new_run": _largest_share(is_new, owners, len(texts)),
    }
    return pd.DataFrame(columns, systems.index)


def _share(flags: Flags, owners: Indices, n_texts: int) -> Floats:
    """Return the share of each text's runs that are flagged, shape (N,); 0 without runs."""
    flagged = np.bincount(owners, flags, n_texts)
    return np.asarray(flagged / np.maximum(np.bincount(owners, None, n_texts), 1))


def _largest_share(flags: Flags, owners: Indices, n_texts: int) -> Floats:
    """Return the largest share of flagged pairs among so many in a row of each text, shape (N,)."""
    counts = np.concatenate([[0], np.cumsum(flags)])
    ends = np.arange(len(flags)) + 1
    starts = np.searchsorted(owners, owners)
    in_a_row = counts[ends] - counts[np.maximum(ends - IN_A_ROW, starts)]
    largest = np.zeros(n_texts)
    np.maximum.at(largest, owners, in_a_row)
    # A few pairs alone are no run: a short answer of names would have nothing else.
    n_pairs = np.bincount(owners, None, n_texts).clip(IN_A_ROW // 2, IN_A_ROW)
    return np.asarray(largest / n_pairs)


def _distinct(hashes: Hashes, owners: Indices) -> Flags:
    """Say which hashes are the first of their kind for their owner."""
    both = hashes ^ mixed(owners.astype(np.uint64) + np.uint64(1))
    return np.asarray(~pd.Series(both).duplicated())


def _times(hashes: Hashes, among: Hashes) -> Indices:
    """Count how often each hash is among others."""
    codes, values = pd.factorize(np.concatenate([among, hashes]))
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
