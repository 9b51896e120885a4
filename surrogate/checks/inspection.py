"""Inspection of systems' answers: compared with judged systems' answers, and with each other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from math import ceil

import numpy as np
import pandas as pd
from scipy import sparse

from arena.data.arena import Arena
from arena.data.schema import OWN_PASSAGES, QUESTION_KEY
from arena.data.systems import PassageRecord
from arena.data.types import Floats, Indices
from arena.data.wording import Remark, count_of, first_of
from arena.text.answers import parse_answer
from arena.text.thoughts import without_thoughts
from surrogate.checks.likeness import FEWEST_JUDGED
from surrogate.checks.measures import measure_texts, passages_of_questions, plain_answers
from surrogate.checks.notes import (
    Findings,
    Key,
    facts_about,
    flag_judged,
    is_conspicuous,
    remarks_about,
)
from surrogate.checks.word_fit import measure_fit
from surrogate.learning.answer_texts import hashed, unit_rows
from surrogate.learning.surrogate import Surrogate
from surrogate.learning.training import MOST_SYSTEMS


def inspect_answers(
    answers: pd.DataFrame,
    judged: Mapping[str, Collection[str]],
    queries: pd.DataFrame,
    surrogate: Surrogate,
    *,
    with_judged: bool = True,
) -> Findings:
    """Compare systems' answers with the judged systems' answers to the same questions.

    Args:
        answers: Columns ``language, system, query_id, answer`` of all of them, and ``passages``
            where some have their own.
        judged: Language to its judged systems.
        queries: Columns ``language, query_id, query, passages``.
        surrogate: The board's: notes are on the answers that it reads, all of them.
        with_judged: Whether judged systems get notes, too.
    """
    is_judged = flag_judged(answers, judged)
    return Findings(
        notes=notes_on_answers(
            surrogate.used_rows(answers),
            judged,
            queries,
            surrogate.systems_,
            with_judged=with_judged,
        ),
        originals=near_copies(answers[~is_judged], answers[is_judged]),
    )


def notes_on_answers(
    answers: pd.DataFrame,
    judged: Mapping[str, Collection[str]],
    queries: pd.DataFrame,
    trained_on: Mapping[str, Collection[str]],
    *,
    with_judged: bool = True,
) -> dict[Key, tuple[Remark, ...]]:
    """Note what is unusual in systems' answers.

    Args:
        answers: As for ``inspect_answers``, like the next two.
        judged: Language to its judged systems.
        queries: Columns ``language, query_id, query, passages``.
        trained_on: Language to the judged systems that the surrogate learned from.
        with_judged: Whether judged systems get notes, too.

    Returns:
        Language and system to its notes. Of judged systems, facts alone: a verdict says more than
        what is unusual.
    """
    answers = answers.assign(answer=answers["answer"].map(without_thoughts))
    notes: dict[Key, tuple[Remark, ...]] = {}
    for language, systems in judged.items():
        rows = answers[answers["language"] == language]
        if rows.empty:
            continue
        questions = queries[queries["language"] == language]
        references = _references(rows, systems, trained_on.get(language, ()))
        noted = set(rows["system"]) if with_judged else set(rows["system"]) - set(systems)
        for system, system_notes in _notes_in_language(rows, systems, references, questions, noted):
            notes[language, system] = system_notes
    return notes


def _references(
    rows: pd.DataFrame, judged: Collection[str], trained_on: Collection[str]
) -> list[str]:
    """Return the judged systems that all are compared with, of a bounded number."""
    references = sorted(set(judged) & set(rows["system"]))
    if len(references) > MOST_SYSTEMS:
        # A surrogate of answers has drawn this many: copies of other systems gain nothing by it.
        references = sorted(set(references) & set(trained_on)) or references
    return references[:: -(-max(len(references), 1) // MOST_SYSTEMS)]


def _notes_in_language(
    answers: pd.DataFrame,
    judged: Collection[str],
    references: Collection[str],
    queries: pd.DataFrame,
    noted: Collection[str],
) -> Iterator[tuple[str, tuple[Remark, ...]]]:
    rows, query_ids = plain_answers(answers, with_passages_of(queries, answers))
    measures = measure_fit(rows, references, noted)
    if is_conspicuous(measures.loc[sorted(noted)]):
        # Only now does it matter what the others' are.
        measures = measure_fit(rows, references)
    is_new = ~rows["system"].isin(judged)
    if len(references) >= FEWEST_JUDGED and is_new.any():
        # Of judged systems nothing is remarked: the others need no such measures.
        compared = rows[is_new | rows["system"].isin(references)].reset_index(drop=True)
        # Passages that a new system brings excuse nothing.
        shown = with_passages_of(queries, answers[answers["system"].isin(judged)])
        passages = passages_of_questions(shown, query_ids)
        questions = queries.set_index("query_id").loc[query_ids, "query"]
        texts = measure_texts(compared, references, list(questions), passages)
        measures = measures.join(texts)
    judged_measures = measures[measures.index.isin(judged)]
    for system, system_measures in measures.loc[sorted(noted)].iterrows():
        system_notes = [*facts_about(system_measures, judged_measures)]
        if system not in judged and len(judged_measures) >= FEWEST_JUDGED:
            system_notes += remarks_about(system_measures, judged_measures)
        if system_notes:
            yield str(system), tuple(system_notes)


def with_passages_of(queries: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Add to every question the passages that systems were given for it, each once."""
    if OWN_PASSAGES not in answers:
        return queries
    given: dict[tuple[str, str], list[PassageRecord]] = {}
    answer_keys = answers[QUESTION_KEY].itertuples(index=False, name=None)
    for key, passages in zip(answer_keys, answers[OWN_PASSAGES], strict=True):
        if isinstance(passages, list):
            given.setdefault(key, []).extend(passages)
    query_keys = queries[QUESTION_KEY].itertuples(index=False, name=None)
    cells = []
    for key, shared in zip(query_keys, queries["passages"], strict=True):
        distinct: dict[tuple[str, str], PassageRecord] = {}
        for passage in (*shared, *given.get(key, ())):
            distinct[passage["passage_id"], passage["text"]] = passage
        cells.append(list(distinct.values()))
    return queries.assign(passages=pd.Series(cells, index=queries.index, dtype=object))


