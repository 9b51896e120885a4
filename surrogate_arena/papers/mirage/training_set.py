"""A teacher's RAG answers as a training set (MIRAGE-Bench, section 3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from arena.data.arena import Arena
from arena.data.errors import UsageError, argument
from arena.judging.answer_pairs import ArenaTexts, QuestionKey, ShownPassage
from arena.judging.choosing.drawn_questions import question_keys
from arena.text.answers import cited_passages, parse_answer, strip_citations
from features.measures.language import identify
from surrogate_arena.generation.generate import LlmSystem
from surrogate_arena.generation.questions import GivenQuestion
from surrogate_arena.papers.chats import Chats

NO_ANSWER = "questions without an answer of the teacher"
NO_MARKERS = "answers without ##Reason and ##Answer"
NO_CITATION = "answers that cite no passage of the question"
WRONG_CITATION = "answers that cite something that is not a passage of the question"
NOT_RELEVANT = "answers that cite a passage labeled not relevant"
OTHER_LANGUAGE = "answers in another language than the question"
NO_RELEVANT = "questions without a relevant passage"


def mirage_chats(arena: Arena, teacher: str, system: LlmSystem) -> Chats:
    """Make chats of a teacher's answers, curated.

    The teacher saw relevant passages alone; the prompts show all. Kept are answers in the
    question's language with both markers, which cite its passages and none labeled irrelevant.
    """
    answers = _answers_of(arena, teacher)
    texts = ArenaTexts(arena)
    chats = Chats()
    for key in question_keys(arena.queries):
        language, _ = key
        answer = answers.get(key)
        if answer is None:
            chats.drop(language, NO_ANSWER)
            continue
        passages = texts.passages(key, teacher)
        fault = _fault(language, answer, passages)
        if fault is not None:
            chats.drop(language, fault)
            continue
        shown = tuple(replace(passage, relevance=None) for passage in passages)
        turns = texts.history(key, teacher)
        prompt = system.prompt_for(GivenQuestion(key, texts.question(key), shown, turns))
        chats.add(key, prompt, answer.strip(), teacher)
    return chats


def _answers_of(arena: Arena, teacher: str) -> dict[QuestionKey, str]:
    teacher_answers = arena.answers[arena.answers["system"] == teacher]
    if teacher_answers.empty:
        available = ", ".join(sorted(set(arena.answers["system"])))
        raise UsageError(
            f"there are no answers of {teacher!r} here ({argument('teacher')}); "
            f"available: {available}; let a "
            "model answer with  surrogate-arena generate ARENA --relevant-passages --append"
        )
    texts = teacher_answers["answer"].astype(str)
    return dict(zip(question_keys(teacher_answers), texts, strict=True))


def _fault(language: str, answer: str, passages: Sequence[ShownPassage]) -> str | None:
    parsed = parse_answer(answer)
    if all(passage.relevance == 0 for passage in passages):
        return NO_RELEVANT
    if not parsed.is_marked or parsed.reason is None or not parsed.text:
        return NO_MARKERS
    ids = [passage.passage_id for passage in passages]
    cited = cited_passages(parsed.text, ids)
    if cited.unmatched:
        return WRONG_CITATION
    if not cited.matched:
        return NO_CITATION
    if any(passage.relevance == 0 and passage.passage_id in cited.matched for passage in passages):
        return NOT_RELEVANT
    probabilities = identify(strip_citations(parsed.text, ids))
    likeliest = max(probabilities, key=probabilities.__getitem__)
    if language in probabilities and language != likeliest:
        return OTHER_LANGUAGE
    return None
