"""Rank RAG systems from a few pairwise verdicts by an LLM or by people.

An arena, and what it rates:
    Arena                     questions, answers, judgments: ``Arena.from_frames``
    read_arena, write_arena   an arena folder; ``sample_arena()`` is one to try things on
    import_arena              what others published, or a table of answers
    judge                     pairwise verdicts by an LLM, kept and paid for once
    rate, diagnose            Bradley-Terry ratings; what limits a board, in sentences

What is measured on answers:
    extract, FEATURES         a table of features; what there is, by name
    Feature                   one of your own

What is learned and shown:
    build_board               the main job: from an arena to one rating of every system
    Board                     ``save``, ``load``, its tables
    rank_systems              places new systems on a board by their answers, and verdicts if any
    write_site                a board's pages, for a browser
    gate                      is a new version better, the same, or worse
    validate                  how well surrogates rank what they have not seen
    compare                   which surrogate, features, metric or judge ranks best: paired tests

Errors:
    ArenaError                of which all others are: DataError, UsageError, MissingDependencyError

The packages ``arena``, ``features`` and ``surrogate`` are the core and have the rest of its names:
``help(arena)``, ``help(features)``, ``help(surrogate)``. The folders beside this file are the
application: each can be deleted. Names are loaded on first use.

Raises:
    ImportError: If something else by one of these three names stands before them on Python's path.
"""

from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("arena", "features", "surrogate")


def _refuse_others() -> None:
    """Refuse to go on with packages of others that have our packages' names."""
    ours = Path(__file__).parents[1]
    for name in PACKAGES:
        spec = find_spec(name)
        origin = None if spec is None or spec.origin is None else Path(spec.origin)
        if origin is not None and origin.resolve() == (ours / name / "__init__.py").resolve():
            continue
        place = "not installed" if origin is None else str(origin)
        raise ImportError(
            f"surrogate_arena needs its own package {name!r}, in {ours}; here {name!r} is {place}: "
            "rename that file or folder, or run from where it is not on Python's path"
        )


_refuse_others()

from arena.data import lazy_names  # noqa: E402 - after the check

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
