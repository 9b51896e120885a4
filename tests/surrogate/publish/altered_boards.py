"""Boards that differ from a real one in names or in what they say of themselves."""

from dataclasses import replace

TABLES = (
    *("ratings", "overall", "arena", "win_matrix", "differences", "neighbors", "examples"),
    "features",
)


def renamed(board, names):
    """Return a board whose systems have other names in all its tables."""
    mapping = dict(zip(board.systems, names, strict=True))
    tables = {}
    for name in TABLES:
        table = getattr(board, name)
        columns = [key for key in ("system", "opponent", "neighbor") if key in table]
        tables[name] = table.assign(**{key: table[key].map(mapping) for key in columns})
    return replace(board, **tables)


def about(board, arena=None, **settings):
    """Return a board that says something else of itself."""
    summary = board.summary
    changed = {"settings": summary.settings.model_copy(update=settings)}
    if arena is not None:
        changed["arena"] = arena
    return replace(board, summary=summary.model_copy(update=changed))
