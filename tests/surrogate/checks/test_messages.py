"""Messages of failures are told from sound answers about failures."""

import pytest
from failure_messages import messages, refusals_about_systems, sound_answers

from features.declare.sample import NO_REFERENCE_ANSWER, Memo, Question, Sample
from surrogate.checks.rules import is_empty, is_error_text


def is_message(language, query, answer):
    question = Question(language, "1", query, passages=(), reference=NO_REFERENCE_ANSWER)
    sample = Sample(question, answer, Memo())
    return is_error_text(sample) is True or is_empty(sample)


@pytest.mark.parametrize("language", sorted(messages()))
def test_most_messages_of_failures_are_found(language):
    texts = messages()[language]
    found = [text for text in texts if is_message(language, "?", text)]
    # English has 250 messages of the most various programs, others some 15.
    least = 0.7 if language == "en" else 0.8
    assert len(found) >= least * len(texts), set(texts) - set(found)


def test_few_sound_answers_about_failures_are_taken_for_messages():
    """They have no passages, whose words would tell more of them."""
    rows = sound_answers()
    found = [row for row in rows if is_message(*row)]
    assert len(found) <= 0.18 * len(rows), found


@pytest.mark.parametrize(("language", "text"), refusals_about_systems())
def test_a_refusal_is_no_failure_of_a_machine(language, text):
    assert not is_message(language, "?", text)
