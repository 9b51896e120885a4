"""Ratings of new systems by their answers and some verdicts, on a board that stays as it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.judges import is_person
from arena.data.schema import CRITERION, QUESTION_KEY, WEIGHT
from arena.data.wording import Remark, count_of, first_of
from arena.rating.battles import Battles
from arena.rating.bradley_terry import DEFAULT_RIDGE
from arena.rating.judgments import checked_judgments, copies_of_others
from arena.rating.posterior import PRIOR_COLUMNS, RatingPrior, battle_posterior
from arena.rating.soft_verdicts import calibrated_judgments
from arena.statistics.significance import NORMAL_90
from surrogate.board.board import Board
from surrogate.board.rank_reasons import CONTRADICTED
from surrogate.board.settings import ResolvedSettings
from surrogate.board.slices import in_slices
from surrogate.learning.gaussian_process import CONTRADICTION
from surrogate.learning.language_data import involve
from surrogate.learning.observations import RatingLikelihoods
from surrogate.ranking.ranked_systems import JUDGED_COLUMNS

LOOSE = 5.0
"""Factor of a prediction's error beside which it hardly counts."""
NOBODY = "no judgment is of a new system and a judged one, on a question of the arena"


def judgments_as_on_board(
    judgments: pd.DataFrame, queries: pd.DataFrame, settings: ResolvedSettings
) -> pd.DataFrame:
    """Return checked judgments as a board has them."""
    judgments = checked_judgments(judgments, questions=queries)
    if settings.criterion is not None and CRITERION in judgments:
        judgments = judgments[judgments[CRITERION] == settings.criterion]
    judgments = calibrated_judgments(judgments, settings.temperatures, hard=settings.hard_verdicts)
    return in_slices(judgments, queries, settings.by)


def _usable_judgments(board: Board, systems: set[str], judgments: pd.DataFrame) -> pd.Series:
    keys: list[tuple[str, str]] = []
    for language, ratings in board.surrogate.ratings_.items():
        keys.extend((language, name) for name in {*ratings.systems, *systems})
    usable = involve(judgments, systems)
    for side in ("system_a", "system_b"):
        sides = pd.MultiIndex.from_frame(judgments[["language", side]].astype(str))
        usable &= sides.isin(keys)
    return usable


def judgments_that_count(
    board: Board, systems: set[str], judgments: pd.DataFrame, queries: pd.DataFrame
) -> tuple[pd.DataFrame, list[Remark]]:
    """Leave out copies and unusable judgments, with remarks."""
    questions = pd.MultiIndex.from_frame(queries[QUESTION_KEY].astype(str))
    is_asked = pd.MultiIndex.from_frame(judgments[QUESTION_KEY].astype(str)).isin(questions)
    board_judge = board.summary.judge
    judges = judgments.get("judge", pd.Series(board_judge, judgments.index))
    unused = "{} left out, not between a new system and a judged one of the board, or a new one"
    # The first reason that holds counts.
    exclusions = {
        "{} left out that appear more than once: each verdict counts once": copies_of_others(
            judgments
        ),
        "{} left out, by judges that the board shows next to its own": judges.isin(
            board.summary.settings.other_judges
        ),
        "{} left out, on questions that the arena does not have": ~is_asked,
        unused: ~_usable_judgments(board, systems, judgments),
    }
    reasons = pd.Series(np.select(list(exclusions.values()), list(exclusions), ""), judgments.index)
    remarks = list(_omissions(reasons))
    is_used = reasons == ""
    # Verdicts between systems of the board are of no use, but do no harm: `rank` shows them.
    is_kept = is_used | (reasons == unused)
    is_unknown = is_kept & (judges != board_judge)
    if is_person(board_judge):
        is_unknown &= ~judges.map(is_person)
    unknown_judges = sorted(judges[is_unknown & is_used].unique())
    if unknown_judges:
        counted = count_of(int((is_unknown & is_used).sum()), "judgment")
        sentence = (
            f"{counted} by {first_of(unknown_judges)} count as those of one judge, besides "
            f"{board_judge}"
        )
        remarks.append(Remark("judges", "info", sentence))
    return _with_shared_weights(judgments[is_kept], is_unknown[is_kept]), remarks


def _omissions(reasons: pd.Series) -> Iterator[Remark]:
    """Count the judgments left out, by reason."""
    for reason, count in reasons[reasons != ""].value_counts().sort_index().items():
        sentence = str(reason).format(count_of(count, "judgment"))
        yield Remark("judgments", "info", sentence, statistic=count)


def _with_shared_weights(judgments: pd.DataFrame, is_unknown: pd.Series) -> pd.DataFrame:
    """Let unknown judges count as one: anyone can invent some."""
    if not is_unknown.any():
        return judgments
    unknown = judgments[is_unknown]
    names = unknown[["system_a", "system_b"]].astype(str)
    pairs = pd.DataFrame({"first": names.min(axis=1), "second": names.max(axis=1)})
    keys = [unknown[column] for column in QUESTION_KEY]
    times = pairs.groupby([*keys, pairs["first"], pairs["second"]])["first"].transform("size")
    weights = pd.Series(1.0, judgments.index)
    if WEIGHT in judgments:
        weights = pd.to_numeric(judgments[WEIGHT]).fillna(1.0)
    weights = weights.astype(np.float64)
    weights[is_unknown] /= times
    return judgments.assign(**{WEIGHT: weights})


