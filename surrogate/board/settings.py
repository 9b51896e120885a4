"""Settings of a board, and as resolved: what reproduces it, and its signature."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
)

from arena.data.errors import UsageError, checked_choice
from arena.data.wording import did_you_mean, split_names

NONE = "none"
"""Stands for an empty list."""
NOBODY = "nobody"
"""Stands for the judge of a board without verdicts."""
MOST_DRAWS = 100_000
"""Maximum of tournaments, rounds, repeats and resamples; more add no precision and fill memory."""
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
        "unjudged": "ranked",
        "arena_ratings": "tournaments",
    }
}
"""Name to settings that go together; ``mirage``: as MIRAGE-Bench was published (section 4.3)."""
OMITTED_DEFAULTS = ("criterion", "by", "hard_verdicts", "unjudged")
"""Settings that a signature holds only where they are not the default ones."""
Positive = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0)]


def _version() -> str:
    from arena.data import __version__  # reads the metadata of the package

    return __version__


def _surrogate_name(surrogate: object) -> object:
    if isinstance(surrogate, str):
        return surrogate
    from surrogate.learning.surrogate import surrogate_name

    return surrogate_name(surrogate)


def split_list(value: object) -> object:
    """Split text at commas outside parentheses; ``none`` is empty."""
    if not isinstance(value, str):
        return tuple(value) if isinstance(value, list) else value
    if value.strip() == NONE:
        return ()
    return tuple(split_names(value))


Names = Annotated[
    tuple[str, ...],
    BeforeValidator(split_list),
    WithJsonSchema({"type": ["array", "string"], "items": {"type": "string"}}),
]


class BoardSettings(BaseModel):
    """Settings of a board, shared by Python, the command line and TOML."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, defer_build=True
    )  # built on first use

    judge: str | None = Field(
        default=None,
        description="Judge to rate by, several (comma-separated), or all. The "
        "reference is people if they judged, else the first judge. The "
        "others' verdicts help to predict the reference's ratings, and "
        "are shown beside them. Default: all if people judged; published "
        "for the ratings of published_ratings.csv.",
    )
    criterion: str | None = Field(
        default=None,
        description="Criterion whose judgments to learn from, such as faithfulness; for judgments "
        "whose column 'criterion' has several.",
    )
    by: str = Field(
        default="language",
        description="Column that divides the board: language, or a column of the questions, "
        "such as topic. Parts share what is learned, and each has its own ratings.",
    )
    features: Names = Field(
        default=("default",),
        description="Features to measure on every answer, such as citation_recall@10,bleu. "
        "Groups of them: default, deterministic, paper, as-published, retrieval, grounding, "
        "fluency, nuggets, llm, ragas, without-llm.",
    )
    surrogate: Annotated[str, BeforeValidator(_surrogate_name)] = Field(
        default="default",
        description="Surrogate that predicts a system's rating from its answers: default, "
        "random-forest (the paper's), xgboost, linear, svr, mlp, or the dotted name "
        "of any regressor like scikit-learn's, such as "
        "sklearn.ensemble.GradientBoostingRegressor(max_depth=2).",
    )
    rows: Literal["system", "overall"] = Field(
        default="system",
        description="Training rows of regression surrogates: one per system and tournament "
        "(system), or one per system over all questions (overall).",
    )
    missing: Literal["nan", "zero"] = Field(
        default="nan",
        description="How a missing feature value or answer counts: not at all (nan), or as 0 "
        "(zero).",
    )
    tournaments: Positive = Field(
        default=200, le=MOST_DRAWS, description="Bootstrapped tournaments per language."
    )
    questions: Positive = Field(
        default=100,
        description="Questions drawn with replacement per tournament, at most those judged.",
    )
    ties: Literal["half", "drop"] = Field(
        default="half",
        description="How a tie counts: half a win for each system (half), or not at all (drop).",
    )
    ridge: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=0.1,
        description="Precision of the prior on coefficients of tournaments; 0 for none, except "
        "2e-6, as in choix, in a tournament without a maximum likelihood.",
    )
    ratings: Literal["posterior", "surrogate", "consensus"] = Field(
        default="posterior",
        description="The board's ratings: what the surrogate expects, corrected by the verdicts "
        "(posterior), what the trained surrogate predicts for all answers "
        "(surrogate), or, for an arena without judgments, how well answers agree "
        "with the others', with reference answers and with relevance labels or, "
        "without passages, what judges of other arenas liked (consensus).",
    )
    unjudged: Literal["placed", "ranked"] = Field(
        default="placed",
        description="Systems with verdicts on fewer than three questions: placed among the "
        "ranked ones by their answers, without a rank (placed), or ranked like all "
        "others (ranked).",
    )
    arena_ratings: Literal["judgments", "tournaments"] = Field(
        default="judgments",
        description="Ratings by verdicts alone (verdict_ratings.csv): the posterior of all "
        "judgments with normal intervals, or the mean over bootstrapped tournaments with their "
        "percentiles.",
    )
    holdout: Names | None = Field(
        default=None,
        description="Systems to keep out of training, or none; by default, two drawn by the "
        "seed for surrogates that can learn from one tournament, like the paper's, "
        "and none for others.",
    )
    seed: Count = Field(default=0, description="Random seed.")
    hard_verdicts: bool = Field(
        default=False,
        description="Count only winners, even if verdicts have probabilities; by default, "
        "probabilities count, at a temperature learned from people's votes or from "
        "repeated verdicts.",
    )


