"""Counts in systems' answers that are compared with those in judged systems' answers.

No model and no list of words is needed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from arena.data.systems import PassageRecord
from arena.data.types import Flags, Floats, Indices
from arena.text.citations import strip_citations
from features.declare.sample import titled_text
from features.text.tokens import folded_line, folded_words
from surrogate.checks.letter_runs import measure_runs
from surrogate.checks.likeness import measure_likeness
from surrogate.checks.word_hashes import (
    Hashes,
    largest_counts,
    of_owners,
    word_hashes,
    word_runs,
)
from surrogate.checks.word_order import loose_shares, reversed_shares

Passages = Sequence[PassageRecord]

WINDOW = 30
"""Pairs of words in which a list of words, for example, shows."""


def plain_answers(rows: pd.DataFrame, queries: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Take the citations out of answers in one language.

    Answers are read whole, as the surrogate reads them: text that only one of the two reads could
    lift a rating without a note.

    Args:
        rows: Columns ``system, query_id, answer``.
        queries: Columns ``query_id, passages``: all that any system was shown.

    Returns:
        The rows, sorted, with the columns ``plain`` and ``question`` (number of the question); and
        the ids of the questions.
    """
    query_ids = sorted(rows["query_id"].unique())
    rows = rows.sort_values(["system", "query_id"], kind="stable", ignore_index=True)
    questions = pd.Index(query_ids).get_indexer(rows["query_id"])
    passage_ids = []
    for passages in passages_of_questions(queries, query_ids):
        passage_ids.append(tuple(str(passage["passage_id"]) for passage in passages))
    plain = [
        strip_citations(answer, passage_ids[question])
        for answer, question in zip(rows["answer"], questions, strict=True)
    ]
    return rows.assign(plain=pd.Series(plain, dtype="str"), question=questions), query_ids


def passages_of_questions(queries: pd.DataFrame, query_ids: Sequence[str]) -> list[Passages]:
    """Return the passages of some questions, in their order."""
    by_question = queries.drop_duplicates("query_id").set_index("query_id")["passages"]
    return list(by_question.loc[list(query_ids)])


def measure_texts(
    rows: pd.DataFrame,
    judged: Collection[str],
    questions: Sequence[str],
    shown: Sequence[Passages],
) -> pd.DataFrame:
    """Measure how far systems' answers consist of other texts, or of text that nobody else writes.

    Args:
        rows: Of ``plain_answers``.
        judged: The judged systems among them; each is compared with the others.
        questions: The text of each question.
        shown: Passages of each question that its judged systems were shown. Those that a new
            system brings excuse nothing.

    Returns:
        By system, NaN where too few judged systems answered: ``shared``, the share that judged
            answers to the same questions explain, the median of the quarter of its answers that
            they explain best; ``nearest``, the judged system that explains most; ``repeated`` and
            ``elsewhere``, see ``Likeness``; ``verbatim`` and ``asked``, see ``measure_runs``;
            ``loose``, see ``loose_shares``; ``reversed``, see ``reversed_shares``; ``doubled``,
            the share of its runs of three words that occur elsewhere in the same answer;
            ``new_pairs``, the share of its pairs of words that occur in no judged answer and no
            passage; ``new_run``, the same share in the ``WINDOW`` pairs of an answer where it is
            largest.
    """
    is_judged = rows["system"].isin(judged).to_numpy()
    # Texts that stand often, such as refusals, are cut into words once.
    words_by_text = {text: folded_words(text) for text in rows["plain"].unique()}
    words = [words_by_text[text] for text in rows["plain"]]
    passage_words = _words_of(shown)
    hashes = word_hashes([*words, *passage_words])
    answers = hashes[: len(rows)]
    n_passages = [len(passages) for passages in shown]
    questions_of_passages = np.repeat(np.arange(len(shown)), n_passages)
    likeness = measure_likeness(hashes, rows, is_judged, questions_of_passages)
    shares = _shares_of_runs(answers, rows["system"], is_judged, hashes[len(rows) :])
    plain = list(rows["plain"])
    shares["loose"] = loose_shares(plain, rows["system"], rows["question"].to_numpy(), is_judged)
    runs = measure_runs(
        letters=_joined(words),
        rows=rows,
        is_judged=is_judged,
        questions=_joined([folded_words(question) for question in questions]),
        passages=_joined(passage_words),
    )
    by_system = likeness.answers.join([shares, runs]).groupby(rows["system"])
    return by_system.mean().assign(
        shared=by_system["shared"].agg(_median_of_best_quarter),
        reversed=reversed_shares(plain, rows["system"], is_judged),
        nearest=likeness.nearest,
    )


