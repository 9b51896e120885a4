"""What a board is built with: the settings a user chooses, and the record that reproduces it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from arena.data import __version__
from arena.data.errors import UsageError, checked_choice

if TYPE_CHECKING:
    from arena.data.arena import Arena

NONE = "none"
"""Stands for an empty list."""
NOBODY = "nobody"
"""Stands for the judge of a board without verdicts."""

_IN_PARENTHESES = re.compile(r"[^(),\\\s](?:[^(),\\]*[^(),\\\s])?(?:\([^()\\]*\))?")
"""Items that stand in a list as they are; commas in parentheses belong to a feature."""


def _surrogate_name(surrogate: object) -> object:
    """Take a regressor of scikit-learn's form by its name."""
    if isinstance(surrogate, str):
        return surrogate
    from surrogate.learning.names import surrogate_name

    return surrogate_name(surrogate)


def join_list(items: Sequence[str]) -> str:
    """Join items by commas, so that ``split_list`` gives them again."""
    if not items:
        return NONE
    if list(items) == [NONE]:
        return f"\\{NONE}"
    return ",".join(
        item if _IN_PARENTHESES.fullmatch(item) else re.sub(r"([\\,()\s])", r"\\\1", item)
        for item in items
    )


def split_list(value: object) -> object:
    """Take text as a list: commas between items, ``none`` for an empty one.

    A comma in parentheses belongs to its item, as in ``judge(a,b)``, and so does one after a
    backslash. What is no text is left as it is, lists as tuples.
    """
    if isinstance(value, list):
        return tuple(value)
    if not isinstance(value, str):
        return value
    return () if value.strip() == NONE else tuple(_items(value))


def _items(text: str) -> Iterator[str]:
    marks: list[str] = []
    kept = depth = 0  # characters that are not space at the end; open parentheses
    tokens = re.finditer(r"\\(.)|(.)", text, flags=re.DOTALL)
    for token in tokens:
        escaped, plain = token.groups()
        if plain == "," and depth == 0:
            if kept:
                yield "".join(marks[:kept])
            marks, kept = [], 0
            continue
        depth = max(0, depth + (plain == "(") - (plain == ")"))
        if marks or escaped or not plain.isspace():
            marks.append(escaped or plain)
            kept = len(marks) if escaped or not plain.isspace() else kept
    if kept:
        yield "".join(marks[:kept])


Names = Annotated[tuple[str, ...], BeforeValidator(split_list)]
Positive = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0)]


PRESETS: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {
        "mirage": MappingProxyType(
            {
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
        )
    }
)
"""Name to settings that go together; ``mirage``: as MIRAGE-Bench was published (section 4.3)."""
PRESET = "preset"


OPTIONS = frozenset({"judge", "features", "surrogate", "tournaments", "holdout", "seed"})
"""Settings that are options of ``surrogate-arena board``; ``--config`` takes them all."""
MOST_DRAWS = 100_000
"""Of tournaments, rounds, repeats and resamples: more say nothing that these do not, and fill the
memory."""
MOST_TREES = 10_000