def preset_values(name: object) -> dict[str, object]:
    """Return the settings that a preset stands for; none for None."""
    return {} if name is None else dict(PRESETS[checked_choice(str(name), PRESETS, PRESET)])


def chosen_settings(
    settings: BoardSettings | None, options: Mapping[str, object], further: Iterable[str] = ()
) -> BoardSettings:
    """Return settings overridden by options, and a ``preset`` for what neither sets.

    Raises:
        UsageError: For an unknown option or preset, or an unusable value.
    """
    check_option_names(options, [*BoardSettings.model_fields, PRESET], further)
    values = preset_values(options.get(PRESET))
    if settings is not None:
        values.update(settings.model_dump(exclude_unset=True))
    values.update({name: value for name, value in options.items() if name != PRESET})
    try:
        return BoardSettings.model_validate(values)
    except ValidationError as error:
        faults = []
        for fault in error.errors():
            reason = fault["msg"]
            reason = reason[:1].lower() + reason[1:]
            faults.append(f"{fault['loc'][0]} = {fault['input']!r}: {reason}")
        raise UsageError("; ".join(faults)) from error


def check_option_names(
    options: Iterable[str], allowed: Sequence[str], further: Iterable[str] = ()
) -> None:
    """Refuse unknown options; suggest and list."""
    further = tuple(further)
    faults = []
    for name in options:
        if name not in allowed:
            hint = did_you_mean(name, [*allowed, *further])
            faults.append(f"there is no option {name!r}; {hint}".rstrip("; "))
    if faults:
        listed = ", ".join([*allowed, *further])
        raise UsageError(f"{'; '.join(faults)} (options: {listed})")


Documented = TypeVar("Documented", bound=Callable[..., Any] | type[Any])


def lists_options(
    names: Collection[str], defaults: Mapping[str, object] = MappingProxyType({})
) -> Callable[[Documented], Documented]:
    """Make a decorator that lists options in a docstring, for ``help()``."""
    lines = [_option_line(name, defaults) for name in BoardSettings.model_fields if name in names]
    if PRESET in names:
        lines.append(f"    {PRESET}=None ({'|'.join(PRESETS)}): Settings that go together")

    def decorate(documented: Documented) -> Documented:
        text = (documented.__doc__ or "").rstrip()  # python -OO has none
        documented.__doc__ = "\n    ".join([f"{text}\n", "Options, with their defaults:", *lines])
        return documented

    return decorate


def _option_line(name: str, defaults: Mapping[str, object]) -> str:
    field = BoardSettings.model_fields[name]
    first_clause = re.split(r"[:;.] ", field.description or "")[0].rstrip(".")
    default = defaults.get(name, field.default)
    default = ",".join(default) if isinstance(default, tuple) else default
    is_choice = get_origin(field.annotation) is Literal
    choices = f" ({'|'.join(get_args(field.annotation))})" if is_choice else ""
    return f"    {name}={default!r}{choices}: {first_clause}"


lists_options(BoardSettings.model_fields)(BoardSettings)


class ResolvedSettings(BoardSettings):
    """Everything that reproduces a board, resolved in its arena."""

    judge: str = Field(description="Whose judgments the surrogate learned from.")
    other_judges: Names = Field(
        default=(),
        description="Judges whose verdicts help to predict the ratings, and are shown too.",
    )
    features: Names = Field(default=(), description="Features measured on every answer.")
    metaevaluation: tuple[str, ...] = Field(
        default=(), description="How well the judge agrees with people."
    )
    holdout: Names = Field(default=(), description="Systems kept out of training.")
    temperatures: dict[str, float] = Field(
        default={},
        description="Divisor of the logits of each judge whose probabilities count.",
    )
    version: str = Field(default_factory=_version, description="Version of surrogate-arena.")

    def __str__(self) -> str:
        return "|".join(f"{name}:{text}" for name, text, _ in self.fields())

    def fields(self) -> list[tuple[str, str, str]]:
        """Return every field's name, value and meaning."""
        names = ["judge"]
        if self.other_judges:
            names.append("other_judges")
        if self.temperatures:
            names.append("temperatures")
        names += ["metaevaluation", *BoardSettings.model_fields, "version"]
        fields: dict[tuple[str, str, str], None] = {}  # an ordered set: judge is named twice
        for name in names:
            value = getattr(self, name)
            if name in OMITTED_DEFAULTS and value == BoardSettings.model_fields[name].default:
                continue
            meaning = type(self).model_fields[name].description or ""
            texts = value if name == "metaevaluation" else [_text(value)]
            for text in texts:
                fields[name, text, meaning] = None
        return list(fields)

    def toml(self) -> str:
        """Return changed settings, as ``board --config`` reads them."""
        values = {name: getattr(self, name) for name in BoardSettings.model_fields}
        if self.ratings == "consensus":
            del values["judge"]  # it stands for nobody
        elif self.other_judges:
            values["judge"] = ",".join((self.judge, *self.other_judges))
        chosen = BoardSettings(**values).model_dump(mode="json", exclude_defaults=True)
        lines = []
        for name, value in chosen.items():
            lines.append(f"{name} = {json.dumps(value, ensure_ascii=False)}")
        return "\n".join(lines)


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(value) or NONE
    if isinstance(value, dict):
        return ",".join(f"{name}={number:g}" for name, number in value.items())
    return str(value)
