"""Boards, new systems, and the surrogates behind them.

Boards:
    build_board               the main job: from an arena to one rating of every system
    Board                     a board: ``save``, ``load``, its tables
    BoardSettings             everything that can be chosen
    judging_prior             what to expect of systems before a judge is asked

New systems:
    rank_systems              places them on a board by their answers, and verdicts if any

Surrogates:
    Surrogate, find_surrogate what predicts ratings from answers; ``save_surrogate`` and
                              ``load_surrogate`` keep it
    validate                  how well surrogates rank what they have not seen

Names are loaded on first use.
"""

from arena.data import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
