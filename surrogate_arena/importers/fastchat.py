"""Benchmarks that FastChat writes, such as MT-Bench, and Arena-Hard, which writes them otherwise.

Of a question of several turns every turn is a question of its own, ``81`` the first, ``81-2`` the
second, which each system answers after turns of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from arena.data.errors import checked_choice
from arena.data.languages import UNDETERMINED
from arena.data.rows import Rows
from arena.data.schema import REFERENCE
from arena.data.types import Record
from arena.data.wording import count_of
from surrogate_arena.importers.collected import PART, SCORE, Collected, Place, PlacedRecord
from surrogate_arena.importers.contract import value_at
from surrogate_arena.importers.foreign_arena import ForeignArena, foreign_arena
from surrogate_arena.importers.languages import languages_by_id, stated_language
from surrogate_arena.importers.values import name_text, number_of
from surrogate_arena.importers.verdict_values import (
    StatedValues,
    StatedVerdict,
    stated_values,
    verdict_of_word,
)

FAILED = "$ERROR$"
"""What FastChat writes where a model has not answered."""


def read_fastchat(
    paths: Sequence[Path | str],
    *,
    name: str = "mt-bench",
    language: str | None = None,
    values: Sequence[str] = (),
) -> ForeignArena:
    """Read ``question.jsonl``, ``model_answer``, ``model_judgment`` and ``reference_answer``.

    Files are known by their columns. A pair's two games are two judgments, in both orders; marks
    are a judge of their own, ``MODEL:pointwise``. Games that ended in an error, marks of -1 and
    answers that failed are counted.

    Args:
        paths: The folder of a benchmark, or files.
        name: Name of the arena.
        language: Code of all questions; by default each is detected.
        values: What the scores of Arena-Hard mean, such as ``score:A>>B=a*3,A>B=a,A=B=tie,B>A=b,
            B>>A=b*3``, which counts strong verdicts three times.

    Raises:
        UsageError: If a file is absent or of unknown format, or the code is none.
        DataError: With every problem of all files.
    """
    collected = Collected()
    records = _records_by_kind(collected, paths)
    stated = stated_values(values)
    for column in stated:
        checked_choice(column, ["score"], "column with values")
    benchmark = _Benchmark(collected, stated.get("score"))
    # Answers need the questions, in whatever order the files are.
    for _, (place, record) in records["turns"]:
        benchmark.read_turns(place, record)
    benchmark.find_languages(language)
    for _, (place, record) in records["turns"]:
        benchmark.add_question(place, record)
    for path, (place, record) in records["choices"]:
        benchmark.add_answers(place, record, is_reference=_is_reference(path))
    baseline = _only_baseline([record for _, (_, record) in records["judge"]], collected)
    for _, (place, record) in records["judge"]:
        if "games" in record:
            benchmark.add_games_against(place, record, baseline)
        elif "score" in record:
            benchmark.add_mark(place, record)
        else:
            benchmark.add_games(place, record)
    if benchmark.n_strong:
        collected.notes.append(
            f"{count_of(benchmark.n_strong, 'strong verdict')} (A>>B) count once, as any other; "
            "Arena-Hard counts them three times: --values 'score:A>>B=a*3,A>B=a,A=B=tie,B>A=b,"
            "B>>A=b*3'"
        )
    return foreign_arena(collected, name, with_judged=True)


def _records_by_kind(
    collected: Collected, paths: Sequence[Path | str]
) -> dict[str, list[tuple[Path, PlacedRecord]]]:
    """Return questions (``turns``), answers (``choices``) and what judges said, with their file."""
    records: dict[str, list[tuple[Path, PlacedRecord]]] = {"turns": [], "choices": [], "judge": []}
    for path, foreign in collected.files(paths):
        rows = _in_usual_form(foreign)
        column = next((column for column in records if column in rows.table), "judge")
        needed = ["question_id"]
        if column == "judge" and "games" in rows.table:
            needed += ["model", "judge"]
        elif column == "judge" and "score" not in rows.table:
            needed += ["model_1", "model_2", "g1_winner", "g2_winner", "judge"]
        if column == "choices" and not _is_reference(path):
            needed.append("model_id")
        if not collected.lack_columns(rows, needed):
            records[column] += [(path, placed) for placed in collected.raw(rows)]
    return records


class _Benchmark:
    """Adds the rows of FastChat's files to what is collected."""

    def __init__(self, collected: Collected, stated: StatedValues | None) -> None:
        self.collected = collected
        self.stated = stated
        self.n_strong = 0
        self.turns: dict[str, list[str]] = {}
        """Turns of each question by its id."""
        self.languages: Mapping[str, str] = {}
        """Language of each question by its id."""
        self.default_language = UNDETERMINED

    def read_turns(self, place: Place, record: Record) -> None:
        """Read the turns of a question."""
        self.turns[_id(record)] = self._texts(place, "turns", record["turns"])

    def find_languages(self, stated: str | None) -> None:
        """Find the language of each question by its first turn."""
        self.default_language = stated_language(stated)
        first_turns = {name: turns[0] for name, turns in self.turns.items() if turns}
        self.languages, note = languages_by_id(first_turns, stated)
        if note:
            self.collected.notes.append(note)

    def add_question(self, place: Place, record: Record) -> None:
        """Add each turn of a question."""
        for number, text in enumerate(self.turns[_id(record)], start=1):
            question = self.collected.question(place, self._key(record, number), text, [])
            if "category" in record:
                question["category"] = record["category"]

    def add_answers(self, place: Place, record: Record, *, is_reference: bool) -> None:
        """Add a system's answers to the turns of a question, or the reference answers."""
        collected = self.collected
        if _id(record) not in self.turns:
            collected.fault(
                place,
                "question_id",
                record["question_id"],
                fault="is not a question of question.jsonl",
                hint="give the questions too",
            )
        # FastChat may draw several answers: the first is judged.
        choices = record["choices"]
        choice = choices[0] if isinstance(choices, list) and choices else choices
        value = choice.get("turns") if isinstance(choice, dict) else choice
        replies = self._texts(place, "choices", value)
        history: list[Record] = []
        turns = zip(self.turns.get(_id(record), ()), replies, strict=False)
        for number, (question, text) in enumerate(turns, start=1):
            key = self._key(record, number)
            # A failed answer stays in the history, empty, so that turns alternate.
            has_failed = text == FAILED
            if is_reference:
                collected.queries[key].setdefault(REFERENCE, text)
                collected.became(place, PART)
            elif has_failed:
                collected.skip(place, "answer", "the model has not answered")
            else:
                collected.answer_after(place, key, record["model_id"], history, text)
            reply = "" if has_failed else text
            history = [
                *history,
                {"role": "user", "content": question},
                {"role": "assistant", "content": reply},
            ]

    def add_games(self, place: Place, record: Record) -> None:
        """Add the two games of a pair: in the second the first model is on side B."""
        key = self._key(record, record.get("turn") or 1)
        games = {"g1_winner": ("model_1", "model_2"), "g2_winner": ("model_2", "model_1")}
        for column, (model_a, model_b) in games.items():
            winner = record[column]
            verdict = verdict_of_word(winner)
            if winner in (model_a, model_b):
                verdict = StatedVerdict("a" if winner == model_a else "b")
            sides = (record[model_a], record[model_b])
            self._judgment(place, key, sides, verdict, winner, _judge(record))

    def add_games_against(self, place: Place, record: Record, baseline: str | None) -> None:
        """Add a model's games of Arena-Hard: in the first the baseline is on side A."""
        opponent = record.get("baseline") or baseline
        if not isinstance(opponent, str):
            hint = "write it in a field baseline of each row, or give the answers of all models"
            self.collected.fault(place, "baseline", opponent, "names no baseline", hint)
            return
        games = record["games"]
        scores = [value_at(game, "score") for game in games] if isinstance(games, list) else []
        sides = (opponent, record["model"])
        for number, score in enumerate(scores):
            order = sides if number % 2 == 0 else sides[::-1]
            verdict = (
                verdict_of_word(score) if self.stated is None else self.stated.verdict_of(score)
            )
            if verdict is not None and verdict.is_strong:
                self.n_strong += 1
            self._judgment(place, self._key(record, 1), order, verdict, score, _judge(record))

    def _judgment(
        self,
        place: Place,
        key: tuple[str, str],
        sides: tuple[object, object],
        verdict: StatedVerdict | None,
        value: object,
        judge: object,
    ) -> None:
        if verdict is None:
            hint = "write model_1, model_2, tie or error"
            self.collected.fault(place, "winner", value, "is no verdict", hint)
            return
        self.collected.judgment(place, key, sides, verdict, judge)

    def add_mark(self, place: Place, record: Record) -> None:
        """Add the mark of an answer."""
        score = number_of(record["score"])
        if score is None or not isinstance(record.get("model"), str):
            fault = "is not a mark for a model"
            self.collected.fault(
                place, "score", record["score"], fault, "write model, and a number"
            )
            return
        if score < 0:
            self.collected.skip(place, "mark", "the judge gave none")
            return
        language, query_id = self._key(record, record.get("turn") or 1)
        mark = {
            "language": language,
            "query_id": query_id,
            "system": record["model"],
            "mark": score,
            "judge": f"{_judge(record)}:pointwise",
        }
        self.collected.became(place, SCORE)
        self.collected.marks.append(mark)

    def _key(self, record: Record, turn: object) -> tuple[str, str]:
        number = name_text(turn)
        query_id = _id(record)
        language = self.languages.get(query_id, self.default_language)
        return language, query_id if number == "1" else f"{query_id}-{number}"

    def _texts(self, place: Place, name: str, value: object) -> list[str]:
        # Arena-Hard writes a record a turn.
        turns = value if isinstance(value, list) else []
        contents = [turn.get("content") if isinstance(turn, dict) else turn for turn in turns]
        texts = [text for text in contents if isinstance(text, str)]
        if texts and len(texts) == len(contents):
            return texts
        self.collected.fault(
            place, name, value, "holds no turns", hint="write the turns as a list of texts"
        )
        return []


