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
        self._texts = ArenaTexts(judged)
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
            output = self._texts.shown(key, name)
            index_by_id = {
                passage.passage_id: indices[passage] for passage in passages_by_system[name]
            }
            parts = list(answer_parts(output[:LONGEST_ANSWER], index_by_id))
            texts.extend(part[0] for part in parts)
            n_cut = max(len(output) - LONGEST_ANSWER, 0)
            answers.append({"system": name, "parts": parts, "cut": n_cut})
        shown_passages = [_passage(passage, held, names) for passage, held in holders.items()]
        texts.extend(passage["text"] for passage in shown_passages)
        histories = shown_of_all({name: self._texts.history(key, name) for name in names})
        turns = [replace(turn, text=cut_text(turn.text, LONGEST_PASSAGE)) for turn in histories]
        texts.extend(turn.text for turn in turns)
        question: Row = {
            "key": key,
            "query": query,
            "turns": turns,
            "answers": answers,
            "passages": shown_passages,
        }
        return question, sum(len(text.encode()) for text in texts)


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
        if is_shown and any(reason for _, reason in pairs):
            reasons[str(number)] = [reason for _, reason in pairs]
    results: Row = {"questions": questions, "verdicts": coded, "reasons": reasons}
    return results, len(ordered) - n_taken
