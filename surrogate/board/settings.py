"""What a board is built with: the settings a user chooses, and the record that reproduces it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from arena.data import __version__
from arena.data.errors import UsageError, checked_choice

if TYPE_CHECKING:
    import pandas as pd

    from arena.data.arena import Arena

NONE = "none"
"""Stands for an empty list."""
NOBODY = "nobody"
"""Stands for the judge of a board without verdicts."""
MOST_DRAWS = 100_000
"""Of tournaments, rounds, repeats and resamples: more say nothing that these do not, and fill the
memory."""
MOST_TREES = 10_000
PRESET = "preset"
PRESETS: Mapping[str, Mapping[str, object]] = {
    "mirage": {
        "features": ("as-published",),
        "surrogate": "random-forest",
        "rows": "overall",
        "missing": "zero",
        "tournaments": 200,
        "questions": 100,
        "ties": "drop",
        "ridge": 0.0,
        "ratings": "surrogate",
        "arena_ratings": "tournaments",
        "r2_tournaments": 200,
        "r2_trees": 100,
    }
}
"""Name to settings that go together; ``mirage``: as MIRAGE-Bench was published (section 4.3)."""
LATELY = ("criterion", "by")
"""Settings that signatures hold only where they are not the default ones."""
Positive = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0)]


def _surrogate_name(surrogate: object) -> object:
    """Take a regressor of scikit-learn's form by its name."""
    if isinstance(surrogate, str):
        return surrogate
    from surrogate.learning.names import surrogate_name

    return surrogate_name(surrogate)


def split_list(value: object) -> object:
    """Take text as a tuple, split at commas outside parentheses; ``none`` is an empty one."""
    if not isinstance(value, str):
        return tuple(value) if isinstance(value, list) else value
    items = () if value.strip() == NONE else re.split(r",(?![^()]*\))", value)
    return tuple(item.strip() for item in items if item.strip())


Names = Annotated[tuple[str, ...], BeforeValidator(split_list)]


class BoardSettings(BaseModel):
    """What a user may choose of a board; Python, the command line and TOML share it."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, defer_build=True
    )  # built on first use

    judge: str | None = Field(
        default=None,
        description="Judge to rate by; several with commas between, or all: people are the "
        "reference where there are some, else the first one is, and the others' verdicts, which "
        "predict the reference's ratings, stand beside them. Default: all where people judged; "
        "published for the ratings of published_ratings.csv.",
    )
    criterion: str | None = Field(
        default=None,
        description="Criterion whose judgments to learn from, where their column 'criterion' has "
        "several, such as faithfulness.",
    )
    by: str = Field(
        default="language",
        description="What parts the board: language, or a column of the questions, such as topic. "
        "Parts share what is learned, and each has ratings of its own.",
    )
    features: Names = Field(
        default=("default",),
        description="Features to measure on every answer, such as citation_recall@10,bleu; or "
        "groups of them: default, deterministic, paper, as-published, retrieval, grounding, "
        "fluency, llm, ragas, all.",
    )
    surrogate: Annotated[str, BeforeValidator(_surrogate_name)] = Field(
        default="answers",
        description="Surrogate that predicts a system's rating from its answers: "
        "answers, random-forest (the paper's), xgboost, linear, svr, mlp, or the "
        "dotted name of any regressor of scikit-learn's form, such as "
        "sklearn.ensemble.GradientBoostingRegressor(max_depth=2).",
    )
    rows: Literal["system", "overall"] = Field(
        default="system",
        description="Training rows of surrogates that regress: one a system and tournament "
        "(system), or one a system over all questions (overall).",
    )
    missing: Literal["nan", "zero"] = Field(
        default="nan",
        description="How a feature without a value counts, and an answer that is not there: not "
        "at all (nan), or 0 (zero).",
    )
    tournaments: Positive = Field(
        default=200, le=MOST_DRAWS, description="Bootstrapped tournaments per language."
    )
    questions: Positive = Field(
        default=100,
        description="Questions drawn with replacement per tournament, at most those judged.",
    )
    ties: Literal["half", "drop"] = Field("half", description="Ties: half a win each, or drop.")
    ridge: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=0.1,
        description="Precision of the prior on coefficients of tournaments; 0 for none, but 2e-6 "
        "in a tournament that has no maximum likelihood, as choix falls back on.",
    )
    ratings: Literal["posterior", "surrogate", "consensus"] = Field(
        default="posterior",
        description="The board's ratings: what the surrogate expects, corrected by the verdicts "
        "(posterior), or what the trained surrogate predicts of all answers (surrogate), or, "
        "without any verdict, how far answers agree with the others', with reference answers and "
        "with relevance labels (consensus): what an arena without judgments gets.",
    )
    arena_ratings: Literal["judgments", "tournaments"] = Field(
        default="judgments",
        description="The arena's own ratings: of all judgments, or the mean over tournaments with "
        "their percentiles.",
    )
    holdout: Names | None = Field(
        default=None,
        description="Systems to keep out of training, or none; if not given two drawn by the seed "
        "for surrogates that can learn from one tournament, as the paper's, and none for others.",
    )
    r2_tournaments: Positive = Field(
        default=50,
        le=MOST_DRAWS,
        description="Most tournaments that get a surrogate of their own, for R² on the held-out "
        "systems and the spread of importances.",
    )
    r2_trees: Positive = Field(
        default=25, le=MOST_TREES, description="Trees of the forest of such a surrogate."
    )
    seed: Count = Field(default=0, description="Random seed.")

    def view(self, arena: Arena) -> Arena:
        """Return an arena as a board has it: judged by its criterion, and in its parts."""
        from surrogate.learning.languages import sliced

        return sliced(arena.by_criterion(self.criterion), self.by)

    def judged(self, judgments: pd.DataFrame, queries: pd.DataFrame) -> pd.DataFrame:
        """Return judgments on an arena's questions likewise."""
        from arena.data.schema import CRITERION
        from surrogate.learning.languages import in_slices

        if self.criterion is not None and CRITERION in judgments:
            judgments = judgments[judgments[CRITERION] == self.criterion]
        return in_slices(judgments, queries, self.by)


