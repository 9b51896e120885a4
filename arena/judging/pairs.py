"""Which pairs of answers to judge: questions drawn per language, pairs of each question."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
import pandas as pd

from arena.errors import UsageError
from arena.folder import Arena
from arena.judging.comparisons import (
    ArenaTexts,
    PairKey,
    QuestionKey,
    pair_keys,
    unordered,
)
from arena.judging.even_pairs import EvenPairs, Names
from arena.judging.order import shown_order
from arena.seeds import generator

PAIR_COLUMNS = ["language", "query_id", "system_a", "system_b"]
DEFAULT_QUESTIONS = 100

PairsOfQuestion = Callable[[QuestionKey, list[str]], Iterable[Names]]


@dataclass(frozen=True)
class ChosenPairs:
    """Pairs of answers to judge, in the order of sides to ask in, question by question.

    Attributes:
        table: Pairs to ask: columns ``language, query_id, system_a, system_b``.
        identical: Pairs whose answers are the same text, which nobody is asked: they are ties.
        both_orders: Whether every pair stands there in both orders.
        questions: Questions drawn, per language.
        without_pair: Questions with fewer than two answers, of which none was drawn.
        absent_answers: Systems of the arena without an answer, summed over the questions drawn.
    """

    table: pd.DataFrame
    identical: pd.DataFrame
    both_orders: bool
    questions: dict[str, int]
    without_pair: int
    absent_answers: int

    def without(self, judged: Collection[PairKey]) -> ChosenPairs:
        """Leave out pairs that are judged: in this order where both are asked, else in either."""
        done = set(judged) if self.both_orders else {unordered(key) for key in judged}
        return ChosenPairs(
            self._left(self.table, done),
            self._left(self.identical, done),
            self.both_orders,
            self.questions,
            self.without_pair,
            self.absent_answers,
        )

    def __len__(self) -> int:
        return len(self.table) + len(self.identical)

    def _left(self, table: pd.DataFrame, done: set[PairKey]) -> pd.DataFrame:
        form = (lambda key: key) if self.both_orders else unordered
        is_left = np.array([form(key) not in done for key in pair_keys(table)], dtype=np.bool_)
        return table[is_left].reset_index(drop=True)


def choose_pairs(
    arena: Arena,
    questions: int | None = DEFAULT_QUESTIONS,
    pairs: int | Literal["all"] = "all",
    both_orders: bool = False,
    languages: Sequence[str] | None = None,
    seed: int = 0,
) -> ChosenPairs:
    """Choose what to judge.

    A question is drawn by a number of its own, which rests on its content: further questions
    displace few. With all pairs, a further system adds pairs and changes none. With some pairs a
    question, systems meet as evenly as can be, and are connected where that many pairs allow it.

    Args:
        arena: Questions and answers; its judgments do not matter.
        questions: Questions of each language; None, or more than there are, takes all.
        pairs: ``all`` pairs of systems that answered a question, or so many of them.
        both_orders: Ask every pair in both orders, so that flips can be counted; else the order
            is drawn by the pair's content (see ``shown_order``).
        languages: Languages to take; None takes all.
        seed: Seed of all draws.

    Raises:
        UsageError: For a number below 1, an unknown language, or an arena with nothing to judge.
    """
    if (questions is not None and questions < 1) or (pairs != "all" and pairs < 1):
        raise UsageError("questions and pairs must be at least 1")
    texts = ArenaTexts(arena)
    drawn: list[QuestionKey] = []
    without_pair = 0
    for language in _chosen_languages(arena, languages):
        able = [q for q in texts.questions(language) if len(texts.systems((language, q))) > 1]
        without_pair += len(texts.questions(language)) - len(able)
        drawn += [
            (language, query_id) for query_id in _draw(texts, language, able, questions, seed)
        ]
    if not drawn:
        raise UsageError("no question has answers of two systems: there is nothing to judge")
    of_question = _all_pairs if pairs == "all" else _some_pairs(pairs, seed)
    keys = [
        (*question, *names)
        for question in drawn
        for names in of_question(question, texts.systems(question))
    ]
    absent = sum(len(arena.info.systems) - len(texts.systems(question)) for question in drawn)
    return _asked(texts, keys, both_orders, seed, without_pair, absent)


def pairs_judged_in(
    arena: Arena, judgments: pd.DataFrame, both_orders: bool = False, seed: int = 0
) -> ChosenPairs:
    """Choose the pairs that somebody has judged, to hold another judge against their verdicts.

    Args:
        arena: Questions and answers.
        judgments: Columns ``language, query_id, system_a, system_b``.
        both_orders: As in ``choose_pairs``.
        seed: As in ``choose_pairs``.

    Raises:
        UsageError: If a pair has an answer that is absent.
    """
    keys = list(dict.fromkeys(unordered(key) for key in pair_keys(judgments)))
    return _asked(ArenaTexts(arena), keys, both_orders, seed, 0, 0)


def _chosen_languages(arena: Arena, languages: Sequence[str] | None) -> list[str]:
    present = list(arena.info.languages)
    unknown = [language for language in languages or () if language not in present]
    if unknown:
        raise UsageError(f"no language {unknown[0]!r} here; there is {', '.join(present)}")
    return present if not languages else [each for each in present if each in languages]


def _draw(
    texts: ArenaTexts, language: str, able: list[str], questions: int | None, seed: int
) -> list[str]:
    def draw(query_id: str) -> float:
        content = (language, query_id, texts.question((language, query_id)))
        return float(generator(seed, "judging", "question", *content).random())

    return sorted(able, key=lambda query_id: (draw(query_id), query_id))[:questions]


def _all_pairs(_: QuestionKey, systems: list[str]) -> Iterator[Names]:
    yield from combinations(systems, 2)


def _some_pairs(pairs: int, seed: int) -> PairsOfQuestion:
    """Make a chooser of so many pairs a question; each language is even by itself."""
    even: dict[str, EvenPairs] = {}

    def of_question(question: QuestionKey, systems: list[str]) -> Iterable[Names]:
        random = generator(seed, "judging", "pairs", *question)
        return even.setdefault(question[0], EvenPairs()).choose(systems, pairs, random)

    return of_question


def _asked(
    texts: ArenaTexts,
    keys: Sequence[PairKey],
    both_orders: bool,
    seed: int,
    without_pair: int,
    absent: int,
) -> ChosenPairs:
    asked: list[PairKey] = []
    identical: list[PairKey] = []
    questions: dict[str, dict[str, None]] = {}
    for language, query_id, one, other in keys:
        question = (language, query_id)
        first, second = ((system, texts.answer(question, system)) for system in (one, other))
        side_a, side_b = shown_order(language, query_id, first, second, seed)
        orders = [(*question, side_a, side_b), (*question, side_b, side_a)]
        same = first[1].strip() == second[1].strip()
        (identical if same else asked).extend(orders[: 1 + both_orders])
        questions.setdefault(language, {})[query_id] = None
    counts = {language: len(drawn) for language, drawn in questions.items()}
    return ChosenPairs(_table(asked), _table(identical), both_orders, counts, without_pair, absent)


def _table(keys: Sequence[PairKey]) -> pd.DataFrame:
    return pd.DataFrame(keys, columns=PAIR_COLUMNS, dtype=object)
