"""Ballots: pairs of answers for people to judge, without the systems' names."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.seeds import generator
from arena.judging.choosing.drawn import ChosenPairs
from arena.judging.pairs import SHOWS, ArenaTexts, Comparison, PairKey, pair_keys
from arena.llm.settings import canonical_json, digest

ID_DIGITS = 20
MOST_PAIRS = 1000


@dataclass(frozen=True)
class BallotPair:
    """One pair as a person sees it.

    Attributes:
        id: Stands for question, systems, sides and texts; tells no name.
        comparison: What is shown.
    """

    id: str
    comparison: Comparison


@dataclass(frozen=True)
class Ballot:
    """Pairs to judge.

    Attributes:
        id: Digest of the pairs and their order.
        arena: Name of the arena.
        pairs: The pairs, in the order drawn.
        left_out: Pairs chosen that are not on it, for want of room.
        identical: Pairs of the same text, which nobody needs to judge.
    """

    id: str
    arena: str
    pairs: tuple[BallotPair, ...]
    left_out: int
    identical: int


def make_ballot(arena: Arena, pairs: ChosenPairs, most: int = 60, seed: int = 0) -> Ballot:
    """Make a ballot of chosen pairs, in random order; the first ones where there are too many.

    Args:
        arena: Questions and answers.
        pairs: What to judge, sides drawn; see ``choose_pairs`` and ``pairs_judged_in``.
        most: Most pairs.
        seed: Seed of the order.

    Raises:
        UsageError: If there is no pair, or the number is out of range.
    """
    if not 1 <= most <= MOST_PAIRS:
        raise UsageError(f"--most is {most}; use 1 to {MOST_PAIRS}")
    keys = list(pair_keys(pairs.table))
    if not keys:
        raise UsageError("there is no pair of answers that differ; nothing is to be judged")
    drawn = generator(seed, "ballot", arena.info.name).permutation(len(keys))[:most]
    texts = ArenaTexts(arena)
    shown = []
    for place in drawn:
        comparison = texts.comparison(keys[place], pairs.show)
        texts_shown = (comparison.question, comparison.answer_a, comparison.answer_b)
        shown.append(BallotPair(pair_id(comparison.key, *texts_shown), comparison))
    return Ballot(
        id=digest(canonical_json([pair.id for pair in shown]))[:ID_DIGITS],
        arena=arena.info.name,
        pairs=tuple(shown),
        left_out=len(keys) - len(shown),
        identical=len(pairs.identical),
    )


def pair_id(key: PairKey, question: str, answer_a: str, answer_b: str) -> str:
    """Digest a pair with its sides and texts."""
    return digest(canonical_json([*key, question, answer_a, answer_b]))[:ID_DIGITS]


def pairs_by_id(arena: Arena) -> dict[str, PairKey]:
    """Return every pair of an arena's answers, whatever is shown of them, by its id."""
    texts, found = ArenaTexts(arena), {}
    for language in arena.info.languages:
        for query_id in texts.questions(language):
            question = (language, query_id)
            systems = texts.systems(question)
            for show in SHOWS:
                answers = {name: texts.shown(question, name, show) for name in systems}
                for one, other in permutations(systems, 2):
                    key = (language, query_id, one, other)
                    shown = (texts.question(question), answers[one], answers[other])
                    found[pair_id(key, *shown)] = key
    return found
