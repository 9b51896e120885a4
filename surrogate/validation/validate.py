"""What a validation says: agreement per language and on average, with intervals over systems."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from joblib import delayed

from arena.data.errors import UsageError
from arena.data.folder import Arena
from arena.data.seeds import generator
from arena.data.version import __version__
from arena.statistics.bootstrap import percentile_interval
from arena.statistics.rank_agreement import resampled_taus
from features.declare.feature import Feature
from features.engine.extraction import extract, feature_columns
from features.measures.registry import DEFAULT_FEATURES
from surrogate.board.holdout import check_holdout, held_out_r2
from surrogate.learning.names import DEFAULT_SURROGATE, find_surrogate
from surrogate.learning.surrogates import FEWEST_SYSTEMS, Surrogate
from surrogate.validation.protocols import (
    Outcome,
    leave_language_out,
    leave_questions_out,
    leave_systems_out,
    transfer,
)
from surrogate.validation.scores import finite_mean, finite_means, mean_scores, score
from surrogate.validation.study import LanguageArena, TournamentSettings, language_arenas
from surrogate.validation.tasks import (
    Prediction,
    Progress,
    Trial,
    learner_state,
    run_tasks,
    train_and_rate,
)

Floats = npt.NDArray[np.float64]

RESAMPLES = 1000
NOT_RATED = "fewer than three systems have a predicted and an arena rating"
NO_LANGUAGE = "no language has a defined score"


@dataclass(frozen=True)
class ValidationScores:
    """Agreement with the arena in one language, or over languages; NaN where it is not defined.

    Attributes:
        tau: Kendall tau-b, mean over repeats.
        tau_low: Lower bound of its 95% bootstrap interval over systems.
        tau_high: Upper bound.
        spearman: Spearman correlation.
        pairwise_accuracy: Share of pairs of systems in the arena's order.
        r2: Coefficient of determination; see the protocol.
        n_systems: Systems with a predicted and an arena rating.
        reason: Why a score is not defined, or systems are missing.
    """

    tau: float
    tau_low: float
    tau_high: float
    spearman: float
    pairwise_accuracy: float
    r2: float
    n_systems: int
    reason: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return what JSON can hold: NaN as null."""
        return {
            name: None if isinstance(value, float) and not np.isfinite(value) else value
            for name, value in asdict(self).items()
        }


@dataclass(frozen=True)
class Validation:
    """How well a surrogate ranks the systems of an arena.

    Attributes:
        protocol: Name of the protocol.
        model: Name of the surrogate.
        scores: Averages over languages, each with the same weight, undefined ones left out; the
            interval resamples the same systems in every language.
        per_language: Language code to its scores.
        outcomes: What was predicted, one a language.
        signature: Settings that reproduce it.
    """

    protocol: str
    model: str
    scores: ValidationScores
    per_language: Mapping[str, ValidationScores]
    outcomes: tuple[Outcome, ...]
    signature: str

    def as_json(self) -> dict[str, Any]:
        """Return the scores for JSON."""
        languages = {name: item.as_json() for name, item in self.per_language.items()}
        return {
            "protocol": self.protocol,
            "model": self.model,
            **self.scores.as_json(),
            "per_language": languages,
            "signature": self.signature,
        }


MACRO = "macro"
"""Name of the average over languages in tables."""


def replicate_taus(outcomes: Sequence[Outcome], seed: int) -> dict[str, Floats]:
    """Return the bootstrap replicates behind the intervals of ``summarize``.

    Replicates of two protocols' outcomes on the same systems and seed are of the same resamples,
    so that their differences are paired.

    Returns:
        Language code, and ``macro``, to mean tau of each resample of the systems, shape (B,).
    """
    times = _resamples(outcomes, seed)
    taus = {item.language: _mean_resampled_taus(item, times) for item in outcomes}
    return {**taus, MACRO: finite_means(np.array(list(taus.values())))}


def summarize(
    outcomes: Sequence[Outcome], protocol: str, model: str, seed: int, signature: str
) -> Validation:
    """Score what a protocol predicted."""
    times = _resamples(outcomes, seed)
    taus = {item.language: _mean_resampled_taus(item, times) for item in outcomes}
    languages = {item.language: _language_scores(item, taus[item.language]) for item in outcomes}
    return Validation(
        protocol, model, _macro(outcomes, languages, taus), languages, tuple(outcomes), signature
    )


