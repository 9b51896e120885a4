"""What an arena teaches: RAG answers of a teacher (MIRAGE-Bench, 3.3), and verdicts of a judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.schema import QUESTION_KEY
from arena.data.seeds import generator
from arena.generation.generate import LlmSystem
from arena.generation.questions import GivenQuestion, choose_questions, question_keys
from arena.judging.pairs import ArenaTexts, PairKey, ShownPassage, unordered
from arena.judging.prompt import PairwisePrompt
from arena.judging.replies import WINNER_OF_LETTER
from arena.rating.battles import spread
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
CONTRADICTORY = "verdicts on a pair that the judge decided both ways"
IDENTICAL_ANSWERS = "verdicts on answers that are the same"
STEERING = "verdicts on answers that look like an attempt to steer the judge"
SAME_AGAIN = "verdicts that say the same of a pair again"
NOT_DRAWN_PAIR = "verdicts beyond the number of a question"

_LETTERS = {winner: letter for letter, winner in WINNER_OF_LETTER.items()}
_TURNED = {"a": "b", "b": "a", "tie": "tie"}


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
            f"there are no answers of {teacher!r} here (`teacher`); there is {known}; let a model "
            "answer with  surrogate-arena generate ARENA --relevant-passages --append"
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
        prompt = asked.ask(GivenQuestion(key, texts.question(key), shown))
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


def judge_examples(
    arena: Arena,
    prompt: PairwisePrompt,
    judge: str | None = None,
    pairs: int | None = None,
    languages: Sequence[str] = (),
    seed: int = 0,
) -> Sieve:
    """Make chats that ask what ``judge`` asks and reply with the letter that a judge decided by.

    Each pair is shown in both orders, so that no side is learned as the better one.

    Args:
        arena: With the verdicts.
        prompt: What judges are asked.
        judge: Whose verdicts; None where there is one judge alone.
        pairs: Most pairs of a question, drawn; None for all.
        languages: Which ones; all if there are none.
        seed: Seed of the draw.

    Raises:
        UsageError: If no such judge has verdicts here, or several have and none is named, or
            they are soft.
    """
    texts, sieve = ArenaTexts(arena), Sieve()
    decided = _verdicts(arena, judge, languages)
    for question, of_question in sorted(decided.items()):
        names = sorted(of_question)
        draw = generator(seed, "training", "pairs", *question)
        taken = 0
        for pair in (names[place] for place in draw.permutation(len(names))):
            winners = of_question[pair]
            if len(set(winners)) > 1:
                sieve.drop(question[0], CONTRADICTORY, len(winners))
                continue
            if pairs is not None and taken >= pairs:
                sieve.drop(question[0], NOT_DRAWN_PAIR, len(winners))
                continue
            taken += 1
            if len(winners) > 1:
                sieve.drop(question[0], SAME_AGAIN, len(winners) - 1)
            language, query_id, one, other = pair
            orders = ((pair, winners[0]), ((language, query_id, other, one), _TURNED[winners[0]]))
            for key, winner in orders:
                _show(sieve, texts, prompt, key, winner)
    return sieve


def _show(
    sieve: Sieve, texts: ArenaTexts, prompt: PairwisePrompt, key: PairKey, winner: str
) -> None:
    comparison = texts.comparison(key, prompt.show)
    asked, flags = prompt.ask(comparison)
    if comparison.answer_a == comparison.answer_b:
        sieve.drop(key[0], IDENTICAL_ANSWERS)
    elif any(":" in flag for flag in flags):
        sieve.drop(key[0], STEERING)
    else:
        notes = {"system_a": key[2], "system_b": key[3]}
        reply = _LETTERS[winner]  # type: ignore[index]
        sieve.kept.append(TrainExample(key[:2], asked, reply, notes))


def _verdicts(
    arena: Arena, judge: str | None, languages: Sequence[str]
) -> dict[tuple[str, str], dict[PairKey, list[str]]]:
    """Return the winners of each pair by question, as if its systems stood in order of name."""
    table = arena.judgments
    if languages:
        table = table[table["language"].isin(languages)]
    judges = sorted(set(table["judge"]))
    if judge is None and len(judges) > 1:
        raise UsageError(f"several judged here; choose one with `teacher`: {', '.join(judges)}")
    if table.empty:
        raise UsageError("there are no verdicts here; judge first")
    if judge is not None and judge not in judges:
        raise UsageError(f"no verdicts of {judge!r} here; there is {', '.join(judges)}")
    own = table if judge is None else table[table["judge"] == judge]
    if spread(own)[2] is not None:
        raise UsageError(
            "soft verdicts are shares, which no letter says; name the judge that they are made of"
        )
    decided: dict[tuple[str, str], dict[PairKey, list[str]]] = {}
    columns: pd.DataFrame = own[[*QUESTION_KEY, "system_a", "system_b", "winner"]]
    for language, query_id, one, other, winner in columns.itertuples(index=False, name=None):
        key = (language, query_id, one, other)
        pair = unordered(key)
        said = winner if pair == key else _TURNED[winner]
        decided.setdefault((language, query_id), {}).setdefault(pair, []).append(said)
    return decided
