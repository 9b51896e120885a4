"""Faults of answers by question, by the table of checks; texts that answer several questions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import partial
from itertools import chain

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.schema import ANSWER_KEY, QUESTION_KEY
from arena.data.types import Flags, Indices
from arena.data.wording import count_of, first_of
from arena.text.ngrams import mixed
from features.declare.sample import Memo, Question, Sample
from features.engine.extraction import answers_of
from features.text.sentences import are_prose
from features.text.tokens import folded_line, tokens_per_word
from surrogate.checks.rules import RULES, content_words, given_line, refuses
from surrogate.checks.table import CHECKS, CheckClass, of_class

MOST_CHECKED = 20_000
"""Answers of an arena that are checked beside its board: more take longer than the board does."""
MOST_SHOWN = 5
"""Number of answers of a fault that a sentence names."""


@dataclass(frozen=True)
class AnswerFaults:
    """Faults of answers: their keys, and ``check``."""

    answers: pd.DataFrame
    found: pd.DataFrame
    unchecked: pd.DataFrame

    def of(self, system: str) -> AnswerFaults:
        """Keep one system's."""
        tables = (self.answers, self.found, self.unchecked)
        return AnswerFaults(*(table[table["system"] == system] for table in tables))

    def of_class(self, certainty: CheckClass) -> pd.DataFrame:
        """Return what the checks of a class found."""
        return self.found[self.found["check"].isin(of_class(certainty))]

    @property
    def broken(self) -> pd.DataFrame:
        """The answers with a certain fault."""
        return self.of_class("certain").drop_duplicates(ANSWER_KEY)

    @property
    def n_broken(self) -> int:
        """Count the answers with a certain fault."""
        return len(self.broken)

    @property
    def broken_clause(self) -> str:
        """Say how many answers have a certain fault."""
        verb = "has" if self.n_broken == 1 else "have"
        n_answers = count_of(len(self.answers), "answer")
        return f"{self.n_broken:,} of {n_answers} {verb} a certain fault"

    @property
    def summary(self) -> tuple[str, ...]:
        """Return clauses with first questions, certain faults first."""
        clauses = []
        if self.n_broken:
            clauses.append(f"{self.broken_clause}: {'; '.join(self._clauses('certain'))}")
        likely = "; ".join(self._clauses("likely"))
        if likely:
            clauses.append(f"likely faults: {likely}")
        return tuple(clauses)

    def _clauses(self, certainty: CheckClass) -> Iterator[str]:
        for name, rows in self.of_class(certainty).groupby("check", sort=False):
            questions = self._question_names(rows)
            clause = CHECKS[str(name)].clause(len(rows))
            yield f"{clause} ({first_of(questions, MOST_SHOWN)})"

    def _question_names(self, rows: pd.DataFrame) -> list[str]:
        if self.answers["language"].nunique() == 1:
            return list(rows["query_id"])
        return list(rows["language"] + " " + rows["query_id"])


def find_faults(arena: Arena, answers: pd.DataFrame) -> AnswerFaults:
    """Check answers, perhaps with ``passages``, by the whole table."""
    memo = Memo()
    table = answers[ANSWER_KEY].reset_index(drop=True)
    texts = []
    words = []
    flags = []
    questions = []
    for question, output in answers_of(arena, answers):
        key = ("faults", question.key, output)
        # Systems that answer a question alike have the same faults.
        text, text_words, found = memo.get(key, partial(_checked, Sample(question, output, memo)))
        texts.append(text)
        words.append(text_words)
        flags.append(found)
        questions.append(question)
    results = pd.DataFrame(flags, columns=list(RULES), dtype=float)
    table["text"] = pd.Series(texts, dtype="str")
    table["query"] = pd.Series([question.query for question in questions], dtype="str")
    is_long = np.array([are_prose(text_words) for text_words in words], bool)
    results["same-text"] = same_texts(table).astype(float)
    results["varied-text"] = varied_texts(table, words, questions).astype(float)
    has_passages = np.array([len(question.passages) > 0 for question in questions], bool)
    results["other-question"] = texts_of_others(table, words, questions).astype(float)
    results.loc[~is_long, ["same-text", "varied-text", "other-question"]] = np.nan
    results.loc[~has_passages, "other-question"] = np.nan
    results.loc[results["same-text"] == 1, ["varied-text", "other-question"]] = 0.0
    results.loc[results["varied-text"] == 1, "other-question"] = 0.0
    results.loc[results["failure-message"] == 1, ["refusal", "other-question"]] = 0.0
    is_dead = results["dead-citation"] == 1
    if is_dead.any():
        # Few arenas need it.
        from surrogate.checks.citations import citation_remarks

        # Where most systems cite passages that are not there, the passages are in doubt.
        doubted = {remark.subject for remark in citation_remarks(arena)}
        results.loc[is_dead & table["language"].isin(doubted), "dead-citation"] = np.nan
    n_systems = table.groupby([*QUESTION_KEY, "text"])["system"].transform("nunique")
    results["copy"] = (n_systems > 1).astype(float).where(is_long)
    for name in ("empty", "error-text"):
        # Whatever else holds of no answer, or of the message of an error, is no fault of its own.
        results.loc[results[name] == 1, results.columns.drop(name)] = 0.0
    results = results[list(CHECKS)]
    return AnswerFaults(
        answers=table[ANSWER_KEY],
        found=_listed(table, results == 1),
        unchecked=_listed(table, results.isna()),
    )


def _checked(sample: Sample) -> tuple[str, list[str], list[bool | None]]:
    """Return an answer as it is compared, its words, and what the rules say."""
    text = " ".join(sample.text.split()).casefold()
    return text, sample.folded_text, [rule(sample) for rule in RULES.values()]


