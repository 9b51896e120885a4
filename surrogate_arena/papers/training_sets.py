"""Making a training set of an arena: a teacher's RAG answers (MIRAGE-Bench), or scores (GroUSE)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from arena.data.arena import Arena
from arena.data.errors import UsageError, argument, checked_choice
from arena.data.folder import read_arena
from arena.data.types import Progress
from arena.judging.answer_pairs import QuestionKey
from arena.judging.choosing.drawn_questions import choose_questions, is_drawn, question_keys
from arena.llm.prompts import read_templates
from surrogate_arena.generation.generate import LlmSystem
from surrogate_arena.generation.generation_settings import ANSWER_PROMPTS, GenerationSettings
from surrogate_arena.papers.chats import Sieve, TrainSet, make_train_set
from surrogate_arena.papers.grouse.joint_prompts import JOINT_PROMPT, JointPrompts
from surrogate_arena.papers.grouse.scoring_prompts import ReplyFields
from surrogate_arena.papers.grouse.training_set import answers_of_arena, balance, grouse_examples
from surrogate_arena.papers.mirage.training_set import mirage_examples
from surrogate_arena.papers.settings import (
    FIELDS_OF_KINDS,
    KINDS,
    SHARED_BY_KINDS,
    TrainsetSettings,
)

PROMPTS = MappingProxyType({"mirage": ANSWER_PROMPTS["mirage"], "grouse": JOINT_PROMPT})
"""The prompt of each kind, which a user's template may replace."""


def make_trainset(
    kind: str,
    source: Path,
    settings: TrainsetSettings,
    templates: Sequence[str] = (),
    split: bool = False,
    progress: Progress | None = None,
) -> TrainSet:
    """Make a training set of one kind.

    Args:
        kind: ``mirage`` (chats that teach to answer as a teacher does, from noisy passages;
            MIRAGE-Bench, 3.3) or ``grouse`` (to score an answer by all metrics in one reply;
            GroUSE, section 5).
        source: Arena folder.
        settings: Settings of the training set.
        templates: Files that replace prompts; see ``arena.llm.prompts.read_templates``.
        split: Whether rows of questions that are not trained on are wanted.
        progress: Called with a stage's name, what is done of it, and all of it.
    """
    checked_choice(kind, KINDS, "kind of training set")
    foreign = sorted(settings.model_fields_set - SHARED_BY_KINDS - FIELDS_OF_KINDS[kind])
    if foreign:
        raise UsageError(f"{kind} takes no {', '.join(map(argument, foreign))}")
    if not settings.teacher:
        raise UsageError(f"nobody is named whom to learn from; name the {argument('teacher')}")
    user_templates = read_templates(templates, [PROMPTS[kind]])
    arena = read_arena(source)
    candidates = choose_questions(arena.queries, settings.languages)
    drawn = candidates
    if settings.questions is not None:
        drawn = candidates[is_drawn(candidates, settings.questions, settings.seed)]
    if split and len(drawn) == len(candidates):
        raise UsageError(
            "all questions are trained on, so none is unseen; train on fewer "
            f"({argument('questions')})"
        )
    if kind == "mirage":
        generation = GenerationSettings(
            passage_tokens=settings.passage_tokens,
            context_tokens=settings.context_tokens,
            seed=settings.seed,
        )
        system = LlmSystem.of(generation, user_templates)
        sieve = mirage_examples(arena, settings.teacher, system, settings.languages)
    else:
        # Answers to other questions cost calls to the teacher, and are scored only if wanted.
        scored_part = replace(arena, queries=candidates if split else drawn)
        prompts = JointPrompts("text", ReplyFields(()), user_templates)
        sieve = _scored_answers(
            scored_part, settings, prompts, set(question_keys(drawn)), split, progress
        )
    return make_train_set(sieve, drawn)


def _scored_answers(
    arena: Arena,
    settings: TrainsetSettings,
    prompts: JointPrompts,
    trained_keys: Collection[QuestionKey],
    split: bool,
    progress: Progress | None,
) -> Sieve:
    sieve = Sieve()
    graded = answers_of_arena(arena, settings.systems, sieve)
    n_trained = sum(key in trained_keys for key, *_ in graded)
    if n_trained == 0:
        # The training set is empty: nobody is asked, and the reasons are raised with it.
        return sieve
    if split and n_trained == len(graded):
        raise UsageError(
            "no answer to an unseen question can be scored; train on fewer "
            f"({argument('questions')})"
        )
    model = settings.teacher.removeprefix("llm:")
    grouse_examples(graded, model, prompts, sieve, settings, progress)
    if settings.balance is not None:
        balance(sieve, settings.balance, settings.seed)
    return sieve
