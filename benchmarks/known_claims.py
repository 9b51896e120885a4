"""Claims whose support is known because of how they were made: no human label is needed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.schema import Passage
from arena.data.seeds import generator
from features.declare.sample import passage_text
from features.text.sentences import split_sentences
from features.text.statements import Statement, cut_statements
from surrogate.metaevaluation.memerag.judges import Claim

SHOWN_PASSAGES = 5
"""Passages of a claim, as many as MEMERAG shows."""


@dataclass(frozen=True, slots=True)
class KnownClaim:
    """A claim of known support.

    Attributes:
        claim: The claim.
        is_supported: Whether its passages support it.
        kind: How it was made.
    """

    claim: Claim
    is_supported: bool
    kind: str


@dataclass(frozen=True)
class KnownClaims:
    """Claims made from one arena.

    Attributes:
        claims: The claims.
        passages: All passages of the arena by language, to count how rare something is; claims
            may show them with something taken out.
    """

    claims: tuple[KnownClaim, ...]
    passages: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class KnownQuestion:
    """A question with its passages as texts.

    Attributes:
        language: Its language code.
        query_id: Its id within the language.
        query: The question.
        passages: Texts of the passages by id, titles included; empty ones are left out.
    """

    language: str
    query_id: str
    query: str
    passages: dict[str, str]


def passages_by_language(questions: Iterable[KnownQuestion]) -> dict[str, tuple[str, ...]]:
    """Return all passages of each language."""
    found: dict[str, list[str]] = {}
    for question in questions:
        found.setdefault(question.language, []).extend(question.passages.values())
    return {language: tuple(texts) for language, texts in found.items()}


def questions_of(queries: pd.DataFrame) -> Iterator[KnownQuestion]:
    """Yield the questions of an arena."""
    for row in queries.itertuples():
        read = [Passage.model_validate(passage) for passage in row.passages]
        texts = {passage.passage_id: passage_text(passage) for passage in read}
        held = {name: text for name, text in texts.items() if text}
        yield KnownQuestion(str(row.language), str(row.query_id), str(row.query), held)


CITED = "cited"
ELSEWHERE = "elsewhere"
CORRUPTED = "corrupted"

_MOST_CITED = 4
_FEWEST_WORDS = 5
_SENTENCES_AN_ANSWER = 4
_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
_WORD = re.compile(r"[^\W\d_]\w+")


@dataclass(frozen=True)
class _Contexts:
    """Passages to hold a sentence against: with those it cites, and without them."""

    own: tuple[str, ...]
    other: tuple[str, ...]


def cited_claims(arena: Arena, seed: int = 0) -> KnownClaims:
    """Make claims of sentences that cite passages.

    Of each answer, four sentences at most: against the passages they cite, filled up to five with
    others that the answer cites (``cited``, taken as supported); against five others alone
    (``elsewhere``); and with a number or a name exchanged for another (``corrupted``).

    Args:
        arena: An arena whose answers cite passages.
        seed: Seed of what is drawn.

    Raises:
        MissingDependencyError: See ``features.text.sentences.split_sentences``.
    """
    questions = {(each.language, each.query_id): each for each in questions_of(arena.queries)}
    found: list[KnownClaim] = []
    for row in arena.answers.itertuples():
        question = questions[row.language, row.query_id]
        draws = generator(seed, "cited claims", row.language, row.query_id, row.system)
        statements = cut_statements(row.answer, tuple(question.passages), question.language)
        for statement in _chosen(statements, draws):
            contexts = _contexts(statement, statements, question, draws)
            if contexts is not None:
                found += _claims(statement.text, contexts, question, draws)
    return KnownClaims(tuple(found), passages_by_language(questions.values()))


def corrupted(sentence: str, passages: Sequence[str], draws: np.random.Generator) -> str | None:
    """Exchange a number or a name of a sentence for another.

    A name is a word with a capital that does not begin the sentence. A name is exchanged for one
    of the passages; a number half the time for one of the same length there, else for random
    digits.

    Returns:
        The changed sentence; None if it has neither number nor name, or nothing to exchange it for.
    """
    context = "\n".join(passages)
    options = [*_other_number(sentence, context, draws), *_other_name(sentence, context, draws)]
    changed = [option for option in options if option != sentence]
    return changed[draws.integers(len(changed))] if changed else None


def _chosen(statements: Sequence[Statement], draws: np.random.Generator) -> list[Statement]:
    usable = [
        each
        for each in statements
        if 0 < len(each.cited) <= _MOST_CITED and len(each.text.split()) >= _FEWEST_WORDS
    ]
    order = draws.permutation(len(usable))[:_SENTENCES_AN_ANSWER]
    return [usable[place] for place in order]


def _contexts(
    statement: Statement,
    statements: Sequence[Statement],
    question: KnownQuestion,
    draws: np.random.Generator,
) -> _Contexts | None:
    cited_elsewhere = {name for each in statements for name in each.cited} - set(statement.cited)
    others = [name for name in question.passages if name in cited_elsewhere]
    rest = [name for name in question.passages if name not in {*cited_elsewhere, *statement.cited}]
    short = max(SHOWN_PASSAGES - len(others), 0)
    if len(rest) < short:
        return None
    others += [rest[place] for place in draws.permutation(len(rest))[:short]]
    drawn = [others[place] for place in draws.permutation(len(others))[:SHOWN_PASSAGES]]
    own = [*statement.cited, *drawn][:SHOWN_PASSAGES]
    return _Contexts(
        tuple(question.passages[name] for name in own),
        tuple(question.passages[name] for name in drawn),
    )


def _claims(
    sentence: str, contexts: _Contexts, question: KnownQuestion, draws: np.random.Generator
) -> Iterator[KnownClaim]:
    def claim(text: str, passages: tuple[str, ...]) -> Claim:
        return Claim(question.language, question.query, passages, text, text)

    yield KnownClaim(claim(sentence, contexts.own), True, CITED)
    yield KnownClaim(claim(sentence, contexts.other), False, ELSEWHERE)
    changed = corrupted(sentence, contexts.own, draws)
    if changed is not None:
        yield KnownClaim(claim(changed, contexts.own), False, CORRUPTED)


def _other_number(sentence: str, context: str, draws: np.random.Generator) -> Iterator[str]:
    numbers = list(_NUMBER.finditer(sentence))
    if not numbers:
        return
    chosen = numbers[draws.integers(len(numbers))]
    alike = [
        each
        for each in dict.fromkeys(_NUMBER.findall(context))
        if each != chosen[0] and len(each) == len(chosen[0])
    ]
    if alike and draws.random() < 0.5:
        other = alike[draws.integers(len(alike))]
    else:
        other = re.sub("[0-9]", lambda _: str(draws.integers(1, 10)), chosen[0])
    yield _exchanged(sentence, chosen, other)


def _other_name(sentence: str, context: str, draws: np.random.Generator) -> Iterator[str]:
    names = [each for each in list(_WORD.finditer(sentence))[1:] if each[0][0].isupper()]
    if not names:
        return
    chosen = names[draws.integers(len(names))]
    others = [
        each[0]
        for each in _WORD.finditer(context)
        if each[0][0].isupper() and each[0] != chosen[0] and not _opens_sentence(context, each)
    ]
    if others:
        yield _exchanged(sentence, chosen, others[draws.integers(len(others))])


def _opens_sentence(text: str, word: re.Match[str]) -> bool:
    """Tell whether anything but a lower-case word or a comma stands before a word."""
    before = text[max(word.start() - 2, 0) : word.start()]
    return not (before.endswith(" ") and (before[:1].islower() or before[:1] == ","))


def _exchanged(sentence: str, found: re.Match[str], other: str) -> str:
    return sentence[: found.start()] + other + sentence[found.end() :]


HELD = "held"
JOINED = "joined"
REMOVED = "removed"
HALF_REMOVED = "half removed"
MIXED = "mixed"

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
        MissingDependencyError: See ``features.text.sentences.split_sentences``.
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