def _in_usual_form(rows: Rows) -> Rows:
    """Write the questions and answers of Arena-Hard as FastChat does; other files stay."""
    table = rows.table
    if "uid" in table and "question_id" not in table:
        table = table.rename(columns={"uid": "question_id"})
    if "prompt" in table and not {"turns", "games"} & set(table):
        table = table.assign(turns=[[prompt] for prompt in table["prompt"]])
    if "messages" in table and "model" in table:
        replies = [[_replies(messages)] for messages in table["messages"]]
        table = table.assign(choices=replies, model_id=table["model"])
    return replace(rows, table=table)


def _replies(messages: object) -> Record:
    turns = messages if isinstance(messages, list) else []
    replies = [value_at(turn, "content") for turn in turns if value_at(turn, "role") == "assistant"]
    return {"turns": [value_at(reply, "answer") or reply for reply in replies]}


def _only_baseline(judged: Sequence[Record], collected: Collected) -> str | None:
    """Return the only model with answers that was not judged itself; None if there is none."""
    judged_models = {record.get("model") for record in judged if "games" in record}
    unjudged = {system for _, _, system in collected.answers} - judged_models
    return unjudged.pop() if len(unjudged) == 1 else None


def _is_reference(answers: Path) -> bool:
    return "reference_answer" in answers.parts


def _id(record: Record) -> str:
    return str(name_text(record["question_id"]))


def _judge(record: Record) -> object:
    judge = record["judge"]
    # FastChat writes the judge's model and the name of its prompt.
    return judge[0] if isinstance(judge, list) and judge else judge
