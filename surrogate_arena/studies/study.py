"""Studies of a surrogate on an arena."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
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
from surrogate.board.slices import in_slices
from surrogate.board.view import arena_view, resolved_judges
from surrogate.learning.cross_fitting import (
    Fold,
    Repeats,
    Training,
    everything_left,
    leave_systems_out,
    system_folds,
)
from surrogate.learning.language_data import LanguageData, TournamentSettings, language_data
from surrogate.learning.outcomes import Outcome
from surrogate.learning.replication import FEWEST_QUESTIONS, replicate
from surrogate.learning.surrogate import Surrogate
from surrogate.learning.training_data import with_answers
from surrogate_arena.studies.comparison import RATED_BY, PairedTaus
from surrogate_arena.studies.feature_groups import ALL, FeatureSubset, feature_subsets
from surrogate_arena.studies.protocols import (
    AXES,
    LANGUAGE,
    best_fold,
    family_folds,
    leave_language_out,
    part_left,
)
from surrogate_arena.studies.scores import MACRO, Contender
from surrogate_arena.studies.study_options import (
    LEARNING_OPTIONS,
    STUDY_DEFAULTS,
    STUDY_OPTIONS,
    SurrogateLike,
    chosen_surrogates,
    judged_view,
    study_settings,
)
from surrogate_arena.studies.study_table import StudyTable
from surrogate_arena.studies.system_families import families_of_systems

REPEATS = 5
NO_DIFFERENCES = pd.DataFrame()
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
REPLICATION = "replication"


@dataclass(frozen=True)
class Study:
    """An arena's judged languages with features, and surrogates to study.

    ``families`` are those of systems' language models.
    """

    languages: list[LanguageData]
    features: tuple[str, ...]
    name: str
    judge: str
    settings: TournamentSettings
    surrogates: tuple[Surrogate, ...]
    repeats: Repeats
    families: Mapping[str, Collection[str]]

    @classmethod
    @lists_options(LEARNING_OPTIONS, STUDY_DEFAULTS)
    def of(
        cls,
        arena: Arena | Path | str,
        surrogate: SurrogateLike | Sequence[SurrogateLike] | None = None,
        repeats: int = REPEATS,
        **options: Any,  # noqa: ANN401 - of STUDY_OPTIONS
    ) -> Study:
        """Measure an arena's features, unless they are at hand, and draw the tournaments.

        Args:
            arena: The arena, or its folder.
            surrogate: Surrogates to study; by default that of ``settings``, or ``default``.
            repeats: How often to split, draw or reseed.
            options: See ``STUDY_OPTIONS``; and those below.

        Raises:
            UsageError: For an unknown option or surrogate, two of one name, or fewer than one
                repeat.
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
        return cls(
            languages=language_data(judged, with_answers(table, judged.answers), tournaments),
            features=tuple(feature_columns(table)),
            name=judged.info.name,
            judge=resolved_judges(arena_view(arena, settings), settings)[0],
            settings=tournaments,
            surrogates=chosen_surrogates(surrogate, settings, options),
            repeats=Repeats(repeats, settings.seed, n_jobs, options.get("progress")),
            families=families_of_systems(judged.info.systems, judged.attributes),
        )

    @property
    def surrogate(self) -> Surrogate:
        """The first surrogate."""
        return self.surrogates[0]

    def repeated(self, times: int) -> Study:
        """Split, draw or reseed so often."""
        return replace(self, repeats=replace(self.repeats, times=times))

    def with_features(self, features: Sequence[str]) -> Study:
        """Keep some feature columns."""
        dropped = [name for name in self.features if name not in features]
        languages = [replace(data, X=data.X.drop(columns=dropped)) for data in self.languages]
        return replace(self, languages=languages, features=tuple(features))

    def unseen(
        self,
        surrogate: Surrogate | None = None,
        training: Training = everything_left,
        subset: FeatureSubset | None = None,
    ) -> list[Outcome]:
        """Rate every system by surrogates that have not seen it.

        Folds are the same for every surrogate, training and subset of the features.
        """
        folds = system_folds(self.languages, self.repeats)
        parts = self.languages if subset is None else [subset.of(data) for data in self.languages]
        outcomes = leave_systems_out(
            parts, surrogate or self.surrogate, self.repeats, training, folds
        )
        if subset is None:
            return outcomes
        pairs = zip(outcomes, self.languages, strict=True)
        return [subset.checked(outcome, data) for outcome, data in pairs]

    def tabulated(
        self,
        table: pd.DataFrame,
        protocol: str,
        *further: str,
        differences: pd.DataFrame = NO_DIFFERENCES,
    ) -> StudyTable:
        """Return a table with the signature of the study."""
        signatures = [surrogate.signature for surrogate in self.surrogates]
        surrogates = ",".join(text.removeprefix("surrogate:") for text in signatures)
        parts = [
            f"protocol:{protocol}|arena:{self.name}|judge:{self.judge}",
            f"features:{','.join(self.features)}",
            f"surrogate:{surrogates}|repeats:{self.repeats.times}",
            *further,
            f"{self.settings}|version:{__version__}",
        ]
        return StudyTable(
            table, "|".join(parts), title=f"{protocol}: {self.name}", differences=differences
        )

    def compared(
        self,
        outcomes: Mapping[str, Sequence[Outcome]],
        protocol: str,
        *further: str,
        pairs: Sequence[tuple[str, str]] | None = None,
    ) -> StudyTable:
        """Score named outcomes on the systems and folds that all have, and test differences."""
        contenders = {name: Contender(of_name) for name, of_name in outcomes.items()}
        comparison = PairedTaus.of(contenders, self.settings.seed)
        differences = comparison.differences(pairs) if len(outcomes) > 1 else NO_DIFFERENCES
        return self.tabulated(comparison.table, protocol, *further, differences=differences)

    def _of_surrogates(
        self, rate: Callable[[Surrogate], Sequence[Outcome]], protocol: str, *further: str
    ) -> StudyTable:
        outcomes = {surrogate.name: rate(surrogate) for surrogate in self.surrogates}
        return self.compared(outcomes, protocol, *further)

    def leave_systems_out(self) -> StudyTable:
        """Rate every system by surrogates that have not seen it."""
        return self._of_surrogates(self.unseen, DEFAULT_PROTOCOL)

    def leave_families_out(self) -> StudyTable:
        """Rate every system by surrogates that have seen none of its family of models.

        Tau compares systems of one family, R² families' means.
        """
        folds = family_folds(self.languages, self.families)
        return self._of_surrogates(partial(self._held_out, folds=folds), FAMILIES)

    def leave_best_out(self) -> StudyTable:
        """Rate the best fifth of the systems by a surrogate of all others."""
        folds = best_fold(self.languages)

        def rate(surrogate: Surrogate) -> list[Outcome]:
            # Most systems have no prediction here by design, which is no reason to report.
            return [replace(item, reasons=()) for item in self._held_out(surrogate, folds)]

        return self._of_surrogates(rate, BEST)

    def _held_out(self, surrogate: Surrogate, folds: Sequence[Fold]) -> list[Outcome]:
        return leave_systems_out(self.languages, surrogate, self.repeats, folds=folds)

    def leave_language_out(self) -> StudyTable:
        """Rate the systems in each language by surrogates of the other languages."""
        rate = partial(leave_language_out, self.languages, repeats=self.repeats)
        return self._of_surrogates(rate, LANGUAGE)

    def ablate(self) -> StudyTable:
        """Rank unseen systems with all features, without each family of them, and each alone.

        Texts are a family where the surrogate reads the answers. Differences are from all features.

        Raises:
            UsageError: With fewer than two families, or too few systems.
        """
        subsets = feature_subsets(self.features, self.surrogate.reads_texts)
        outcomes = {name: self.unseen(subset=subset) for name, subset in subsets.items()}
        pairs = [(name, ALL) for name in subsets if name != ALL]
        return self.compared(outcomes, "ablation", pairs=pairs)

    def learning_curves(self, shares: Sequence[float] = SHARES) -> StudyTable:
        """Rank unseen systems by surrogates that learned from random parts of the data.

        Shares of ``systems``, judged ``questions`` or ``judgments`` are kept, and rated on the same
        folds against ratings by all judgments. Differences are from the largest share. Parts too
        small to learn from have no tau.

        Raises:
            UsageError: For a share out of range, or too few systems.
        """
        shares = ascending_shares(shares)
        outcomes = {}
        pairs = []
        for axis in AXES:
            for share in shares:
                training = partial(part_left, axis=axis, share=share, seed=self.settings.seed)
                outcomes[f"{share:g} of {axis}"] = self.unseen(training=training)
                if share < shares[-1]:
                    pairs.append((f"{share:g} of {axis}", f"{shares[-1]:g} of {axis}"))
        shown = ",".join(f"{share:g}" for share in shares)
        study = self.compared(outcomes, "learning-curve", f"shares:{shown}", pairs=pairs)
        parts = study.table[RATED_BY].str.partition(" of ")
        table = study.table.assign(axis=parts[2], share=parts[0].astype(float))
        return replace(study, table=table)

    def replicate(self, judged: Sequence[int | None] = (None,)) -> StudyTable:
        """Rate by half of the questions, and compare with verdicts on the others.

        Args:
            judged: Numbers of judged questions to learn from in each language; None for the half.

        Returns:
            By number of questions and language: Kendall ``tau`` with the other half of ratings by
            verdicts and surrogate, and by either alone; the ``gain`` over verdicts alone; the
            ``tau_limit`` of ratings without ties; and the share of the other half's ratings
            ``inside`` 90% intervals.

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


def ascending_shares(shares: Sequence[float]) -> list[float]:
    """Return shares of an arena in ascending order."""
    if not shares or not all(0 < share <= 1 for share in shares):
        raise UsageError("give at least one share, each above 0 and at most 1")
    return sorted(shares)


def holdout_text(holdout: Sequence[str] | None) -> list[str]:
    """Return the field of a signature that names held-out systems."""
    return [] if holdout is None else [f"holdout:{','.join(sorted(holdout))}"]
