"""Sentences built from passages of many languages, of which it is certain what holds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from arena.folder import Arena
from arena.metaevaluation.memerag.claims import Claim
from arena.seeds import generator
from features.sentences import split_sentences
from surrogate.metaevaluation.cited_claims import corrupted
from surrogate.metaevaluation.known_claims import (
    SHOWN_PASSAGES,
    KnownClaim,
    KnownClaims,
    KnownQuestion,
    passages_by_language,
    questions_of,
)

HELD = "held"
JOINED = "joined"
REMOVED = "removed"
HALF_REMOVED = "half removed"
MIXED = "mixed"
CORRUPTED = "corrupted"

_FEWEST_UNITS, _MOST_UNITS = 6, 60
_FEWEST_KEPT = 4
_SENTENCES_A_QUESTION = 2
_POOL = 2000
_MOST_DROPPED = _MOST_REPLACED = 0.4

Units = list[str]


@dataclass(frozen=True)
class _Source:
    """A sentence of a passage, cut into units.

    Attributes:
        passage: Number of its passage.
        units: What stands between its spaces.
        following: The sentence after it, or before the last one.
        rest: The passage without it.
    """

    passage: int
    units: Units
    following: Units
    rest: str


@dataclass(frozen=True)
class _Workshop:
    """What rewording needs: words of the language, the question's, and luck."""

    pool: Sequence[str]
    question: Units
    draws: np.random.Generator

    def reworded(self, units: Units) -> str:
        """Drop, replace and turn round some words, and put some of the question before them.

        Numbers and capitalised words are not replaced.
        """
        draws = self.draws
        dropped, replaced = draws.uniform(0, _MOST_DROPPED), draws.uniform(0, _MOST_REPLACED)
        kept = [
            self._other(unit) if draws.random() < replaced else unit
            for unit in units
            if draws.random() >= dropped
        ]
        if draws.random() < 0.5:
            kept = [*self.question[: draws.integers(1, 7)], *kept]
        if draws.random() < 0.3 and len(kept) > _FEWEST_UNITS:
            turn = int(draws.integers(2, len(kept) - 1))
            kept = [*kept[turn:], *kept[:turn]]
        return " ".join(kept if len(kept) >= _FEWEST_KEPT else units)

    def _other(self, unit: str) -> str:
        if unit[0].isupper() or any(map(str.isdigit, unit)):
            return unit
        return self.pool[int(self.draws.integers(len(self.pool)))]


def built_claims(arena: Arena, questions_a_language: int = 30, seed: int = 0) -> KnownClaims:
    """Build claims from the passages of questions.

    Each is a sentence of one of five passages, reworded at random. Supported: the sentence
    (``held``), its first half with the second half of its neighbour (``joined``). Not supported:
    the same sentence taken out of its passage (``removed``), half of another and half of it
    (``half removed``), halves of sentences of two passages (``mixed``, which the annotation
    guidelines of MEMERAG call conflating), an exchanged number or name (``corrupted``). Languages
    that put no spaces between words are left out: there is no rewording without words.

    Args:
        arena: An arena with passages; answers and judgments do not matter.
        questions_a_language: Questions drawn of each language, at most.
        seed: Seed of what is drawn.

    Raises:
        MissingDependencyError: See ``features.sentences.split_sentences``.
    """
    by_language: dict[str, list[KnownQuestion]] = {}
    known = list(questions_of(arena.queries))
    for question in known:
        by_language.setdefault(question.language, []).append(question)
    found: list[KnownClaim] = []
    for language, questions in sorted(by_language.items()):
        if not _is_spaced(" ".join(question.query for question in questions)):
            continue
        draws = generator(seed, "built claims", language)
        pool = _pool(questions, draws)
        for place in draws.permutation(len(questions))[:questions_a_language]:
            found += _claims_of(questions[place], pool, draws)
    return KnownClaims(tuple(found), passages_by_language(known))


def _pool(questions: Sequence[KnownQuestion], draws: np.random.Generator) -> list[str]:
    """Draw units of a language, the frequent ones often."""
    texts = [text for question in questions for text in question.passages.values()]
    if not texts:
        return []
    units = [unit for place in draws.permutation(len(texts))[:200] for unit in texts[place].split()]
    return [units[place] for place in draws.integers(len(units), size=_POOL)]


def _claims_of(
    question: KnownQuestion, pool: Sequence[str], draws: np.random.Generator
) -> Iterator[KnownClaim]:
    texts = list(question.passages.values())
    passages = tuple(texts[place] for place in draws.permutation(len(texts))[:SHOWN_PASSAGES])
    sources = _sources(passages, question.language)
    if len(passages) < SHOWN_PASSAGES or len({source.passage for source in sources}) < 2:
        return
    workshop = _Workshop(pool, question.query.strip(" ?؟।").split(), draws)
    for place in draws.permutation(len(sources))[:_SENTENCES_A_QUESTION]:
        source = sources[place]
        elsewhere = [each for each in sources if each.passage != source.passage]
        other = elsewhere[draws.integers(len(elsewhere))]
        yield from _versions(source, other, passages, question, workshop)


def _versions(
    source: _Source,
    other: _Source,
    passages: tuple[str, ...],
    question: KnownQuestion,
    workshop: _Workshop,
) -> Iterator[KnownClaim]:
    without = tuple(
        source.rest if place == source.passage else text for place, text in enumerate(passages)
    )
    halves = (*_halves(source.units), *_halves(source.following), *_halves(other.units))
    first, second, _, next_second, other_first, _ = halves
    made = [
        (HELD, True, source.units, passages),
        (JOINED, True, [*first, *next_second], passages),
        (REMOVED, False, source.units, without),
        (HALF_REMOVED, False, [*other_first, *second], without),
        (MIXED, False, [*other_first, *second], passages),
    ]
    changed = corrupted(" ".join(source.units), passages, workshop.draws)
    if changed is not None:
        made.append((CORRUPTED, False, changed.split(), passages))
    for kind, is_supported, units, context in made:
        text = workshop.reworded(units)
        claim = Claim(question.language, question.query, context, text, text)
        yield KnownClaim(claim, is_supported, kind)


def _sources(passages: Sequence[str], language: str) -> list[_Source]:
    found = []
    for place, text in enumerate(passages):
        sentences = split_sentences(text, language)
        for number, sentence in enumerate(sentences):
            units = sentence.split()
            rest = " ".join([*sentences[:number], *sentences[number + 1 :]])
            if len(sentences) > 1 and _FEWEST_UNITS <= len(units) <= _MOST_UNITS:
                following = sentences[number + 1 if number + 1 < len(sentences) else number - 1]
                found.append(_Source(place, units, following.split(), rest))
    return found


def _halves(units: Units) -> tuple[Units, Units]:
    middle = len(units) // 2
    return units[:middle], units[middle:]


def _is_spaced(text: str) -> bool:
    """Tell whether a text puts spaces between words."""
    return text.count(" ") * 15 >= len(text.strip())
