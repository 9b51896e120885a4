"""Languages whose answers cite passages that an arena lacks, or names otherwise."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from arena.data.arena import Arena
from arena.data.wording import Remark
from features.declare.sample import Sample
from features.engine.extraction import answers_of
from surrogate.checks.rules import dead_citations

FEWEST_ANSWERS = 5
"""Number of answers from which it is said: a few may be slips of a model."""


def citation_remarks(arena: Arena) -> Iterator[Remark]:
    """Name languages whose answers cite more passages than there are, or never by their ids."""
    for language, rows in arena.answers.groupby("language"):
        n_matched = 0
        citing_systems = []
        dead = []
        has_dead = []
        for system, (question, output) in zip(rows["system"], answers_of(arena, rows), strict=True):
            sample = Sample(question, output)
            if not question.passages or not sample.citations.ranking:
                continue
            citing_systems.append(system)
            n_matched += len(sample.citations.matched)
            first_cited = sample.citations.ranking[0]
            passage_id = question.passage_ids[0]
            numbers = [int(cited) for cited in dead_citations(sample) if cited.isdecimal()]
            has_dead.append(len(numbers) > 0)
            if numbers:
                dead.append((max(numbers), len(question.passages)))
        n_citing = len(has_dead)
        if n_citing < FEWEST_ANSWERS:
            continue
        highest, n_passages = max(dead, default=(0, 0))
        shares = pd.Series(has_dead).groupby(citing_systems).mean()
        # One system of two may cite what neither was given.
        is_usual = (shares >= 0.5).mean() > 0.5
        if is_usual and highest > n_passages:
            sentence = (
                f"{len(dead):,} of {n_citing:,} answers with citations cite passages that are not "
                f"there: up to [{highest}], with {n_passages} given. Does the export hold fewer "
                "passages than the systems saw, or does one text hold several? Then split it into "
                "a list"
            )
        elif n_matched == 0:
            sentence = (
                f"answers cite, such as [{first_cited}], but never the id of a passage, such as "
                f"{passage_id}: citations and grounding are not measured; use the same ids in both"
            )
        else:
            continue
        yield Remark("citations", "warning", sentence, subject=str(language))