def _resamples(outcomes: Sequence[Outcome], seed: int) -> dict[str, Floats]:
    """Draw how often each resample holds each system, the same in every language."""
    systems = sorted({system for item in outcomes for system in item.systems})
    share = np.full(len(systems), 1 / len(systems))
    drawn = generator(seed, "validation resamples").multinomial(len(systems), share, RESAMPLES)
    return dict(zip(systems, drawn.T.astype(np.float64), strict=True))


def _mean_resampled_taus(outcome: Outcome, times: Mapping[str, Floats]) -> Floats:
    """Mean tau over repeats of each resample, shape (B,); NaN where a repeat has none."""
    drawn = np.column_stack([times[system] for system in outcome.systems])
    taus = [
        resampled_taus(predicted, truth, drawn)
        for predicted, truth in zip(outcome.predicted, outcome.truth, strict=True)
    ]
    return finite_means(np.array(taus))


def _language_scores(outcome: Outcome, taus: Floats) -> ValidationScores:
    mean = mean_scores(
        [score(*pair) for pair in zip(outcome.predicted, outcome.truth, strict=True)]
    )
    both = np.isfinite(outcome.predicted) & np.isfinite(outcome.truth)
    low, high = percentile_interval(taus) if np.isfinite(mean.tau) else (np.nan, np.nan)
    reasons = outcome.reasons or (() if np.isfinite(mean.tau) else (NOT_RATED,))
    return ValidationScores(
        tau=mean.tau,
        tau_low=low,
        tau_high=high,
        spearman=mean.spearman,
        pairwise_accuracy=mean.pairwise_accuracy,
        r2=mean.r2 if outcome.r2 is None else outcome.r2,
        n_systems=int(both.any(axis=0).sum()),
        reason="; ".join(reasons) or None,
    )


def _macro(
    outcomes: Sequence[Outcome],
    languages: Mapping[str, ValidationScores],
    taus: Mapping[str, Floats],
) -> ValidationScores:
    defined = [name for name, item in languages.items() if np.isfinite(item.tau)]
    rated = {system for item in outcomes if item.language in defined for system in item.systems}
    low, high = float("nan"), float("nan")
    if defined:
        low, high = percentile_interval(finite_means(np.array([taus[name] for name in defined])))
    means = [
        finite_mean([getattr(item, name) for item in languages.values()])
        for name in ("tau", "spearman", "pairwise_accuracy", "r2")
    ]
    tau, spearman, pairwise_accuracy, r2 = means
    return ValidationScores(
        tau,
        low,
        high,
        spearman,
        pairwise_accuracy,
        r2,
        len(rated),
        None if defined else NO_LANGUAGE,
    )


HELD_OUT = 2


def mirage(
    arenas: Sequence[LanguageArena],
    surrogate: Surrogate,
    repeats: int,
    seed: int,
    n_jobs: int = 1,
    progress: Progress | None = None,
    holdout: Sequence[str] | None = None,
) -> list[Outcome]:
    """Hold two systems out of training, and rank all systems (MIRAGE-Bench, section 4.3).

    Each repeat holds out two systems, drawn by the seed unless they are chosen. A surrogate
    trained on the tournaments of all systems, but for the rows of those two, rates all of them.
    R² is that of surrogates of single tournaments on the held-out systems; every tournament has
    one, in one of the repeats. Its median is reported: with two systems the mean says little.

    Most of the systems ranked were trained on, so tau is higher than for new systems.

    Raises:
        UsageError: If a chosen system is not judged, or too few are left to train on.
    """
    systems = sorted({system for arena in arenas for system in arena.systems})
    groups = [list(arenas)] if surrogate.pooled else [[arena] for arena in arenas]
    places = [(repeat, group) for repeat in range(repeats) for group in groups]
    tasks = [
        delayed(_hold_out)(
            group, surrogate, _held_out(systems, holdout, seed, repeat), repeat, repeats, seed
        )
        for repeat, group in places
    ]
    done = run_tasks(tasks, n_jobs, progress)
    return [_outcome(arena, done) for arena in arenas]


