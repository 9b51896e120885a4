"""Judging by marks of all answers to a question, in one reply."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from arena.judging.answer_pairs import QuestionKey
from arena.judging.graded import LOG_ODDS_OF_MARK, GradedPrompt, ShownAnswer
from arena.judging.prompt import SHOWN_QUESTION
from arena.llm.prompts import ReplaceablePrompt, Variable
from arena.llm.replies import Completion, UnparsableError

_MARKS = re.compile(r"\[\[([1-5, ]+)\]\]")


@dataclass(frozen=True)
class JointMarkPrompt(GradedPrompt):
    """Asks for a mark for each answer to a question, in one prompt."""

    form = "joint"
    replaceable = (
        ReplaceablePrompt(
            name="joint",
            asks="A mark from 1 to 5 for each answer to a question: judge with form = joint",
            reply="the last [[4, 2, 5]]; 1 to 5, in the order of the answers",
            variables={
                **SHOWN_QUESTION,
                "answers": Variable("the answers' texts", ("sampleone", "sampletwo"), True),
            },
            package="arena.judging",
            packaged_name="joint.v1",
        ),
    )
    # How much better an answer is, in logits, if its mark is 1 higher; only a starting value.
    log_odds = LOG_ODDS_OF_MARK

    @staticmethod
    def calls_on(n_answers: int) -> int:  # noqa: ARG004 - any number fits into a prompt
        """Return one call per question."""
        return 1

    def grouped(
        self,
        question: QuestionKey,  # noqa: ARG002 - all questions are treated alike
        answers: Sequence[ShownAnswer],
    ) -> list[tuple[ShownAnswer, ...]]:
        """Show all answers together."""
        return [tuple(answers)]

    def answer_values(self, answers: Sequence[str]) -> dict[str, object]:
        """Return the value of ``answers``."""
        return {"answers": tuple(answers)}

    def read(self, completion: Completion) -> tuple[int, ...]:
        """Read the last marks."""
        marks = _MARKS.findall(completion.answer)
        if not marks:
            raise UnparsableError("the reply has no marks; expected, for example, [[4, 2, 5]]")
        return tuple(int(mark) for mark in re.findall("[1-5]", marks[-1]))
