"""Copies: new systems whose answers are nearly a judged one's, and systems that answer alike."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.schema import QUESTION_KEY
from arena.data.types import Flags, Floats, Indices
from arena.data.wording import Remark, first_of
from arena.text.answers import parse_answer
from arena.text.ngrams import hashed
from arena.text.reader import as_read
from features.text.tokens import folded_words

Key = tuple[str, str]
"""Language and system."""
SYSTEM = ["language", "system"]
PART = 200
"""New answers to a question that are compared at a time, so that memory stays small."""
EMPTY = "∅" * 40
"""In place of an empty answer, which is a copy of other empty ones alone."""
FEWEST_ANSWERS = 5
"""Number of answers from which it is said that they are the same."""


def flag_judged(rows: pd.DataFrame, judged: Mapping[str, Collection[str]]) -> Flags:
    """Flag rows of systems judged in their language, shape (N,)."""
    is_judged = np.zeros(len(rows), dtype=bool)
    for language, systems in judged.items():
        is_here = (rows["language"] == language) & rows["system"].isin(systems)
        is_judged |= is_here.to_numpy(bool)
    return is_judged


def near_copies(new: pd.DataFrame, judged: pd.DataFrame) -> dict[Key, str]:
    """Find new systems with nearly all of a judged one's answers."""
    # Of a system's answers that make it a copy, when they are one other system's
    share = 0.9
    new = _long_answers(new)
    new = new[_is_enough(new)]
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
    """Keep answers long enough to be copied, and empty ones; ``n_all`` counts all."""
    shortest = 40
    n_all = rows.groupby(SYSTEM)["answer"].transform("size")
    rows = rows[[*SYSTEM, "query_id"]].assign(answer=rows["answer"].map(_letters), n_all=n_all)
    return rows[rows["answer"].map(len) >= shortest]


def _letters(output: str) -> str:
    """Keep letters alone: marks, spaces and case hide no copy."""
    return "".join(folded_words(as_read(output))) or EMPTY


def _is_enough(long_answers: pd.DataFrame) -> pd.Series:
    # Long answers that tell a copy, unless they are half of all: one alone may be a coincidence
    fewest_long = 5
    n_long = long_answers.groupby(SYSTEM)["answer"].transform("size")
    return n_long >= np.minimum(fewest_long, long_answers["n_all"] / 2)


def _same_answers(new: pd.DataFrame, judged: pd.DataFrame) -> pd.DataFrame:
    judged = _long_answers(judged[judged["query_id"].isin(new["query_id"])])
    new_vectors = hashed(list(new["answer"])).unit_rows()
    judged_vectors = hashed(list(judged["answer"])).unit_rows()
    judged_by_question = judged.groupby(QUESTION_KEY).indices
    pairs = [np.empty((0, 3))]
    for question, new_indices in new.groupby(QUESTION_KEY).indices.items():
        if question not in judged_by_question:
            continue
        judged_indices = judged_by_question[question]
        judged_here = judged_vectors.take(judged_indices).dense()
        for start in range(0, len(new_indices), PART):
            part = new_indices[start : start + PART]
            rows, columns, cosines = _near_pairs(new_vectors.take(part).dense(), judged_here)
            pairs.append(np.column_stack([part[rows], judged_indices[columns], cosines]))
    same = pd.DataFrame(np.concatenate(pairs), columns=["new", "judged", "cosine"])
    same = same.sort_values(["new", "judged"], ignore_index=True)
    rows = new[SYSTEM].iloc[same["new"].astype(int)].reset_index(drop=True)
    originals = judged["system"].to_numpy()[same["judged"].astype(int)]
    return rows.assign(original=originals, cosine=same["cosine"])


def _near_pairs(vectors: Floats, others: Floats) -> tuple[Indices, Indices, Floats]:
    # Cosine of character n-grams from which two answers are one: other numbers or words are not.
    nearly_the_same = 0.97
    cosines = vectors @ others.T
    rows, columns = np.nonzero(cosines >= nearly_the_same)
    # Rounded, so that rounding errors do not decide who was copied.
    return rows, columns, cosines[rows, columns].round(9)


def same_answer_remarks(arena: Arena) -> Iterator[Remark]:
    """Name systems that repeat the question, themselves, or another."""
    # Number of systems that a remark names
    shown_names = 5
    # Texts are compared by their hashes, which take a hundredth of the memory.
    questions = [hash(_plain(query)) for query in arena.queries["query"]]
    texts = [hash(_plain(parse_answer(output).text)) for output in arena.answers["answer"]]
    rows = arena.answers[[*QUESTION_KEY, "system"]].assign(text=texts)
    queries = arena.queries[QUESTION_KEY].assign(question=questions)
    rows = rows.merge(queries, on=QUESTION_KEY)
    # Empty answers are counted elsewhere, as missing.
    rows = rows[rows["text"] != hash("")]
    for (language, system), answers in rows.groupby(["language", "system"]):
        if len(answers) < FEWEST_ANSWERS:
            continue
        n_answers = len(answers)
        n_repeated = int((answers["text"] == answers["question"]).sum())
        n_same = int(answers["text"].value_counts().iloc[0])
        if n_repeated > n_answers / 2:
            sentence = f"{n_repeated:,} of {n_answers:,} answers repeat the question"
        elif n_same > n_answers / 2:
            sentence = f"{n_same:,} of {n_answers:,} answers are the same text"
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
