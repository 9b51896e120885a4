"""Battle tables in the manner of LMArena: ``model_a, model_b, winner`` and little more.

Most hold neither questions nor answers: they become an arena of questions known by their id
alone, on which everything works that needs only judgments. Some are published with both
conversations, from which questions and answers are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from arena.data.languages import UNDETERMINED
from surrogate_arena.importers.battle_rows import Battle, BattleOptions, BattleReader
from surrogate_arena.importers.collected import Collected
from surrogate_arena.importers.columns import NO_COLUMNS
from surrogate_arena.importers.conversations import exchanges_of
from surrogate_arena.importers.files import checked_language
from surrogate_arena.importers.foreign_arena import ForeignArena, foreign_arena
from surrogate_arena.importers.judged_turns import CONVERSATIONS
from surrogate_arena.importers.search_arena import (
    SEARCH_ARENA,
    add_search_answers,
    is_of_search_arena,
    metadata_by_line,
    with_conversations,
)


def read_battles(
    paths: Sequence[Path | str],
    *,
    columns: Mapping[str, str] = NO_COLUMNS,
    name: str | None = None,
    judge: str | None = None,
    language: str = UNDETERMINED,
    drop_flagged: bool = False,
) -> ForeignArena:
    """Read battles from files of any row format, and folders of them.

    A row has two systems (``model_a, model_b``, or other names that ``columns.toml`` lists) and a
    winner (a ``winner`` in any of the field's words, see ``surrogate_arena.importers.winners``; or
    ``winner_model_a``, ``winner_model_b``, ``winner_tie``, of which one is true). It may have an id
    of the question, a language (a code or an English name; unknown ones become ``und``), a judge, a
    voter, a criterion, a weight, and a turn. The texts are ``conversation_a`` and
    ``conversation_b`` (lists of ``{role, content}``), or a prompt and two responses (texts, or
    lists of turns), each also as JSON text. The last question and the replies to it are compared;
    the turns before are their history. Where votes are on single turns, as in MT-Bench, each turn
    is a question of its own: ``81`` the first, ``81-2`` the second.

    A battle without a winner is a failed judgment: left out and counted. That both answers are bad
    is a tie, and kept as ``both_bad``. Without an id, every battle is a question of its own
    (``battle-1`` ...). Names of voters are people; who judged is ``unknown`` where no column says.

    Files of the search arena (``messages_a``, ``messages_b``) are read as ``search_arena`` says.

    Args:
        paths: Files and folders.
        columns: Field to the name of its column, where its own name is not known.
        name: Name of the arena; ``battles`` by default, or ``search-arena``.
        judge: Name to give the judge of all battles; without it the file's own counts.
        language: Code of all battles where there is no column ``language``.
        drop_flagged: Leave out votes that were not blind (``anony`` is false), and those that the
            source flags as duplicates (``dedup_tag.sampled`` is false).

    Raises:
        UsageError: If a file is absent or of unknown format, or a code is no language code.
        DataError: With every problem of all files.
    """
    checked_language(language)
    collected = Collected()
    options = BattleOptions(columns, judge, language, drops_flagged=drop_flagged)
    reader = BattleReader(collected, options)
    default_name = "battles"
    for _, rows in collected.files(paths):
        is_search = is_of_search_arena(rows)
        metadata: dict[int, tuple[object, ...]] = {}
        if is_search:
            default_name = SEARCH_ARENA
            metadata = metadata_by_line(rows)
            rows = with_conversations(collected, rows)
        for battle in reader.battles_of(rows):
            if is_search:
                add_search_answers(collected, battle, metadata.get(battle.place.line, ()))
            else:
                _add_texts(collected, battle)
    return foreign_of_battles(collected, name or default_name)


def foreign_of_battles(collected: Collected, name: str) -> ForeignArena:
    """Put an arena of battles together, whose systems are those that met."""
    note = "Battles only: questions are known by their id, there are no answers."
    if collected.answers:
        note = ""
    return foreign_arena(collected, name, source="", note=note, with_judged=True)


def _add_texts(collected: Collected, battle: Battle) -> None:
    """Add the question and the answers of a battle."""
    place = battle.place
    key = battle.key
    _, query_id = key
    if not battle.cells:
        collected.question(place, key, query_id, [], may_repeat=True)
        return
    try:
        exchanges = exchanges_of(battle.cells, battle.turn)
    except ValueError as error:
        column = CONVERSATIONS[0] if len(battle.cells) == 2 else "question"
        collected.fault(
            place,
            column,
            list(battle.cells),
            str(error),
            hint="write a list of {role, content}, or of texts",
        )
        return
    collected.question(place, key, exchanges[0].question or query_id, [], may_repeat=True)
    for system, exchange in zip(battle.sides, exchanges, strict=True):
        collected.answer_after(place, key, system, exchange.history, exchange.reply)
