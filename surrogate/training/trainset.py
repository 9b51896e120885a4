"""Making a training set of an arena, of one of the kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from arena.data.errors import UsageError, checked_choice
from arena.data.folder import read_arena
from arena.generation.generate import LlmSystem
from arena.generation.questions import choose_questions, question_keys
from arena.generation.settings import ANSWER_PROMPTS, GenerationSettings
from arena.judging.prompt import PAIRWISE_PROMPTS, PairwisePrompt
from arena.llm.ask import Progress
from arena.text.prompts import read_templates
from surrogate.metaevaluation.grouse.prompts import JOINT_PROMPT, GrousePrompts, ReplyFields
from surrogate.training.arena_sets import judge_examples, mirage_examples
from surrogate.training.grouse_set import (
    answers_of_arena,
    answers_of_file,
    balance,
    grouse_examples,
    questions_of,
)
from surrogate.training.recipes import KINDS, OF_KINDS, SHARED, TrainsetSettings
from surrogate.training.rows import Sieve, TrainSet, drawn_questions, make_train_set

PROMPTS = MappingProxyType(
    {
        "mirage": ANSWER_PROMPTS["mirage"],
        "grouse": JOINT_PROMPT,
        "judge": PAIRWISE_PROMPTS["logprobs"],
    }
)
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
            MIRAGE-Bench, 3.3), ``grouse`` (to score an answer by all metrics in one reply; GroUSE,
            section 5) or ``judge`` (to decide as another judge did).
        source: Arena folder; of grouse, also a file of answers in its format.
        settings: What is taught.
        templates: Files in the place of prompts; see ``arena.text.prompts.read_templates``.
        split: Whether rows of questions that are not trained on are wanted.
        progress: Called with a stage's name, what is done of it, and all of it.

    Raises:
        UsageError: If a setting is another kind's, or no question would be left over.
    """
    known = checked_choice(kind, KINDS, "kind of training set")
    foreign = sorted(settings.model_fields_set - SHARED - OF_KINDS[known])
    if foreign:
        raise UsageError(f"{kind} takes no {', '.join(f'`{name}`' for name in foreign)}")
    if kind != "judge" and not settings.teacher:
        raise UsageError("nobody is named whom to learn from; name the `teacher`")
    own = read_templates(templates, [PROMPTS[kind]])
    teacher, questions, seed = settings.teacher, settings.questions, settings.seed
    if source.is_file() and kind == "grouse":
        graded, arena = answers_of_file(source), None
        asked = choose_questions(questions_of(graded), settings.languages)
    else:
        graded, arena = [], read_arena(source)
        asked = choose_questions(arena.queries, settings.languages)
    drawn = drawn_questions(asked, questions, seed)
    if split and len(drawn) == len(asked):
        raise UsageError(
            "all questions are trained on, so none is unseen; train on some (`questions`)"
        )
    scored = asked if split else drawn  # what no row is written of need not be scored
    sieve = Sieve()
    if kind == "grouse":
        if arena is not None:
            part = replace(arena, queries=scored)
            graded = answers_of_arena(part, settings.systems, sieve)
        known_keys = set(question_keys(scored))
        graded = [each for each in graded if each[0] in known_keys]
        prompts = GrousePrompts("text", ReplyFields(()), own, is_joint=True)
        model = teacher.removeprefix("llm:")
        grouse_examples(graded, model, prompts, sieve, settings, progress)
        if settings.balance is not None:
            balance(sieve, settings.balance, seed)
    elif arena is not None and kind == "mirage":
        names = ("passage_tokens", "context_tokens", "seed")
        shown = GenerationSettings(**{name: getattr(settings, name) for name in names})
        sieve = mirage_examples(arena, teacher, LlmSystem.of(shown, own), settings.languages)
    elif arena is not None:
        cuts = (settings.longest_answer, settings.longest_passage)
        prompt = PairwisePrompt(own.of(PROMPTS[kind]), *cuts, settings.show)
        picked = (settings.pairs, settings.languages, seed)
        sieve = judge_examples(arena, prompt, teacher or None, *picked)
    return make_train_set(sieve, asked, questions, seed)
