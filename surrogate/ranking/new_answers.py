"""New systems' answers: their names checked, their features measured or taken from a table."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError, argument
from arena.data.names import refuse_names_alike
from arena.data.wording import count_of, first_of
from features.declare.feature import Feature
from features.declare.models import Models
from features.engine.extraction import FEATURE_KEY, extract
from features.measures.choosing import chosen_features
from surrogate.board.board import Board
from surrogate.learning.surrogate import known_features


def measure_answers(
    board: Board,
    arena: Arena,
    answers: pd.DataFrame,
    n_jobs: int = 1,
    models: Models | None = None,
) -> pd.DataFrame:
    """Measure what a board's surrogate reads of answers."""
    declared = _declared(known_features(board.surrogate), board.own_features)
    _refuse_other_templates(declared, models)
    return extract(arena, declared, answers=answers, n_jobs=n_jobs, models=models)


def refuse_taken_names(systems: pd.Series, board: Board) -> None:
    """Refuse names of systems that are on the board, or look like one of them."""
    taken = sorted(set(systems) & set(board.ratings["system"]))
    if taken:
        raise UsageError(
            f"already on the board, which says their places: {first_of(taken)}; to rank other "
            "answers, give their systems other names"
        )
    refuse_names_alike(systems, board.ratings["system"])


def _declared(names: Sequence[str], own_features: Sequence[Feature]) -> tuple[Feature, ...]:
    by_name = {str(feature): feature for feature in own_features}
    try:
        # The names are the board's, and a board may come from anybody: it imports nothing.
        return chosen_features([by_name.get(name, name) for name in names], with_plug_ins=False)
    except UsageError as error:
        raise UsageError(
            "the board was built with features of your own or of another package; name them "
            f"({argument('features')}; in Python Board.load(FOLDER, features=[...])), or give "
            f"these answers' features in a table, {argument('feature_table')}: {error}"
        ) from error


def _refuse_other_templates(features: Sequence[Feature], models: Models | None) -> None:
    if models is None:
        return
    templated = models.configured(features)
    for feature, changed in zip(features, templated, strict=True):
        if str(feature) != str(changed):
            raise UsageError(
                f"the board has {feature}, rated by the packaged prompt, and a template would make "
                f"it {changed}; leave the template out, or build the board with it"
            )


def rows_of_answers(answers: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Take each answer's features from a table, which must have them all."""
    rows = answers[FEATURE_KEY].merge(table, on=FEATURE_KEY, how="left", indicator="_row")
    absent = rows.loc[rows.pop("_row") == "left_only", FEATURE_KEY]
    if not absent.empty:
        raise UsageError(
            f"the feature table has no row of {len(absent)} of {count_of(len(answers), 'answer')} "
            f"(first: {', '.join(absent.iloc[0])}); add them"
        )
    return rows
