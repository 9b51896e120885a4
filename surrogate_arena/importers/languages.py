"""The language of questions, detected among the supported ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from arena.data.languages import UNDETERMINED
from arena.data.wording import count_of, first_of
from features.measures.language import likeliest_language
from surrogate_arena.importers.clone_files import checked_language

AUTO = "auto"
"""What a user writes for a language that is detected."""


def languages_by_id(
    questions: Mapping[str, str], stated: str | None
) -> tuple[Mapping[str, str], str]:
    """Return each question's language by its id, and a remark."""
    if stated not in (None, AUTO):
        return dict.fromkeys(questions, stated_language(stated)), ""
    languages, note = _detected(list(dict.fromkeys(questions.values())))
    return {name: languages[text] for name, text in questions.items()}, note


def _detected(questions: Sequence[str]) -> tuple[dict[str, str], str]:
    smallest_share = 0.05
    fewest = 5
    if not questions:
        return {}, ""
    languages = {question: likeliest_language(question) or UNDETERMINED for question in questions}
    counts = Counter(languages.values())
    usual, _ = counts.most_common(1)[0]
    rare = [
        code
        for code, count in counts.items()
        if count < fewest and count < smallest_share * len(questions) and code != usual
    ]
    for question, code in languages.items():
        if code in rare:
            languages[question] = usual
    listed = []
    for code, count in sorted(Counter(languages.values()).items()):
        listed.append(f"{code} ({count_of(count, 'question')})")
    note = f"detected the language of each question: {', '.join(listed)}"
    if rare:
        n_rare = sum(counts[code] for code in rare)
        note += (
            f"; {count_of(n_rare, 'question')} that may be {first_of(sorted(rare), 10)} "
            f"{'is' if n_rare == 1 else 'are'} read as {usual}: if that is wrong, add a column "
            "language"
        )
    return languages, note


def stated_language(language: str | None) -> str:
    """Return a stated language's code; ``und`` if it is to be detected."""
    return UNDETERMINED if language in (None, AUTO) else checked_language(language) or UNDETERMINED
