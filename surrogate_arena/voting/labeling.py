"""People label sentences of answers while a server runs: a benchmark in MEMERAG's format."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationError

from arena.data.arena import Arena
from arena.data.errors import UsageError, checked_choice
from arena.data.writing import write_text
from arena.judging.answer_pairs import ArenaTexts, ShownPassage, ShownTurn
from arena.judging.ballots import ID_DIGITS, Digest, Name
from arena.llm.requests import canonical_json, digest
from arena.statistics.bootstrap import generator
from features.text.sentences import split_sentences
from surrogate_arena.voting.vote_file import append_line

LABELS_FILE = "labels.jsonl"
FAITHFULNESS = "faithfulness"
RELEVANCE = "relevance"
LabeledQuality: TypeAlias = tuple[str, str]
"""A sentence's id, and what of it is labeled."""


@dataclass(frozen=True)
class Label:
    """What people may say of a sentence; ``coarse`` is what it counts as."""

    key: str
    name: str
    coarse: str
    meaning: str


@dataclass(frozen=True)
class LabelSet:
    """The labels of a quality, and the question that they answer."""

    question: str
    labels: tuple[Label, ...]


@cache
def label_sets() -> Mapping[str, LabelSet]:
    """Return the labels of MEMERAG by quality."""
    text = files("surrogate_arena.voting").joinpath("labels.toml").read_text(encoding="utf-8")
    sets = {}
    for quality, stated in tomllib.loads(text).items():
        labels = tuple(Label(**label) for label in stated["labels"])
        sets[quality] = LabelSet(stated["question"], labels)
    return sets


class NamedLabel(BaseModel):
    """A sentence's label with who gave it, as sent to a server and as written."""

    model_config = ConfigDict(strict=True, extra="forbid")

    id: Digest
    choice: str
    voter: Name


@dataclass(frozen=True)
class AnswerToLabel:
    """An answer, its sentences, and what it was written from."""

    language: str
    query_id: str
    system: str
    question: str
    turns: tuple[ShownTurn, ...]
    passages: tuple[ShownPassage, ...]
    sentences: tuple[str, ...]

    @property
    def passage_texts(self) -> list[str]:
        """What people and judges read of each passage."""
        return ["\n".join(filter(None, [passage.title, passage.text])) for passage in self.passages]


@dataclass(frozen=True)
class SentenceToLabel:
    """A sentence of an answer; its id digests the answer's texts."""

    id: str
    answer: AnswerToLabel
    number: int


