"""An arena's verdicts as a training set: chats that teach a judge, or pairs to prefer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError, checked_choice
from arena.data.schema import QUESTION_KEY
from arena.data.seeds import generator
from arena.generation.prompt import AnswerPrompt
from arena.generation.questions import GivenQuestion
from arena.judging.pairs import ArenaTexts, PairKey, unordered
from arena.judging.prompt import PairwisePrompt, VerdictForm, side_flags
from arena.judging.replies import WINNER_OF_LETTER
from arena.rating.battles import spread
from surrogate.training.rows import PreferenceExample, Sieve, TrainExample

Sides = Literal["drawn", "both", "given"]
SIDES: tuple[Sides, ...] = ("drawn", "both", "given")

CONTRADICTORY = "verdicts on a pair that the judge decided both ways"
IDENTICAL_ANSWERS = "verdicts on answers that are the same"
STEERING = "verdicts on answers that look like an attempt to steer the judge"
SAME_AGAIN = "verdicts that say the same of a pair again"
NOT_DRAWN_PAIR = "verdicts beyond the number of a question"
TIE = "ties, of which neither answer is preferred"

_LETTERS = {winner: letter for letter, winner in WINNER_OF_LETTER.items()}
_TURNED = {"a": "b", "b": "a", "tie": "tie"}


@dataclass(frozen=True)
class VerdictRules:
    """Which verdicts become rows, and how they are shown.

    Attributes:
        judge: Whose verdicts; None where there is one judge alone.
        pairs: Most pairs of a question, drawn; None for all.
        sides: ``drawn``: each pair once, sides drawn, so that no side is learned as the better
            one; ``both``: each pair in both orders; ``given``: as it was judged.
        languages: Which ones; all if there are none.
        seed: Seed of the draws.
    """

    judge: str | None = None
    pairs: int | None = None
    sides: Sides = "drawn"
    languages: Sequence[str] = ()
    seed: int = 0

    def __post_init__(self) -> None:
        checked_choice(self.sides, SIDES, "order of sides")


@dataclass(frozen=True)
class _Decided:
    key: PairKey
    winner: str
    reason: str


def judge_examples(
    arena: Arena, rules: VerdictRules, prompt: PairwisePrompt, verdict: VerdictForm
) -> Sieve:
    """Make chats that ask what ``judge`` asks and reply as a judge did.

    Args:
        arena: With the verdicts.
        rules: Which of them.
        prompt: What judges are asked.
        verdict: ``text``: ``[[A]]``, after the judge's explanation where that is known and
            sides are as given, since it names them; ``logprobs``: the letter alone.

    Raises:
        UsageError: If no such judge has verdicts here, or several have and none is named, or
            they are soft.
    """
    texts, sieve = ArenaTexts(arena), Sieve()
    for decided in _chosen(arena, rules, sieve):
        for shown in _orders(decided, rules):
            comparison = texts.comparison(shown.key, prompt.show)
            language = shown.key[0]
            if comparison.answer_a == comparison.answer_b:
                sieve.drop(language, IDENTICAL_ANSWERS)
                continue
            asked, flags = prompt.ask(comparison)
            if any(":" in flag for flag in flags):
                sieve.drop(language, STEERING)
                continue
            letter = _LETTERS[shown.winner]  # type: ignore[index]
            said = shown.reason if rules.sides == "given" else ""
            reply = letter if verdict == "logprobs" else f"{said} [[{letter}]]".strip()
            sieve.take(TrainExample(shown.key[:2], asked, reply, _notes(shown)))
    return sieve


def preference_examples(arena: Arena, rules: VerdictRules, prompt: AnswerPrompt) -> Sieve:
    """Make rows of which one answer is preferred; ties have none.

    Equal answers, and those that look like an attempt to steer a judge, are left out.

    Args:
        arena: With the verdicts.
        rules: Which of them; sides do not matter.
        prompt: What systems are asked.

    Raises:
        UsageError: If no such judge has verdicts here, or several have and none is named, or
            they are soft.
    """
    texts, sieve = ArenaTexts(arena), Sieve()
    for decided in _chosen(arena, rules, sieve):
        language, query_id, *systems = decided.key
        key = (language, query_id)
        if decided.winner == "tie":
            sieve.drop(language, TIE)
            continue
        if decided.winner == "b":
            systems.reverse()
        better, worse = (texts.shown(key, system, "output") for system in systems)
        if better == worse:
            sieve.drop(language, IDENTICAL_ANSWERS)
            continue
        if side_flags(better, worse):
            sieve.drop(language, STEERING)
            continue
        shown = tuple(replace(each, relevance=None) for each in texts.passages(key))
        asked = prompt.ask(GivenQuestion(key, texts.question(key), shown))
        sieve.take(PreferenceExample(key, asked, better, rejected=worse))
    return sieve


def _chosen(arena: Arena, rules: VerdictRules, sieve: Sieve) -> Iterator[_Decided]:
    """Yield verdicts, one a pair, so many a question."""
    table = _verdicts(arena, rules)
    reasons = table["reason"] if "reason" in table else [""] * len(table)
    columns = table[[*QUESTION_KEY, "system_a", "system_b"]]
    by_question: dict[tuple[str, str], dict[PairKey, list[_Decided]]] = {}
    for key, winner, reason in zip(
        columns.itertuples(index=False, name=None), table["winner"], reasons, strict=True
    ):
        said = reason.strip() if isinstance(reason, str) else ""
        pairs = by_question.setdefault(key[:2], {})
        pairs.setdefault(unordered(key), []).append(_Decided(key, winner, said))
    for question in sorted(by_question):
        pairs = by_question[question]
        draw = generator(rules.seed, "training", "pairs", *question)
        names = sorted(pairs)
        order = [names[place] for place in draw.permutation(len(names))]
        taken = 0
        for pair in order:
            first = pairs[pair][0]
            again = len(pairs[pair]) - 1
            if any(_toward(each, first) != first.winner for each in pairs[pair]):
                sieve.drop(question[0], CONTRADICTORY, again + 1)
            elif rules.pairs is not None and taken >= rules.pairs:
                sieve.drop(question[0], NOT_DRAWN_PAIR, again + 1)
            else:
                taken += 1
                if again:
                    sieve.drop(question[0], SAME_AGAIN, again)
                yield first


def _toward(one: _Decided, other: _Decided) -> str:
    """Return a verdict as if sides were those of another one on the same pair."""
    return one.winner if one.key == other.key else _TURNED[one.winner]


def _verdicts(arena: Arena, rules: VerdictRules) -> pd.DataFrame:
    table = arena.judgments
    if rules.languages:
        table = table[table["language"].isin(rules.languages)]
    judges = sorted(set(table["judge"]))
    if rules.judge is None and len(judges) > 1:
        raise UsageError(f"several judged here; choose one with `judge`: {', '.join(judges)}")
    if rules.judge is not None and rules.judge not in judges:
        raise UsageError(f"no verdicts of {rules.judge!r} here; there is {', '.join(judges)}")
    if table.empty:
        raise UsageError("there are no verdicts here; judge first")
    own = table if rules.judge is None else table[table["judge"] == rules.judge]
    if spread(own)[2] is not None:
        raise UsageError(
            "soft verdicts are shares, which no letter says; name the judge that they are made of"
        )
    return own


def _orders(decided: _Decided, rules: VerdictRules) -> Iterator[_Decided]:
    turned = _turned(decided)
    if rules.sides == "drawn":
        draw = generator(rules.seed, "training", "side", *unordered(decided.key))
        yield turned if draw.integers(2) else decided
        return
    yield decided
    if rules.sides == "both":
        yield turned


def _turned(decided: _Decided) -> _Decided:
    language, query_id, system_a, system_b = decided.key
    key = (language, query_id, system_b, system_a)
    return _Decided(key, _TURNED[decided.winner], decided.reason)


def _notes(decided: _Decided) -> dict[str, str]:
    _, _, system_a, system_b = decided.key
    return {"system_a": system_a, "system_b": system_b}
