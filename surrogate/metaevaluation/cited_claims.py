"""Sentences of answers with the passages they cite, and where they cannot be right."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from arena.folder import Arena
from arena.metaevaluation.memerag.claims import Claim
from arena.seeds import generator
from features.statements import Statement, cut_statements
from surrogate.metaevaluation.known_claims import (
    SHOWN_PASSAGES,
    KnownClaim,
    KnownClaims,
    KnownQuestion,
    passages_by_language,
    questions_of,
)

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
        MissingDependencyError: See ``features.sentences.split_sentences``.
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