SYSTEM = ["language", "system"]
PART = 1_000_000
"""Pairs of answers that are compared at a time, so that memory stays small."""


def near_copies(new: pd.DataFrame, judged: pd.DataFrame) -> dict[Key, str]:
    """Find the new systems that are copies of a judged one, word for word or nearly so.

    Both tables have the columns ``language, system, query_id, answer``.

    Returns:
        Language and new system to the judged system of which it has nearly all answers there.
    """
    # Of a system's answers that make it a copy, when they are one other system's
    share = 0.9
    new = _long_answers(new)
    new = new[_is_enough(new)]
    judged = _long_answers(judged)
    # Of its first tenth or so a copy must have one answer in common, too: most systems drop out.
    n_of_system = new.groupby(SYSTEM)["answer"].transform("size")
    is_first = new.groupby(SYSTEM).cumcount() <= n_of_system - np.floor(share * n_of_system)
    candidates = _same_answers(new[is_first], judged)
    new = new[new["system"].isin(candidates["system"])]
    same = _same_answers(new, judged[judged["system"].isin(candidates["original"])])
    pairs = same.groupby([*SYSTEM, "original"])["cosine"].agg(["size", "sum"])
    n_answers = new.groupby(SYSTEM).size()
    copies = {}
    # Of several originals the last counts: the one with most answers in common, then the nearest.
    n_same_answers = pairs.sort_values(["size", "sum"], kind="stable")["size"]
    for (language, system, original), n_same in n_same_answers.items():
        if n_same >= share * n_answers[language, system]:
            copies[language, system] = original
    return copies


