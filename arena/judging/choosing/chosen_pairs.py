"""Pairs drawn before anything is judged: the questions, and the pairs of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, Protocol

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError, argument, checked_choice
from arena.data.seeds import generator
from arena.judging.answer_pairs import (
    PAIR_COLUMNS,
    ArenaTexts,
    PairKey,
    QuestionKey,
    pair_keys,
    shown_order,
    unordered,
)
from arena.text.answers import parse_answer

DEFAULT_QUESTIONS = 100

Names = tuple[str, str]


@dataclass(frozen=True)
class Verdicts:
    """What came of asking about pairs: a row a verdict, and a row a pair without one."""

    judgments: pd.DataFrame
    failures: pd.DataFrame


Batches = Generator["ChosenPairs", Verdicts, str]
"""Yields pairs to ask, is sent what came of them, and returns why no more are asked."""


class PairChooser(Protocol):
    """Chooses pairs to judge, all at once or as verdicts come."""

    @property
    def whole(self) -> int | None:
        """Most pairs that are asked; None where that is not known."""

    def batches(self) -> Batches:
        """Yield what to ask next until nothing is left; see ``Batches``."""

    def chosen(self, asked: Sequence[ChosenPairs]) -> ChosenPairs:
        """Put together the batches that were asked, and what was chosen in earlier runs."""


@dataclass(frozen=True)
class ChosenPairs:
    """Pairs of answers to judge, in the order of sides to ask in, question by question.

    Attributes:
        table: Pairs to ask: columns ``language, query_id, system_a, system_b``.
        identical: Pairs whose shown texts are the same, which nobody is asked: they are ties.
        both_orders: Whether every pair stands there in both orders.
        questions: The questions they are of, language by language.
        adaptive: Whether they were chosen by verdicts on others, which is noted with theirs.
    """

    table: pd.DataFrame
    identical: pd.DataFrame
    both_orders: bool
    questions: tuple[QuestionKey, ...]
    adaptive: bool = False

    @property
    def whole(self) -> int:
        """Number of pairs to ask."""
        return len(self.table)

    @property
    def counts(self) -> dict[str, int]:
        """Number of questions, per language."""
        return dict(Counter(language for language, _ in self.questions))

    def __len__(self) -> int:
        return len(self.table) + len(self.identical)

    def batches(self) -> Batches:
        """Yield all of them at once."""
        yield self
        return ""

    def chosen(self, asked: Sequence[ChosenPairs]) -> ChosenPairs:  # noqa: ARG002 - all are
        """Return these."""
        return self

    def without(self, judged: Collection[PairKey]) -> ChosenPairs:
        """Leave out pairs that are judged: in this order where both are asked, else in either."""
        if self.both_orders:
            done = set(judged)
            return self._kept(lambda key: key not in done)
        done = {unordered(key) for key in judged}
        return self._kept(lambda key: unordered(key) not in done)

    def on(self, questions: Collection[QuestionKey]) -> ChosenPairs:
        """Keep the pairs on some questions."""
        wanted = set(questions)
        return self._kept(lambda key: key[:2] in wanted)

    def _kept(self, is_kept: Callable[[PairKey], bool]) -> ChosenPairs:
        table, identical = (
            rows[np.array([is_kept(key) for key in pair_keys(rows)], dtype=np.bool_)]
            for rows in (self.table, self.identical)
        )
        return replace(
            self,
            table=table.reset_index(drop=True),
            identical=identical.reset_index(drop=True),
        )


def joined_pairs(
    nothing: ChosenPairs, asked: Sequence[ChosenPairs], earlier: pd.DataFrame | None = None
) -> ChosenPairs:
    """Put batches together, behind pairs of earlier runs; ``nothing`` is one without pairs."""
    first = nothing.table if earlier is None else earlier
    return replace(
        nothing,
        table=pd.concat([first, *(batch.table for batch in asked)], ignore_index=True),
        identical=pd.concat([nothing.identical, *(batch.identical for batch in asked)]),
    )


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
    question, systems meet as evenly as can be. Pairs of the same text are ties.

    Args:
        arena: Questions and answers; its judgments do not matter.
        questions: Questions of each language; None, or more than there are, takes all.
        pairs: ``all`` pairs of systems that answered a question, or so many of them.
        both_orders: Ask every pair in both orders; else the order is drawn (see ``shown_order``).
        languages: None takes all.
        seed: Of all draws.

    Raises:
        UsageError: For a number below 1, an unknown language, or an arena with nothing to judge.
    """
    if pairs != "all" and pairs < 1:
        raise UsageError(f"{argument('pairs')} is {pairs}; use at least 1")
    texts = ArenaTexts(arena)
    drawn = draw_questions(arena, texts, questions, languages, seed)
    battles = {language: Counter[str]() for language, _ in drawn}
    keys: list[PairKey] = []
    for language, query_id in drawn:
        systems = texts.systems((language, query_id))
        if pairs == "all":
            chosen = list(combinations(systems, 2))
        else:
            random = generator(seed, "judging", "pairs", language, query_id)
            chosen = _even_pairs(systems, pairs, battles[language], random)
        keys += [(language, query_id, *names) for names in chosen]
    return asked_pairs(texts, keys, drawn, both_orders, seed)


