"""Studies of a surrogate on an arena: how well it ranks what it has not seen."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from arena.data import __version__
from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.folder import open_arena
from features.engine.extraction import completed_table, extract, feature_columns
from surrogate.board.settings import check_option_names, lists_options
from surrogate.board.view import arena_view, in_slices, resolved_judges
from surrogate.learning.cross_fitting import (
    Repeats,
    Training,
    everything_left,
    leave_systems_out,
    system_folds,
)
from surrogate.learning.language_data import (
    LanguageData,
    TournamentSettings,
    language_data,
    with_answers,
)
from surrogate.learning.outcomes import Outcome
from surrogate.learning.replication import FEWEST_QUESTIONS, replicate
from surrogate.learning.surrogate import Surrogate, as_surrogate
from surrogate_arena.studies.families import families_of_systems
from surrogate_arena.studies.feature_groups import compared_with_all, feature_subsets
from surrogate_arena.studies.importances import PERMUTATIONS, importances
from surrogate_arena.studies.protocols import (
    AXES,
    LANGUAGE,
    best_fold,
    family_folds,
    leave_language_out,
    mirage,
    part_left,
)
from surrogate_arena.studies.scores import MACRO, outcome_scores
from surrogate_arena.studies.study_options import (
    LEARNING_OPTIONS,
    STUDY_DEFAULTS,
    STUDY_OPTIONS,
    SurrogateLike,
    judged_view,
    study_settings,
)
from surrogate_arena.studies.study_table import StudyTable

REPEATS = 5
SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)
REPLICATION_COLUMNS = [
    "language",
    "questions",
    "judgments",
    "tau",
    "tau_low",
    "tau_high",
    "tau_verdicts",
    "tau_surrogate",
    "tau_limit",
    "gain",
    "gain_low",
    "gain_high",
    "inside",
]
DEFAULT_PROTOCOL = "leave-systems-out"
FAMILIES = "leave-families-out"
BEST = "leave-best-out"
MIRAGE = "mirage"
REPLICATION = "replication"


@dataclass(frozen=True)
class Study:
    """An arena's judged languages with their features, and a surrogate to be studied there.

    ``families`` are those of language models that a system is of.
    """

    languages: list[LanguageData]
    features: tuple[str, ...]
    name: str
    judge: str
    settings: TournamentSettings
    surrogate: Surrogate
    repeats: Repeats
    families: Mapping[str, Collection[str]]

    @classmethod
    @lists_options(LEARNING_OPTIONS, STUDY_DEFAULTS)
    def of(
        cls,
        arena: Arena | Path | str,
        surrogate: SurrogateLike | None = None,
        repeats: int = REPEATS,
        **options: Any,  # noqa: ANN401 - of STUDY_OPTIONS
    ) -> Study:
        """Measure an arena's features, unless they are at hand, and draw the tournaments.

        Args:
            arena: The arena, or the path of its folder.
            surrogate: Surrogate to study; by default that of ``settings``, or ``answers``.
            repeats: How often to split, draw or reseed.
            options: See ``STUDY_OPTIONS``; and those below.

        Raises:
            UsageError: For an unknown option or surrogate, or fewer than one repeat.
        """
        check_option_names(options, STUDY_OPTIONS, ["surrogate", "repeats"])
        if repeats < 1:
            raise UsageError("repeats must be at least 1")
        settings = study_settings(options)
        n_jobs = options.get("n_jobs", 1)
        arena = open_arena(arena)
        judged = judged_view(arena, settings)
        table = options.get("feature_table")
        if table is None:
            table = extract(arena, options.get("features", settings.features), n_jobs=n_jobs)
        elif "features" in options:
            table = completed_table(table, arena, options["features"], n_jobs=n_jobs)
        table = in_slices(table, arena.queries, settings.by)
        tournaments = TournamentSettings(
            tournaments=settings.tournaments,
            questions=settings.questions,
            ties=settings.ties,
            ridge=settings.ridge,
            seed=settings.seed,
        )
        chosen = settings.surrogate if surrogate is None else surrogate
        return cls(
            languages=language_data(judged, with_answers(table, judged.answers), tournaments),
            features=tuple(feature_columns(table)),
            name=judged.info.name,
            judge=resolved_judges(arena_view(arena, settings), settings)[0],
            settings=tournaments,
            surrogate=as_surrogate(chosen, settings.rows, settings.missing),
            repeats=Repeats(repeats, settings.seed, n_jobs, options.get("progress")),
            families=families_of_systems(judged.info.systems, judged.attributes),
        )

    def with_features(self, features: Sequence[str]) -> Study:
        """Keep some feature columns."""
        dropped = [name for name in self.features if name not in features]
        languages = [replace(data, X=data.X.drop(columns=dropped)) for data in self.languages]
        return replace(self, languages=languages, features=tuple(features))

    def unseen(self, training: Training = everything_left) -> list[Outcome]:
        """Rate every system by surrogates that have not seen it."""
        return leave_systems_out(self.languages, self.surrogate, self.repeats, training)

    def tabulated(
        self, table: pd.DataFrame, protocol: str, *further: str, surrogates: str = ""
    ) -> StudyTable:
        """Return a table with the signature of the study."""
        parts = [
            f"protocol:{protocol}|arena:{self.name}|judge:{self.judge}",
            f"features:{','.join(self.features)}",
            f"surrogate:{surrogates or settings_text(self.surrogate)}|repeats:{self.repeats.times}",
            *further,
            f"{self.settings}|version:{__version__}",
        ]
        return StudyTable(table, "|".join(parts))

    def _scored(self, outcomes: Sequence[Outcome], protocol: str, *further: str) -> StudyTable:
        return self.tabulated(outcome_scores(outcomes, self.settings.seed), protocol, *further)

    def leave_systems_out(self) -> StudyTable:
        """Rate every system by surrogates that have not seen it; columns of ``outcome_scores``."""
        return self._scored(self.unseen(), DEFAULT_PROTOCOL)

    def leave_families_out(self) -> StudyTable:
        """Rate every system by surrogates that have seen none of its family of language models.

        Tau compares systems of one family, R² says how well the families' mean ratings are
        predicted.
        """
        folds = family_folds(self.languages, self.families)
        outcomes = leave_systems_out(self.languages, self.surrogate, self.repeats, folds=folds)
        return self._scored(outcomes, FAMILIES)

    def leave_best_out(self) -> StudyTable:
        """Rate the best fifth of the systems by a surrogate of all others."""
        folds = best_fold(self.languages)
        outcomes = leave_systems_out(self.languages, self.surrogate, self.repeats, folds=folds)
        # Most systems have no prediction here by design, which is no reason to report.
        without_reasons = [replace(outcome, reasons=()) for outcome in outcomes]
        return self._scored(without_reasons, BEST)

    def leave_language_out(self) -> StudyTable:
        """Rate the systems in each language by surrogates of the other languages."""
        outcomes = leave_language_out(self.languages, self.surrogate, self.repeats)
        return self._scored(outcomes, LANGUAGE)

    def mirage(self, holdout: Sequence[str] | None = None) -> StudyTable:
        """Hold two systems out of training and rank all (MIRAGE-Bench, section 4.3).

        Most of the systems ranked were trained on, so tau is higher than for new systems.
        """
        outcomes = mirage(self.languages, self.surrogate, self.repeats, holdout)
        return self._scored(outcomes, MIRAGE, *holdout_text(holdout))

    def ablate(self) -> StudyTable:
        """Rank unseen systems with all features, without each family of them, and each alone.

        Texts are a family where the surrogate reads the answers. Every subset has the same folds
        and tournaments, so differences are paired; intervals are 95% over systems.

        Raises:
            UsageError: With fewer than two families, or too few systems.
        """
        subsets = feature_subsets(self.features, self.surrogate.reads_texts)
        folds = system_folds(self.languages, self.repeats)
        outcomes: dict[str, list[Outcome]] = {}
        for name, subset in subsets.items():
            outcomes[name] = []
            with_values = [data.language for data in self.languages if subset.has_values(data)]
            if not with_values:
                continue
            parts = [subset.of(data) for data in self.languages]
            rated = leave_systems_out(parts, self.surrogate, self.repeats, folds=folds)
            outcomes[name] = [outcome for outcome in rated if outcome.language in with_values]
        languages = [data.language for data in self.languages]
        table = compared_with_all(outcomes, subsets, languages, self.settings.seed)
        return self.tabulated(table, "ablation")

    def importances(self) -> StudyTable:
        """Say how much the ranking rests on each feature.

        **Permutation** (Breiman, 2001, "Random forests"): the Kendall tau that is lost where an
        unseen system is rated with another one's values of a feature. **Share**: of the surrogate's
        own decisions; of a forest the mean decrease in impurity, as in the paper. Intervals hold
        95% of the tournaments.
        """
        table = importances(self.languages, self.features, self.surrogate, self.repeats)
        return self.tabulated(table, "importances", f"permutations:{PERMUTATIONS}")

    def learning_curves(self, shares: Sequence[float] = SHARES) -> StudyTable:
        """Rank unseen systems by surrogates that learned from random parts of what there is.

        Shares of ``systems``, of judged ``questions`` or of single ``judgments`` are kept; every
        part is rated on the same folds, against the ratings that all judgments give.

        Raises:
            UsageError: For a share out of range, or too few systems.
        """
        if not shares or not all(0 < share <= 1 for share in shares):
            raise UsageError("give at least one share, each above 0 and at most 1")
        seed = self.settings.seed
        tables = []
        for axis in AXES:
            for share in sorted(shares):
                training = partial(part_left, axis=axis, share=share, seed=seed)
                scores = outcome_scores(self.unseen(training), seed)
                scores.insert(1, "axis", axis)
                scores.insert(2, "share", share)
                tables.append(scores)
        table = pd.concat(tables).sort_values("language", kind="stable", ignore_index=True)
        shown = ",".join(f"{share:g}" for share in sorted(shares))
        return self.tabulated(table, "learning-curve", f"shares:{shown}")

    def replicate(self, judged: Sequence[int | None] = (None,)) -> StudyTable:
        """Rate by the verdicts on half of the questions, and compare with those on the others.

        Neither these verdicts nor the answers to their questions are learned from.

        Args:
            judged: Numbers of judged questions to learn from in each language; None for the half.

        Returns:
            A row a number of questions and language: Kendall ``tau`` with the other half of ratings
            by verdicts and surrogate, and by either alone; the ``gain`` of both over verdicts
            alone; the ``tau_limit`` of ratings without ties, where the other half has ties; and the
            share of the other half's ratings ``inside`` the 90% intervals.

        Raises:
            UsageError: If no language has four judged questions.
        """
        rows = []
        for number in judged:
            halves = replicate(self.languages, self.surrogate, self.repeats, number)
            if halves.rows.empty:
                raise UsageError(
                    f"no language has {FEWEST_QUESTIONS} judged questions, so there is nothing to "
                    "halve"
                )
            languages = sorted(set(halves.rows["language"]))
            parts = {str(language): halves.of(language) for language in languages}
            if len(parts) > 1:
                parts[MACRO] = halves
            for language, part in parts.items():
                means = part.rows.groupby("language").mean(numeric_only=True).mean()
                rows.append({**means, **part.summary(), "language": language})
        table = pd.DataFrame(rows, columns=REPLICATION_COLUMNS)
        numbers = ["half" if number is None else str(number) for number in judged]
        return self.tabulated(table, REPLICATION, f"judged:{','.join(numbers)}")


def holdout_text(holdout: Sequence[str] | None) -> list[str]:
    """Return the field of a signature that names held-out systems."""
    return [] if holdout is None else [f"holdout:{','.join(sorted(holdout))}"]


def settings_text(surrogate: Surrogate) -> str:
    """Return a surrogate's settings as a signature has them."""
    return surrogate.signature.removeprefix("surrogate:")
