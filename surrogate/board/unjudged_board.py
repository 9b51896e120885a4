"""A first board without verdicts: the mean share of other answers that a system's are above.

Features in ``EVIDENCE`` compare the answers to a question; without passages, preferences of other
arenas' judges do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.schema import OWN_PASSAGES
from arena.data.types import Floats
from arena.data.wording import Remark
from arena.quality.judge_report import JudgeReport
from arena.statistics.bootstrap import bootstrap_weights, generator
from arena.statistics.significance import mean_of
from features.engine.extraction import feature_columns, plain_name
from surrogate.board.conclusions import REMARKS_BY_BASIS, Basis
from surrogate.board.derived_tables import Estimation
from surrogate.board.language_rows import ranked_rows
from surrogate.board.rank_reasons import NO_ANSWER
from surrogate.board.ranks import WINS_COLUMNS
from surrogate.board.settings import NOBODY, ResolvedSettings
from surrogate.board.summary import (
    PREFERENCES,
    BoardSummary,
    LanguageSummary,
    MacroSummary,
    RatingInterval,
)
from surrogate.board.summary_builder import (
    question_count,
    remarks_on_answers,
    summary_of,
    unused_features,
)
from surrogate.learning.peers import CONSENSUS, PeerAnswers
from surrogate.learning.question_scores import (
    preference_slopes,
    shipped_preferences,
    shipped_weights,
)
from surrogate.learning.surrogate import Surrogate
from surrogate.learning.training_data import with_answers

REFERENCE_FEATURES = ("bleu", "rouge_l")
EVIDENCE_FEATURES = (*REFERENCE_FEATURES, "citation_recall", "citation_map")
"""Measured features of which more is better whoever judges, as far as any is."""
EVIDENCE = (CONSENSUS, *EVIDENCE_FEATURES)
"""All that a first board rests on."""
NO_VERDICT = "nobody has judged it"
NEEDS_VERDICTS = "only verdicts can tell whether it is better than the other systems"
NOT_COMPARED = "no other system answered its questions"
IS_REFERENCE = "; its own answers are the references, with which they are not compared"


class FirstRatings(NamedTuple):
    """The systems of one language, rated without verdicts.

    Ratings are shares with a mean of 0.5, with intervals by a bootstrap over questions. Columns
    that rest on verdicts are NaN. ``left_out`` says why a feature is not used.
    """

    table: pd.DataFrame
    used: tuple[str, ...]
    left_out: Mapping[str, str]
    covariance: pd.DataFrame

    @property
    def basis(self) -> Basis:
        """Basis of the ranking: agreement with other answers, preferences of judges, or nothing."""
        if not self.used:
            return "nothing"
        return "preferences" if PREFERENCES in self.used else "consensus"


def estimate_without_verdicts(
    arena: Arena, features: pd.DataFrame, surrogate: Surrogate, settings: ResolvedSettings
) -> Estimation:
    """Rate systems without any verdict, and sum up."""
    X = with_answers(features, arena.answers)
    preferences = preferences_for(arena)
    first = {}
    for language in sorted(arena.queries["language"].unique()):
        if (X["language"] == language).any():
            first[language] = first_ratings(
                X,
                language,
                arena.info.systems,
                question_count(arena, language),
                arena.info.reference_system,
                settings.seed,
                preferences,
            )
    if not first:
        raise UsageError("no language has answers to compare")
    return Estimation(
        rated=[(part.table, part.covariance) for part in first.values()],
        judgments=arena.judgments.iloc[:0],
        report=JudgeReport(judge=NOBODY),
        summary=_summary(arena, first, settings),
        surrogate=surrogate.fit_with(X.iloc[:0], {}, {}),
    )


def preferences_for(arena: Arena) -> dict[str, float]:
    """Return other arenas' weights of features; none with passages."""
    if arena.queries["passages"].map(bool).any():
        return {}
    if OWN_PASSAGES in arena.answers and arena.answers[OWN_PASSAGES].notna().any():
        return {}
    return shipped_weights()


