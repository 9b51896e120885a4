"""What ``pairs/*.html`` show: any two systems of a language head to head, and their answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import pandas as pd

from arena.data.arena import Arena
from arena.data.schema import QUESTION_KEY
from arena.data.seeds import seed_sequence
from arena.data.tables import plain_records
from arena.judging.answer_pairs import (
    ArenaTexts,
    QuestionKey,
    ShownPassage,
    ShownTurn,
    shown_of_all,
)
from arena.text.citations import find_citations
from surrogate.board.board import Board
from surrogate.publish.answer_nuggets import AnswerMarks, shown_texts
from surrogate.publish.formats import finite, language_name, slugs
from surrogate.publish.views import cautions, compact_numbers, cut_text, group_means

MOST_QUESTIONS = 20
"""Questions of a language whose answers are shown."""
LONGEST_PAGE = 1_000_000
"""Bytes of questions, answers, passages and reasons that a page has room for."""
LONGEST_SITE = 10_000_000
"""The same of all pages together."""
LONGEST_ANSWER = 20_000
LONGEST_QUERY = 2_000
LONGEST_PASSAGE = 2_000
LONGEST_REASON = 1_000
LONGEST_TITLE = 120
MOST_SYSTEMS = 300
"""Systems of a language that are compared on its page: the best ones, where there are more."""
MOST_ROWS = 300
"""Rows of the table of pairs; of more pairs those of neighbors in the ranking stand there."""
MOST_VERDICTS = 100_000
"""Verdicts of a page's results by question; those on questions shown are there in any case."""
WINNERS = ("a", "tie", "b")
NO_RESULTS: dict[str, Any] = {"questions": [], "verdicts": [], "reasons": {}}
VERBS = {"consensus": "is rated above"}
BY = {
    "consensus": "over resampled questions",
    "posterior": "by the board's posterior of ratings",
    "surrogate": "by the intervals of ratings, taken on their own",
}
NUMBERS = [
    "rank",
    "rank_low",
    "rank_high",
    "tier",
    "rating",
    "low",
    "high",
    "verdict_share",
    "surrogate_rating",
    "arena_rating",
    "coverage",
]

Row = dict[str, Any]


