"""A trained judge as one file: skops, so that loading runs no code from the file."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import skops.io

from arena.errors import UsageError
from arena.streams import atomic_path
from surrogate.judge import LanguageJudge, Recipe, SurrogateJudge

FORMAT = 1


def save_judge(judge: SurrogateJudge, path: Path) -> None:
    """Write a judge to a file.

    Args:
        judge: Trained judge.
        path: Target, by custom ``judge.skops``.
    """
    content = {
        "format": FORMAT,
        "description": json.dumps(_description(judge), ensure_ascii=False),
        "estimators": {language: item.estimator for language, item in judge.languages.items()},
    }
    with atomic_path(path) as temporary:
        skops.io.dump(content, temporary, compression=zipfile.ZIP_DEFLATED)


def load_judge(path: Path) -> SurrogateJudge:
    """Read a judge from a file; nothing in the file is executed.

    Raises:
        UsageError: If the file is absent, no judge, of an unknown format, or holds types that
            are not trusted.
    """
    content = _content(path)
    if content.get("format") != FORMAT:
        raise UsageError(
            f"{path.name} is of format {content.get('format')!r}; this version reads {FORMAT}"
        )
    description = json.loads(content["description"])
    languages = {
        language: LanguageJudge(
            language=language,
            features=tuple(item["features"]),
            systems=tuple(item["systems"]),
            recipe=Recipe(**item["recipe"]),
            estimator=content["estimators"][language],
            left_out=item["left_out"],
        )
        for language, item in description["languages"].items()
    }
    return SurrogateJudge(tuple(description["features"]), languages, description["signature"])


def _content(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise UsageError(f"there is no trained judge at {path}")
    try:
        untrusted = skops.io.get_untrusted_types(file=path)
        if untrusted:
            raise UsageError(
                f"{path.name} holds types that are not trusted ({', '.join(untrusted)}); "
                "use a judge written by this project"
            )
        content = skops.io.load(path, trusted=[])
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        if isinstance(error, UsageError):
            raise
        raise UsageError(f"{path.name} is not a trained judge ({error})") from error
    if not isinstance(content, dict):
        raise UsageError(f"{path.name} is not a trained judge")
    return content


def _description(judge: SurrogateJudge) -> dict[str, Any]:
    return {
        "features": judge.features,
        "signature": judge.signature,
        "languages": {
            language: {
                "features": item.features,
                "systems": item.systems,
                "recipe": {"learner": item.recipe.learner, "rows": item.recipe.rows},
                "left_out": dict(item.left_out),
            }
            for language, item in judge.languages.items()
        },
    }
