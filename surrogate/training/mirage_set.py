"""RAG answers of a teacher as a training set (MIRAGE-Bench, sections 3.3 and 6.3, appendix C)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.generation.prompt import AnswerPrompt
from arena.generation.questions import GivenQuestion, choose_questions
from arena.judging.pairs import ArenaTexts, QuestionKey, ShownPassage
from arena.text.answers import parse_answer
from arena.text.citations import cited_passages, strip_citations
from features.measures.language import identify
from surrogate.training.rows import Sieve, TrainExample

NO_ANSWER = "questions without an answer of the teacher"
NO_MARKERS = "answers without ##Reason and ##Answer"
NO_CITATION = "answers that cite no passage of the question"
WRONG_CITATION = "answers that cite what is no passage of the question"
NOT_RELEVANT = "answers that cite a passage labeled not relevant"
OTHER_LANGUAGE = "answers in another language than the question"
NO_RELEVANT = "questions without a relevant passage"


def mirage_examples(
    arena: Arena, teacher: str, prompt: AnswerPrompt, languages: Sequence[str] = ()
) -> Sieve:
    """Make chats of a teacher's answers, curated.

    The teacher answered from relevant passages alone (``generate --relevant-passages``); the
    prompts of the rows show all passages, so that the tuned model learns to leave the others
    aside. Kept are answers with both markers, whose citations are passages of the question and
    not labeled irrelevant, in the question's language (where the language is one that can be
    told).

    Args:
        arena: Questions with passages, and the teacher's answers.
        teacher: Name in the ``system`` column.
        prompt: What systems are asked; see ``arena.generation.answer_prompt``.
        languages: Which ones; all if there are none.

    Raises:
        UsageError: If the teacher has no answers here, or a language no questions.
    """
    queries = choose_questions(arena.queries, languages)
    texts, answers = ArenaTexts(arena), _answers(arena, teacher)
    sieve = Sieve()
    checked: list[tuple[QuestionKey, str]] = []
    for language, query_id in zip(queries["language"], queries["query_id"], strict=True):
        key = (language, query_id)
        answer = answers.get(key)
        passages = texts.passages(key, teacher)
        fault = NO_ANSWER if answer is None else _fault(answer, passages)
        if fault is None and answer is not None:
            checked.append((key, answer))
        else:
            sieve.drop(language, fault or NO_ANSWER)
    prose = [
        strip_citations(parse_answer(answer).text, _ids(texts.passages(key, teacher)))
        for key, answer in checked
    ]
    asked_in = [language for (language, _), _ in checked]
    for (key, answer), is_target in zip(checked, _in_language(asked_in, prose), strict=True):
        if not is_target:
            sieve.drop(key[0], OTHER_LANGUAGE)
            continue
        shown = tuple(replace(each, relevance=None) for each in texts.passages(key, teacher))
        asked = prompt.ask(GivenQuestion(key, texts.question(key), shown))
        sieve.take(TrainExample(key, asked, answer.strip(), {"system": teacher}))
    return sieve


def _answers(arena: Arena, teacher: str) -> dict[QuestionKey, str]:
    own = arena.answers[arena.answers["system"] == teacher]
    if own.empty:
        known = ", ".join(sorted(set(arena.answers["system"])))
        raise UsageError(
            f"there are no answers of {teacher!r} here (`teacher`); there is {known}; let a model "
            "answer with  surrogate-arena generate ARENA --relevant-passages --append"
        )
    keys = zip(own["language"], own["query_id"], strict=True)
    return dict(zip(keys, map(str, own["answer"]), strict=True))


def _fault(answer: str, passages: Sequence[ShownPassage]) -> str | None:
    """Return why an answer is not taught, its language aside."""
    parsed = parse_answer(answer)
    if not any(passage.relevance != 0 for passage in passages):
        return NO_RELEVANT
    if not parsed.is_marked or parsed.reason is None or not parsed.text:
        return NO_MARKERS
    cited = cited_passages(parsed.text, _ids(passages))
    if cited.unknown:
        return WRONG_CITATION
    if not cited.known:
        return NO_CITATION
    irrelevant = {passage.passage_id for passage in passages if passage.relevance == 0}
    return NOT_RELEVANT if irrelevant.intersection(cited.known) else None


def _ids(passages: Sequence[ShownPassage]) -> list[str]:
    return [passage.passage_id for passage in passages]


def _in_language(languages: Sequence[str], texts: Sequence[str]) -> list[bool]:
    """Tell of each text whether it is in its language, as far as that can be told."""
    told = map(identify, texts)
    return [
        language not in known or max(known, key=known.__getitem__) == language
        for language, known in zip(languages, told, strict=True)
    ]
