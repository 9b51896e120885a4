"""What replies say of a judge beside its verdicts."""

import pytest

from arena.judging.judging_summary import reply_test


@pytest.mark.parametrize(
    ("invalid", "grade"),
    [(0, "consistent"), (4, "consistent"), (8, "doubtful"), (100, "unreliable")],
)
def test_unparsable_replies(invalid, grade):
    found = reply_test(80, invalid, 80 + invalid)
    assert found.grade == grade
    assert f"{invalid} of {80 + invalid} replies are unparsable" in found.sentence


def test_prompts_without_any_verdict_tell_nothing():
    assert reply_test(0, 0, 12).grade == "not known"
    assert reply_test(0, 0, 0) is None
