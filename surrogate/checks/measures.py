"""Counts in systems' answers that are compared with those in judged systems' answers.

No model and no list of words is needed. Text taken word for word is compared by runs of letters
without anything between them: neither other spaces and punctuation nor tags hide a sentence of
another's, and a single sentence shows in a long answer. An ordinary text shares phrases with
others, but few as long as a run.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from arena.data.systems import PassageRecord
from arena.data.types import Flags, Floats, Indices
from arena.text.answers import strip_citations
from features.declare.sample import titled_text
from features.text.tokens import folded_line, folded_words
from surrogate.checks.hashed_words import (
    Hashes,
    hashed_runs,
    is_among,
    is_of_others,
    largest_counts,
    of_owners,
    of_questions,
    word_hashes,
    word_runs,
)
from surrogate.checks.likeness import FEWEST_JUDGED, measure_likeness
from surrogate.checks.word_fit import loose_shares, reversed_shares

LENGTH = 24
"""Letters of a run: about five words."""


def measure_runs(
    letters: Sequence[str],
    rows: pd.DataFrame,
    is_judged: Flags,
    questions: Sequence[str],
    passages: Sequence[str],
) -> pd.DataFrame:
    """Measure how far answers consist of runs of letters of judged answers, and of the question.

    Args:
        letters: Those of each of N answers in one language.
        rows: By answer: ``system`` and the number of its ``question``.
        is_judged: Whether it is a judged system's, shape (N,).
        questions: Letters of each question.
        passages: Letters of the passages that judged systems were shown: quoting them is no
            copying.

    Returns:
        By answer: ``verbatim``, the share of a stretch of text that runs of other systems'
        judged answers to the same question fill, where it is largest; ``asked``,
        the share of the question's runs that it has. Both as if all questions were alike; NaN where
        too few judged systems answered, or a question has no run.
    """
    # One run in so many is looked at, chosen by its letters: a sentence has dozens of them
    sampled = 4
    judged_letters = [text for text, flag in zip(letters, is_judged, strict=True) if flag]
    length = _run_length(judged_letters)
    runs, owners = letter_runs(letters, length)
    answered = rows["question"].to_numpy()
    keys = of_questions(runs, answered[owners])
    asked = _asked_shares(keys, owners, answered, questions, length)

    is_sampled = runs % np.uint64(sampled) == 0
    owners = owners[is_sampled]
    systems = pd.factorize(rows["system"])[0]
    is_others = is_of_others(keys[is_sampled], systems[owners], is_judged[owners])
    passage_runs, _ = letter_runs(passages, length)
    is_taken = is_others & ~is_among(runs[is_sampled], passage_runs)
    # A copied sentence shows in a stretch of six runs.
    window = 6 * length // sampled
    # A short answer counts as a full stretch: few letters may well be the only ones to write.
    verbatim = largest_counts(is_taken, owners, window, len(letters)) / window
    shares = pd.DataFrame({"verbatim": verbatim, "asked": asked}, rows.index)
    return _as_if_alike(shares, rows["question"], is_judged)


def _as_if_alike(shares: pd.DataFrame, questions: pd.Series, is_judged: Flags) -> pd.DataFrame:
    """Measure shares from what is typical of judged answers to their question.

    Questions differ in how alike their answers are, and a system may have answered only some.
    """
    judged = shares[is_judged].groupby(questions[is_judged])
    medians = judged.median()[judged.size() >= FEWEST_JUDGED]
    typical = medians.reindex(questions).set_index(shares.index)
    return shares - typical + typical.mean()


def letter_runs(texts: Sequence[str], length: int) -> tuple[Hashes, Indices]:
    """Return a hash of the letters from each letter on, and the index of its text."""
    codes = _code_points(texts)
    owners = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    return hashed_runs(codes, owners, range(length))


def _code_points(texts: Sequence[str]) -> Hashes:
    data = "".join(texts).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(data, dtype="<u4").astype(np.uint64)


def _run_length(texts: Sequence[str]) -> int:
    """Choose the letters of a run by the script that most letters are of."""
    # In Chinese, Japanese and Korean a letter is a word or a syllable.
    wide_length = 10
    codes, counts = np.unique(_code_points(texts), return_counts=True)
    widths = [unicodedata.east_asian_width(chr(int(code))) for code in codes]
    is_wide = np.isin(widths, ["W", "F"])
    return wide_length if 2 * counts[is_wide].sum() > counts.sum() else LENGTH


def _asked_shares(
    keys: Hashes, owners: Indices, answered: Indices, questions: Sequence[str], length: int
) -> Floats:
    """Return the share of its question's runs that each answer has, shape (N,).

    Args:
        keys: Runs of the answers with their question.
        owners: The answer of each.
        answered: Number of each answer's question, shape (N,).
        questions: Letters of each question.
        length: Letters of a run.
    """
    runs, question_of_run = letter_runs(questions, length)
    asked_keys, indices = np.unique(of_questions(runs, question_of_run), return_index=True)
    n_asked = np.bincount(question_of_run[indices], minlength=len(questions))
    is_asked = is_among(keys, asked_keys)
    repeated = pd.DataFrame({"key": keys[is_asked], "owner": owners[is_asked]}).drop_duplicates()
    n_repeated = np.bincount(repeated["owner"], minlength=len(answered))
    n_runs = n_asked[answered]
    return np.where(n_runs > 0, n_repeated / np.maximum(n_runs, 1), np.nan)


Passages = Sequence[PassageRecord]


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
            passage; ``new_run``, the same share in the stretch of an answer where it is largest.
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
    window = 30  # pairs of words, in which a list of words, for example, shows
    largest = largest_counts(flags, owners, window, n_texts)
    # A few pairs alone are no run: a short answer of names would have nothing else.
    n_pairs = np.bincount(owners, minlength=n_texts).clip(window // 2, window)
    return np.asarray(largest / n_pairs)


def _is_first(hashes: Hashes, owners: Indices) -> Flags:
    """Flag hashes that are the first of their kind for their owner."""
    return np.asarray(~pd.Series(of_owners(hashes, owners)).duplicated())


def _times(hashes: Hashes, among: Hashes) -> Indices:
    codes, values = pd.factorize(np.concatenate([among, hashes]))
    times = np.bincount(codes[: len(among)], minlength=len(values))
    return np.asarray(times[codes[len(among) :]])
