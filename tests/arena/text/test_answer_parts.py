import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.text.answers import RagAnswer, parse_answer


@pytest.mark.parametrize(
    ("output", "reason", "text"),
    [
        ("##Reason: because [1] ##Answer: Paris", "because [1]", "Paris"),
        ("##Reason: a\n\nb\n##Answer: c\n\nd [1].\n\ne", "a\n\nb", "c\n\nd [1].\n\ne"),
        ("##reason:a ##ANSWER:b", "a", "b"),
        ("## Reason : a\n## Answer : b", "a", "b"),
        ("**##Reason:** a\n**##Answer:** b", "a", "b"),
        ("##**Reason**: a ##**Answer**: b", "a", "b"),
        ("## Reason\na\n## Answer\nb", "a", "b"),
        ("##Reason：甲 ##Answer：乙", "甲", "乙"),
        ("＃＃理由：甲 ＃＃答案：乙", "甲", "乙"),
        ("##Причина: а ##Ответ: б", "а", "б"),
        ("##कारण: क ##उत्तर: ख", "क", "ख"),
        ("##Answer: only", None, "only"),
        ("Sure! ##Answer: only", None, "only"),
        ("##Answer: first ##Reason: after", "after", "first"),
        ("##Reason: a ##Answer: b ##Reason: c ##Answer: d", "c", "d"),
        ("##Answer: b ##Answer:", None, "b"),
        ("##Reason: a ##Answer:", "a", ""),
    ],
)
def test_marked_outputs_are_taken_apart(output, reason, text):
    answer = parse_answer(output)
    assert (answer.reason, answer.text, answer.is_marked) == (reason, text, True)


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("", ""),
        ("  \n\t ", ""),
        ("Plain [1].\n\nSecond paragraph.", "Plain [1].\n\nSecond paragraph."),
        ("##Reason: never reached the answer [2]", "never reached the answer [2]"),
        ("The answer: 3 # Answers to come", "The answer: 3 # Answers to come"),
        ("## Answers to question 3\nx", "## Answers to question 3\nx"),
    ],
)
def test_without_an_answer_marker_the_whole_output_is_the_answer(output, text):
    assert parse_answer(output) == RagAnswer(None, text, text, is_marked=False)


@given(st.text(alphabet="#*: \n[]1aAnswerReason：", max_size=60))
def test_any_text_is_parsed(output):
    answer = parse_answer(output)
    assert answer.text == answer.text.strip()
    assert answer.text in answer.output
    assert answer.is_marked or answer.reason is None


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["#", "*", "##", "## ", "##Answer", "##Answer:", " ", "\n"])
def test_long_degenerate_outputs_are_parsed(unit):
    assert isinstance(parse_answer(unit * 100_000), RagAnswer)
