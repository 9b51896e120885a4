"""Questions that do not look like the language that the arena says they are in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from arena.data.arena import Arena
from arena.data.wording import Remark
from features.measures.language import SUPPORTED, likeliest_language

FEWEST_QUESTIONS = 5


def language_remarks(arena: Arena) -> Iterator[Remark]:
    """Name the languages whose questions often look like another supported one."""
    smallest_share = 0.1
    for name, questions in arena.queries.groupby("language"):
        language = str(name)
        if language not in SUPPORTED:
            continue
        others = Counter(filter(None, map(likeliest_language, questions["query"])))
        del others[language]
        n_others = others.total()
        if n_others < FEWEST_QUESTIONS or n_others < smallest_share * len(questions):
            continue
        most = others.most_common(1)[0][0]
        sentence = (
            f"{n_others:,} of {len(questions):,} questions do not look like {language}; most of "
            f"them look like {most}"
        )
        yield Remark("languages", "warning", sentence, statistic=n_others / len(questions))
