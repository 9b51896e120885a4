"""Making a training set of an arena: a teacher's RAG answers (MIRAGE-Bench, 3.3), or its scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from arena.data.arena import Arena
from arena.data.errors import UsageError, argument, checked_choice
from arena.data.folder import read_arena
from arena.data.types import Progress
from arena.generation.generate import LlmSystem
from arena.generation.generation_settings import ANSWER_PROMPTS, GenerationSettings
from arena.generation.questions import GivenQuestion, choose_questions, is_drawn, question_keys
from arena.judging.answer_pairs import ArenaTexts, ShownPassage
from arena.text.answers import parse_answer
from arena.text.citations import cited_passages, strip_citations
from arena.text.prompts import read_templates
from features.measures.language import identify
from features.models.grouse_prompts import JOINT_PROMPT, ReplyFields
from surrogate.metaevaluation.grouse.judges import GrousePrompts
from surrogate.training.grouse_set import answers_of_arena, balance, grouse_examples
from surrogate.training.recipes import KINDS, OF_KINDS, SHARED, TrainsetSettings
from surrogate.training.rows import Sieve, TrainExample, TrainSet, make_train_set

PROMPTS = MappingProxyType({"mirage": ANSWER_PROMPTS["mirage"], "grouse": JOINT_PROMPT})
"""The prompt of each kind, which a user's template may replace."""
NO_ANSWER = "questions without an answer of the teacher"
NO_MARKERS = "answers without ##Reason and ##Answer"
NO_CITATION = "answers that cite no passage of the question"
WRONG_CITATION = "answers that cite something that is not a passage of the question"
NOT_RELEVANT = "answers that cite a passage labeled not relevant"
OTHER_LANGUAGE = "answers in another language than the question"
NO_RELEVANT = "questions without a relevant passage"


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
        raise UsageError(f"{kind} takes no {', '.join(map(argument, foreign))}")
    if not settings.teacher:
        raise UsageError(f"nobody is named whom to learn from; name the {argument('teacher')}")
    own, arena = read_templates(templates, [PROMPTS[kind]]), read_arena(source)
    teacher, questions, seed = settings.teacher, settings.questions, settings.seed
    asked = choose_questions(arena.queries, settings.languages)
    drawn = asked if questions is None else asked[is_drawn(asked, questions, seed)]
    if split and len(drawn) == len(asked):
        raise UsageError(
            "all questions are trained on, so none is unseen; train on some "
            f"({argument('questions')})"
        )
    if kind == "mirage":
        names = ("passage_tokens", "context_tokens", "seed")
        shown = GenerationSettings(**{name: getattr(settings, name) for name in names})
        sieve = mirage_examples(arena, teacher, LlmSystem.of(shown, own), settings.languages)
        return make_train_set(sieve, drawn)
    sieve = Sieve()
    part = replace(arena, queries=asked if split else drawn)  # others need not be scored
    graded = answers_of_arena(part, settings.systems, sieve)
    trained = set(question_keys(drawn))
    are_trained = {key in trained for key, *_ in graded}
    if True not in are_trained:
        return make_train_set(sieve, drawn)  # which says what was left out, before anyone is asked
    if split and False not in are_trained:
        raise UsageError(
            "no answer to an unseen question can be scored; train on fewer "
            f"({argument('questions')})"
        )
    prompts = GrousePrompts("text", ReplyFields(()), own, is_joint=True)
    model = teacher.removeprefix("llm:")
    grouse_examples(graded, model, prompts, sieve, settings, progress)
    if settings.balance is not None:
        balance(sieve, settings.balance, seed)
    return make_train_set(sieve, drawn)


def mirage_examples(
    arena: Arena, teacher: str, asked: LlmSystem, languages: Sequence[str] = ()
) -> Sieve:
    """Make chats of a teacher's answers, curated.

    The teacher answered from relevant passages alone (``generate --relevant-passages``); the
    prompts of the rows show all passages, so that the tuned model learns to leave the others
    aside. Kept are answers with both markers, whose citations are passages of the question and
    not labeled irrelevant, in the question's language (where the language is one that can be
    told).

    Raises:
        UsageError: If the teacher has no answers here, or a language no questions.
    """
    own = arena.answers[arena.answers["system"] == teacher]
    if own.empty:
        known = ", ".join(sorted(set(arena.answers["system"])))
        raise UsageError(
            f"there are no answers of {teacher!r} here ({argument('teacher')}); "
            f"available: {known}; let a "
            "model answer with  surrogate-arena generate ARENA --relevant-passages --append"
        )
    answers = dict(zip(question_keys(own), map(str, own["answer"]), strict=True))
    texts, sieve = ArenaTexts(arena), Sieve()
    for key in question_keys(choose_questions(arena.queries, languages)):
        answer, passages = answers.get(key), texts.passages(key, teacher)
        fault = NO_ANSWER if answer is None else _fault(key[0], answer, passages)
        if answer is None or fault is not None:
            sieve.drop(key[0], fault or NO_ANSWER)
            continue
        shown = tuple(replace(each, relevance=None) for each in passages)
        turns = texts.history(key, teacher)
        prompt = asked.ask(GivenQuestion(key, texts.question(key), shown, turns))
        sieve.kept.append(TrainExample(key, prompt, answer.strip(), {"system": teacher}))
    return sieve


def _fault(language: str, answer: str, passages: Sequence[ShownPassage]) -> str | None:
    """Return why an answer is not taught."""
    parsed = parse_answer(answer)
    if not any(passage.relevance != 0 for passage in passages):
        return NO_RELEVANT
    if not parsed.is_marked or parsed.reason is None or not parsed.text:
        return NO_MARKERS
    ids = [passage.passage_id for passage in passages]
    cited = cited_passages(parsed.text, ids)
    if cited.unknown:
        return WRONG_CITATION
    if not cited.known:
        return NO_CITATION
    if any(each.relevance == 0 and each.passage_id in cited.known for each in passages):
        return NOT_RELEVANT
    told = identify(strip_citations(parsed.text, ids))
    likeliest = max(told, key=told.__getitem__)
    return OTHER_LANGUAGE if language in told and likeliest != language else None
