"""Rank RAG systems with a surrogate trained on pairwise LLM tournaments.

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
    Board                     ``save``, ``load``, ``rank`` new systems, its tables
    write_site                a board's pages, for a browser
    gate                      is a new version better, the same, or worse
    validate                  how well surrogates rank what they have not seen

Errors:
    ArenaError                of which all others are: DataError, UsageError, MissingDependencyError

These are names of the packages ``arena``, ``features`` and ``surrogate``, which have the rest:
``help(arena)``, ``help(features)``, ``help(surrogate)``. Names are loaded on first use.

Raises:
    ImportError: If something else by one of these three names stands before them on Python's path.
"""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

NAMES = {
    "arena": (
        *("Arena", "ArenaError", "DataError", "JudgingSettings", "MissingDependencyError"),
        *("UsageError", "__version__", "diagnose", "import_arena", "open_store", "rate"),
        *("read_answers", "read_arena", "sample_arena", "write_arena"),
    ),
    "features": ("FEATURES", "Feature", "ModelOptions", "Sample", "extract"),
    "surrogate": (
        *("Board", "BoardSettings", "Surrogate", "build_board", "gate", "judge", "validate"),
        "write_site",
    ),
}
"""What most programs need, by the package that has it; the packages have the rest."""
PACKAGES = tuple(NAMES)
_HOMES = {name: package for package, names in NAMES.items() for name in names}
__all__ = [*sorted(_HOMES), *PACKAGES]


def _refuse_others() -> None:
    """Refuse to go on with packages of others that have our packages' names."""
    ours = Path(__file__).parents[1]
    for name in PACKAGES:
        spec = find_spec(name)
        found = None if spec is None or spec.origin is None else Path(spec.origin)
        if found is not None and found.resolve() == (ours / name / "__init__.py").resolve():
            continue
        place = "not installed" if found is None else str(found)
        raise ImportError(
            f"surrogate_arena needs its own package {name!r}, in {ours}; here {name!r} is {place}: "
            "rename that file or folder, or run from where it is not on Python's path"
        )


_refuse_others()


def __getattr__(name: str) -> object:
    """Load a name of one of the three packages."""
    if name in PACKAGES:
        found = import_module(name)
    elif name in _HOMES:
        found = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"No {__name__} attribute {name}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """List every public name."""
    return list(__all__)
