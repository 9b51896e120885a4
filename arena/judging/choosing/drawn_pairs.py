"""Pairs drawn before anything is judged: the questions, and the pairs of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import combinations
from typing import Literal

import numpy as np
import pandas as pd

from arena.computing.codes import value_flags
from arena.data.arena import Arena
from arena.data.errors import UsageError, argument
from arena.data.judges import is_person
from arena.judging.answer_pairs import (
    PAIR_COLUMNS,
    ArenaTexts,
    PairDraw,
    PairKey,
    QuestionKey,
    draw_pair,
    pair_keys,
    unordered,
)
from arena.judging.choosing.chosen_pairs import ASKED_COLUMNS, ChosenPairs
from arena.judging.choosing.drawn_questions import draw_questions
from arena.judging.forms import JUDGE_FORMS
from arena.judging.judging_settings import JudgingSettings
from arena.statistics.bootstrap import generator

DEFAULT_QUESTIONS = 100
REPEATED = 0.2
"""Share of audited pairs that are also asked twice in the same order."""
SECOND_VOTE = "2"
FOR_PEOPLE = 300
"""Pairs of a language that people are asked about."""

SystemPair = tuple[str, str]


def choose_pairs(
    arena: Arena,
    questions: int | None = DEFAULT_QUESTIONS,
    pairs: int | Literal["all"] = "all",
    languages: Sequence[str] | None = None,
    seed: int = 0,
    *,
    audit: float = 0.0,
    spread: bool = False,
) -> ChosenPairs:
    """Choose what to judge.

    Questions are drawn by their content alone; systems meet as evenly as possible.

    Args:
        arena: Questions and answers.
        questions: Questions of each language; None takes all.
        pairs: ``all`` pairs of systems that answered a question, or how many of them.
        languages: None takes all.
        seed: Seed of all draws.
        audit: Share of the pairs that are asked in both orders; 1 for all.
        spread: Order the pairs at random over all questions.

    Returns:
        The pairs, in the order to ask in.

    Raises:
        UsageError: For a number below 1, an unknown language, or nothing to judge.

    Examples:
        >>> from arena import sample_arena
        >>> choose_pairs(sample_arena(), questions=2, pairs=3).n_planned
        6
    """
    if pairs != "all" and pairs < 1:
        raise UsageError(f"{argument('pairs')} is {pairs}; use at least 1")
    texts = ArenaTexts(arena)
    drawn = draw_questions(arena, questions, languages, seed)
    keys: list[PairKey] = []
    for language in dict(drawn):
        of_language = [question for question in drawn if question[0] == language]
        keys += _pairs_on(texts, of_language, pairs, seed)
    if spread:
        keys = _in_drawn_order(texts, keys, seed)
    return asked_pairs(texts, keys, drawn, audit=audit, seed=seed)


def draw_pairs(arena: Arena, settings: JudgingSettings) -> ChosenPairs:
    """Draw the pairs to judge before any verdict; see ``choose_pairs``."""
    settings.require_plan()
    pairs = settings.pairs or "all"
    if settings.is_adaptive or pairs == "adaptive":
        raise UsageError("adaptive pairs are chosen as verdicts come, not beforehand")
    budget = settings.budget
    if budget is None and settings.pairs is None and settings.form == "pairwise":
        answers = arena.answers
        if settings.languages:
            answers = answers[answers["language"].isin(settings.languages)]
        n_systems = int(answers.groupby("language")["system"].nunique().sum())
        budget = settings.default_budget(n_systems)
    is_limited = budget is not None or settings.max_cost is not None
    chosen = choose_pairs(
        arena,
        questions=settings.questions,
        pairs=pairs,
        languages=settings.languages,
        seed=settings.seed,
        audit=settings.audit_share,
        # Marks and orders are asked question by question.
        spread=is_limited and settings.form == "pairwise",
    )
    if budget is None:
        return chosen
    return JUDGE_FORMS[settings.form].within(chosen, budget // len(settings.judges))


def sample_pairs(arena: Arena, settings: JudgingSettings, n_pairs: int) -> ChosenPairs:
    """Draw random pairs, as many as adaptive ones would cost."""
    chosen = choose_pairs(
        arena,
        questions=settings.questions,
        languages=settings.languages,
        seed=settings.seed,
        audit=settings.audit_share,
        spread=True,
    )
    return chosen.within(n_pairs)


def pairs_judged_in(arena: Arena, judgments: pd.DataFrame, audit: float = 0.0) -> ChosenPairs:
    """Choose the pairs that were judged, to compare another judge with their verdicts.

    Args:
        arena: Questions and answers; an absent answer is a ``UsageError``.
        judgments: Verdicts of the judge to compare with.
        audit: Share of the pairs that are asked in both orders.

    Returns:
        The pairs, each once.

    Examples:
        >>> from arena import sample_arena
        >>> arena = sample_arena()
        >>> people = arena.judged_by("people").judgments
        >>> pairs_judged_in(arena, people).counts
        {'en': 38}
    """
    keys = list(dict.fromkeys(unordered(key) for key in pair_keys(judgments)))
    drawn = tuple(dict.fromkeys(key[:2] for key in keys))
    return asked_pairs(ArenaTexts(arena), keys, drawn, audit=audit, seed=0)


def pairs_for_people(arena: Arena) -> ChosenPairs:
    """Choose pairs to ask people about, at random over questions.

    About ``FOR_PEOPLE`` in each language, among those that machines judged.
    """
    seed = 0
    texts = ArenaTexts(arena)
    drawn = draw_questions(arena, questions=None, languages=None, seed=seed)
    judged = _judged_by_machines(arena.judgments)
    judged_questions = {key[:2] for key in judged}
    keys: list[PairKey] = []
    for language in arena.info.languages:
        questions = [key for key in drawn if key[0] == language]
        has_judged = [key for key in questions if key in judged_questions]
        asked = (has_judged or questions)[:DEFAULT_QUESTIONS]
        n_pairs = -(-FOR_PEOPLE // max(len(asked), 1))
        keys += _pairs_on(texts, asked, n_pairs, seed, judged if has_judged else None)
    return asked_pairs(texts, _in_drawn_order(texts, keys, seed), drawn, audit=0, seed=seed)


def _pairs_on(
    texts: ArenaTexts,
    questions: Sequence[QuestionKey],
    pairs: int | Literal["all"],
    seed: int,
    among: Collection[PairKey] | None = None,
) -> list[PairKey]:
    meetings: Counter[str | SystemPair] = Counter()
    keys = []
    for question in questions:
        chosen = []
        # In an order of their own, so that draws do not depend on systems' names.
        for pair in combinations(texts.systems_by_output(question), 2):
            if among is None or unordered((*question, *pair)) in among:
                chosen.append(pair)
        if pairs != "all":
            random = generator(seed, "judging", "pairs", *question)
            chosen = _even_pairs(chosen, pairs, meetings, random)
        keys += [(*question, *pair) for pair in chosen]
    return keys


def _judged_by_machines(judgments: pd.DataFrame) -> set[PairKey]:
    by_machines = judgments[~value_flags(judgments["judge"], is_person)]
    return {unordered(key) for key in pair_keys(by_machines)}


def asked_pairs(
    texts: ArenaTexts,
    keys: Sequence[PairKey],
    drawn: tuple[QuestionKey, ...],
    *,
    audit: float,
    seed: int,
    adaptive: bool = False,
) -> ChosenPairs:
    """Draw the sides of pairs, and which are audited.

    ``audit`` is the share asked in both orders; unless all are, a fifth is asked a third time.
    """
    different: list[tuple[str, str, str, str, str | None]] = []
    identical: list[PairKey] = []
    for language, query_id, one, other in keys:
        question = (language, query_id)
        draw = pair_draw(texts, question, one, other, seed)
        if texts.shown(question, one) == texts.shown(question, other):
            identical.append((language, query_id, draw.side_a, draw.side_b))
            if audit == 1:
                identical.append((language, query_id, draw.side_b, draw.side_a))
            continue
        different.append((language, query_id, draw.side_a, draw.side_b, None))
        if draw.audit < audit:
            different.append((language, query_id, draw.side_b, draw.side_a, None))
        if audit < 1 and draw.audit < REPEATED * audit:
            different.append((language, query_id, draw.side_a, draw.side_b, SECOND_VOTE))
    return ChosenPairs(
        table=pd.DataFrame(different, columns=ASKED_COLUMNS).astype(object),
        identical=pd.DataFrame(identical, columns=PAIR_COLUMNS).astype(object),
        questions=drawn,
        adaptive=adaptive,
    )


def pair_draw(
    texts: ArenaTexts, question: QuestionKey, one: str, other: str, seed: int
) -> PairDraw:
    """Draw for two systems' answers to a question."""
    language, query_id = question
    # Draws depend on the answers alone, not on the reasons that systems wrote with them.
    return draw_pair(
        language,
        query_id,
        (one, texts.answer_text(question, one)),
        (other, texts.answer_text(question, other)),
        seed,
    )


def _in_drawn_order(texts: ArenaTexts, keys: Sequence[PairKey], seed: int) -> list[PairKey]:

    def draw(key: PairKey) -> float:
        language, query_id, one, other = key
        return pair_draw(texts, (language, query_id), one, other, seed).sort_key

    return sorted(keys, key=draw)


def _even_pairs(
    candidates: list[SystemPair],
    n_pairs: int,
    meetings: Counter[str | SystemPair],
    random: np.random.Generator,
) -> list[SystemPair]:
    """Choose pairs of systems on a question, and add them to the meetings."""
    left = list(candidates)
    chance = dict(zip(left, random.random(len(left)).tolist(), strict=True))
    on_question: Counter[str] = Counter()

    def cost(pair: SystemPair) -> tuple[float, ...]:
        one, other = pair
        battles = (on_question[one], on_question[other])
        return (
            max(battles),
            sum(battles),
            meetings[one] + meetings[other],
            meetings[pair],
            chance[pair],
        )

    chosen: list[SystemPair] = []
    for _ in range(min(n_pairs, len(left))):
        pair = min(left, key=cost)
        left.remove(pair)
        chosen.append(pair)
        on_question.update(pair)
        meetings.update([*pair, pair])
    return chosen