class Texts:
    """The texts and verdicts of an arena for all pages of a site."""

    def __init__(self, judged: Arena, seed: int, most: int = MOST_QUESTIONS) -> None:
        """Look up texts and verdicts of one judge.

        The seed draws the order of questions, of which so many are shown in a language at most.
        """
        self.judgments = judged.judgments
        self._texts = ArenaTexts(judged)
        self._marks = AnswerMarks(judged)
        self._most = most
        rows = judged.queries[[*QUESTION_KEY, "query"]].itertuples(index=False, name=None)
        queries: dict[QuestionKey, str] = {(code, name): query for code, name, query in rows}
        judged_keys = set(judged.judgments[QUESTION_KEY].itertuples(index=False, name=None))
        draws: dict[QuestionKey, int] = {}
        for key in queries:
            # By the question's own key, so that a further question moves no other one.
            draws[key] = int(seed_sequence(seed, "examples", *key).generate_state(1)[0])
        ordered = sorted(queries, key=lambda key: (key not in judged_keys, draws[key], key))
        self.queries = {key: queries[key] for key in ordered}
        languages = {language for language, _ in self.queries}
        self._room = min(LONGEST_PAGE, LONGEST_SITE // max(len(languages), 1))

    def of(self, language: str, systems: Sequence[str], verdicts: pd.DataFrame) -> Row:
        """Choose questions of a language, judged ones first, while there is room for them.

        Verdicts have a column ``reason``, which takes room, too. Parts of answers are texts with
        citations apart (``answer_parts``); what is ``cut`` are characters that are not shown.
        """
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
        passages_by_system = {name: self._texts.passages(key, name) for name in names}
        holders: dict[ShownPassage, list[str]] = {}
        for name, passages in passages_by_system.items():
            for passage in dict.fromkeys(passages):
                holders.setdefault(passage, []).append(name)
        indices = {passage: index for index, passage in enumerate(holders)}
        query = cut_text(self._texts.question(key), LONGEST_QUERY)
        texts = [query]
        answers: list[Row] = []
        for name in names:
            index_by_id = {
                passage.passage_id: indices[passage] for passage in passages_by_system[name]
            }
            output = self._texts.shown(key, name)
            answer = _answer(name, output, index_by_id)
            answer["marks"] = self._marks.of(key, output)
            texts.extend(part[0] for part in answer["parts"])
            texts.extend(shown_texts(answer["marks"]))
            answers.append(answer)
        shown_passages = [_passage(passage, held, names) for passage, held in holders.items()]
        texts.extend(passage["text"] for passage in shown_passages)
        turns = self._turns(key, names)
        texts.extend(turn.text for turn in turns)
        question: Row = {
            "key": key,
            "query": query,
            "turns": turns,
            "answers": answers,
            "passages": shown_passages,
        }
        return question, sum(len(text.encode()) for text in texts)

    def _turns(self, key: QuestionKey, names: Sequence[str]) -> list[ShownTurn]:
        """Return the turns before a question as they are shown, long ones cut."""
        histories = shown_of_all({name: self._texts.history(key, name) for name in names})
        return [replace(turn, text=cut_text(turn.text, LONGEST_PASSAGE)) for turn in histories]


def _answer(system: str, output: str, index_by_id: Mapping[str, int]) -> Row:
    """Return an answer as it is shown, split at its citations."""
    parts = list(answer_parts(output[:LONGEST_ANSWER], index_by_id))
    return {"system": system, "parts": parts, "cut": max(len(output) - LONGEST_ANSWER, 0)}


def _passage(passage: ShownPassage, holders: Sequence[str], answering: Sequence[str]) -> Row:
    """Return a passage as it is shown; who was given it in words, the shorter way."""
    without = [name for name in answering if name not in holders]
    given_to = ", ".join(holders)
    if len(holders) > len(without):
        given_to = f"all but {', '.join(without)}"
    return {
        "id": passage.passage_id,
        "title": passage.title,
        "relevance": passage.relevance,
        "text": passage.text[:LONGEST_PASSAGE],
        "cut": max(len(passage.text) - LONGEST_PASSAGE, 0),
        # A passage that every system was given is everybody's, and says nothing more.
        "systems": list(holders) if without else [],
        "given_to": given_to if without else "",
    }


def answer_parts(text: str, indices: Mapping[str, int]) -> Iterator[tuple[str, int | None, bool]]:
    """Split a text at its citations.

    Args:
        text: An answer.
        indices: Id of each passage to its index among the passages that the page shows.

    Yields:
        A piece of the text, the index of the passage it cites (None for none), and whether it
        cites something that is no passage.
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


class PairPages:
    """The pages of all languages; what they share is computed once."""

    def __init__(self, board: Board, texts: Texts | str, names: Mapping[str, str]) -> None:
        """Prepare what pages share.

        Args:
            board: The board.
            texts: Texts and verdicts of its arena, or the reason why pages have none.
            names: System to slug.
        """
        self._board = board
        self._texts = texts
        self._names = names
        self._slugs = slugs(board.languages)

    def page(self, language: str) -> Row:
        """Prepare the page of a language, as its template takes it; ``data`` is for scripts."""
        board = self._board
        table = board.table(language)
        ratings = table[:MOST_SYSTEMS]
        systems = list(ratings["system"])
        differences = _among(board.differences, language, systems)
        met = _among(board.win_matrix, language, systems)

        questions: Row | None = None
        results = NO_RESULTS
        n_left_out = 0
        if isinstance(self._texts, Texts):
            questions, results, n_left_out = _questions(language, systems, self._texts)
        rows = _rows(systems, differences, met)
        return {
            "texts": questions,
            "absent": self._texts if isinstance(self._texts, str) else "",
            "verdicts_left_out": n_left_out,
            "language": language,
            "caution": next(iter(cautions(board, language)), ""),
            "rows": rows,
            "pairs": len(differences),
            "systems_left_out": len(table) - len(ratings),
            "has_verdicts": any(row["wins"] is not None for row in rows),
            "data": {**self._data(language, ratings, differences, met), **results},
            "place_of": {system: index for index, system in enumerate(systems)},
        }

    def _data(
        self, language: str, ratings: pd.DataFrame, differences: pd.DataFrame, met: pd.DataFrame
    ) -> Row:
        """Return what scripts of a page read about the systems of its language."""
        board = self._board
        systems = list(ratings["system"])
        method = board.summary.settings.ratings
        return {
            "language": language,
            "languages": {code: [language_name(code), slug] for code, slug in self._slugs.items()},
            "scale": board.summary.scale,
            "verb": VERBS.get(method, "is better than"),
            "by": BY[method],
            "systems": [[system, self._names[system]] for system in systems],
            "columns": NUMBERS,
            "ratings": compact_numbers(ratings[NUMBERS]),
            "notes": list(ratings["note"]),
            "apart": _triangle(systems, differences, ["difference", "low", "probability"]),
            "met": _triangle(systems, met, ["wins", "ties", "losses"]),
            "features": _features(board.features, language, systems),
        }


def _among(table: pd.DataFrame, language: str, systems: Sequence[str]) -> pd.DataFrame:
    """Return the rows of a table of pairs that are of a language and of two of the systems."""
    is_shown = table["language"].eq(language)
    is_shown &= table["system"].isin(systems) & table["opponent"].isin(systems)
    return table[is_shown]


def _questions(language: str, systems: Sequence[str], texts: Texts) -> tuple[Row, Row, int]:
    """Return a page's questions, its results for scripts, and how many verdicts it leaves out."""
    judged = texts.judgments[texts.judgments["language"] == language]
    is_shown = judged[["system_a", "system_b"]].isin(systems).all(axis=1)
    verdicts = judged[is_shown]
    reasons = verdicts.get("reason", pd.Series("", verdicts.index)).fillna("").astype(str)
    short_reasons = [cut_text(reason.strip(), LONGEST_REASON) for reason in reasons]
    verdicts = verdicts.assign(reason=short_reasons)
    questions = texts.of(language, systems, verdicts)
    results, n_absent = _results(language, systems, questions["questions"], texts, verdicts)
    return questions, results, n_absent + len(judged) - len(verdicts)


def _rows(systems: Sequence[str], differences: pd.DataFrame, met: pd.DataFrame) -> list[Row]:
    """Return the rows of the table of pairs: each pair's difference and who won how often."""
    pair = ["system", "opponent"]
    table = differences.merge(met[[*pair, "wins", "ties", "losses"]], on=pair, how="left")
    if len(table) > MOST_ROWS:
        ranks = {system: index for index, system in enumerate(systems)}
        distance = table["opponent"].map(ranks) - table["system"].map(ranks)
        table = table[distance == 1].head(MOST_ROWS)
    return plain_records(table)


def _triangle(
    systems: Sequence[str], table: pd.DataFrame, columns: list[str]
) -> list[list[float | int | None]]:
    """Return numbers of every pair of systems, in the order (0, 1), (0, 2) …, (1, 2) ….

    Numbers are as seen from the first system of the pair; a pair that the table lacks has none.
    """
    pairs = zip(table["system"], table["opponent"], strict=True)
    numbers_by_pair = dict(zip(pairs, compact_numbers(table[columns]), strict=True))
    return [numbers_by_pair.get(pair, []) for pair in combinations(systems, 2)]


def _features(features: pd.DataFrame, language: str, systems: Sequence[str]) -> Row:
    """Return each system's mean of each feature, and how these spread over systems."""
    in_language = features[features["language"] == language]
    means = group_means(in_language, ["system"]).reindex(list(systems)).dropna(axis=1, how="all")
    return {
        "names": list(means),
        "means": [list(map(_short, row)) for row in means.to_numpy(float)],
        "spread": list(map(_short, means.std(ddof=0))),
    }


def _short(value: float) -> float | None:
    return None if finite(value) is None else float(f"{value:.4g}")


def _results(
    language: str,
    systems: Sequence[str],
    shown: Sequence[Row],
    texts: Texts,
    verdicts: pd.DataFrame,
) -> tuple[Row, int]:
    """Return what the judge said, question by question, for scripts to read.

    Returns:
        ``questions``: id, text and place among those shown (-1: not shown), these first;
        ``verdicts``: of each question, numbers that stand for side A, side B and winner:
        ``(a * systems + b) * 3 + winner``, a winner as in ``WINNERS``; ``reasons``: place of a
        question to what was said with each of these, of those shown. And how many verdicts were
        left out.
    """
    by_question = _coded_verdicts(verdicts, systems)
    shown_keys = [question["key"] for question in shown]
    judged_keys = {key for key in texts.queries if key[0] == language and key[1] in by_question}
    questions: list[list[object]] = []
    coded: list[list[int]] = []
    reasons: dict[str, list[str]] = {}
    n_taken = 0
    for number, key in enumerate([*shown_keys, *sorted(judged_keys - set(shown_keys))]):
        pairs = by_question.get(key[1], [])
        is_shown = number < len(shown_keys)
        if not is_shown and n_taken + len(pairs) > MOST_VERDICTS:
            break
        title = cut_text(texts.queries[key], LONGEST_TITLE)
        questions.append([key[1], title, number if is_shown else -1])
        coded.append([code for code, _ in pairs])
        n_taken += len(pairs)
        pair_reasons = [reason for _, reason in pairs]
        if is_shown and any(pair_reasons):
            reasons[str(number)] = pair_reasons
    return {"questions": questions, "verdicts": coded, "reasons": reasons}, len(verdicts) - n_taken


def _coded_verdicts(
    verdicts: pd.DataFrame, systems: Sequence[str]
) -> dict[str, list[tuple[int, str]]]:
    """Return each question's verdicts in order, with reasons; numbers as ``_results`` says."""
    index_of = {system: index for index, system in enumerate(systems)}
    code_of_winner = {name: code for code, name in enumerate(WINNERS)}
    first = verdicts["system_a"].map(index_of)
    second = verdicts["system_b"].map(index_of)
    winners = verdicts["winner"].map(code_of_winner)
    codes = ((first * len(systems) + second) * len(WINNERS) + winners).astype("int64")
    ordered = verdicts.assign(code=codes).sort_values("code", kind="stable")
    by_question: dict[str, list[tuple[int, str]]] = {}
    for query_id, code, reason in zip(
        ordered["query_id"], ordered["code"], ordered["reason"], strict=True
    ):
        by_question.setdefault(query_id, []).append((code, reason))
    return by_question
