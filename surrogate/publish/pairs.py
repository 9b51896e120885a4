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
from arena.judging.answer_pairs import ArenaTexts, QuestionKey, ShownPassage, shown_of_all
from arena.text.citations import find_citations
from features.engine.columns import feature_columns
from surrogate.board.board import Board
from surrogate.publish.formats import finite, language_name, slugs
from surrogate.publish.views import cautions, compact_numbers, cut_text

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
NO_RESULTS: Mapping[str, Any] = {"questions": [], "verdicts": [], "reasons": {}}
VERBS = {"consensus": "is rated above"}
BY = {
    "consensus": "over resampled questions",
    "posterior": "by the board's posterior of ratings",
    "surrogate": "by the intervals of ratings, taken on their own",
}
NUMBERS = [
    *("rank", "rank_low", "rank_high", "tier", "rating", "low", "high", "verdict_share"),
    *("surrogate_rating", "arena_rating", "coverage"),
]

Row = dict[str, Any]


class Texts:
    """The texts and verdicts of an arena for all pages of a site."""

    def __init__(self, judged: Arena, seed: int, most: int = MOST_QUESTIONS) -> None:
        """Look up texts and verdicts of one judge.

        The seed draws the order of questions, of which so many are shown in a language at most.
        """
        self.judgments = judged.judgments
        self._texts, self._most = ArenaTexts(judged), most
        rows = judged.queries[[*QUESTION_KEY, "query"]].itertuples(index=False, name=None)
        queries: dict[QuestionKey, str] = {(code, name): query for code, name, query in rows}
        seen = set(judged.judgments[QUESTION_KEY].itertuples(index=False, name=None))
        drawn = {
            key: int(seed_sequence(seed, "examples", *key).generate_state(1)[0]) for key in queries
        }
        ordered = sorted(queries, key=lambda key: (key not in seen, drawn[key], key))
        self.queries = {key: queries[key] for key in ordered}
        languages = {language for language, _ in self.queries}
        self._room = min(LONGEST_PAGE, LONGEST_SITE // max(len(languages), 1))

    def of(self, language: str, systems: Sequence[str], verdicts: pd.DataFrame) -> Row:
        """Choose questions of a language, judged ones first, while there is room for them.

        Verdicts have a column ``reason``, which takes room, too. Parts of answers are texts with
        citations apart (``answer_parts``); what is ``cut`` are characters that are not shown.
        """
        told = verdicts[verdicts["reason"] != ""].groupby("query_id")["reason"]
        said = {name: sum(map(len, own)) for name, own in told}
        room, shown = self._room, list[Row]()
        place = {name: number for number, name in enumerate(systems)}
        named = {
            key: sorted(place.keys() & self._texts.systems(key), key=place.__getitem__)
            for key in self.queries
            if key[0] == language
        }
        answered = [(key, names) for key, names in named.items() if len(names) > 1]
        for key, names in answered:
            if len(shown) == self._most:
                break
            question, size = self._shown(key, names)
            size += said.get(key[1], 0)
            if size <= room:
                shown.append(question)
                room -= size
        return {"questions": shown, "answered": len(answered)}

    def _shown(self, key: QuestionKey, names: Sequence[str]) -> tuple[Row, int]:
        """Return a question as it is shown, and the bytes of its texts."""
        given = {name: self._texts.passages(key, name) for name in names}
        holders: dict[ShownPassage, list[str]] = {}
        for name, passages in given.items():
            for passage in dict.fromkeys(passages):
                holders.setdefault(passage, []).append(name)
        places = {passage: place for place, passage in enumerate(holders)}
        query = cut_text(self._texts.question(key), LONGEST_QUERY)
        answers: list[Row] = []
        for name in names:
            output = self._texts.shown(key, name)
            own = {passage.passage_id: places[passage] for passage in given[name]}
            parts = list(answer_parts(output[:LONGEST_ANSWER], own))
            cut = max(len(output) - LONGEST_ANSWER, 0)
            answers.append({"system": name, "parts": parts, "cut": cut})
        shown = [_passage(passage, own, names) for passage, own in holders.items()]
        said = shown_of_all({name: self._texts.history(key, name) for name in names})
        turns = [replace(turn, text=cut_text(turn.text, LONGEST_PASSAGE)) for turn in said]
        texts = [query, *(part[0] for answer in answers for part in answer["parts"])]
        texts += [*(passage["text"] for passage in shown), *(turn.text for turn in turns)]
        question: Row = {"key": key, "query": query, "turns": turns, "answers": answers}
        question["passages"] = shown
        return question, sum(len(text.encode()) for text in texts)


def _passage(passage: ShownPassage, held: Sequence[str], answered: Sequence[str]) -> Row:
    """Return a passage as it is shown; to whom it was given in words, the shorter way."""
    others = [name for name in answered if name not in held]
    few = ", ".join(held) if len(held) <= len(others) else f"all but {', '.join(others)}"
    return {
        "id": passage.passage_id,
        "title": passage.title,
        "relevance": passage.relevance,
        "text": passage.text[:LONGEST_PASSAGE],
        "cut": max(len(passage.text) - LONGEST_PASSAGE, 0),
        "systems": list(held) if others else [],
        "given_to": few if others else "",
    }


def answer_parts(text: str, places: Mapping[str, int]) -> Iterator[tuple[str, int | None, bool]]:
    """Take a text apart at its citations, given the place of each passage by its id.

    Yields texts, each with the place of the passage it cites (None for none), and whether it cites
    what is no passage. A marker whose ids are written otherwise stays whole.
    """
    position = 0
    for marker in find_citations(text, tuple(places)):
        spans, start = list[tuple[int, int, str]](), marker.start
        for cited in marker.ids:
            at = text.find(cited, start, marker.end)
            if at >= 0:
                start = at + len(cited)
                spans.append((at, start, cited))
        if len(marker.ids) == 1 or not spans:
            spans = [(marker.start, marker.end, marker.ids[0])]
        for first, last, cited in spans:
            if first > position:
                yield text[position:first], None, False
            yield text[first:last], places.get(cited), cited not in places
            position = last
    if position < len(text):
        yield text[position:], None, False


class PairPages:
    """The pages of all languages; what they share is computed once."""

    def __init__(self, board: Board, texts: Texts | str, names: Mapping[str, str]) -> None:
        """Prepare what pages share: texts, or why they are not at hand; system to slug."""
        self._board, self._texts, self._names = board, texts, names
        self._slugs = slugs(board.languages)

    def page(self, language: str) -> Row:
        """Prepare the page of a language, as its template takes it; ``data`` is for scripts."""
        board, ratings, texts = self._board, self._board.table(language), self._texts
        left_out = ratings[MOST_SYSTEMS:]
        ratings = ratings[:MOST_SYSTEMS]
        systems = list(ratings["system"])
        differences, met = (
            own[own["system"].isin(systems) & own["opponent"].isin(systems)]
            for table in (board.differences, board.win_matrix)
            for own in [table[table["language"] == language]]
        )
        view: Row = {"texts": None, "absent": "", "verdicts_left_out": 0}
        results: Mapping[str, Any] = NO_RESULTS
        if isinstance(texts, Texts):
            judged = texts.judgments[texts.judgments["language"] == language]
            on_them = judged[["system_a", "system_b"]].isin(systems).all(axis=1)
            verdicts = judged[on_them]
            said = verdicts.get("reason", pd.Series("", verdicts.index)).fillna("").astype(str)
            cut = [cut_text(reason.strip(), LONGEST_REASON) for reason in said]
            verdicts = verdicts.assign(reason=cut)
            shown = texts.of(language, systems, verdicts)
            results, absent = _results(language, systems, shown["questions"], texts, verdicts)
            view |= {"texts": shown, "verdicts_left_out": absent + len(judged) - len(verdicts)}
        else:
            view["absent"] = texts
        rows = _rows(systems, differences, met)
        made_by = board.summary.settings.ratings
        data = {
            "language": language,
            "languages": {code: [language_name(code), slug] for code, slug in self._slugs.items()},
            "scale": board.summary.scale,
            "verb": VERBS.get(made_by, "is better than"),
            "by": BY[made_by],
            "systems": [[system, self._names[system]] for system in systems],
            "columns": NUMBERS,
            "ratings": compact_numbers(ratings[NUMBERS]),
            "notes": list(ratings["note"]),
            "apart": _triangle(systems, differences, ["difference", "low", "probability"]),
            "met": _triangle(systems, met, ["wins", "ties", "losses"]),
            "features": _features(board.features, language, systems),
            **results,
        }
        return view | {
            "language": language,
            "caution": next(iter(cautions(board, language)), ""),
            "rows": rows,
            "pairs": len(differences),
            "systems_left_out": len(left_out),
            "has_verdicts": any(row["wins"] is not None for row in rows),
            "data": data,
            "place_of": {system: place for place, system in enumerate(systems)},
        }


def _rows(systems: Sequence[str], differences: pd.DataFrame, met: pd.DataFrame) -> list[Row]:
    both = ["system", "opponent"]
    table = differences.merge(met[[*both, "wins", "ties", "losses"]], on=both, how="left")
    if len(table) > MOST_ROWS:
        place = {system: number for number, system in enumerate(systems)}
        apart = table["opponent"].map(place) - table["system"].map(place)
        table = table[apart == 1].head(MOST_ROWS)
    return plain_records(table)


def _triangle(
    systems: Sequence[str], table: pd.DataFrame, columns: list[str]
) -> list[list[float | int | None]]:
    """Return numbers of each two systems, pairs in the order (0, 1), (0, 2) …, (1, 2) ….

    Numbers are as seen from the system that stands first; a pair that is not in the table has none.
    """
    pairs = zip(table["system"], table["opponent"], strict=True)
    known = dict(zip(pairs, compact_numbers(table[columns]), strict=True))
    return [known.get(pair, []) for pair in combinations(systems, 2)]


def _features(features: pd.DataFrame, language: str, systems: Sequence[str]) -> Row:
    """Return each system's mean of each feature, and how these spread over systems."""
    names = feature_columns(features)
    own = features[features["language"] == language]
    means = own.groupby("system")[names].mean().reindex(list(systems)).dropna(axis=1, how="all")
    return {
        "names": list(means),
        "means": [[_short(value) for value in row] for row in means.to_numpy(float)],
        "spread": [_short(value) for value in means.std(ddof=0)],
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
    place = {system: number for number, system in enumerate(systems)}
    winner = {name: number for number, name in enumerate(WINNERS)}
    pairs = verdicts["system_a"].map(place) * len(systems) + verdicts["system_b"].map(place)
    codes = (pairs * len(WINNERS) + verdicts["winner"].map(winner)).astype("int64")
    said = verdicts.assign(code=codes).sort_values("code", kind="stable")
    by_question: dict[str, list[tuple[int, str]]] = {}
    for name, *what in zip(said["query_id"], said["code"], said["reason"], strict=True):
        by_question.setdefault(name, []).append(tuple(what))
    first = [question["key"] for question in shown]
    judged = {key for key in texts.queries if key[0] == language and key[1] in by_question}
    others = sorted(judged - set(first))
    questions, coded, reasons, taken = [], [], {}, 0
    for number, key in enumerate([*first, *others]):
        own, is_shown = by_question.get(key[1], []), number < len(first)
        if not is_shown and taken + len(own) > MOST_VERDICTS:
            break
        title = cut_text(texts.queries[key], LONGEST_TITLE)
        questions.append([key[1], title, number if is_shown else -1])
        coded.append([code for code, _ in own])
        taken += len(own)
        if is_shown and any(reason for _, reason in own):
            reasons[str(number)] = [reason for _, reason in own]
    return {"questions": questions, "verdicts": coded, "reasons": reasons}, len(said) - taken
