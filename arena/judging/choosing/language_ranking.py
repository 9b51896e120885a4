"""What verdicts have said so far of one language's systems, and which pairs are open."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from arena.planning.adaptive import AdaptivePairing
from arena.rating.battles import Battles
from arena.rating.posterior import RatingPosterior, RatingPrior, battle_posterior
from arena.statistics.significance import NORMAL_90

RATING_COLUMNS = ["language", "system", "rating", "low", "high"]

_SIDES = ["query_id", "system_a", "system_b", "winner"]


class LanguageRanking:
    """What is judged and known of one language."""

    def __init__(
        self,
        language: str,
        questions: Sequence[str],
        answers: pd.DataFrame,
        prior: pd.DataFrame | None,
        seed: int,
    ) -> None:
        own = answers[(answers["language"] == language) & answers["query_id"].isin(questions)]
        self.language = language
        self.questions = list(questions)
        self.systems = tuple(sorted(own["system"].unique()))
        if prior is not None:
            prior = prior[prior["language"] == language]
        self._prior = RatingPrior.of_table(prior, self.systems, 1.0)
        self.pairing = AdaptivePairing(
            self.systems, self.questions, own[["query_id", "system"]], seed, prior=prior
        )
        self._verdicts = pd.DataFrame(columns=_SIDES, dtype=object)
        self._posterior: RatingPosterior | None = None

    @property
    def done(self) -> int:
        """Items that count for the budget."""
        return self.pairing.judged + self.pairing.failed

    @property
    def posterior(self) -> RatingPosterior:
        """What verdicts and prior say of the systems."""
        if self._posterior is None:
            if self._verdicts.empty:
                battles = Battles.none(self.systems, self.questions)
            else:
                battles = Battles.from_judgments(self._verdicts, systems=self.systems)
            self._posterior = battle_posterior(battles, self._prior)
        return self._posterior

    def take_in(self, judgments: pd.DataFrame, failures: pd.DataFrame) -> None:
        """Learn from verdicts on any questions, and that pairs have none."""
        known = judgments["system_a"].isin(self.systems) & judgments["system_b"].isin(self.systems)
        verdicts = judgments.loc[known, _SIDES]
        both = pd.concat(
            [one_of_orders(verdicts, ["query_id"]), failures[_SIDES[:-1]].assign(winner=None)]
        )
        self.pairing.record(both[both["query_id"].isin(self.questions)])
        self._verdicts = pd.concat([self._verdicts, verdicts], ignore_index=True)
        self._posterior = None


def by_name(pairs: pd.DataFrame) -> pd.DataFrame:
    """Put the first system by name on side A of every pair."""
    first = pairs[["system_a", "system_b"]].min(axis=1)
    other = pairs["system_b"].where(pairs["system_a"] == first, pairs["system_a"])
    return pairs.assign(system_a=first, system_b=other)


def one_of_orders(verdicts: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Make one verdict of several on a pair, in whichever orders: a tie where they differ.

    Args:
        verdicts: Columns ``system_a, system_b, winner``, and those of ``by``.
        by: What tells pairs of the same systems apart.
    """
    named = by_name(verdicts)
    is_first = verdicts["system_a"] == named["system_a"]
    flipped = verdicts["winner"].map({"a": "b", "b": "a", "tie": "tie"})
    same = named.assign(winner=verdicts["winner"].where(is_first, flipped))
    grouped = same.groupby([*by, "system_a", "system_b"], sort=True)["winner"]
    merged = grouped.agg(lambda found: found.iloc[0] if found.nunique() == 1 else "tie")
    return merged.reset_index()


def rating_rows(ranking: LanguageRanking) -> pd.DataFrame:
    """Return what is known of each system, ``RATING_COLUMNS``, best first; 90% intervals."""
    known = ranking.posterior
    width = NORMAL_90 * known.standard_errors
    table = pd.DataFrame(
        {
            "language": ranking.language,
            "system": known.systems,
            "rating": known.ratings,
            "low": known.ratings - width,
            "high": known.ratings + width,
        }
    )
    return table.sort_values("rating", ascending=False, kind="stable")[RATING_COLUMNS]
