"""Pairs drawn before anything is judged: the questions, and the pairs of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError, checked_choice
from arena.data.seeds import generator
from arena.judging.pairs import (
    PAIR_COLUMNS,
    SHOWS,
    ArenaTexts,
    PairKey,
    QuestionKey,
    Show,
    pair_keys,
    shown_order,
    unordered,
)

DEFAULT_QUESTIONS = 100

Names = tuple[str, str]
PairsOfQuestion = Callable[[QuestionKey, list[str]], Iterable[Names]]


@dataclass(frozen=True)
class Verdicts:
    """What came of asking about pairs.

    Attributes:
        judgments: Rows of an arena's ``judgments``, one a verdict.
        failures: Rows of the same key, one a pair without a verdict.
    """

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
        """Put together all that was chosen, in this run and before.

        Args:
            asked: The batches.
        """


@dataclass(frozen=True)
class DrawnQuestions:
    """Questions whose answers are compared.

    Attributes:
        keys: The questions, language by language.
        without_pair: Questions with fewer than two answers, of which none was drawn.
        absent_answers: Systems of the arena without an answer, summed over the questions.
    """

    keys: tuple[QuestionKey, ...]
    without_pair: int = 0
    absent_answers: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """Number of questions, per language."""
        return dict(Counter(language for language, _ in self.keys))


class EvenPairs:
    """Chooses pairs question by question, with an eye on those chosen before."""

    def __init__(self) -> None:
        self._battles: Counter[str] = Counter()
        self._meetings: Counter[Names] = Counter()
        self._group: dict[str, int] = {}

    def choose(self, systems: list[str], pairs: int, random: np.random.Generator) -> list[Names]:
        """Choose pairs of a question.

        Each pair joins two groups of systems that no chosen pair connects yet, if there are any;
        then systems with few battles on this question and in all go first, then pairs that met
        seldom; the rest is chance.

        Args:
            systems: Systems that answered the question.
            pairs: How many to choose, at most.
            random: Breaks ties.
        """
        names = sorted(systems)
        for name in names:
            self._group.setdefault(name, len(self._group))
        one, other = np.triu_indices(len(names), 1)
        met = np.array([self._meetings[pair] for pair in combinations(names, 2)])
        chance = random.random(len(one))
        here = np.zeros(len(names), dtype=np.int64)
        taken = np.zeros(len(one), dtype=np.bool_)
        chosen: list[Names] = []
        for _ in range(min(pairs, len(one))):
            battles = np.array([self._battles[name] for name in names])
            group = np.array([self._group[name] for name in names])
            costs: tuple[npt.NDArray[np.generic], ...] = (
                taken,
                group[one] == group[other],
                np.maximum(here[one], here[other]),
                here[one] + here[other],
                battles[one] + battles[other],
                met,
                chance,
            )
            pair = int(np.lexsort(costs[::-1])[0])
            taken[pair] = True
            here[[one[pair], other[pair]]] += 1
            chosen.append((names[one[pair]], names[other[pair]]))
            self._note(chosen[-1])
        return chosen

    def _note(self, pair: Names) -> None:
        self._battles.update(pair)
        self._meetings[pair] += 1
        kept, joined = (self._group[name] for name in pair)
        if kept != joined:
            for name, group in self._group.items():
                if group == joined:
                    self._group[name] = kept


@dataclass(frozen=True)
class ChosenPairs:
    """Pairs of answers to judge, in the order of sides to ask in, question by question.

    Attributes:
        table: Pairs to ask: columns ``language, query_id, system_a, system_b``.
        identical: Pairs whose shown texts are the same, which nobody is asked: they are ties.
        both_orders: Whether every pair stands there in both orders.
        drawn: The questions they are of.
        show: What is shown of a system; the judge's prompt must show the same.
        adaptive: Whether they were chosen by verdicts on others, which is noted with theirs.
    """

    table: pd.DataFrame
    identical: pd.DataFrame
    both_orders: bool
    drawn: DrawnQuestions
    show: Show = "output"
    adaptive: bool = False

    @property
    def whole(self) -> int:
        """Number of pairs to ask."""
        return len(self.table)

    def batches(self) -> Batches:
        """Yield all of them at once."""
        yield self
        return ""

    def chosen(self, asked: Sequence[ChosenPairs]) -> ChosenPairs:  # noqa: ARG002 - all are
        """Return these."""
        return self

    def without(self, judged: Collection[PairKey]) -> ChosenPairs:
        """Leave out pairs that are judged: in this order where both are asked, else in either."""
        done = set(judged) if self.both_orders else {unordered(key) for key in judged}
        table, identical = (self._left(rows, done) for rows in (self.table, self.identical))
        return replace(self, table=table, identical=identical)

    def with_any(self, systems: Collection[str]) -> ChosenPairs:
        """Keep the pairs in which one of some systems stands."""
        table, identical = (
            rows[rows["system_a"].isin(systems) | rows["system_b"].isin(systems)]
            for rows in (self.table, self.identical)
        )
        return replace(
            self,
            table=table.reset_index(drop=True),
            identical=identical.reset_index(drop=True),
        )

    def __len__(self) -> int:
        return len(self.table) + len(self.identical)

    def _left(self, table: pd.DataFrame, done: set[PairKey]) -> pd.DataFrame:
        form = (lambda key: key) if self.both_orders else unordered
        is_left = np.array([form(key) not in done for key in pair_keys(table)], dtype=np.bool_)
        return table[is_left].reset_index(drop=True)


def joined_pairs(
    nothing: ChosenPairs, asked: Sequence[ChosenPairs], earlier: pd.DataFrame | None = None
) -> ChosenPairs:
    """Put batches together.

    Args:
        nothing: Such a batch without pairs.
        asked: The batches.
        earlier: Pairs of earlier runs.
    """
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
    show: Show = "output",
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
        show: What the judge will see of a system: ``output``, all it wrote, or ``answer``, the
            text after ``##Answer:``. Pairs of which it would see the same text twice are ties;
            nothing else that is chosen depends on it.

    Raises:
        UsageError: For a number below 1, an unknown language or way to show, or an arena with
            nothing to judge.
    """
    checked_choice(show, SHOWS, "show")
    if pairs != "all" and pairs < 1:
        raise UsageError("questions and pairs must be at least 1")
    texts = ArenaTexts(arena)
    drawn = draw_questions(arena, texts, questions, languages, seed)
    of_question = _all_pairs if pairs == "all" else _some_pairs(pairs, seed)
    keys = [
        (*question, *names)
        for question in drawn.keys
        for names in of_question(question, texts.systems(question))
    ]
    return asked_pairs(texts, keys, drawn, both_orders, seed, show)