def _summary(
    arena: Arena,
    first: Mapping[str, FirstRatings],
    settings: ResolvedSettings,
) -> BoardSummary:
    on_answers = remarks_on_answers(arena)
    languages = {}
    for language, part in first.items():
        scale = "no two answers to a question differ in what could be compared without verdicts"
        if part.used:
            scale = (
                "ratings are shares of the other systems' answers to a question that are below a "
                f"system's, by {', '.join(part.used)}, mean over these and questions: no logits. "
                "Intervals hold 90% over resampled questions, and say nothing of how far verdicts "
                "will differ"
            )
        remarks = [*on_answers.get(language, ()), Remark("scale", "warning", scale)]
        if PREFERENCES in part.used:
            remarks.append(Remark("preferences", "info", _preferences_note()))
        remarks += unused_features(part.left_out)
        languages[language] = LanguageSummary(
            basis=part.basis,
            interval=RatingInterval(limit="no interval of ratings by a surrogate: no verdict here"),
            questions=question_count(arena, language),
            remarks=tuple(remarks),
        )
    bases = [part.basis for part in first.values()]
    macro = MacroSummary(basis=min(bases, key=list(REMARKS_BY_BASIS).index))
    return summary_of(arena, settings, macro, languages)


def _preferences_note() -> str:
    n_shown = 5
    shipped = shipped_preferences()
    largest = sorted(shipped["weights"].items(), key=lambda entry: -abs(entry[1]))[:n_shown]
    liked = ", ".join(f"{name} {weight:+.2f}" for name, weight in largest)
    arenas = ", ".join(f"{source['arena']} ({source['judge']})" for source in shipped["arenas"])
    return (
        f"{PREFERENCES} weights the features by what judges of other arenas without passages "
        f"liked; the largest weights are {liked}. They come from {arenas}: your judge may like "
        "other answers"
    )


def first_ratings(
    X: pd.DataFrame,
    language: str,
    systems: Sequence[str],
    n_questions: int,
    reference: str | None = None,
    seed: int = 0,
    preferences: Mapping[str, float] = MappingProxyType({}),
) -> FirstRatings:
    """Rate a language without verdicts, by preferences or consensus."""
    rows = X[X["language"] == language].sort_values(["query_id", "system"])
    shares, left_out = _evidence(rows, reference, preferences)
    scores = rows.assign(score=shares.mean(axis=1)).pivot_table(
        index="query_id", columns="system", values="score", aggfunc="mean"
    )
    draws = _resampled(scores, generator(seed, "first ratings", language))
    biased_covariance = pd.DataFrame(draws, columns=scores.columns).cov(min_periods=2)
    # A bootstrap over n questions underestimates the variance of a mean by (n - 1) / n.
    covariance = biased_covariance * len(scores) / max(len(scores) - 1, 1)
    low = high = np.nan
    if len(draws):
        low, high = np.percentile(draws, (5.0, 95.0), axis=0)
    rated = pd.DataFrame(
        {
            "rating": scores.mean(axis=0),
            "low": low,
            "high": high,
            "standard_error": np.sqrt(np.diag(covariance)),
        },
        scores.columns,
    ).reindex(list(systems))
    n_answers = rows["system"].value_counts().reindex(list(systems)).fillna(0).astype(np.int64)
    has_references = any(plain_name(name) in REFERENCE_FEATURES for name in shares)
    rated = rated.assign(
        answers=n_answers,
        coverage=n_answers / n_questions,
        split="unjudged",
        is_placed=False,
        verdict_share=rated["rating"].where(rated["rating"].isna(), 0.0),
        note=_notes(rows, rated["rating"], n_answers, reference if has_references else None),
        **dict.fromkeys(
            ["surrogate_rating", "surrogate_low", "surrogate_high", "surrogate_error"], np.nan
        ),
    )
    # A rating is a share already: of the other systems' answers.
    wins = rated[["rating", "low", "high"]].set_axis(WINS_COLUMNS, axis=1)
    table = ranked_rows(rated.join(wins), covariance, language, freedom=len(scores) - 1)
    return FirstRatings(table, tuple(shares), left_out, covariance)


