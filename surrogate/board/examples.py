"""A few answers of every system with the verdicts on them, to look at."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from arena.data.folder import Arena
from arena.data.seeds import seed_sequence

MOST_EXAMPLES = 12
A_LANGUAGE = 2

_KEY = ["language", "query_id"]
_COLUMNS = ["language", "query_id", "query", "system", "answer", "verdicts"]


def choose_examples(judged: Arena, most: int = MOST_EXAMPLES, seed: int = 0) -> pd.DataFrame:
    """Choose answers to show.

    Questions come in an order drawn by seed and content, judged ones first, the same for all
    systems, so that their answers stand side by side. A system shows up to two a language; where
    that is too many, one each of as many languages as there is room for before the second.

    Args:
        judged: The arena with the judgments of one judge.
        most: Examples a system at most; 0 for none.
        seed: The user's seed.

    Returns:
        Columns ``language, query_id, query, system, answer`` (as the system wrote them), and
        ``verdicts``: entries ``opponent, outcome`` (``win``, ``loss`` or ``tie`` of the system)
        and ``judge``. Sorted by language, question and system.
    """
    order = _question_order(judged, seed)
    written = judged.answers[[*_KEY, "system", "answer"]]
    answers = written.merge(order, on=_KEY).sort_values(["system", "order"])
    answers["turn"] = answers.groupby(["system", "language"]).cumcount()
    few = answers[answers["turn"] < A_LANGUAGE].sort_values(["system", "turn", "order"])
    chosen = few.groupby("system").head(most)
    table = chosen.sort_values(["language", "order", "system"], ignore_index=True)
    table["verdicts"] = pd.Series(_verdicts(judged, table), dtype=object)
    return table[_COLUMNS]


def _question_order(judged: Arena, seed: int) -> pd.DataFrame:
    """Give every question its place: judged ones first, else as drawn by seed and content."""
    questions = judged.queries[[*_KEY, "query"]]
    seen = set(judged.judgments[_KEY].itertuples(index=False, name=None))
    keys = list(questions[_KEY].itertuples(index=False, name=None))
    drawn = sorted(keys, key=lambda key: (key not in seen, _draw(seed, key), key))
    place = {key: number for number, key in enumerate(drawn)}
    return questions.assign(order=[place[key] for key in keys])


def _draw(seed: int, key: Sequence[str]) -> int:
    return int(seed_sequence(seed, "examples", *key).generate_state(1)[0])


def _verdicts(judged: Arena, chosen: pd.DataFrame) -> list[list[dict[str, str]]]:
    wanted = pd.MultiIndex.from_frame(chosen[_KEY])
    judgments = judged.judgments
    rows = judgments[pd.MultiIndex.from_frame(judgments[_KEY]).isin(wanted)]
    found: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    columns = [*_KEY, "system_a", "system_b", "winner", "judge"]
    for language, query_id, first, second, winner, judge in rows[columns].itertuples(
        index=False, name=None
    ):
        for system, opponent, side in ((first, second, "a"), (second, first, "b")):
            outcome = "tie" if winner == "tie" else "win" if winner == side else "loss"
            entry = {"opponent": opponent, "outcome": outcome, "judge": judge}
            found.setdefault((language, query_id, system), []).append(entry)
    keys = chosen[[*_KEY, "system"]].itertuples(index=False, name=None)
    return [sorted(found.get(key, []), key=lambda entry: tuple(entry.values())) for key in keys]
