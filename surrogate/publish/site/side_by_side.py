"""All answers to some questions, for any two to stand side by side, with what they cite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from arena.data.arena import Arena
from arena.data.schema import QUESTION_KEY
from arena.data.seeds import seed_sequence
from arena.judging.pairs import ArenaTexts, QuestionKey, ShownPassage
from arena.text.citations import CitationMarker, find_citations

MOST_QUESTIONS = 20
"""Questions of a language whose answers are shown."""
LONGEST_PAGE = 1_000_000
"""Bytes of questions, answers, passages and reasons that a page has room for."""
LONGEST_SITE = 10_000_000
"""The same of all pages together."""
LONGEST_ANSWER = 20_000
"""Characters of an answer that are shown; likewise the next."""
LONGEST_PASSAGE = 2_000
LONGEST_QUERY = 2_000
LONGEST_REASON = 1_000

_VERDICT = ["query_id", "system_a", "system_b", "winner"]


@dataclass(frozen=True)
class TextPart:
    """A part of an answer.

    Attributes:
        text: As the system wrote it.
        passage: Place of the passage it cites; None where it cites none.
        is_unknown: Whether it cites what is no passage.
    """

    text: str
    passage: int | None = None
    is_unknown: bool = False


@dataclass(frozen=True)
class AnswerShown:
    """An answer.

    Attributes:
        system: Who gave it.
        parts: Its text, citations apart.
        cut: Characters that are not shown.
    """

    system: str
    parts: tuple[TextPart, ...]
    cut: int


@dataclass(frozen=True)
class PassageShown:
    """A passage.

    Attributes:
        passage: The passage; its text is what is shown.
        cut: Characters of it that are not shown.
        systems: The systems it was given to; none where all shown had it.
        given_to: The same in words, the shorter way.
    """

    passage: ShownPassage
    cut: int
    systems: tuple[str, ...]
    given_to: str


@dataclass(frozen=True)
class QuestionShown:
    """A question with all answers to it.

    Attributes:
        key: Language and query_id.
        query: What was asked.
        answers: In the order of the board.
        passages: What any of the systems was given.
        reasons: What the judge said of each two of the answers.
    """

    key: QuestionKey
    query: str
    answers: tuple[AnswerShown, ...]
    passages: tuple[PassageShown, ...]
    reasons: tuple[str, ...]

    @property
    def size(self) -> int:
        """Bytes of its texts, in UTF-8."""
        answers = (part.text for answer in self.answers for part in answer.parts)
        passages = (item.passage.text for item in self.passages)
        texts = (self.query, *answers, *passages, *self.reasons)
        return sum(len(text.encode()) for text in texts)


@dataclass(frozen=True)
class SideBySide:
    """What a page shows of a language's answers.

    Attributes:
        questions: Those shown.
        answered: Questions with answers of two systems or more.
        verdicts: Of the language, on the systems shown: ``query_id, system_a, system_b, winner,
            reason``.
        verdicts_on_others: How many verdicts are on a system that is not among those shown.
    """

    questions: tuple[QuestionShown, ...]
    answered: int
    verdicts: pd.DataFrame
    verdicts_on_others: int


class Texts:
    """The texts of an arena for all pages of a site."""

    def __init__(
        self, judged: Arena, seed: int, most: int = MOST_QUESTIONS, unjudged: str = ""
    ) -> None:
        """Look the texts up.

        Args:
            judged: The arena with the judgments of one judge.
            seed: Seed of the order of questions; the board's.
            most: Questions of a language to show.
            unjudged: Why the judge's verdicts are not at hand; empty where they are.
        """
        self.unjudged = unjudged
        self._texts, self._most = ArenaTexts(judged), most
        order = question_order(judged, seed).sort_values("order")
        self._keys: dict[str, list[QuestionKey]] = {}
        for language, query_id in order[QUESTION_KEY].itertuples(index=False, name=None):
            self._keys.setdefault(language, []).append((language, query_id))
        self._room = min(LONGEST_PAGE, LONGEST_SITE // max(len(self._keys), 1))
        self._judgments = judged.judgments
        self.queries: dict[QuestionKey, str] = {
            (language, query_id): query
            for language, query_id, query in order[[*QUESTION_KEY, "query"]].itertuples(
                index=False, name=None
            )
        }

    def of(self, language: str, systems: Sequence[str]) -> SideBySide:
        """Choose questions of a language, judged ones first, while there is room for them.

        Args:
            language: Language code.
            systems: In the order to show them.
        """
        judged = self._judgments[self._judgments["language"] == language]
        on_them = judged[["system_a", "system_b"]].isin(list(systems)).all(axis=1)
        verdicts = judged[on_them].reset_index(drop=True)
        verdicts = verdicts[_VERDICT].assign(reason=verdict_reasons(verdicts))
        reasons = {
            query_id: tuple(filter(None, said))
            for query_id, said in verdicts.groupby("query_id")["reason"]
        }
        room, shown = self._room, list[QuestionShown]()
        answered = [key for key in self._keys.get(language, []) if len(self._of(key, systems)) > 1]
        for key in answered:
            if len(shown) == self._most:
                break
            question = self._shown(key, systems, reasons.get(key[1], ()))
            if question.size <= room:
                shown.append(question)
                room -= question.size
        return SideBySide(tuple(shown), len(answered), verdicts, len(judged) - len(verdicts))

    def _of(self, key: QuestionKey, systems: Sequence[str]) -> list[str]:
        """Return those of the systems that answered, in their order."""
        answered = set(self._texts.systems(key))
        return [name for name in systems if name in answered]

    def _shown(
        self, key: QuestionKey, systems: Sequence[str], reasons: tuple[str, ...]
    ) -> QuestionShown:
        names = self._of(key, systems)
        given = {name: self._texts.passages(key, name) for name in names}
        holders: dict[ShownPassage, list[str]] = {}
        for name, passages in given.items():
            for passage in dict.fromkeys(passages):
                holders.setdefault(passage, []).append(name)
        places = {passage: place for place, passage in enumerate(holders)}
        return QuestionShown(
            key,
            cut_text(self._texts.question(key), LONGEST_QUERY),
            tuple(
                _answer(
                    name,
                    self._texts.shown(key, name, "output"),
                    {passage.passage_id: places[passage] for passage in given[name]},
                )
                for name in names
            ),
            tuple(_passage(passage, own, names) for passage, own in holders.items()),
            reasons,
        )


def _passage(passage: ShownPassage, names: Sequence[str], answered: Sequence[str]) -> PassageShown:
    held = frozenset(names)
    others = [name for name in answered if name not in held]
    few = ", ".join(names) if len(names) <= len(others) else f"all but {', '.join(others)}"
    return PassageShown(
        replace(passage, text=passage.text[:LONGEST_PASSAGE]),
        max(len(passage.text) - LONGEST_PASSAGE, 0),
        tuple(names) if others else (),
        few if others else "",
    )


def _answer(system: str, output: str, places: dict[str, int]) -> AnswerShown:
    text = output[:LONGEST_ANSWER]
    return AnswerShown(system, tuple(_parts(text, places)), len(output) - len(text))


def _parts(text: str, places: dict[str, int]) -> Iterator[TextPart]:
    """Take a text apart at its citations."""
    position = 0
    for marker in find_citations(text, tuple(places)):
        if marker.start > position:
            yield TextPart(text[position : marker.start])
        yield from _marker_parts(text[marker.start : marker.end], marker, places)
        position = marker.end
    if position < len(text):
        yield TextPart(text[position:])


def _marker_parts(text: str, marker: CitationMarker, places: dict[str, int]) -> Iterator[TextPart]:
    """Take a marker apart at the ids it cites; one whose ids are written otherwise stays whole."""
    found, position = [], 0
    for cited in marker.ids:
        start = text.find(cited, position)
        if start >= 0:
            position = start + len(cited)
            found.append((start, position, cited))
    if len(marker.ids) == 1 or not found:
        found = [(0, len(text), marker.ids[0])]
    position = 0
    for start, end, cited in found:
        if start > position:
            yield TextPart(text[position:start])
        yield TextPart(text[start:end], places.get(cited), cited not in places)
        position = end
    if position < len(text):
        yield TextPart(text[position:])


def cut_text(text: str, longest: int) -> str:
    """Return a text of at most so many characters, with an ellipsis where it was cut."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def verdict_reasons(judgments: pd.DataFrame) -> list[str]:
    """Return what the judge said of each judgment, cut; empty where it said nothing."""
    if "reason" not in judgments:
        return [""] * len(judgments)
    return [
        cut_text(reason.strip(), LONGEST_REASON) if isinstance(reason, str) else ""
        for reason in judgments["reason"]
    ]


def question_order(judged: Arena, seed: int) -> pd.DataFrame:
    """Give every question its place: judged ones first, else as drawn by seed and content.

    Args:
        judged: The arena with the judgments of one judge.
        seed: The user's seed.

    Returns:
        Columns ``language, query_id, query`` and ``order``, 0 for the first.
    """
    questions = judged.queries[[*QUESTION_KEY, "query"]]
    seen = set(judged.judgments[QUESTION_KEY].itertuples(index=False, name=None))
    keys = list(questions[QUESTION_KEY].itertuples(index=False, name=None))
    draws = {key: int(seed_sequence(seed, "examples", *key).generate_state(1)[0]) for key in keys}
    drawn = sorted(keys, key=lambda key: (key not in seen, draws[key], key))
    place = {key: number for number, key in enumerate(drawn)}
    return questions.assign(order=[place[key] for key in keys])
