"""What may be said of a judge, by its own verdicts and by people: one label, used everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from scipy.special import expit

from arena.data.errors import UsageError
from arena.data.judge_names import UNKNOWN_JUDGE, is_person, judges_named
from arena.data.schema import ANSWER_KEY, QUESTION_KEY
from arena.data.types import Floats
from arena.data.wording import count_of
from arena.diagnostics.agreement import LOW_KAPPA
from arena.diagnostics.bias import answer_lengths, flips, position
from arena.diagnostics.people_agreement import PeopleAgreement, agreement_with_people
from arena.diagnostics.verdicts import ITEM, PAIR, majorities, verdicts
from arena.rating.battles import Battles
from arena.rating.posterior import battle_posterior
from arena.statistics.significance import NORMAL_QUANTILE

Grade = Literal["unreliable", "doubtful", "not known", "consistent", "agrees", "people"]
GRADES: tuple[Grade, ...] = (
    "unreliable",
    "doubtful",
    "not known",
    "consistent",
    "agrees",
    "people",
)
"""Worst first."""
Look = tuple[Grade, str]
"""What one look says of a judge: the grade it leaves at best, and the sentence."""

WORDS: dict[Grade, str] = {
    "unreliable": "unreliable",
    "doubtful": "doubtful",
    "not known": "not tested for consistency",
    "consistent": "consistent with itself but not compared with people",
    "agrees": "in agreement with people",
    "people": "people",
}
"""What a judge is, by its grade."""
COMPARED_ON_FEW = "consistent with itself, and compared with people on too few pairs"
"""What a judge is whose agreement with people has too wide an interval."""

MANY_FLIPS = 0.25
"""Share of pairs judged in both orders: surely more are no judgment of the answers."""
MANY_TIES = 0.75
SAME_LETTER = 0.95
"""Share of verdicts from which a judge says one and the same."""
FEWEST = 10
"""Verdicts, or questions, below which nothing is concluded from all of them being the same."""
NOTABLE_INVALID = 0.05
MOSTLY_INVALID = 0.5

NOTABLE_LENGTH, MANY_LENGTH = 0.75, 0.9
"""Share that the longer (or shorter) of two equally rated answers surely wins. People who voted
on real answers are just above the first."""
LENGTH_RIDGE = 0.1
"""Precision of the prior of ratings and of the effect of length."""
NEWTON_STEPS = 50

BY_CHANCE = 0.25
"""Share of triples of verdicts on a question that tossed coins send round in a circle."""
NOTABLE_CYCLES, MANY_CYCLES = 0.05, 0.2
"""Share of circles beyond what the ratings let expect; and one that is near coin tossing."""
SURELY = 3.0
"""Standard deviations."""
LARGEST_FIELD = 300
"""Systems judged on one question up to which circles are counted."""

NO_AGREEMENT = 0.2
"""Kappa below which agreement with people is slight at best (Landis and Koch, 1977)."""
IDENTICAL = "identical"
"""Flag of a tie between identical answers, which nobody was asked about."""
FLAG_SEPARATOR = ","
SAYS_THE_SAME = "{} of {} are {}: it says the same whatever the answers are"


@dataclass(frozen=True)
class JudgeLabel:
    """What may be said of a judge.

    Attributes:
        judge: Its name.
        grade: ``unreliable``: its verdicts are about something else than the answers, or people
            decide otherwise; ``doubtful``: something limits what they are worth; ``not known``:
            no fault was found, but nothing was judged in both orders; ``consistent``: none was
            found in its own verdicts, and nobody has compared it with people; ``agrees``: people
            decide alike; ``people``: the judges are people.
        faults: What is wrong, sentences.
        facts: What was looked at and is as it should be, sentences.
        is_one_sided: Whether it gives (nearly) every pair the same verdict, so that its ratings
            and their intervals say nothing of the systems.
        is_compared: Whether its agreement with people is known.
    """

    judge: str
    grade: Grade
    faults: tuple[str, ...]
    facts: tuple[str, ...]
    is_one_sided: bool = False
    is_compared: bool = False

    @property
    def words(self) -> str:
        """What the judge is, such as ``consistent with itself but not compared with people``."""
        if self.grade == "consistent" and self.is_compared:
            return COMPARED_ON_FEW
        return WORDS[self.grade]

    @property
    def short(self) -> str:
        """Say what the judge is, without a full stop."""
        if self.grade == "people":
            return "The judges are people"
        if self.judge == UNKNOWN_JUDGE:
            return f"The judge, whom the data do not name, is {self.words}"
        return f"Judge {self.judge} is {self.words}"

    @property
    def sentence(self) -> str:
        """Say what the judge is, and its worst fault, without a full stop."""
        return f"{self.short}: {self.faults[0]}" if self.faults else self.short

    def __str__(self) -> str:
        return f"{self.words}: {'; '.join([*self.faults, *self.facts])}"


def label_judge(
    judge: str,
    judgments: pd.DataFrame,
    answers: pd.DataFrame | None = None,
    *,
    people: PeopleAgreement | None = None,
    invalid: int | None = None,
    asked: int | None = None,
) -> JudgeLabel:
    """Say what a judge is worth, all languages together.

    The label is the worst of what its own verdicts say (sides, flips, ties, lost replies, circles,
    length) and of its agreement with people. Without people the most that is said is that it is
    consistent with itself.

    Args:
        judge: Its name, or several as ``judges_named`` takes them.
        judgments: Verdicts of all judges; those of people are what it is compared with.
        answers: The answers, columns ``ANSWER_KEY`` and ``answer``; without them the effect of
            length is not known.
        people: How far it agrees with people, where that was measured before.
        invalid: Replies without a verdict; None where not known.
        asked: Replies in all; verdicts and invalid ones by default.
    """
    names = _names_of(judge, judgments)
    own = without_identical(judgments[judgments["judge"].isin(names)])
    is_by_people = all(map(is_person, names))
    if people is None and not is_by_people:
        people = agreement_with_people(judgments, names)
    looks = [] if people is None else [_of_people(people)]
    if invalid is not None:
        looks += _of_replies(len(own), invalid, asked)
    if len(own):
        looks += _of_verdicts(own)
        looks += [] if answers is None else _of_length(length_effect(own, answers))
        looks += _of_cycles(cycles(own))
    grades = [grade for grade, _ in looks]
    worst: Grade = next((each for each in GRADES if each in grades), "not known")
    if worst in ("not known", "consistent") and "agrees" in grades:
        worst = "agrees"
    if worst not in ("unreliable", "doubtful") and is_by_people:
        worst = "people"
    faults = [sentence for grade, sentence in looks if grade == "unreliable"]
    faults += [sentence for grade, sentence in looks if grade == "doubtful"]
    return JudgeLabel(
        judge=judge,
        grade=worst,
        faults=tuple(faults),
        facts=tuple(sentence for _, sentence in looks if sentence not in faults),
        is_one_sided=bool(len(own)) and same_verdict(own["winner"]) is not None,
        is_compared=people is not None,
    )


def _names_of(judge: str, judgments: pd.DataFrame) -> tuple[str, ...]:
    """Return the judges that a name stands for; the name itself where it has no verdict."""
    present = sorted(set(judgments["judge"]))
    with suppress(UsageError):
        return judges_named(present, judge)
    return (judge,)


def without_identical(judgments: pd.DataFrame) -> pd.DataFrame:
    """Leave out the ties of identical answers, which nobody was asked about."""
    if "flags" not in judgments:
        return judgments
    flags = judgments["flags"].fillna("").astype(str).str.split(FLAG_SEPARATOR)
    return judgments[[IDENTICAL not in each for each in flags]]


def same_verdict(winners: pd.Series) -> tuple[str, int] | None:
    """Return the verdict that nearly all are, ``a``, ``b`` or ``tie``, and how many; else None."""
    if len(winners) < FEWEST:
        return None
    counts = winners.value_counts()
    verdict, times = str(counts.index[0]), int(counts.iloc[0])
    return (verdict, times) if times >= SAME_LETTER * len(winners) else None


def _of_replies(verdicts_given: int, invalid: int, asked: int | None) -> Iterator[Look]:
    replies = verdicts_given + invalid if asked is None else asked
    if not replies:
        return
    if not verdicts_given and not invalid:
        yield "not known", f"none of {replies:,} prompts got a verdict"
        return
    noun = "reply holds" if replies == 1 else "replies hold"
    share = invalid / replies
    grade: Grade = "consistent"
    if share > NOTABLE_INVALID:
        grade = "unreliable" if share > MOSTLY_INVALID else "doubtful"
    yield grade, f"{invalid:,} of {replies:,} {noun} no verdict ({share:.1%})"


def _of_verdicts(judgments: pd.DataFrame) -> Iterator[Look]:
    """Look at sides, flips and ties."""
    table, number = verdicts(judgments), len(judgments)
    if same := same_verdict(judgments["winner"]):
        verdict, times = same
        named = "a tie" if verdict == "tie" else f"side {verdict.upper()}"
        shown = f"{times:,}", count_of(number, "verdict"), named
        yield "unreliable", SAYS_THE_SAME.format(*shown)
    flipped, ((severity, _, sentence),) = flips(table)
    if not flipped["items"]:
        yield "not known", sentence
    elif flipped["flip_low"] > MANY_FLIPS:
        yield "unreliable", sentence
    else:
        yield "doubtful" if severity == "warning" else "consistent", sentence
    sides, ((severity, _, sentence), *_) = position(table)
    if sides["decided"]:
        yield "doubtful" if severity == "warning" else "consistent", sentence
    ties = int((judgments["winner"] == "tie").sum())
    grade: Grade = "doubtful" if ties > MANY_TIES * number else "consistent"
    yield grade, f"{ties:,} of {count_of(number, 'verdict')} are ties ({ties / number:.1%})"


@dataclass(frozen=True)
class LengthEffect:
    """How often the longer of two equally rated answers wins.

    Attributes:
        share: The share, 0 to 1; NaN without a decided verdict on answers of unlike length.
        low: Lower bound of its 95% interval over questions.
        high: Upper bound.
        verdicts: Decided verdicts it rests on.
    """

    share: float
    low: float
    high: float
    verdicts: int


def length_effect(judgments: pd.DataFrame, answers: pd.DataFrame) -> LengthEffect:
    """Estimate how often the longer answer wins where ratings are equal.

    A better system may write more. So length is one coefficient beside the systems' ratings in a
    Bradley-Terry model of the decided verdicts, one model a language; coefficients of several
    languages are averaged by their precision.

    Args:
        judgments: Verdicts of one judge.
        answers: Columns ``ANSWER_KEY`` and ``answer``.
    """
    table = verdicts(judgments)
    table = table[table["outcome"] != 0]
    lengths = answer_lengths(answers)
    first, second = (
        lengths.reindex(pd.MultiIndex.from_frame(table[[*QUESTION_KEY, side]], names=ANSWER_KEY))
        for side in PAIR
    )
    longer = np.sign(first.to_numpy() - second.to_numpy())
    is_unlike = np.isfinite(longer) & (longer != 0)
    table, longer = table[is_unlike], longer[is_unlike]
    effects, precisions = [], []
    for _, places in table.groupby("language").indices.items():
        effect, error = _length_coefficient(table.iloc[places], longer[places])
        effects.append(effect)
        precisions.append(1 / error**2)
    if not effects:
        return LengthEffect(np.nan, np.nan, np.nan, 0)
    effect = float(np.average(effects, weights=precisions))
    reach = NORMAL_QUANTILE / np.sqrt(sum(precisions))
    share, low, high = (float(expit(value)) for value in (effect, effect - reach, effect + reach))
    return LengthEffect(share, low, high, len(table))


def _length_coefficient(table: pd.DataFrame, longer: Floats) -> tuple[float, float]:
    """Return the coefficient of being longer (logits), and its standard error.

    Pairs are turned so that the longer answer is the first. The error is the larger of the model's
    and of that over questions (a sandwich).

    Args:
        table: Decided verdicts of one language, as of ``verdicts``.
        longer: 1 where the first system's answer is the longer one, else -1.
    """
    codes, names = pd.factorize(pd.concat([table["first"], table["second"]]), sort=True)
    first, second = np.split(codes, 2)
    is_first = longer > 0
    long, short = np.where(is_first, first, second), np.where(is_first, second, first)
    won = (table["outcome"].to_numpy() * longer > 0).astype(np.float64)
    systems = len(names)
    wins, met = np.zeros((systems, systems)), np.zeros((systems, systems))
    np.add.at(wins, (long, short), won)
    np.add.at(met, (long, short), 1.0)
    parameters = np.zeros(systems + 1)
    information = np.eye(systems + 1)
    for _ in range(NEWTON_STEPS):
        ratings, effect = parameters[:-1], parameters[-1]
        expected = expit(ratings[:, None] - ratings[None, :] + effect)
        surplus = wins - met * expected
        weights = met * expected * (1 - expected)
        gradient = np.append(surplus.sum(axis=1) - surplus.sum(axis=0), surplus.sum())
        gradient -= LENGTH_RIDGE * parameters
        information = np.zeros((systems + 1, systems + 1))
        information[:-1, :-1] = np.diag(weights.sum(axis=0) + weights.sum(axis=1))
        information[:-1, :-1] -= weights + weights.T
        information[:-1, -1] = information[-1, :-1] = weights.sum(axis=1) - weights.sum(axis=0)
        information[-1, -1] = weights.sum()
        information += LENGTH_RIDGE * np.eye(systems + 1)
        step = np.linalg.solve(information, gradient)
        parameters += step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-8:
            break
    variance = np.linalg.inv(information)
    ratings, effect = parameters[:-1], float(parameters[-1])
    surplus_each = won - expit(ratings[long] - ratings[short] + effect)
    toward = variance[-1, :-1]
    pull = surplus_each * (toward[long] - toward[short] + variance[-1, -1])
    by_question = np.bincount(pd.factorize(table["query_id"])[0], pull)
    error = max(float(np.sqrt(variance[-1, -1])), float(np.sqrt(by_question @ by_question)))
    return effect, error


def _of_length(effect: LengthEffect) -> Iterator[Look]:
    if not effect.verdicts:
        return
    kind = "longer" if effect.share >= 0.5 else "shorter"
    share, low, high = effect.share, effect.low, effect.high
    if kind == "shorter":
        share, low, high = 1 - share, 1 - high, 1 - low
    grade: Grade = "consistent"
    if low > NOTABLE_LENGTH:
        grade = "unreliable" if low > MANY_LENGTH else "doubtful"
    yield (
        grade,
        f"of two equally rated answers the {kind} one wins {share:.0%} "
        f"(95% interval {low:.0%} to {high:.0%})",
    )


@dataclass(frozen=True)
class Cycles:
    """Triples of decided verdicts on one question, and how many run in a circle: A > B > C > A.

    Attributes:
        triples: Triples of systems of which a question has all three verdicts decided.
        circular: Those that run in a circle.
        expected: How many the ratings let expect if verdicts were independent given these.
        beyond: By how many standard deviations over questions there are more than expected.
        share_low: Lower 95% bound of the share of circular triples, over questions.
    """

    triples: int
    circular: int
    expected: float
    beyond: float
    share_low: float


def cycles(judgments: pd.DataFrame) -> Cycles:
    """Count the triples of one judge's verdicts on a question that run in a circle.

    Verdicts in both orders count once, if they agree. Expected are as many as ratings by the
    decided verdicts give: few where systems are far apart, a quarter where they are equal.
    """
    rows: list[tuple[float, float, float]] = []
    for _, part in judgments[judgments["winner"] != "tie"].groupby("language"):
        rows += _question_cycles(part)
    triples, circular, expected = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    counted = triples > 0
    triples, circular, expected = triples[counted], circular[counted], expected[counted]
    if not counted.any():
        return Cycles(0, 0, 0.0, 0.0, 0.0)
    surplus = circular - expected
    spread = float(np.sqrt(surplus @ surplus))
    share = float(circular.sum() / triples.sum())
    apart = circular - share * triples
    low = share - NORMAL_QUANTILE * float(np.sqrt(apart @ apart)) / float(triples.sum())
    return Cycles(
        triples=round(float(triples.sum())),
        circular=round(float(circular.sum())),
        expected=float(expected.sum()),
        beyond=float(surplus.sum()) / spread if spread > 0 else 0.0,
        share_low=low if len(triples) >= FEWEST else 0.0,
    )


def _question_cycles(decided: pd.DataFrame) -> Iterator[tuple[float, float, float]]:
    """Yield triples, circles and expected circles of each question of one language."""
    posterior = battle_posterior(Battles.from_judgments(decided).largest_group())
    rating_of = pd.Series(posterior.ratings, list(posterior.systems))
    table = majorities(verdicts(decided), ITEM)
    known = table["first"].isin(rating_of.index) & table["second"].isin(rating_of.index)
    table = table[known & (table["outcome"] != 0)]
    for _, rows in table.groupby("query_id"):
        codes, names = pd.factorize(pd.concat([rows["first"], rows["second"]]))
        if not 3 <= len(names) <= LARGEST_FIELD:
            continue
        first, second = np.split(codes, 2)
        first_wins = rows["outcome"].to_numpy() > 0
        beats = np.zeros((len(names), len(names)))
        beats[np.where(first_wins, first, second), np.where(first_wins, second, first)] = 1.0
        is_decided = beats + beats.T
        ratings = rating_of[names].to_numpy()
        expected = expit(ratings[:, None] - ratings[None, :]) * is_decided
        yield (_closed_walks(is_decided) / 2, _closed_walks(beats), _closed_walks(expected))


def _closed_walks(steps: Floats) -> float:
    """Count closed walks of three steps, each of the three places to start from as one."""
    return float(((steps @ steps) * steps.T).sum() / 3)


def _of_cycles(found: Cycles) -> Iterator[Look]:
    if not found.triples:
        return
    share, expected = found.circular / found.triples, found.expected / found.triples
    sentence = (
        f"{found.circular:,} of {count_of(found.triples, 'triple')} of verdicts on one question "
        f"run in a circle, A over B over C over A ({share:.1%}; the ratings let one expect "
        f"{expected:.1%}, tossed coins {BY_CHANCE:.0%})"
    )
    grade: Grade = "consistent"
    if found.share_low > MANY_CYCLES:
        grade = "unreliable"
    elif found.beyond > SURELY and share - expected > NOTABLE_CYCLES:
        grade = "doubtful"
    yield grade, sentence


def _of_people(people: PeopleAgreement) -> Look:
    low, high = people.bounds
    sentence = (
        f"Cohen's kappa with people is {people.kappa:.2f} on "
        f"{count_of(people.items, 'pair')} (95% interval {low:.2f} to {high:.2f})"
    )
    among_people = people.among_people
    is_as_good = False
    if among_people is not None:
        is_as_good = among_people.is_as_good
        sentence += (
            f"; with a single vote it is {among_people.judge_kappa:.2f}, and two people's votes "
            f"have {among_people.kappa:.2f} on {count_of(among_people.items, 'pair')} that "
            "several people judged"
        )
    # Where people hardly agree with each other, no judge can agree with them more.
    if is_as_good and low > 0:
        return "agrees", sentence
    if high < NO_AGREEMENT:
        return "unreliable", sentence
    if people.kappa < LOW_KAPPA:
        return "doubtful", sentence
    return "agrees" if low > NO_AGREEMENT else "consistent", sentence
