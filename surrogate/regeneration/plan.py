"""The steps of every configured board, in the order they are made."""

from __future__ import annotations

from collections.abc import Iterator

from surrogate.regeneration.board_steps import board_step, features_step, validation_step
from surrogate.regeneration.config_file import ConfiguredBoard
from surrogate.regeneration.judging_step import judging_step
from surrogate.regeneration.published_steps import published_steps
from surrogate.regeneration.step import Step


def steps_of(board: ConfiguredBoard) -> Iterator[Step]:
    """Yield the steps of a board, each after those it rests on."""
    options = board.options
    if options.judging is not None:
        yield judging_step(board, options.judging)
    if options.feature_table is None:
        yield features_step(board)
    yield board_step(board)
    if options.after.validation is not None:
        yield validation_step(board, options.after.validation)
    yield from published_steps(board)