def judged_ratings(
    board: Board, predictions: pd.DataFrame, judgments: pd.DataFrame
) -> pd.DataFrame:
    """Rate new systems by their answers and verdicts, in each language.

    Priors are the board's ratings and predictions with their conformal error. The board's verdicts
    tell how far those on one question depend on each other. A prediction's variance at least makes
    its distance from the verdicts likeliest, so that answers made to please a surrogate gain
    little.
    """
    if board.summary.is_published:
        raise UsageError(
            "the ratings of this board are published, so that judgments are on another scale"
        )
    new_systems = set(predictions["system"])
    usable = judgments[_usable_judgments(board, new_systems, judgments)]
    if board.summary.settings.ties == "drop":
        usable = usable[usable["winner"] != "tie"]
    if usable.empty:
        raise UsageError(NOBODY)
    priors = pd.concat([_board_prior(board), _predicted_prior(board, predictions)])
    likelihoods = RatingLikelihoods.of(board.surrogate.ratings_, DEFAULT_RIDGE)
    parts = []
    for language, rows in usable.groupby("language"):
        prior = priors[priors["language"] == language]
        effect = likelihoods.design_effect(str(language))
        parts.append(_judged_in_language(prior, rows, new_systems, effect))
    return pd.concat(parts, ignore_index=True)


def _judged_in_language(
    prior: pd.DataFrame, judgments: pd.DataFrame, new_systems: set[str], design_effect: float
) -> pd.DataFrame:
    names = sorted({*prior["system"], *judgments["system_a"], *judgments["system_b"]})
    battles = Battles.from_judgments(judgments, systems=names)
    # Judges that the board does not know count as one, with one side.
    battles = replace(battles, judge=None, judges=("",))
    # Errors of the prior are those of left-out systems, so that they are neither scaled up nor
    # down. A rating without any prior starts with a precision of 1.
    rating_prior = RatingPrior.of_table(prior, names)
    is_new = np.isin(names, sorted(new_systems))
    loose_prior = rating_prior.trusted(np.where(is_new, LOOSE**-2, 1.0))
    expected = prior.set_index("system")["rating"]
    on_board = expected[~expected.index.isin(new_systems)].dropna()
    by_verdicts = _rating_table(battles, loose_prior, design_effect, on_board)
    distances = (by_verdicts["rating"] - expected.reindex(names)).to_numpy()
    noise = by_verdicts["standard_error"].to_numpy() ** 2
    stated = 1 / rating_prior.precisions
    is_contradicted = distances**2 > CONTRADICTION**2 * (stated + noise)
    # The likeliest variance of a prediction, where that is above the stated one.
    trust = np.where(is_new, stated / np.maximum(stated, distances**2 - noise), 1.0)
    ratings = _rating_table(battles, rating_prior.trusted(trust), design_effect, on_board)
    ratings = ratings.assign(is_contradicted=is_new & rating_prior.informed & is_contradicted)
    ratings = ratings.assign(language=prior["language"].iloc[0])
    return _with_counts(ratings[is_new], judgments)[JUDGED_COLUMNS]


def _with_counts(ratings: pd.DataFrame, judgments: pd.DataFrame) -> pd.DataFrame:
    """Count judgments on each system, and their questions; leave out systems without any."""
    counts = []
    questions = []
    for name in ratings.index:
        rows = judgments[involve(judgments, {name})]
        counts.append(len(rows))
        questions.append(rows["query_id"].nunique())
    counted = ratings.assign(judgments=counts, judged_questions=questions)
    return counted[counted["judgments"] > 0].rename_axis("system").reset_index()


def _rating_table(
    battles: Battles, prior: RatingPrior, design_effect: float, on_board: pd.Series
) -> pd.DataFrame:
    posterior = battle_posterior(battles, prior, trust=(1.0,), design_effect=design_effect)
    table = posterior.table.set_index("system")
    # Verdicts tell differences alone: all ratings are moved so that the board's stay.
    table["rating"] += float((on_board - table["rating"].reindex(on_board.index)).mean())
    return table


def contradiction_remarks(judged: pd.DataFrame) -> Iterator[Remark]:
    """Name new systems whose verdicts contradict the prediction from their answers."""
    contradicted = judged.loc[judged["is_contradicted"].astype(bool), "system"]
    for name in contradicted.unique():
        yield Remark("contradicted", "warning", CONTRADICTED, name)


def _board_prior(board: Board) -> pd.DataFrame:
    errors = board.ratings["standard_error"]
    prior = board.ratings.assign(standard_error=errors.where(errors > 0))
    return prior[list(PRIOR_COLUMNS)]


def _predicted_prior(board: Board, predictions: pd.DataFrame) -> pd.DataFrame:
    """Return predictions as a prior, with conformal errors."""
    errors = predictions.get("standard_error", pd.Series(np.nan, predictions.index))
    calibrated = []
    for language, error in zip(predictions["language"], errors.to_numpy(np.float64), strict=True):
        half_width = float(board.prediction_interval(language).width(np.array(error)))
        calibrated.append(half_width / NORMAL_90)
    prior = predictions.assign(
        standard_error=pd.Series(calibrated, predictions.index).fillna(errors)
    )
    return prior[list(PRIOR_COLUMNS)]
