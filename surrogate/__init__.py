"""Boards, new systems, validation of surrogates, and comparisons of judges with people.

Boards:
    build_board               the main job: from an arena to one rating of every system
    Board                     a board: ``save``, ``load``, its tables
    BoardSettings             everything that can be chosen
    write_site                its pages, for a browser

Judging, and new systems:
    judge                     pairwise verdicts by an LLM or a panel, kept and paid for once
    rank_systems              places them on a board by their answers, and verdicts if any
    gate                      is a new version better, the same, or worse, at stated error rates

Validation:
    validate                  how well surrogates rank what they have not seen

Names are loaded on first use. Further stages: ``surrogate_arena.papers``, ``publish``, ``diff``,
``runs``, ``training``.
"""

from arena.data.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