def _notes(
    rows: pd.DataFrame, ratings: pd.Series, n_answers: pd.Series, reference: str | None
) -> list[str]:
    compared = set(rows.loc[rows["query_id"].duplicated(keep=False), "system"])
    notes = []
    for system, rating in ratings.items():
        if not n_answers[system]:
            notes.append(NO_ANSWER)
        elif np.isnan(rating):
            notes.append(NEEDS_VERDICTS if system in compared else NOT_COMPARED)
        elif system == reference:
            notes.append(NO_VERDICT + IS_REFERENCE)
        else:
            notes.append(NO_VERDICT)
    return notes


def _evidence(
    rows: pd.DataFrame, reference: str | None, preferences: Mapping[str, float]
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Compare all but the reference's answers by each feature of ``EVIDENCE`` or preferences."""
    features = rows[feature_columns(rows)].select_dtypes("number").columns
    peers = PeerAnswers.of(rows, str(rows["language"].iloc[0]), features)
    preferred = _preferred_shares(peers, preferences)
    table = rows
    if preferred is None:
        table = rows.assign(**{CONSENSUS: _by_row(peers, peers.self_view.values[:, :, -1])})
    is_reference = rows["system"] == reference
    shares = {}
    left_out = {}
    for name in feature_columns(table):
        if plain_name(name) not in EVIDENCE:
            continue
        values = table[name]
        if plain_name(name) in REFERENCE_FEATURES:
            values = values.mask(is_reference)
        share = shares_below(values, table["query_id"])
        if share.isna().all():
            left_out[name] = "no two answers to a question have a value"
        elif (share.dropna() == 0.5).all():
            left_out[name] = "the same for all answers to a question"
        else:
            shares[name] = share
    if preferred is not None:
        shares[PREFERENCES] = pd.Series(_by_row(peers, preferred), rows.index)
    return pd.DataFrame(shares, index=rows.index), left_out


def _preferred_shares(peers: PeerAnswers, preferences: Mapping[str, float]) -> Floats | None:
    """Weigh features' shares of other answers below, (N, Q); missing values count half."""
    view = peers.self_view
    has_values = np.asarray(np.isfinite(view.values).any(axis=(0, 1)))
    weights = preference_slopes(preferences, peers.names, has_values)
    # A rank is twice the share of the others that are below, less 1; it is 0 if all are alike.
    is_used = (view.ranks != 0).any(axis=(0, 1))
    total = float(np.abs(weights[is_used]).sum())
    if not total:
        return None
    shares = (1 + view.ranks @ weights / total) / 2
    is_compared = view.answered & (view.answered.sum(axis=0) > 1)
    return np.where(is_compared, shares, np.nan)


def _by_row(peers: PeerAnswers, values: Floats) -> Floats:
    is_answer = peers.tensor.answered
    arranged = np.full(int(is_answer.sum()), np.nan)
    arranged[peers.tensor.rows[is_answer]] = values[is_answer]
    return arranged


def shares_below(values: pd.Series, questions: pd.Series) -> pd.Series:
    """Return the share of others with a lower value; ties count half."""
    groups = values.groupby(questions)
    n_others = groups.transform("count") - 1
    return (groups.rank() - 1) / n_others.where(n_others > 0)


def _resampled(scores: pd.DataFrame, random: np.random.Generator) -> Floats:
    n_rounds = 1_000
    if len(scores) < 2:
        return np.empty((0, scores.shape[1]))
    present = scores.notna().to_numpy(np.float64)
    filled = np.nan_to_num(scores.to_numpy(np.float64))
    weights = bootstrap_weights(len(scores), n_rounds, random).astype(np.float64)
    n_answered = weights @ present
    means = mean_of(weights @ filled, n_answered)
    # A resample without any answer of a system says nothing of it: its mean stands in.
    return np.where(n_answered > 0, means, scores.mean(axis=0).to_numpy())