def draw_systems(systems: Sequence[str], size: int, seed: int, *keys: str) -> list[str]:
    """Draw systems to hold out, sorted.

    Raises:
        UsageError: If fewer than three are left to train on.
    """
    if len(systems) < size + FEWEST_SYSTEMS:
        raise UsageError(
            f"holding out {size} of {len(systems)} systems leaves fewer than {FEWEST_SYSTEMS} "
            "to train on"
        )
    drawn = generator(seed, "validation holdout", *keys).choice(len(systems), size, replace=False)
    return [systems[index] for index in sorted(drawn)]


def _held_out(
    systems: Sequence[str], holdout: Sequence[str] | None, seed: int, repeat: int
) -> list[str]:
    if holdout is not None:
        return list(check_holdout(holdout, systems))
    return draw_systems(systems, HELD_OUT, seed, str(repeat))


def _hold_out(
    arenas: Sequence[LanguageArena],
    surrogate: Surrogate,
    held: Sequence[str],
    repeat: int,
    repeats: int,
    seed: int,
) -> list[tuple[Prediction, list[float]]]:
    fields = [arena.field_as_in_paper(held) for arena in arenas]
    everyone = [
        Trial(arena.judged, field.answers) for arena, field in zip(arenas, fields, strict=True)
    ]
    state = learner_state(seed, "mirage", str(repeat))
    ratings = train_and_rate(surrogate, fields, everyone, state)
    r2: list[list[float]] = [[] for _ in arenas]
    for index in range(repeat, arenas[0].settings.tournaments, repeats):
        singles = [field.one_tournament(index) for field in fields]
        trials = [
            Trial(arena.drawn(index), field.answers)
            for arena, field in zip(arenas, fields, strict=True)
        ]
        state = learner_state(seed, "mirage", str(repeat), str(index))
        for place, item in enumerate(train_and_rate(surrogate, singles, trials, state)):
            coefficients = arenas[place].tournaments.coefficients[index]
            is_held = np.isin(item.systems, list(held))
            r2[place].append(held_out_r2(coefficients[is_held], item.values[is_held]))
    return list(zip(ratings, r2, strict=True))


def _outcome(
    arena: LanguageArena, done: Sequence[Sequence[tuple[Prediction, list[float]]]]
) -> Outcome:
    own = [pair for pairs in done for pair in pairs if pair[0].language == arena.language]
    r2 = np.array([value for _, values in own for value in values])
    defined = r2[np.isfinite(r2)]
    return Outcome(
        arena.language,
        arena.systems,
        np.array([item.values for item, _ in own]),
        np.tile(arena.truth, (len(own), 1)),
        r2=float(np.median(defined)) if defined.size else float("nan"),
        reasons=tuple(dict.fromkeys(item.failure for item, _ in own if item.failure)),
    )


TRANSFER = "transfer"
MIRAGE = "mirage"
DEFAULT_PROTOCOL = "leave-systems-out"


@dataclass(frozen=True)
class _Protocol:
    run: Callable[..., list[Outcome]]
    repeats: int


PROTOCOLS: MappingProxyType[str, _Protocol] = MappingProxyType(
    {
        MIRAGE: _Protocol(mirage, 25),
        "leave-systems-out": _Protocol(leave_systems_out, 5),
        "leave-language-out": _Protocol(leave_language_out, 5),
        "leave-questions-out": _Protocol(leave_questions_out, 5),
        TRANSFER: _Protocol(transfer, 5),
    }
)


