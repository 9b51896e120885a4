"""Boards that differ from a real one in names or in what they say of themselves."""

from dataclasses import replace

from surrogate.board.summary import fingerprint

TABLES = (
    *("ratings", "overall", "verdict_ratings", "win_matrix", "differences"),
    "features",
)


def renamed(board, names):
    """Return a board whose systems have other names in all its tables."""
    mapping = dict(zip(board.systems, names, strict=True))
    tables = {}
    for name in TABLES:
        table = getattr(board, name)
        columns = [key for key in ("system", "opponent") if key in table]
        tables[name] = table.assign(**{key: table[key].map(mapping) for key in columns})
    return replace(board, **tables)


def about(board, arena=None, **settings):
    """Return a board that says something else of itself."""
    summary = board.summary
    changed = {"settings": summary.settings.model_copy(update=settings)}
    if arena is not None:
        changed["arena"] = arena
    return replace(board, summary=summary.model_copy(update=changed))


def renamed_arena(board, arena, names):
    """Return the board's arena with the names that ``renamed`` gives."""
    mapping = dict(zip(board.systems, names, strict=True))
    answers, judgments = arena.answers, arena.judgments
    return replace(
        arena,
        info=arena.info.model_copy(update={"systems": tuple(names), "reference_system": None}),
        answers=answers.assign(system=answers["system"].map(mapping)),
        judgments=judgments.assign(
            **{side: judgments[side].map(mapping) for side in ("system_a", "system_b")}
        ),
    )


def of_arena(board, arena):
    """Return a board that takes an arena for the one it was built from."""
    summary = board.summary.model_copy(update={"fingerprint": fingerprint(arena)})
    return replace(board, summary=summary)
