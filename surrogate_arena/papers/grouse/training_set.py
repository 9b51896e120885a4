"""A judge's scores by all metrics as a training set (GroUSE, section 5, appendices G and J)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.data.arena import Arena
from arena.data.errors import UsageError, argument
from arena.data.schema import QUESTION_KEY
from arena.data.types import Progress
from arena.judging.answer_pairs import ArenaTexts, QuestionKey, ShownPassage
from arena.judging.choosing.drawn_questions import question_keys
from arena.llm.json_replies import JsonReplyError, last_json_object
from arena.llm.replies import Completion, UnparsableError
from arena.statistics.bootstrap import generator
from arena.text.answers import find_citations, parse_answer
from surrogate_arena.papers.chats import Chats
from surrogate_arena.papers.evaluation import JudgeFactory
from surrogate_arena.papers.grouse.joint_prompts import JOINT_PROMPT, JointPrompts
from surrogate_arena.papers.grouse.metrics import JUDGED_METRICS, AnswerSample
from surrogate_arena.papers.grouse.score_replies import SCORED, read_metric_score
from surrogate_arena.papers.grouse.scoring_prompts import (
    JOINT_ORDER,
    GrousePrompts,
    ScoringTask,
)
from surrogate_arena.papers.settings import JudgeOptions

NO_EXPECTED = "answers to questions without an expected answer"
NO_PASSAGES = "answers to questions without passages"
NO_SCORE = "answers that the teacher did not score by all metrics"
NOT_BALANCED = "answers left out for balance"

GradedAnswer = tuple[QuestionKey, str, AnswerSample]
"""Question, system, and the answer with what it is compared with."""


def answers_of_arena(arena: Arena, systems: Sequence[str], chats: Chats) -> list[GradedAnswer]:
    """Return an arena's answers as GroUSE has them: references and citations numbered.

    The reference system's answers are the expected ones.
    """
    reference_rows = arena.references
    if reference_rows.empty:
        raise UsageError("the arena has no reference answers, which GroUSE scores answers by")
    answering = set(arena.answers["system"])
    for name in systems:
        if name not in answering:
            raise UsageError(f"there are no answers of {name!r} here ({argument('systems')})")
    texts = ArenaTexts(arena)
    references = reference_rows.set_index(QUESTION_KEY)["answer"]
    graded = []
    for key in question_keys(arena.queries):
        available = [name for name in texts.systems(key) if name != arena.info.reference_system]
        scored = available
        if systems:
            scored = [name for name in systems if name in available]
        if key not in references.index:
            chats.drop(key[0], NO_EXPECTED, len(scored))
            continue
        for system in scored:
            passages = texts.passages(key, system)
            if not passages:
                chats.drop(key[0], NO_PASSAGES)
                continue
            # GroUSE's references are numbered from 1, and answers cite these numbers.
            numbers = {
                passage.passage_id: number for number, passage in enumerate(passages, start=1)
            }
            sample = AnswerSample(
                question=texts.question(key),
                references=tuple(_reference_text(passage) for passage in passages),
                expected=numbered(parse_answer(references[key]).text, numbers),
                answer=numbered(parse_answer(texts.shown(key, system)).text, numbers),
            )
            graded.append((key, system, sample))
    return graded


def _reference_text(passage: ShownPassage) -> str:
    return "\n".join(part for part in (passage.title, passage.text) if part)


def numbered(text: str, numbers: Mapping[str, int]) -> str:
    """Write citations of passages by their numbers."""
    parts: list[str] = []
    position = 0
    for marker in find_citations(text, tuple(numbers)):
        parts.append(text[position : marker.start])
        parts += [f"[{numbers.get(passage_id, passage_id)}]" for passage_id in marker.ids]
        position = marker.end
    parts.append(text[position:])
    return "".join(parts)


def grouse_chats(
    graded: Sequence[GradedAnswer],
    teacher: str,
    prompts: JointPrompts,
    chats: Chats,
    options: JudgeOptions,
    progress: Progress | None = None,
) -> None:
    """Let a teacher score answers metric by metric, and join its replies to one per row."""
    tasks = [ScoringTask(metric, sample) for *_, sample in graded for metric in JUDGED_METRICS]
    with JudgeFactory(options, progress) as factory:
        traces = _Traces(prompts.reply_form, prompts.fields)
        verdicts = iter(factory.llm(traces, teacher).judge(tasks))
    for key, system, sample in graded:
        traces_by_metric = {metric: next(verdicts).value for metric in JUDGED_METRICS}
        if None in traces_by_metric.values():
            chats.drop(key[0], NO_SCORE)
            continue
        prompt = prompts.prompts_for(ScoringTask(JUDGED_METRICS[0], sample))[0]
        reply = _joined(traces_by_metric, prompts)
        chats.add(key, prompt, reply, system)


def balance(chats: Chats, count: int, seed: int = 0) -> None:
    """Keep rows whose scores are as evenly spread as can be (appendix J).

    The next row is one whose scores are rarest among those taken so far.
    """
    # A metric and a score of it, such as ("usefulness", 1), is what is counted.
    scores = []
    for row in chats.rows:
        reply = row["messages"][-1]["content"]
        scores.append(list(reply_scores(reply).items()))
    random = generator(seed, "training", "balance")
    remaining = [int(index) for index in random.permutation(len(scores))]
    n_chosen: Counter[tuple[str, int | None]] = Counter()
    chosen: list[int] = []
    while remaining and len(chosen) < count:
        rarest = min(remaining, key=lambda index: sum(n_chosen[score] for score in scores[index]))
        remaining.remove(rarest)
        chosen.append(rarest)
        n_chosen.update(scores[rarest])
    for index in remaining:
        chats.drop(chats.rows[index]["language"], NOT_BALANCED)
    chats.rows = [chats.rows[index] for index in sorted(chosen)]


def reply_scores(reply: str) -> dict[str, int | None]:
    """Return the scores of a joined reply, by metric."""
    return {metric: read_metric_score(reply, metric) for metric in JOINT_ORDER}


@dataclass(frozen=True)
class _Traces(GrousePrompts):
    """Prompts whose replies are kept as they are: reasons and scores, as JSON."""

    def read(self, completion: Completion, task: str) -> str:  # type: ignore[override]
        """Return the objects of a reply that are about the answers, if they score the metric."""
        super().read(completion, task)
        scored = self.fields.answers[-1]
        try:
            reply = last_json_object(completion.answer, [scored], not completion.is_cut)
        except JsonReplyError as error:
            raise UnparsableError(str(error)) from error
        parts = {name: reply.get(name) for name in self.fields.answers}
        if not all(isinstance(part, Mapping) for part in parts.values()):
            raise UnparsableError(f"the reply lacks one of {', '.join(self.fields.answers)}")
        return json.dumps(parts, ensure_ascii=False)


def _joined(traces_by_metric: Mapping[str, object], prompts: JointPrompts) -> str:
    fields = prompts.fields
    joined: dict[str, dict[str, Any]] = {name: {} for name in fields.answers}
    for metric in JOINT_ORDER:
        for name, part in json.loads(str(traces_by_metric[metric])).items():
            joined[name][metric] = part
    if prompts.templates.replacing(JOINT_PROMPT) is not None:
        joined = {SCORED: joined[fields.answers[-1]]}
    return json.dumps(joined, ensure_ascii=False)
