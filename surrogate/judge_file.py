"""A trained judge as one file: skops, so that loading runs no code from the file.

skops is imported where it is used: it imports whatever scikit-learn can work with, torch included.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from arena.errors import UsageError
from arena.streams import atomic_path
from surrogate.judge import LanguageJudge, Recipe, SurrogateJudge
from surrogate.saved_learners import stored, trusted
from surrogate.training import RowKind
from surrogate.trusted_forest import TRUSTED_TYPES

FORMAT = 1


class _LanguageDescription(BaseModel):
    features: tuple[str, ...]
    systems: tuple[str, ...]
    learner: str
    rows: RowKind
    left_out: dict[str, str]


class _Description(BaseModel):
    features: tuple[str, ...]
    signature: str
    languages: dict[str, _LanguageDescription]


def save_judge(judge: SurrogateJudge, path: Path) -> None:
    """Write a judge to a file.

    Args:
        judge: Trained judge.
        path: Target, by custom ``judge.skops``.

    Raises:
        UsageError: If it is of a learner that could not be checked when it is read; see
            ``saved_learners``.
    """
    estimators = {
        language: stored(item.estimator, item.recipe.learner)
        for language, item in judge.languages.items()
    }

    import skops.io

    content = {
        "format": FORMAT,
        "description": _describe(judge).model_dump_json(),
        "estimators": estimators,
    }
    with atomic_path(path) as temporary:
        skops.io.dump(content, temporary, compression=zipfile.ZIP_DEFLATED)


def load_judge(path: Path) -> SurrogateJudge:
    """Read a judge from a file; nothing in the file is executed.

    Raises:
        UsageError: If the file is absent, no judge, of an unknown format, or holds types, trees
            or numbers that cannot be trusted.
    """
    content = _content(path)
    if content.get("format") != FORMAT:
        raise UsageError(
            f"{path.name} is of format {content.get('format')!r}; this version reads {FORMAT}"
        )
    try:
        description = _Description.model_validate_json(content["description"])
        languages = {
            language: _language_judge(language, item, content["estimators"][language])
            for language, item in description.languages.items()
        }
    except (KeyError, TypeError, ValidationError) as error:
        raise UsageError(f"{path.name} is not a trained judge: it is incomplete") from error
    except UsageError as error:
        raise UsageError(f"{path.name} is not a trained judge: {error}") from error
    return SurrogateJudge(description.features, languages, description.signature)


def _content(path: Path) -> dict[str, Any]:
    import skops.io

    if not path.is_file():
        raise UsageError(f"there is no trained judge at {path}")
    try:
        untrusted = set(skops.io.get_untrusted_types(file=path)) - set(TRUSTED_TYPES)
        content = None if untrusted else skops.io.load(path, trusted=list(TRUSTED_TYPES))
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{path.name} is not a trained judge ({error})") from error
    if untrusted:
        raise UsageError(
            f"{path.name} holds types that are not trusted ({', '.join(sorted(untrusted))}); "
            "use a judge written by this project"
        )
    if not isinstance(content, dict):
        raise UsageError(f"{path.name} is not a trained judge: it holds something else")
    return content


def _describe(judge: SurrogateJudge) -> _Description:
    return _Description(
        features=judge.features,
        signature=judge.signature,
        languages={
            language: _LanguageDescription(
                features=item.features,
                systems=item.systems,
                learner=item.recipe.learner,
                rows=item.recipe.rows,
                left_out=dict(item.left_out),
            )
            for language, item in judge.languages.items()
        },
    )


def _language_judge(language: str, item: _LanguageDescription, content: object) -> LanguageJudge:
    estimator = trusted(content, item.learner, len(item.features))
    recipe = Recipe(item.learner, item.rows)
    return LanguageJudge(language, item.features, item.systems, recipe, estimator, item.left_out)