def draw_questions(
    arena: Arena,
    texts: ArenaTexts,
    questions: int | None,
    languages: Sequence[str] | None,
    seed: int,
) -> DrawnQuestions:
    """Draw the questions to judge, as ``choose_pairs`` says.

    Raises:
        UsageError: For a number below 1, an unknown language, or no question.
    """
    if questions is not None and questions < 1:
        raise UsageError("questions and pairs must be at least 1")
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
    absent = sum(len(arena.info.systems) - len(texts.systems(question)) for question in drawn)
    return DrawnQuestions(tuple(drawn), without_pair, absent)


def pairs_judged_in(
    arena: Arena,
    judgments: pd.DataFrame,
    both_orders: bool = False,
    seed: int = 0,
    show: Show = "output",
) -> ChosenPairs:
    """Choose the pairs that somebody has judged, to hold another judge against their verdicts.

    Args:
        arena: Questions and answers.
        judgments: Columns ``language, query_id, system_a, system_b``.
        both_orders: As in ``choose_pairs``.
        seed: As in ``choose_pairs``.
        show: As in ``choose_pairs``.

    Raises:
        UsageError: If a pair has an answer that is absent, or for an unknown way to show.
    """
    checked_choice(show, SHOWS, "show")
    keys = list(dict.fromkeys(unordered(key) for key in pair_keys(judgments)))
    drawn = DrawnQuestions(tuple(dict.fromkeys(key[:2] for key in keys)))
    return asked_pairs(ArenaTexts(arena), keys, drawn, both_orders, seed, show)


def _chosen_languages(arena: Arena, languages: Sequence[str] | None) -> list[str]:
    present = list(arena.info.languages)
    unknown = [language for language in languages or () if language not in present]
    if unknown:
        raise UsageError(f"no language {unknown[0]!r} here; there is {', '.join(present)}")
    return present if not languages else [each for each in present if each in languages]


def _draw(
    texts: ArenaTexts, language: str, able: list[str], questions: int | None, seed: int
) -> list[str]:
    def draw(query_id: str) -> tuple[float, str]:
        question = texts.question((language, query_id))
        return question_draw(language, query_id, question, seed), query_id

    return sorted(able, key=draw)[:questions]


def question_draw(language: str, query_id: str, question: str, seed: int) -> float:
    """Draw the number by which a question is chosen to be answered or judged: low ones first."""
    return float(generator(seed, "judging", "question", language, query_id, question).random())


def _all_pairs(_: QuestionKey, systems: list[str]) -> Iterator[Names]:
    yield from combinations(systems, 2)


def _some_pairs(pairs: int, seed: int) -> PairsOfQuestion:
    """Make a chooser of so many pairs a question; each language is even by itself."""
    even: dict[str, EvenPairs] = {}

    def of_question(question: QuestionKey, systems: list[str]) -> Iterable[Names]:
        random = generator(seed, "judging", "pairs", *question)
        return even.setdefault(question[0], EvenPairs()).choose(systems, pairs, random)

    return of_question


def asked_pairs(
    texts: ArenaTexts,
    keys: Sequence[PairKey],
    drawn: DrawnQuestions,
    both_orders: bool,
    seed: int,
    show: Show,
) -> ChosenPairs:
    """Draw the sides of pairs whose systems stand in any order; see ``ChosenPairs``."""
    asked: list[PairKey] = []
    identical: list[PairKey] = []
    for language, query_id, one, other in keys:
        question = (language, query_id)
        first, second = (
            (system, texts.shown(question, system, "answer")) for system in (one, other)
        )
        side_a, side_b = shown_order(language, query_id, first, second, seed)
        orders = [(*question, side_a, side_b), (*question, side_b, side_a)]
        same = texts.shown(question, one, show) == texts.shown(question, other, show)
        (identical if same else asked).extend(orders[: 1 + both_orders])
    return ChosenPairs(_table(asked), _table(identical), both_orders, drawn, show)


def _table(keys: Sequence[PairKey]) -> pd.DataFrame:
    return pd.DataFrame(keys, columns=PAIR_COLUMNS, dtype=object)