def _words_of(shown: Sequence[Passages]) -> list[list[str]]:
    """Return the words of each passage of all questions, with those of its title."""
    passage_words = []
    for passages in shown:
        for passage in passages:
            line = folded_line(titled_text(passage.get("title"), passage["text"]))
            passage_words.append(line.split())
    return passage_words


def _joined(words: Sequence[Sequence[str]]) -> list[str]:
    return ["".join(parts) for parts in words]


def _median_of_best_quarter(values: pd.Series) -> float:
    ascending = np.sort(values.dropna().to_numpy())
    n_best = -(-len(ascending) // 4)
    # The median, so that one answer which anybody may write is no copying.
    return float(np.median(ascending[-n_best:])) if n_best else np.nan


def _shares_of_runs(
    texts: Sequence[Hashes], systems: pd.Series, is_judged: Flags, passages: Sequence[Hashes]
) -> pd.DataFrame:
    """Return shares of each answer's runs of words: ``doubled, new_pairs, new_run``.

    Args:
        texts: Words of each of N answers.
        systems: The system of each answer.
        is_judged: Whether it is a judged system's, shape (N,).
        passages: Words of the passages that judged systems were shown.
    """
    triples, triple_owners = word_runs(texts, (0, 1, 2))
    is_double = ~_is_first(triples, triple_owners)

    pairs, owners = word_runs(texts, (0, 1))
    # A pair counts once per system, however often its answers have it.
    is_counted = is_judged[owners] & _is_first(pairs, pd.factorize(systems)[0][owners])
    n_judged = _times(pairs, pairs[is_counted])
    passage_pairs, _ = word_runs(passages, (0, 1))
    in_passages = _times(pairs, passage_pairs) > 0
    # An answer of a judged system is itself one of those that hold its pairs.
    is_new = (n_judged <= is_judged[owners]) & ~in_passages
    shares = {
        "doubled": _share(is_double, triple_owners, len(texts)),
        "new_pairs": _share(is_new, owners, len(texts)),
        "new_run": _largest_share(is_new, owners, len(texts)),
    }
    return pd.DataFrame(shares, systems.index)


def _share(flags: Flags, owners: Indices, n_texts: int) -> Floats:
    """Return the share of each text's runs that are flagged, shape (N,); 0 without runs."""
    n_flagged = np.bincount(owners, flags, n_texts)
    n_runs = np.bincount(owners, minlength=n_texts)
    return np.asarray(n_flagged / np.maximum(n_runs, 1))


def _largest_share(flags: Flags, owners: Indices, n_texts: int) -> Floats:
    """Return the largest share of flagged pairs in a window of each text, shape (N,)."""
    largest = largest_counts(flags, owners, WINDOW, n_texts)
    # A few pairs alone are no run: a short answer of names would have nothing else.
    n_pairs = np.bincount(owners, minlength=n_texts).clip(WINDOW // 2, WINDOW)
    return np.asarray(largest / n_pairs)


def _is_first(hashes: Hashes, owners: Indices) -> Flags:
    """Flag hashes that are the first of their kind for their owner."""
    return np.asarray(~pd.Series(of_owners(hashes, owners)).duplicated())


def _times(hashes: Hashes, among: Hashes) -> Indices:
    codes, values = pd.factorize(np.concatenate([among, hashes]))
    times = np.bincount(codes[: len(among)], minlength=len(values))
    return np.asarray(times[codes[len(among) :]])
