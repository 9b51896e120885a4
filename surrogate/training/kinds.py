"""The kinds of training sets, their settings, and making one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from arena.data.arena import Arena
from arena.data.errors import UsageError, checked_choice
from arena.data.folder import read_arena
from arena.generation import answer_prompt, protocol_of
from arena.generation.prompt import AnswerPrompt
from arena.generation.questions import choose_questions, question_keys
from arena.judging.prompt import PAIRWISE_PROMPTS, PairwisePrompt
from arena.llm.ask import Progress
from arena.text.prompts import ReplaceablePrompt, Templates, read_templates, read_tokenizer
from surrogate.metaevaluation.grouse.prompts import JOINT_PROMPT, GrousePrompts, ReplyFields
from surrogate.training.grouse_set import (
    NOT_BALANCED,
    answers_of_arena,
    answers_of_file,
    balanced_places,
    grouse_examples,
    questions_of,
    taught_scores,
)
from surrogate.training.judge_set import (
    VerdictRules,
    judge_examples,
    preference_examples,
)
from surrogate.training.mirage_set import mirage_examples
from surrogate.training.rows import Sieve, TrainSet, check_unseen, make_train_set
from surrogate.training.settings import KINDS, OF_KINDS, SHARED, TrainsetSettings


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
            section 5), ``judge`` (to decide as another judge did) or ``preference`` (prompt,
            chosen, rejected: what DPO and reward models learn from).
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
    if kind in ("mirage", "grouse") and not settings.teacher:
        raise UsageError("nobody is named whom to learn from; name the `teacher`")
    own = read_templates(templates, _prompts_of(kind, settings))
    if kind == "grouse":
        return _grouse_set(source, settings, own, split, progress)
    arena = read_arena(source)
    if split:
        check_unseen(arena.queries, settings.questions, settings.seed)
    sieve, trimmer = Sieve(), None
    if kind == "mirage":
        asked = _answer_prompt(settings, own)
        trimmer = asked.trimmer
        sieve = mirage_examples(arena, settings.teacher, asked, settings.languages)
    else:
        sieve = _verdicts_set(kind, arena, settings, own)
    return make_train_set(sieve, arena.queries, settings.questions, settings.seed, trimmer)


def _prompts_of(kind: str, settings: TrainsetSettings) -> list[ReplaceablePrompt]:
    """Return the prompts of a kind that a user's templates may replace."""
    known = {
        "mirage": protocol_of("mirage").prompt,
        "grouse": JOINT_PROMPT,
        "judge": PAIRWISE_PROMPTS[settings.verdict],
    }
    return [known[kind]] if kind in known else []


def _answer_prompt(settings: TrainsetSettings, templates: Templates) -> AnswerPrompt:
    return answer_prompt(
        template=templates.replacing(protocol_of("mirage").prompt),
        passage_tokens=settings.passage_tokens,
        trimmer=None if settings.tokenizer is None else read_tokenizer(Path(settings.tokenizer)),
        seed=settings.seed,
        context_tokens=settings.context_tokens,
    )


def _verdicts_set(
    kind: str, arena: Arena, settings: TrainsetSettings, templates: Templates
) -> Sieve:
    rules = VerdictRules(
        settings.teacher or None,
        settings.pairs,
        settings.sides,
        settings.languages,
        settings.seed,
    )
    if kind == "preference":
        return preference_examples(arena, rules, _answer_prompt(settings, templates))
    template = templates.of(PAIRWISE_PROMPTS[settings.verdict])
    cuts = (settings.longest_answer, settings.longest_passage)
    prompt = PairwisePrompt(template, *cuts, settings.show)
    return judge_examples(arena, rules, prompt, settings.verdict)


def _grouse_set(
    source: Path,
    settings: TrainsetSettings,
    templates: Templates,
    split: bool,
    progress: Progress | None,
) -> TrainSet:
    fields = ReplyFields(settings.ablate)
    prompts = GrousePrompts("text", fields, templates, is_joint=True)
    questions, seed, sieve = settings.questions, settings.seed, Sieve()
    arena = read_arena(source) if source.is_dir() else None
    graded = [] if arena is not None else answers_of_file(source)
    asked = questions_of(graded) if arena is None else arena.queries
    asked = choose_questions(asked, settings.languages)
    if split:
        check_unseen(asked, questions, seed)
    # What no row is written of need not be scored.
    scored = asked if split else choose_questions(asked, None, questions, seed)
    if arena is not None:
        part = replace(arena, queries=scored)
        graded = answers_of_arena(part, settings.expected, settings.systems, sieve)
    else:
        drawn = set(question_keys(scored))
        graded = [each for each in graded if each.key in drawn]
    grouse_examples(graded, settings.teacher, prompts, sieve, settings, progress)
    if settings.balance is not None:
        count = settings.balance
        sieve.keep_only(lambda kept: balanced_places(kept, count, seed), NOT_BALANCED)
    made = make_train_set(sieve, asked, questions, seed)
    return replace(made, scores=taught_scores(sieve.kept))