class BoardSettings(BaseModel):
    """What a user may choose of a board; Python, the command line and TOML share it."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, defer_build=True
    )  # built on first use

    judge: str | None = Field(
        default=None,
        description="Judge whose judgments to learn from, where there are several; published, or "
        "published:COLUMN, for the ratings of published_ratings.csv.",
    )
    features: Names = Field(
        default=("default",),
        description="Features to measure on every answer, such as citation_recall@10,bleu; or "
        "groups of them: default, deterministic, paper, as-published, retrieval, grounding, "
        "fluency, llm, ragas, all.",
    )
    surrogate: Annotated[str, BeforeValidator(_surrogate_name)] = Field(
        default="gaussian-process",
        description="Surrogate that predicts a system's rating from its answers: "
        "gaussian-process, random-forest (the paper's), xgboost, linear, svr, mlp, or the "
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
        default=200, le=MOST_DRAWS, description="Bootstrapped tournaments a language."
    )
    questions: Positive = Field(
        default=100,
        description="Questions drawn with replacement a tournament, at most those judged.",
    )
    ties: Literal["half", "drop"] = Field(
        default="half", description="How ties count: half a win each, or drop."
    )
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
        description="Tournaments at most that get a surrogate of their own, for R² on the held-out "
        "systems and the spread of importances.",
    )
    r2_trees: Positive = Field(
        default=25, le=MOST_TREES, description="Trees of the forest of such a surrogate."
    )
    seed: Count = Field(default=0, description="Seed of everything random.")
    examples: Count = Field(default=12, description="Answers to show of each system at most.")


class BoardRecord(BoardSettings):
    """Everything that reproduces a board: its settings as they were resolved.

    The text of a record is the signature of its board: fields ``name:value`` between bars, in the
    order below, where a bar or backslash in a value has a backslash in front.
    """

    judge: str = Field(description="Whose judgments the surrogate learned from.")
    features: Names = Field(default=(), description="What is measured on every answer.")
    metaevaluation: tuple[str, ...] = Field(
        default=(), description="How well the judge agrees with people."
    )
    holdout: Names = Field(default=(), description="Systems kept out of training.")
    version: str = Field(default=__version__, description="Version of surrogate-arena.")

    def __str__(self) -> str:
        fields = (f"{name}:{text}" for name, text, _ in self.fields())
        return "|".join(re.sub(r"([|\\])", r"\\\1", field) for field in fields)

    def fields(self) -> list[tuple[str, str, str]]:
        """Return the name, value and meaning of every field; a meta-evaluation is one each."""
        names = ["judge", "metaevaluation", *BoardSettings.model_fields, "version"]
        return [
            (name, text, type(self).model_fields[name].description or "")
            for name in dict.fromkeys(names)
            for text in self._texts(name)
        ]

    def options(self) -> dict[str, str]:
        """Return the options of ``surrogate-arena board`` that say the same."""
        left_out = {"judge"} if self.ratings == "consensus" else set()
        return {name: text for name, text, _ in self.fields() if name in OPTIONS - left_out}

    def further(self) -> dict[str, object]:
        """Return what its ``--config`` has to say beside these: what is not as by default."""
        return {
            name: getattr(self, name)
            for name, field in BoardSettings.model_fields.items()
            if name not in OPTIONS and getattr(self, name) != field.default
        }

    def _texts(self, name: str) -> list[str]:
        value = getattr(self, name)
        if name == "metaevaluation":
            return list(value)
        return [join_list(value) if isinstance(value, tuple) else str(value)]

    @classmethod
    def parse(cls, signature: str) -> BoardRecord:
        """Return the record whose text a signature is.

        Raises:
            UsageError: If it is no signature of a board.
        """
        values: dict[str, Any] = {"metaevaluation": []}
        for part in re.findall(r"(?:[^|\\]|\\.)+", signature, flags=re.DOTALL):
            name, _, text = re.sub(r"\\(.)", r"\1", part, flags=re.DOTALL).partition(":")
            if name == "metaevaluation":
                values[name].append(text)
            elif name in values:
                raise UsageError(f"the signature says {name} twice")
            else:
                values[name] = text
        values["metaevaluation"] = tuple(values["metaevaluation"])
        try:
            return cls.model_validate(values, strict=False)
        except ValidationError as error:
            fault = error.errors()[0]
            raise UsageError(
                f"no signature of a board: {'.'.join(map(str, fault['loc']))}: {fault['msg']}"
            ) from error


def preset_values(name: object) -> dict[str, object]:
    """Return the settings that a preset stands for; none for None.

    Raises:
        UsageError: If there is no preset of that name.
    """
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
        raise UsageError("; ".join(option_faults(error))) from error


def option_faults(error: ValidationError) -> Iterator[str]:
    """Say what is wrong with each option, such as ``ties = 'x': input should be …``."""
    for fault in error.errors():
        name = ".".join(map(str, fault["loc"]))
        message = fault["msg"]
        if fault["type"] == "extra_forbidden":
            yield f"there is no option {name}"
        else:
            yield f"{name} = {fault['input']!r}: {message[:1].lower()}{message[1:]}"


def board_judge(arena: Arena, settings: BoardSettings) -> str | None:
    """Return whose verdicts a board rests on; None for a first board, without any.

    Raises:
        UsageError: If there is no such judge, several to choose from, or none where the settings
            ask for ratings by verdicts.
    """
    if settings.ratings == "consensus":
        if settings.judge is not None:
            raise UsageError(
                f"ratings by consensus look at no verdict; leave judge {settings.judge!r} out"
            )
        return None
    if not arena.judges and settings.judge is None and settings.ratings == "posterior":
        return None
    return arena.judged_by(settings.judge).judges[0]
