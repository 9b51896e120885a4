"""Which features a configured board rests on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from arena.errors import UsageError
from features import Feature, parse_features

if TYPE_CHECKING:
    from surrogate.regeneration.config_file import ConfiguredBoard

DEFAULT_GROUP = "default"

_REMARK = re.compile(r"(^|\s)#.*")


def chosen_features(board: ConfiguredBoard) -> tuple[Feature, ...]:
    """Return the features of a board that has no table of them.

    Raises:
        UsageError: For an unknown feature, one named twice, or a file of names that is absent.
    """
    options = board.options
    if options.feature_file is not None:
        return parse_features(_names_in_file(board, options.feature_file))
    names = [DEFAULT_GROUP] if options.features is None else options.features
    return parse_features(",".join(names))


def _names_in_file(board: ConfiguredBoard, name: str) -> str:
    path = board.base / name
    if not path.is_file():
        raise UsageError(f"there is no file of features at {path}; write one name a line")
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    named = [_REMARK.sub("", line).strip().strip(",") for line in lines]
    return ",".join(line for line in named if line)