class Labeling:
    """Answers of an arena whose sentences people label, all of them in the same order.

    Each label is appended to ``labels.jsonl`` of the folder. ``LANGUAGE.jsonl``, which ``metaeval
    memerag`` reads, holds the answers whose sentences all have a label of faithfulness.
    """

    def __init__(
        self, arena: Arena, folder: Path, quality: str, n_questions: int, seed: int, whole: bool
    ) -> None:
        self._path = folder / LABELS_FILE
        self._quality = checked_choice(quality, label_sets(), "quality")
        self._lock = Lock()
        self.name = arena.info.name
        self._answers = list(_drawn_answers(arena, n_questions, seed, whole))
        if not self._answers:
            raise UsageError("no answer here has passages to be held against")
        self._sentences = {
            sentence.id: sentence for answer in self._answers for sentence in _sentences_of(answer)
        }
        self._labels: dict[str, dict[LabeledQuality, str]] = {}
        self._skipped: set[tuple[str, str]] = set()
        folder.mkdir(parents=True, exist_ok=True)
        if not self._path.exists() and any(folder.iterdir()):
            raise UsageError(f"{folder} holds other files; name a new folder")
        for label in _written_labels(self._path):
            self._note(label)
        for language in self.languages:
            self._write_language(language)

    @property
    def label_set(self) -> LabelSet:
        """What may be said of a sentence."""
        return label_sets()[self._quality]

    @property
    def languages(self) -> list[str]:
        """Languages of the answers, sorted."""
        return sorted({answer.language for answer in self._answers})

    def n_labeled(self, name: str) -> int:
        """Return how many sentences a person has labeled."""
        with self._lock:
            return sum(quality == self._quality for _, quality in self._labels.get(name, {}))

    def next_sentence(
        self, name: str, languages: Collection[str], skipped: str | None = None
    ) -> SentenceToLabel | None:
        """Return the first sentence that a person has neither labeled nor skipped."""
        with self._lock:
            if skipped in self._sentences:
                self._skipped.add((name, skipped))
            labels = self._labels.get(name, {})
            for sentence in self._sentences.values():
                is_done = (sentence.id, self._quality) in labels
                if is_done or (name, sentence.id) in self._skipped:
                    continue
                if sentence.answer.language in languages:
                    return sentence
        return None

    def label(self, label: NamedLabel) -> None:
        """Write a label; it replaces an earlier one of the same person on the sentence."""
        names = {known.name for known in self.label_set.labels}
        if label.id not in self._sentences or label.choice not in names:
            raise UsageError("that is not labeled so here; load the page again")
        with self._lock:
            append_line(self._path, label.model_dump())
            self._note(label)
            self._write_language(self._sentences[label.id].answer.language)

    def _note(self, label: NamedLabel) -> None:
        labels = self._labels.setdefault(label.voter, {})
        for quality, known in label_sets().items():
            if label.choice in {label.name for label in known.labels}:
                labels[label.id, quality] = label.choice

    def _write_language(self, language: str) -> None:
        lines = []
        for answer in self._answers:
            if answer.language != language:
                continue
            sentences = [self._labeled(sentence) for sentence in _sentences_of(answer)]
            if all(any(sentence["factuality"]) for sentence in sentences):
                record = {
                    "query_id": answer.query_id,
                    "query": answer.question,
                    "model": answer.system,
                    "context": [{"text": text} for text in answer.passage_texts],
                    "answer": sentences,
                }
                lines.append(json.dumps(record, ensure_ascii=False) + "\n")
        path = self._path.with_name(f"{language}.jsonl")
        if lines or path.exists():
            write_text("".join(lines), path)

    def _labeled(self, sentence: SentenceToLabel) -> dict[str, Any]:
        """Return a sentence with a label of each person, None where that person gave none."""
        coarse_of = {label.name: label.coarse for label in label_sets()[FAITHFULNESS].labels}
        people = sorted(self._labels)
        given = [self._labels[name].get((sentence.id, FAITHFULNESS)) for name in people]
        coarse = [None if label is None else coarse_of[label] for label in given]
        # Of the coarse label that is challenging there is no fine-grained one.
        fine = [
            None if label == counted else label
            for label, counted in zip(given, coarse, strict=True)
        ]
        return {
            "sentence_id": sentence.number,
            "sentence": sentence.answer.sentences[sentence.number],
            "factuality": coarse,
            "fine_grained_factuality": fine,
            "relevance": [self._labels[name].get((sentence.id, RELEVANCE)) for name in people],
        }


def _drawn_answers(
    arena: Arena, n_questions: int, seed: int, whole: bool
) -> Iterator[AnswerToLabel]:
    """Draw questions of each language, and of each question one system's answer."""
    texts = ArenaTexts(arena)
    for language in arena.info.languages:
        random = generator(seed, "labels", language)
        query_ids = texts.questions(language)
        n_drawn = 0
        for index in random.permutation(len(query_ids)):
            key = (language, query_ids[index])
            answers = {system: texts.answer_text(key, system) for system in texts.systems(key)}
            systems = [system for system, answer in answers.items() if answer]
            if not systems or n_drawn == n_questions:
                continue
            system = systems[random.integers(len(systems))]
            if not texts.passages(key, system):
                continue
            n_drawn += 1
            answer = answers[system]
            yield AnswerToLabel(
                language=language,
                query_id=key[1],
                system=system,
                question=texts.question(key),
                turns=texts.history(key, system),
                passages=texts.passages(key, system),
                sentences=(answer,) if whole else tuple(split_sentences(answer, language)),
            )


def _sentences_of(answer: AnswerToLabel) -> Iterator[SentenceToLabel]:
    texts = [answer.language, answer.query_id, answer.question]
    texts += [*answer.passage_texts, *answer.sentences]
    for number in range(len(answer.sentences)):
        digested = digest(canonical_json([*texts, str(number)]))[:ID_DIGITS]
        yield SentenceToLabel(digested, answer, number)


def _written_labels(path: Path) -> Iterator[NamedLabel]:
    if not path.exists():
        return
    # A last line without an end is of a server that was killed.
    whole_lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    for number, line in enumerate(whole_lines, start=1):
        try:
            yield NamedLabel.model_validate_json(line)
        except ValidationError:
            raise UsageError(f"{path}, line {number} is no label; remove it") from None
