"""``compare``: surrogates, features, budgets, scores and judges on the same systems and folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations, product
from pathlib import Path
from typing import Any, get_args

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError, checked_choice
from arena.data.folder import open_arena
from arena.data.types import Floats
from arena.data.wording import repeated
from arena.statistics.bootstrap import generator
from arena.statistics.significance import NORMAL_95
from features.declare.feature import Feature
from features.measures.choosing import chosen_features
from surrogate.board.settings import lists_options
from surrogate.learning.cross_fitting import Training, everything_left
from surrogate.learning.language_data import LanguageData, language_data
from surrogate_arena.studies.comparison import (
    RATED_BY,
    PairedTaus,
    ResampledTau,
    tested_differences,
)
from surrogate_arena.studies.feature_groups import FeatureSubset
from surrogate_arena.studies.protocols import part_left
from surrogate_arena.studies.scores import (
    MACRO,
    Contender,
    Over,
    drawn_ratings,
    needed_repeats,
    question_draws,
    spread,
)
from surrogate_arena.studies.study import REPEATS, Study, ascending_shares
from surrogate_arena.studies.study_options import (
    LEARNING_OPTIONS,
    STUDY_DEFAULTS,
    SurrogateLike,
    judged_view,
    study_settings,
)
from surrogate_arena.studies.study_table import StudyTable
from surrogate_arena.studies.untrained import Rates, rate_by_judge, rate_by_score, untrained

MEAN = "mean"
"""Name of the average over arenas."""


@lists_options(LEARNING_OPTIONS, STUDY_DEFAULTS)
def compare(
    arenas: Arena | Path | str | Sequence[Arena | Path | str],
    surrogates: SurrogateLike | Sequence[SurrogateLike] | None = None,
    *,
    budgets: Sequence[float] = (1.0,),
    scores: Sequence[str] = (),
    judges: Sequence[str] = (),
    against: str | None = None,
    over: Over = "systems",
    repeats: int | None = None,
    **options: Any,  # noqa: ANN401 - of STUDY_OPTIONS
) -> StudyTable:
    """Compare what rates systems, by its Kendall tau with an arena's ratings.

    All contenders are compared on the same systems, which surrogates have not seen.

    Args:
        arenas: One or several, or their folders.
        surrogates: As of ``validate``; may be empty.
        budgets: Shares of the judged questions to learn from.
        scores: Columns of features by whose mean to rate.
        judges: Other judges of the arena.
        against: Contender to compare all others with; by default all pairs.
        over: Errors are over ``systems``, ``questions`` or ``both``.
        repeats: Splits of the systems.
        options: As of ``validate``; ``features`` may be several sets by name.

    Returns:
        Taus by arena, language and contender; paired ``differences``, corrected for their number
        (Holm).

    Raises:
        UsageError: For an unsuitable argument.

    Examples:
        >>> from surrogate_arena import sample_arena
        >>> study = compare(sample_arena(), [], judge="gpt-4o", judges=["crowd"], features="words",
        ...     scores=["answer_length"])
        >>> study.table["rated_by"].unique().tolist()
        ['answer_length', 'crowd']
    """
    checked_choice(over, get_args(Over), "what errors are over")
    feature_sets: dict[str, tuple[Feature, ...]] = {}
    if isinstance(options.get("features"), Mapping):
        for name, chosen in options["features"].items():
            feature_sets[name] = chosen_features(chosen)
        options["features"] = list(chain(*feature_sets.values()))
    if isinstance(arenas, Arena | Path | str):
        arenas = [arenas]
    elif "feature_table" in options:
        raise UsageError("a feature table is of one arena; compare several without it")
    contest = Contest(feature_sets, ascending_shares(budgets), scores, over)
    comparisons: dict[str, PairedTaus] = {}
    signatures = []
    for arena in arenas:
        opened = open_arena(arena)
        study = Study.of(opened, surrogates, repeats or REPEATS, **options)
        judged = {name: _judged_by(name, opened, study, options) for name in judges}
        comparison = contest.comparison(study, judged)
        needed = needed_repeats(comparison.table, REPEATS)
        if repeats is None and needed > REPEATS:
            study = study.repeated(needed)
            comparison = contest.comparison(study, judged)
        comparisons[study.name] = comparison
        signatures.append(study.tabulated(comparison.table, "compare", f"over:{over}").signature)
    if len(comparisons) < len(arenas):
        raise UsageError("each arena needs a name of its own")
    names = list(comparison.estimates)
    pairs = list(combinations(names, 2))
    if against is not None:
        checked_choice(against, names, "contender")
        pairs = [(name, against) for name in names if name != against]
    if not pairs:
        raise UsageError("compare at least two contenders")
    return StudyTable(
        table=_scores(comparisons),
        signature=" & ".join(signatures),
        title="Kendall tau with the arena's ratings",
        notes=[
            f"Errors are over {'systems and questions' if over == 'both' else over}.",
            "p_holm is corrected for all differences of a language (Holm).",
        ],
        differences=_differences(comparisons, pairs),
    )


def _judged_by(
    judge: str, arena: Arena, study: Study, options: Mapping[str, Any]
) -> list[LanguageData]:
    settings = study_settings(options).model_copy(update={"judge": judge})
    answers = pd.concat([data.X for data in study.languages])
    return language_data(judged_view(arena, settings), answers, study.settings)


def _scores(comparisons: Mapping[str, PairedTaus]) -> pd.DataFrame:
    tables = {name: comparison.table for name, comparison in comparisons.items()}
    if len(tables) == 1:
        return next(iter(tables.values()))
    rows = []
    for rated_by in next(iter(comparisons.values())).estimates:
        taus = [comparison.macro(rated_by) for comparison in comparisons.values()]
        mean = _mean_over_arenas(taus)
        error = spread(mean.replicates)
        row = {
            "language": MACRO,
            RATED_BY: rated_by,
            "tau": mean.value,
            "standard_error": error,
            "tau_low": mean.value - NORMAL_95 * error,
            "tau_high": min(mean.value + NORMAL_95 * error, 1.0),
        }
        rows.append(row)
    tables[MEAN] = pd.DataFrame(rows)
    return _stacked(tables)


def _differences(
    comparisons: Mapping[str, PairedTaus], pairs: Sequence[tuple[str, str]]
) -> pd.DataFrame:
    tables = {name: comparison.differences(pairs) for name, comparison in comparisons.items()}
    if len(tables) == 1:
        return next(iter(tables.values()))
    means = {}
    for pair in pairs:
        parts = [comparison.difference(*pair)[MACRO] for comparison in comparisons.values()]
        means[pair] = _mean_over_arenas(parts)
    tables[MEAN] = tested_differences(means)
    tables[MEAN].insert(0, "language", MACRO)
    return _stacked(tables)


def _mean_over_arenas(parts: Sequence[ResampledTau]) -> ResampledTau:
    shuffled = []
    for index, part in enumerate(parts):
        random = generator(0, "resamples of arenas", str(index))
        shuffled.append(part._replace(replicates=random.permutation(part.replicates)))
    return ResampledTau.mean(shuffled)


def _stacked(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    named = pd.concat(tables, names=["arena", None])
    return named.reset_index(level="arena").reset_index(drop=True)


@dataclass(frozen=True)
class Contest:
    """Contenders for every arena; see ``compare``."""

    features: Mapping[str, Sequence[Feature]]
    budgets: Sequence[float]
    scores: Sequence[str]
    over: Over

    def comparison(self, study: Study, judged: Mapping[str, Sequence[LanguageData]]) -> PairedTaus:
        """Compare contenders in an arena; ``judged`` has its languages by other judges."""
        contenders = self._surrogates(study)
        # What is not trained is compared on the folds of the surrogates, if there are any.
        folds = next(iter(contenders.values())).outcomes if contenders else ()
        draws = None
        arena_ratings: dict[str, Floats] = {}
        if self.over != "systems":
            involved = chain(study.languages, *judged.values())
            draws = question_draws(list(involved), study.settings.seed)
            arena_ratings = {data.language: drawn_ratings(data, draws) for data in study.languages}
        rates: dict[str, Rates] = {}
        for column in self.scores:
            rates[column] = partial(rate_by_score, column=column, draws=draws)
        for judge, languages in judged.items():
            by_language = {data.language: data for data in languages}
            rates[judge] = partial(rate_by_judge, judged=by_language, draws=draws)
        twice = repeated([*contenders, *self.scores, *judged])
        if twice:
            raise UsageError(f"contenders need names of their own: {', '.join(twice)}")
        for name, rate in rates.items():
            contenders[name] = untrained(study.languages, rate, folds)
        return PairedTaus.of(contenders, study.settings.seed, self.over, arena_ratings)

    def _surrogates(self, study: Study) -> dict[str, Contender]:
        contenders = {}
        for surrogate, named, share in product(
            study.surrogates, self.features.items() or [("", None)], self.budgets
        ):
            name, features = named
            parts = [surrogate.name]
            subset = None
            training: Training = everything_left
            if features is not None:
                columns = tuple(map(str, features))
                subset = FeatureSubset(None, columns, surrogate.reads_texts)
                parts.append(name)
            if len(self.budgets) > 1:
                parts.append(f"{share:g} of questions")
                seed = study.settings.seed
                training = partial(part_left, axis="questions", share=share, seed=seed)
            outcomes = study.unseen(surrogate, training, subset)
            contenders[", ".join(parts)] = Contender(outcomes)
        return contenders