class BoardRecord(BoardSettings):
    """Everything that reproduces a board: its settings as they were resolved.

    The text of a record is the signature of its board: fields ``name:value`` between bars.
    """

    judge: str = Field(description="Whose judgments the surrogate learned from.")
    other_judges: Names = Field(
        default=(), description="Judges whose verdicts predict its ratings and stand beside them."
    )
    features: Names = Field(default=(), description="What is measured on every answer.")
    metaevaluation: tuple[str, ...] = Field(
        default=(), description="How well the judge agrees with people."
    )
    holdout: Names = Field(default=(), description="Systems kept out of training.")
    version: str = Field(default=__version__, description="Version of surrogate-arena.")

    def __str__(self) -> str:
        return "|".join(f"{name}:{text}" for name, text, _ in self.fields())

    def fields(self) -> list[tuple[str, str, str]]:
        """Return the name, value and meaning of every field; a meta-evaluation is one each."""
        found = []
        beside = ("other_judges",) if self.other_judges else ()
        for name in ("judge", *beside, "metaevaluation", *BoardSettings.model_fields, "version"):
            value = getattr(self, name)
            if name in LATELY and value == BoardSettings.model_fields[name].default:
                continue
            texts = value if name == "metaevaluation" else [_text(value)]
            meaning = type(self).model_fields[name].description or ""
            found += [(name, text, meaning) for text in texts]
        return list(dict.fromkeys(found))

    def toml(self) -> str:
        """Return the settings that are not the default ones, as ``board --config`` reads them."""
        hidden = {"judge"} if self.ratings == "consensus" else set()
        own = {
            name: getattr(self, name) for name in BoardSettings.model_fields if name not in hidden
        }
        if self.other_judges:
            own["judge"] = ",".join((self.judge, *self.other_judges))
        chosen = BoardSettings(**own).model_dump(mode="json", exclude_defaults=True)
        lines = [f"{name} = {json.dumps(chosen[name], ensure_ascii=False)}" for name in chosen]
        return "\n".join(lines)


def _text(value: object) -> str:
    return (",".join(value) or NONE) if isinstance(value, tuple) else str(value)


def preset_values(name: object) -> dict[str, object]:
    """Return the settings that a preset stands for; none for None."""
    return {} if name is None else dict(PRESETS[checked_choice(str(name), PRESETS, PRESET)])


def chosen_settings(settings: BoardSettings | None, options: Mapping[str, object]) -> BoardSettings:
    """Return settings with some options in their place.

    Args:
        settings: Settings, of which those count that were set.
        options: Options by name; ``preset`` names one of ``PRESETS``, whose values are taken where
            no other is set.

    Raises:
        UsageError: For an unknown option or preset, or a value that cannot be used.
    """
    stated = {} if settings is None else settings.model_dump(exclude_unset=True)
    chosen = {name: value for name, value in options.items() if name != PRESET}
    try:
        return BoardSettings.model_validate(preset_values(options.get(PRESET)) | stated | chosen)
    except ValidationError as error:
        faults = [(fault["loc"][0], fault["input"], fault["msg"]) for fault in error.errors()]
        known = BoardSettings.model_fields
        said = [
            f"{name} = {value!r}: {why[:1].lower()}{why[1:]}"
            if name in known
            else f"there is no option {name}"
            for name, value, why in faults
        ]
        raise UsageError("; ".join(said)) from error


def board_judges(arena: Arena, settings: BoardSettings) -> tuple[str, ...]:
    """Return whose verdicts a board rests on, then others; none for a first board, without any.

    Raises:
        UsageError: If there is no such judge, several to choose from, or none where the settings
            ask for ratings by verdicts.
    """
    arena = arena.by_criterion(settings.criterion)
    if settings.ratings == "consensus":
        if settings.judge is not None:
            raise UsageError(
                f"ratings by consensus look at no verdict; leave judge {settings.judge!r} out"
            )
        return ()
    if not arena.judges and settings.judge is None and settings.ratings == "posterior":
        return ()
    named = f"{settings.judge}:{settings.criterion}"
    return arena.chosen_judges(named if named in arena.judges else settings.judge)
