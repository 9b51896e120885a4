"""Questions and answers on ``pairs/*.html``: which are shown, and how citations are linked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from arena.data.arena import Arena
from arena.data.schema import QUESTION_KEY
from arena.judging.answer_pairs import (
    ArenaTexts,
    QuestionKey,
    ShownPassage,
    shown_of_all,
)
from arena.statistics.bootstrap import seed_sequence
from arena.text.answers import find_citations
from surrogate_arena.pages.answer_nuggets import AnswerMarks
from surrogate_arena.pages.site_settings import MOST_QUESTIONS
from surrogate_arena.pages.views import Row, cut_text

LONGEST_PAGE = 1_000_000
"""Bytes of questions, answers, passages and reasons that a page has room for."""
LONGEST_ANSWER = 20_000
LONGEST_PASSAGE = 2_000


class Texts:
    """The texts and verdicts of an arena for all pages of a site."""

    def __init__(self, judged: Arena, seed: int, most: int = MOST_QUESTIONS) -> None:
        self.judgments = judged.judgments
        self._texts = ArenaTexts(judged)
        self._marks = AnswerMarks(judged)
        self._most = most
        rows = judged.queries[[*QUESTION_KEY, "query"]].itertuples(index=False, name=None)
        queries: dict[QuestionKey, str] = {(code, name): query for code, name, query in rows}
        judged_questions = judged.judgments[QUESTION_KEY].drop_duplicates()
        judged_keys = set(judged_questions.itertuples(index=False, name=None))
        draws: dict[QuestionKey, int] = {}
        for key in queries:
            # By the question's own key, so that a further question moves no other one.
            draws[key] = int(seed_sequence(seed, "examples", *key).generate_state(1)[0])
        ordered = sorted(queries, key=lambda key: (key not in judged_keys, draws[key], key))
        self.queries = {key: queries[key] for key in ordered}
        languages = {language for language, _ in self.queries}
        most_of_site = 10_000_000  # bytes that all pages together have room for
        self._room = min(LONGEST_PAGE, most_of_site // max(len(languages), 1))

    def of(self, language: str, systems: Sequence[str], verdicts: pd.DataFrame) -> Row:
        """Choose questions of a language, judged ones first, while there is room for them."""
        # As text: without verdicts the column has no type of its own.
        reasons = verdicts["reason"].astype("str")
        reason_sizes = reasons.str.len().groupby(verdicts["query_id"]).sum()
        order = {name: index for index, name in enumerate(systems)}
        room = self._room
        n_answered = 0
        shown: list[Row] = []
        for key in self.queries:
            if key[0] != language:
                continue
            names = sorted(order.keys() & self._texts.systems(key), key=order.__getitem__)
            if len(names) < 2:
                continue
            n_answered += 1
            if len(shown) == self._most:
                continue
            question, size = self._shown(key, names)
            size += int(reason_sizes.get(key[1], 0))
            # A question that is too long leaves its room to shorter ones.
            if size <= room:
                shown.append(question)
                room -= size
        return {"questions": shown, "answered": n_answered}

    def _shown(self, key: QuestionKey, names: Sequence[str]) -> tuple[Row, int]:
        """Return a question as it is shown, and the bytes of its texts."""
        indices: dict[ShownPassage, int] = {}
        holders: dict[int, list[str]] = {}
        answers = []
        for name in names:
            index_by_id = {}
            for passage in self._texts.passages(key, name):
                index = indices.setdefault(passage, len(indices))
                holders.setdefault(index, []).append(name)
                index_by_id[passage.passage_id] = index
            answers.append(self._answer(key, name, index_by_id))
        turns = shown_of_all({name: self._texts.history(key, name) for name in names})
        question: Row = {
            "key": key,
            "query": cut_text(self._texts.question(key), 2_000),
            "turns": [replace(turn, text=cut_text(turn.text, LONGEST_PASSAGE)) for turn in turns],
            "answers": answers,
            "passages": [
                _passage(shown, holders[index], names) for shown, index in indices.items()
            ],
        }
        return question, sum(len(text.encode()) for text in _texts_of(question))

    def _answer(self, key: QuestionKey, name: str, index_by_id: Mapping[str, int]) -> Row:
        shown = self._texts.shown(key, name)
        return {
            "system": name,
            "parts": list(_answer_parts(shown[:LONGEST_ANSWER], index_by_id)),
            "cut": max(len(shown) - LONGEST_ANSWER, 0),
            "marks": self._marks.of(key, self._texts.output(key, name)),
        }


def _texts_of(question: Row) -> Iterator[str]:
    yield question["query"]
    for turn in question["turns"]:
        yield turn.text
    for answer in question["answers"]:
        for text, _, _ in answer["parts"]:
            yield text
        if answer["marks"] is not None:
            for nugget in answer["marks"]["nuggets"]:
                yield nugget["text"]
    for passage in question["passages"]:
        yield passage["text"]


def _passage(passage: ShownPassage, holders: Sequence[str], answering: Sequence[str]) -> Row:
    n_without = len(answering) - len(holders)
    given_to = ""
    if n_without >= len(holders):
        given_to = ", ".join(holders)
    elif n_without:
        given_to = f"all but {', '.join(name for name in answering if name not in holders)}"
    return {
        "id": passage.passage_id,
        "title": passage.title,
        "relevance": passage.relevance,
        "text": passage.text[:LONGEST_PASSAGE],
        "cut": max(len(passage.text) - LONGEST_PASSAGE, 0),
        # A passage that every system was given is everybody's, and says nothing more.
        "systems": list(holders) if n_without else [],
        "given_to": given_to,
    }


def _answer_parts(text: str, indices: Mapping[str, int]) -> Iterator[tuple[str, int | None, bool]]:
    """Split a text at its citations.

    Yields:
        A piece of the text, the index of the passage it cites (None for none), and whether it cites
        something that is no passage.
    """
    position = 0
    for marker in find_citations(text, tuple(indices)):
        spans: list[tuple[int, int, str]] = []
        start = marker.start
        for passage_id in marker.ids:
            first = text.find(passage_id, start, marker.end)
            if first < 0:
                continue
            start = first + len(passage_id)
            spans.append((first, start, passage_id))
        # A marker whose ids are not written out, such as a range, stays whole.
        if len(marker.ids) == 1 or not spans:
            spans = [(marker.start, marker.end, marker.ids[0])]
        for first, last, passage_id in spans:
            if first > position:
                yield text[position:first], None, False
            yield text[first:last], indices.get(passage_id), passage_id not in indices
            position = last
    if position < len(text):
        yield text[position:], None, False