def pairs_judged_in(
    arena: Arena, judgments: pd.DataFrame, both_orders: bool = False, seed: int = 0
) -> ChosenPairs:
    """Choose the pairs that somebody has judged, to hold another judge against their verdicts.

    Arguments are those of ``choose_pairs``; an answer that is absent is a UsageError.
    """
    keys = list(dict.fromkeys(unordered(key) for key in pair_keys(judgments)))
    drawn = tuple(dict.fromkeys(key[:2] for key in keys))
    return asked_pairs(ArenaTexts(arena), keys, drawn, both_orders, seed)


def draw_questions(
    arena: Arena,
    texts: ArenaTexts,
    questions: int | None,
    languages: Sequence[str] | None,
    seed: int,
) -> tuple[QuestionKey, ...]:
    """Draw the questions to judge, as ``choose_pairs`` says; those with fewer answers are out.

    Raises:
        UsageError: For a number below 1, an unknown language, or no question.
    """
    if questions is not None and questions < 1:
        raise UsageError(f"{argument('questions')} is {questions}; use at least 1")
    present = list(arena.info.languages)
    for language in languages or ():
        checked_choice(language, present, "language")
    drawn: list[QuestionKey] = []
    for language in (each for each in present if not languages or each in languages):
        keys = [(language, query_id) for query_id in texts.questions(language)]
        able = [key for key in keys if len(texts.systems(key)) > 1]
        drawn += by_draw(texts, able, seed)[:questions]
    if not drawn:
        raise UsageError("no question has answers of two systems: there is nothing to judge")
    return tuple(drawn)


def by_draw(texts: ArenaTexts, keys: Sequence[QuestionKey], seed: int) -> list[QuestionKey]:
    """Put questions in an order that is drawn by their content."""

    def draw(key: QuestionKey) -> tuple[float, QuestionKey]:
        return question_draw(*key, texts.question(key), seed), key

    return sorted(keys, key=draw)


def question_draw(language: str, query_id: str, question: str, seed: int) -> float:
    """Draw the number by which a question is chosen to be answered or judged: low ones first."""
    return float(generator(seed, "judging", "question", language, query_id, question).random())


def asked_pairs(
    texts: ArenaTexts,
    keys: Sequence[PairKey],
    drawn: tuple[QuestionKey, ...],
    both_orders: bool,
    seed: int,
) -> ChosenPairs:
    """Draw the sides of pairs whose systems stand in any order; see ``ChosenPairs``."""
    asked: list[PairKey] = []
    identical: list[PairKey] = []
    for language, query_id, *names in keys:
        question = (language, query_id)
        outputs = [texts.shown(question, system) for system in names]
        answers = [parse_answer(output).text for output in outputs]
        one, other = zip(names, answers, strict=True)
        side_a, side_b = shown_order(language, query_id, one, other, seed)
        orders = [(*question, side_a, side_b), (*question, side_b, side_a)]
        (identical if outputs[0] == outputs[1] else asked).extend(orders[: 1 + both_orders])
    table, same = (pd.DataFrame(part, columns=PAIR_COLUMNS) for part in (asked, identical))
    return ChosenPairs(table.astype(object), same.astype(object), both_orders, drawn)


def _even_pairs(
    systems: list[str], pairs: int, battles: Counter[str], random: np.random.Generator
) -> list[Names]:
    """Choose so many pairs of systems that answered a question, at most.

    Systems with few battles on this question and in all go first, then pairs that met seldom;
    the rest is chance. Battles of each system and meetings of each pair so far grow.
    """
    left = list(combinations(systems, 2))
    chance = dict(zip(left, random.random(len(left)).tolist(), strict=True))
    here: Counter[str] = Counter()

    def cost(pair: Names) -> tuple[float, ...]:
        one, other = pair
        on_question = (max(here[one], here[other]), here[one] + here[other])
        return (*on_question, battles[one] + battles[other], battles["\0".join(pair)], chance[pair])

    chosen: list[Names] = []
    for _ in range(min(pairs, len(left))):
        pair = min(left, key=cost)
        left.remove(pair)
        chosen.append(pair)
        here.update(pair)
        battles.update([*pair, "\0".join(pair)])
    return chosen