def validate(
    arena: Arena,
    protocol: str = DEFAULT_PROTOCOL,
    model: str = DEFAULT_SURROGATE,
    features: Sequence[Feature] = DEFAULT_FEATURES,
    *,
    judge: str | None = None,
    feature_table: pd.DataFrame | None = None,
    test_arena: Arena | None = None,
    test_judge: str | None = None,
    test_feature_table: pd.DataFrame | None = None,
    holdout: Sequence[str] | None = None,
    repeats: int | None = None,
    tournaments: TournamentSettings | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> Validation:
    """Say how well a surrogate ranks systems, languages or questions it was not trained on.

    The same arguments give the same result, whatever ``n_jobs``.

    Args:
        arena: The arena.
        protocol: One of ``PROTOCOLS``: ``leave-systems-out`` (what to expect for new systems),
            ``leave-language-out``, ``leave-questions-out``, ``transfer`` (to ``test_arena``) or
            ``mirage`` (MIRAGE-Bench, section 4.3: two systems held out, all ranked).
        model: One of ``surrogate.surrogate_names.SURROGATE_NAMES``.
        features: Features to extract from every answer.
        judge: Whose judgments to learn from; may be left out where there is one judge.
        feature_table: Features already at hand, used instead of extracting ``features``.
        test_arena: Arena to rank after training on ``arena``; for ``transfer`` only.
        test_judge: Judge of the test arena.
        test_feature_table: Features of the test arena.
        holdout: For ``mirage``: the systems to hold out, instead of two drawn each time.
        repeats: How often to repeat with other folds, draws or learner seeds.
        tournaments: How tournaments are held, and the seed of everything random.
        n_jobs: Processes to use; -1 for all cores.
        progress: Called as trainings end.

    Raises:
        UsageError: For an unknown protocol or model, or one the arena is too small for.
    """
    chosen = _find_protocol(protocol)
    surrogate = find_surrogate(model)
    times = chosen.repeats if repeats is None else repeats
    _check(protocol, times, test_arena, holdout)
    how = TournamentSettings() if tournaments is None else tournaments
    judged = arena.judged_by(judge)
    table = _features_of(arena, features, feature_table, n_jobs)
    names = feature_columns(table)
    tested: list[list[LanguageArena]] = []
    if test_arena is not None:
        test_table = _features_of(test_arena, features, test_feature_table, n_jobs)
        names = _shared(names, feature_columns(test_table))
        tested = [language_arenas(test_arena.judged_by(test_judge), test_table, names, how)]
    run = partial(chosen.run, holdout=holdout) if protocol == MIRAGE else chosen.run
    arenas = language_arenas(judged, table, names, how)
    outcomes = run(arenas, *tested, surrogate, times, how.seed, n_jobs=n_jobs, progress=progress)
    signature = _signature(judged, names, protocol, model, times, how, test_arena, holdout)
    return summarize(outcomes, protocol, model, how.seed, signature)


def _find_protocol(name: str) -> _Protocol:
    if name not in PROTOCOLS:
        others = "table3, ablation, importances, learning-curve"
        raise UsageError(f"unknown protocol {name!r}; use one of {', '.join(PROTOCOLS)}, {others}")
    return PROTOCOLS[name]


def _check(
    protocol: str, repeats: int, test_arena: Arena | None, holdout: Sequence[str] | None
) -> None:
    if repeats < 1:
        raise UsageError("repeats must be at least 1")
    if (test_arena is None) == (protocol == TRANSFER):
        raise UsageError("a test arena is what the protocol transfer needs, and no other takes")
    if holdout is not None and protocol != MIRAGE:
        raise UsageError(f"only the protocol {MIRAGE} holds out systems by name")


def _features_of(
    arena: Arena, features: Sequence[Feature], table: pd.DataFrame | None, n_jobs: int
) -> pd.DataFrame:
    return extract(arena, features, n_jobs=n_jobs) if table is None else table


def _shared(names: Sequence[str], others: Sequence[str]) -> list[str]:
    shared = [name for name in names if name in set(others)]
    if not shared:
        raise UsageError("the two feature tables have no feature in common")
    return shared


def _signature(
    judged: Arena,
    features: Sequence[str],
    protocol: str,
    model: str,
    repeats: int,
    how: TournamentSettings,
    test_arena: Arena | None,
    holdout: Sequence[str] | None,
) -> str:
    test = [] if test_arena is None else [f"test:{test_arena.info.name}"]
    held = [] if holdout is None else [f"holdout:{','.join(sorted(holdout))}"]
    return "|".join(
        [
            f"protocol:{protocol}",
            f"arena:{judged.info.name}",
            *test,
            f"judge:{judged.judges[0]}",
            f"features:{','.join(features)}",
            f"model:{model}",
            *held,
            f"repeats:{repeats}",
            f"tournaments:{how.tournaments}",
            f"questions:{how.questions}",
            f"ties:{how.ties}",
            f"ridge:{how.ridge:g}",
            f"seed:{how.seed}",
            f"version:{__version__}",
        ]
    )
