"""Questions that do not look like the language that the arena says they are in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from arena.data.arena import Arena
from arena.data.wording import Remark, count_of
from features.measures.language import SUPPORTED, likeliest_language

FEWEST_QUESTIONS = 5


def language_remarks(arena: Arena) -> Iterator[Remark]:
    """Name the languages whose questions often look like another supported one."""
    smallest_share = 0.1
    for name, questions in arena.queries.groupby("language"):
        language = str(name)
        if language not in SUPPORTED:
            continue
        looks = Counter(map(likeliest_language, questions["query"]))
        others = {code: n for code, n in looks.items() if code not in (language, None)}
        n_others = sum(others.values())
        if n_others < FEWEST_QUESTIONS or n_others < smallest_share * len(questions):
            continue
        most, _ = Counter(others).most_common(1)[0]
        sentence = (
            f"{n_others:,} of {count_of(len(questions), 'question')} do not look like {language}; "
            f"most of them look like {most}"
        )
        yield Remark("languages", "warning", sentence, statistic=n_others / len(questions))