def arena_faults(arena: Arena) -> AnswerFaults | None:
    """Check all answers of an arena, unless too many."""
    return None if len(arena.answers) > MOST_CHECKED else find_faults(arena, arena.answers)


def _listed(table: pd.DataFrame, flags: pd.DataFrame) -> pd.DataFrame:
    answers = table[ANSWER_KEY].sort_values(ANSWER_KEY, kind="stable")
    checks, rows = np.nonzero(flags.loc[answers.index].to_numpy().T)
    listed = answers.iloc[rows].assign(check=flags.columns[checks])
    return listed.reset_index(drop=True)


def same_texts(table: pd.DataFrame) -> Flags:
    """Flag a system's texts for many questions, unless they refuse."""
    # Different questions from which one text is said to be the answer to many
    many = 5
    keys = ["language", "system", "text"]
    is_same = table.groupby(keys)["query"].transform("nunique") >= many
    for text, language in table.loc[is_same, ["text", "language"]].drop_duplicates().to_numpy():
        if refuses(text, language):
            is_same &= ~((table["text"] == text) & (table["language"] == language))
    return np.asarray(is_same)


def varied_texts(
    table: pd.DataFrame, texts: Sequence[Sequence[str]], questions: Sequence[Question]
) -> Flags:
    """Flag texts that are another answer but for one word.

    A word of the question or its passages was asked for, unless passages have nothing else of it.
    """
    # Words from which a text is more than a form with a gap; twice as many parts of words
    fewest = 12
    gaps = _texts_with_a_gap(texts, table.groupby(["language", "system"]).ngroup().to_numpy())
    gaps["query"] = table["query"].to_numpy()[gaps["row"]]
    by_key = gaps.groupby("key")
    n_words = by_key["word"].transform("nunique")
    n_questions = by_key["query"].transform("nunique")
    varied = gaps.loc[(n_words > 1) & (n_questions > 1), ["row", "place"]]
    flags = np.zeros(len(texts), dtype=bool)
    for row, place in varied.itertuples(index=False, name=None):
        words = texts[row]
        is_long = len(words) >= fewest * tokens_per_word(words)
        flags[row] |= is_long and _is_a_form(words, words[place], questions[row])
    return flags


def texts_of_others(
    table: pd.DataFrame, texts: Sequence[Sequence[str]], questions: Sequence[Question]
) -> Flags:
    """Flag texts whose words are another question's, not their own question's.

    Each system is read by itself, so that it does not matter which others are there.
    """
    answers = list(map(content_words, texts))
    # Systems that saw the same passages share a question.
    distinct = {id(question): question for question in questions}
    given = {key: content_words(given_line(one).split()) for key, one in distinct.items()}
    flags = np.zeros(len(table), dtype=bool)
    for rows in table.groupby(["language", "system"]).indices.values():
        flags[rows] = _are_of_others(
            [answers[row] for row in rows],
            [given[id(questions[row])] for row in rows],
            [questions[row].query for row in rows],
        )
    return flags


def _are_of_others(
    answers: Sequence[Set[str]], given: Sequence[Set[str]], queries: Sequence[str]
) -> list[bool]:
    """Flag a system's answers by their words, and by those given with each question.

    Words of many questions say nothing, neither do those that only answers to one question have.
    """
    # Questions that have a word, in passages or in answers, from which it is one of many
    many = 5
    # Words of few questions from which a text is about something
    fewest_words = 4
    # Share of these words that another question has, and that its own may have
    least = 0.3
    hardly_any = 0.1
    found_with: dict[str, set[str]] = defaultdict(set)
    for query, said in zip(queries, answers, strict=True):
        for word in said:
            found_with[word].add(query)
    uncommon = {word for word, found in found_with.items() if len(found) < many}
    given_with: dict[str, set[str]] = defaultdict(set)
    for query, passages in zip(queries, given, strict=True):
        for word in passages & uncommon:
            given_with[word].add(query)
    rare_words = {word for word in uncommon if len(given_with[word] | found_with[word]) < many}
    flags = []
    for query, said in zip(queries, answers, strict=True):
        rare = said & rare_words
        shared = Counter(chain.from_iterable(given_with[word] for word in rare))
        n_most = max(shared.values(), default=0)
        is_others = n_most >= least * len(rare) and shared[query] <= hardly_any * len(rare)
        flags.append(len(rare) >= fewest_words and is_others)
    return flags


def _texts_with_a_gap(texts: Sequence[Sequence[str]], systems: Indices) -> pd.DataFrame:
    lengths = np.array([len(words) for words in texts], dtype=np.intp)
    rows = np.repeat(np.arange(len(texts)), lengths)
    words = pd.factorize(np.array(list(chain.from_iterable(texts)), dtype=object))[0]
    starts = np.cumsum(lengths) - lengths
    places = np.arange(len(words)) - starts[rows]
    # A text is the sum of its words at their places: less one word, it is the text with a gap.
    terms = mixed(mixed(places.astype(np.uint64)) + words.astype(np.uint64))
    sums = mixed(systems.astype(np.uint64))
    np.add.at(sums, rows, terms)
    keys = mixed(sums[rows] - terms) + places.astype(np.uint64)
    gaps = pd.DataFrame({"key": keys, "row": rows, "place": places, "word": words})
    return gaps[gaps["key"].duplicated(keep=False)]


def _is_a_form(words: Sequence[str], word: str, question: Question) -> bool:
    # Other words of a text that speaks of something, and their share that passages may have by
    # chance
    fewest = 8
    few = 0.25
    if word not in given_line(question).split():
        return True
    passages = " ".join(map(folded_line, question.passage_texts)).split()
    others = content_words([other for other in words if other != word])
    shared = others & content_words(passages)
    return len(passages) > 0 and len(others) >= fewest and len(shared) <= few * len(others)
