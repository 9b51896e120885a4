"""Inspection of systems' answers: they are compared with the judged systems' answers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import pandas as pd

from arena.data.schema import OWN_PASSAGES, QUESTION_KEY
from arena.data.systems import PassageRecord
from arena.data.wording import Remark
from arena.text.thoughts import without_thoughts
from surrogate.checks.copies import near_copies
from surrogate.checks.fit import measure_fit
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
