"""Making a training set of an arena: a teacher's RAG answers (MIRAGE-Bench), or scores (GroUSE)."""

from __future__ import annotations

from arena.data.arena import Arena
from arena.data.errors import UsageError, argument, checked_choice
from arena.data.types import Progress
from surrogate_arena.generation.generate import LlmSystem
from surrogate_arena.generation.generation_settings import GenerationSettings
from surrogate_arena.papers.chats import Chats
from surrogate_arena.papers.grouse.joint_prompts import JointPrompts
from surrogate_arena.papers.grouse.scoring_prompts import ReplyFields
from surrogate_arena.papers.grouse.training_set import answers_of_arena, balance, grouse_chats
from surrogate_arena.papers.mirage.training_set import mirage_chats
from surrogate_arena.papers.settings import KINDS, TrainsetSettings

FIELDS_OF_MIRAGE = frozenset({"passage_tokens", "context_tokens"})
SHARED_FIELDS = frozenset({"teacher", "seed"})


def make_trainset(
    kind: str, arena: Arena, settings: TrainsetSettings, progress: Progress | None = None
) -> Chats:
    """Make a training set of all questions of an arena."""
    checked_choice(kind, KINDS, "kind of training set")
    of_mirage = settings.model_fields_set & FIELDS_OF_MIRAGE
    of_grouse = settings.model_fields_set - FIELDS_OF_MIRAGE - SHARED_FIELDS
    foreign = of_grouse if kind == "mirage" else of_mirage
    if foreign:
        raise UsageError(f"{kind} takes no {', '.join(map(argument, sorted(foreign)))}")
    if not settings.teacher:
        raise UsageError(f"nobody is named whom to learn from; name the {argument('teacher')}")
    if kind == "mirage":
        generation = GenerationSettings(
            passage_tokens=settings.passage_tokens,
            context_tokens=settings.context_tokens,
            seed=settings.seed,
        )
        chats = mirage_chats(arena, settings.teacher, LlmSystem.of(generation))
    else:
        chats = Chats()
        graded = answers_of_arena(arena, settings.systems, chats)
        teacher = settings.teacher.removeprefix("llm:")
        prompts = JointPrompts("text", ReplyFields(()))
        grouse_chats(graded, teacher, prompts, chats, settings, progress)
        if settings.balance is not None:
            balance(chats, settings.balance, settings.seed)
    if not chats.rows:
        reasons = [f"{count} {reason}" for (_, reason), count in sorted(chats.left_out.items())]
        raise UsageError(
            f"nothing is left to train on; left out: {', '.join(reasons) or 'nothing'}"
        )
    return chats
