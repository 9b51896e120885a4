"""A judge's scores by all metrics as a training set (GroUSE, section 5, appendices G and J)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.schema import QUESTION_KEY
from arena.data.seeds import generator
from arena.judging.pairs import ArenaTexts
from arena.llm.ask import Progress
from arena.llm.replies import UnparsableError
from arena.text.answers import parse_answer
from arena.text.citations import find_citations
from surrogate.metaevaluation.evaluation import JudgeFactory, judge_items, make_judges
from surrogate.metaevaluation.grouse.grouse import Grouse
from surrogate.metaevaluation.grouse.judges import ScoringTask
from surrogate.metaevaluation.grouse.prompts import (
    JOINT_ORDER,
    JOINT_PROMPT,
    SCORE_KEY,
    SCORED,
    GrousePrompts,
    ReplyFields,
    read_metric_score,
)
from surrogate.metaevaluation.grouse.unit_tests import (
    JUDGED_METRICS,
    AnswerSample,
    UnitTest,
    read_unit_tests,
)
from surrogate.metaevaluation.judges import Judge, Verdict
from surrogate.metaevaluation.settings import JudgeOptions
from surrogate.training.rows import ALL_LANGUAGES, Sieve, TrainExample

NO_EXPECTED = "answers to questions without an expected answer"
NO_PASSAGES = "answers to questions without passages"
NO_SCORE = "answers that the teacher did not score by all metrics"
NOT_BALANCED = "answers left out for balance"

SCORES_ALONE = ReplyFields(("ground-truth", "justification", "chain-of-thought"))
"""What a reply holds where the teacher gives scores and no reasons."""


@dataclass(frozen=True)
class GradedAnswer:
    """An answer to score.

    Attributes:
        key: Language and id of the question.
        sample: What is scored, and what it is held against.
        test_id: How files of labels name it: ``language/query_id/system``, or line of its file.
        system: Who answered; empty where that is not known.
    """

    key: tuple[str, str]
    sample: AnswerSample
    test_id: str
    system: str = ""


def answers_of_arena(
    arena: Arena, expected: str | None, systems: Sequence[str], sieve: Sieve
) -> list[GradedAnswer]:
    """Return the answers of an arena as GroUSE has them: references numbered, citations likewise.

    Args:
        arena: Questions with passages, and answers.
        expected: System whose answers are the expected ones; None for the arena's reference.
        systems: Whose answers are scored; all but the expected ones' if there are none.
        sieve: Counts what is left out.

    Raises:
        UsageError: If no system's answers are expected, or a system is unknown.
    """
    model = expected or arena.info.reference_system
    known = set(arena.answers["system"])
    right = arena.references
    if expected is not None:
        right = arena.answers[arena.answers["system"] == expected]
    if right.empty and expected is None:
        raise UsageError("the arena has no reference answers; say whose answers are `expected`")
    unknown = [name for name in (model, *systems) if name not in (None, *known)]
    if unknown:
        raise UsageError(f"there are no answers of {unknown[0]!r} here")
    texts = ArenaTexts(arena)
    references = right.set_index(QUESTION_KEY)["answer"]
    graded = []
    for key in zip(arena.queries["language"], arena.queries["query_id"], strict=True):
        present = texts.systems(key)
        wanted = [name for name in systems or present if name in present and name != model]
        if key not in references.index:
            sieve.drop(key[0], NO_EXPECTED, len(wanted))
            continue
        for system in wanted:
            passages = texts.passages(key, system)
            if not passages:
                sieve.drop(key[0], NO_PASSAGES)
                continue
            numbers = {each.passage_id: place for place, each in enumerate(passages, start=1)}
            sample = AnswerSample(
                texts.question(key),
                tuple(
                    f"{each.title}\n{each.text}" if each.title else each.text for each in passages
                ),
                _numbered(parse_answer(references[key]).text, numbers),
                _numbered(texts.shown(key, system, "answer"), numbers),
            )
            graded.append(GradedAnswer(key, sample, "/".join((*key, system)), system))
    return graded


def answers_of_file(path: Path) -> list[GradedAnswer]:
    """Return the answers of a file in GroUSE's format; conditions, if any, do not matter.

    Raises:
        UsageError: If there is no such file.
        DataError: If it is faulty.
    """
    return [
        GradedAnswer(
            (test.language or ALL_LANGUAGES, test.sample.question), test.sample, test.test_id
        )
        for test in read_unit_tests(path)
    ]


def questions_of(graded: Sequence[GradedAnswer]) -> pd.DataFrame:
    """Return the questions that answers are to, once each: ``language, query_id, query``."""
    asked = {each.key: each.sample.question for each in graded}
    rows = [(*key, question) for key, question in asked.items()]
    return pd.DataFrame(rows, columns=[*QUESTION_KEY, "query"])


def grouse_examples(
    graded: Sequence[GradedAnswer],
    teacher: str,
    prompts: GrousePrompts,
    sieve: Sieve,
    options: JudgeOptions | None = None,
    progress: Progress | None = None,
) -> Sieve:
    """Let a teacher score answers by each metric, and join its replies to one a row.

    A teacher that is an LLM is asked with a prompt a metric, and replies with its reasons; what
    its store holds is not asked again. Any other judge gives scores alone.

    Args:
        graded: The answers.
        teacher: A judge as ``metaeval grouse`` names it: ``llm:MODEL``, ``labels:FILE``,
            ``python:MODULE:FUNCTION``.
        prompts: What the tuned model is asked: all metrics in one prompt.
        sieve: Collects the rows, and counts what is left out.
        options: How an LLM is asked.
        progress: Called with a stage's name, what is done of it, and all of it.

    Raises:
        UsageError: If the teacher cannot be asked.
    """
    asked = prompts
    if not teacher.startswith("llm:"):
        asked = replace(prompts, fields=SCORES_ALONE)
    tasks = [ScoringTask(metric, answer.sample) for answer in graded for metric in JUDGED_METRICS]
    with JudgeFactory(options or JudgeOptions(), progress) as factory:
        judge = _teacher(teacher, graded, asked, factory)
        verdicts = iter(judge_items(judge, tasks, "scores"))
    for answer in graded:
        said: dict[str, Verdict] = {metric: next(verdicts) for metric in JUDGED_METRICS}
        reply = _joined(said, asked)
        if reply is None:
            sieve.drop(answer.key[0], NO_SCORE)
            continue
        prompt = asked.ask(ScoringTask(JUDGED_METRICS[0], answer.sample))[0]
        notes = {"system": answer.system} if answer.system else {}
        sieve.take(TrainExample(answer.key, prompt, reply, notes))
    return sieve


def balanced_places(kept: Sequence[TrainExample], count: int, seed: int = 0) -> set[int]:
    """Choose rows whose scores are as evenly spread as can be (appendix J).

    One after the other, the row is taken whose scores are rarest among those taken so far, over
    all metrics together; of equals, the first in an order drawn.

    Args:
        kept: Rows to choose from.
        count: How many to take.
        seed: Seed of the draw.

    Returns:
        Their places.

    Raises:
        UsageError: If it is below 1.
    """
    if count < 1:
        raise UsageError(f"cannot balance {count} rows; keep 1 or more (`balance`)")
    marks = [reply_scores(example.reply) for example in kept]
    draw = generator(seed, "training", "balance")
    left = [int(place) for place in draw.permutation(len(kept))]
    taken: Counter[tuple[str, int | None]] = Counter()
    chosen: set[int] = set()
    while left and len(chosen) < count:
        best = min(left, key=lambda place: sum(taken[mark] for mark in marks[place].items()))
        left.remove(best)
        chosen.add(best)
        taken.update(marks[best].items())
    return chosen


def reply_scores(reply: str) -> dict[str, int | None]:
    """Return the scores of a joined reply, by metric."""
    keys = (SCORED, *SCORES_ALONE.answers)
    return {metric: read_metric_score(reply, metric, keys) for metric in JOINT_ORDER}


def taught_scores(kept: Sequence[TrainExample]) -> pd.DataFrame:
    """Count the scores of rows: columns ``metric, score, rows``; a score of null is ``null``."""
    counts: Counter[tuple[str, str]] = Counter()
    for example in kept:
        for metric, score in reply_scores(example.reply).items():
            counts[metric, "null" if score is None else str(score)] += 1
    rows = [(*place, count) for place, count in sorted(counts.items())]
    return pd.DataFrame(rows, columns=["metric", "score", "rows"])


@dataclass(frozen=True)
class _Traces(GrousePrompts):
    """Prompts whose replies are kept as they are: reasons and scores, as JSON."""

    def read(self, text: str, task: str) -> str:  # type: ignore[override]
        """Return the objects of a reply that are about the answers.

        Raises:
            UnparsableError: If the reply holds no score for the metric.
        """
        read_metric_score(text, task, self.fields.answers[-1:])
        start, end = text.find("{"), text.rfind("}")
        try:
            whole = json.loads(text[start : end + 1])
        except (ValueError, RecursionError) as error:
            raise UnparsableError(f"the reply is no JSON ({error})") from None
        parts = {name: whole.get(name) for name in self.fields.answers}
        if not all(isinstance(part, Mapping) for part in parts.values()):
            raise UnparsableError(f"the reply lacks one of {', '.join(self.fields.answers)}")
        return json.dumps(parts, ensure_ascii=False)


def _teacher(
    name: str, graded: Sequence[GradedAnswer], prompts: GrousePrompts, factory: JudgeFactory
) -> Judge:
    tests = [UnitTest(each.test_id, "", each.sample, {}, each.key[0] or None) for each in graded]
    traces = _Traces(prompts.reply_form, prompts.fields)
    kinds = {**Grouse(tests).kinds, "llm:MODEL": lambda model, make: make.llm(traces, model)}
    return make_judges(name, kinds, factory)[0]


def _joined(said: Mapping[str, Verdict], prompts: GrousePrompts) -> str | None:
    """Join the replies by each metric; None if one of them has no score.

    Under a template of the user's own the answer is ``answer_2``, as ``metaeval`` reads it there.
    """
    if any(verdict.failure is not None or not verdict.was_asked for verdict in said.values()):
        return None
    fields = prompts.fields
    joined: dict[str, dict[str, Any]] = {name: {} for name in fields.answers}
    for metric in JOINT_ORDER:
        for name, part in _parts(said[metric], fields):
            joined[name][metric] = part
    if prompts.templates.replacing(JOINT_PROMPT) is not None:
        joined = {SCORED: joined[fields.answers[-1]]}
    return json.dumps(joined, ensure_ascii=False)


def _parts(verdict: Verdict, fields: ReplyFields) -> Iterator[tuple[str, Any]]:
    if isinstance(verdict.value, str):
        yield from json.loads(verdict.value).items()
        return
    for name in fields.answers:
        yield name, {SCORE_KEY: verdict.value}


def _numbered(text: str, numbers: Mapping[str, int]) -> str:
    """Write citations of passages by the numbers that these have as references."""
    parts: list[str] = []
    position = 0
    for marker in find_citations(text, list(numbers)):
        cited = [str(numbers.get(each, each)) for each in marker.ids]
        parts += [text[position : marker.start], *(f"[{each}]" for each in cited)]
        position = marker.end
    return "".join([*parts, text[position:]])