def _long_answers(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep answers that can be copied: short ones ("I do not know.") are alike anyway.

    Returns:
        Columns ``language, system, query_id, answer``, and ``n_all``: the system's answers of any
        length.
    """
    shortest = 40
    n_all = rows.groupby(SYSTEM)["answer"].transform("size")
    rows = rows[[*SYSTEM, "query_id"]].assign(
        answer=rows["answer"].map(without_thoughts), n_all=n_all
    )
    return rows[rows["answer"].map(len) >= shortest]


def _is_enough(long_answers: pd.DataFrame) -> pd.Series:
    """Flag the answers of systems that have enough long ones to tell a copy."""
    # Long answers that tell a copy, unless they are half of all: one alone may be a coincidence
    fewest_long = 5
    n_long = long_answers.groupby(SYSTEM)["answer"].transform("size")
    return n_long >= np.minimum(fewest_long, long_answers["n_all"] / 2)


def _same_answers(new: pd.DataFrame, judged: pd.DataFrame) -> pd.DataFrame:
    """Find answers that are nearly another: ``language, system, original, cosine``."""
    judged = judged[judged["query_id"].isin(new["query_id"])]
    new_vectors = unit_rows(hashed(list(new["answer"])))
    judged_vectors = unit_rows(hashed(list(judged["answer"])))
    judged_by_question = judged.groupby(QUESTION_KEY).indices
    pairs = [np.empty((0, 3))]
    for question, new_indices in new.groupby(QUESTION_KEY).indices.items():
        if question not in judged_by_question:
            continue
        judged_indices = judged_by_question[question]
        n_parts = ceil(len(new_indices) * len(judged_indices) / PART)
        for part in np.array_split(new_indices, n_parts):
            rows, columns, cosines = _near_pairs(new_vectors[part], judged_vectors[judged_indices])
            pairs.append(np.column_stack([part[rows], judged_indices[columns], cosines]))
    same = pd.DataFrame(np.concatenate(pairs), columns=["new", "judged", "cosine"])
    same = same.sort_values(["new", "judged"], ignore_index=True)
    rows = new[SYSTEM].iloc[same["new"].astype(int)].reset_index(drop=True)
    originals = judged["system"].to_numpy()[same["judged"].astype(int)]
    return rows.assign(original=originals, cosine=same["cosine"])


def _near_pairs(
    vectors: sparse.csr_array, others: sparse.csr_array
) -> tuple[Indices, Indices, Floats]:
    """Return the row, the other row and the cosine of each pair of vectors that are nearly one."""
    # Cosine of character n-grams from which two answers are one: other numbers or words are not.
    nearly_the_same = 0.97
    cosines = sparse.coo_array(vectors @ others.T)
    is_near = cosines.data >= nearly_the_same
    rows, columns = cosines.coords
    # Rounded, so that rounding errors do not decide who was copied.
    return rows[is_near], columns[is_near], cosines.data[is_near].round(9)


FEWEST_ANSWERS = 5
"""Number of answers from which it is said that they are the same."""


def same_answer_remarks(arena: Arena) -> Iterator[Remark]:
    """Name systems whose answers repeat the question, each other, or another system's.

    Texts are compared without regard to case and white space.
    """
    # Number of systems that a remark names
    shown_names = 5
    queries = arena.queries[[*QUESTION_KEY, "query"]]
    rows = arena.answers[[*QUESTION_KEY, "system", "answer"]].merge(queries, on=QUESTION_KEY)
    rows["text"] = [_plain(parse_answer(output).text) for output in rows["answer"]]
    rows["question"] = rows["query"].map(_plain)
    # Empty answers are counted elsewhere, as missing.
    rows = rows[rows["text"] != ""]
    for (language, system), answers in rows.groupby(["language", "system"]):
        if len(answers) < FEWEST_ANSWERS:
            continue
        n_repeated = int((answers["text"] == answers["question"]).sum())
        n_same = int(answers["text"].value_counts().iloc[0])
        if n_repeated > len(answers) / 2:
            sentence = f"{n_repeated:,} of {count_of(len(answers), 'answer')} repeat the question"
        elif n_same > len(answers) / 2:
            sentence = f"{n_same:,} of {count_of(len(answers), 'answer')} are the same text"
        else:
            continue
        yield Remark("same answers", "warning", sentence, subject=f"{language}, {system}")
    for language, answers in rows.groupby("language"):
        for group in _groups_alike(answers):
            systems = first_of(group, shown_names)
            sentence = f"most of their shared questions have the same answer from {systems}"
            yield Remark("same answers", "warning", sentence, subject=str(language))


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _groups_alike(rows: pd.DataFrame) -> list[list[str]]:
    by_system = rows.assign(code=pd.factorize(rows["text"])[0]).pivot_table(
        index="system", columns="query_id", values="code", aggfunc="first"
    )
    # Code of each answer's text, -1 where there is no answer: (systems, questions).
    codes = by_system.fillna(-1).to_numpy(np.int64)
    groups: list[list[str]] = []
    # Systems are compared with the first one of each group: not with every other system, whose
    # number grows with the square.
    firsts = np.empty_like(codes)
    for system, system_codes in zip(by_system.index, codes, strict=True):
        is_answered = system_codes >= 0
        others = firsts[: len(groups), is_answered]
        n_shared = (others >= 0).sum(axis=1)
        n_same = (others == system_codes[is_answered]).sum(axis=1)
        is_alike = (n_shared >= FEWEST_ANSWERS) & (n_same > n_shared / 2)
        if is_alike.any():
            groups[int(np.argmax(is_alike))].append(str(system))
        else:
            firsts[len(groups)] = system_codes
            groups.append([str(system)])
    return [group for group in groups if len(group) > 1]
