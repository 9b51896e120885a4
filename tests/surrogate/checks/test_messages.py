"""Messages of failures are found; sound answers about failures are not certainly messages."""

import pytest
from failure_messages import messages, refusals_about_systems, sound_answers

from features.declare.sample import NO_REFERENCE_ANSWER, Memo, Question, Sample
from surrogate.checks.rules import RULES


def check_of(language, query, answer):
    """Return the first check of messages that finds an answer."""
    question = Question(language, "1", query, passages=(), reference=NO_REFERENCE_ANSWER)
    sample = Sample(question, answer, Memo())
    checks = ("empty", "error-text", "failure-message")
    return next((name for name in checks if RULES[name](sample)), None)


@pytest.mark.parametrize("language", sorted(messages()))
def test_most_messages_of_failures_are_found(language):
    texts = messages()[language]
    found = [text for text in texts if check_of(language, "?", text)]
    assert len(found) >= 0.8 * len(texts), set(texts) - set(found)


def test_no_sound_answer_about_failures_is_certainly_a_message():
    """They have no passages, whose words would tell more of them."""
    assert {check_of(*row) for row in sound_answers()} <= {None, "failure-message"}


@pytest.mark.parametrize(("language", "text"), refusals_about_systems())
def test_a_refusal_is_no_failure_of_a_machine(language, text):
    assert check_of(language, "?", text) is None
