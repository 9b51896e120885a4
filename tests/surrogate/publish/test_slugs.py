"""File names of systems."""

import re

from hypothesis import given
from hypothesis import strategies as st

from surrogate.publish.formats import LONGEST, slugs


@given(st.sets(st.text(max_size=80), max_size=30))
def test_slugs_are_safe_and_unique(names):
    found = slugs(names)
    assert set(found) == names
    assert len(set(found.values())) == len(names)
    for slug in found.values():
        assert re.fullmatch(r"[a-z0-9][a-z0-9-]*", slug)
        assert len(slug) <= LONGEST


def test_plain_names_stay_and_others_are_told_apart():
    found = slugs(["gpt-4", "GPT-4", "con", "CON", "../x", "<script>", "n" * 300, "日本"])
    assert found["gpt-4"] == "gpt-4"
    assert found["GPT-4"].startswith("gpt-4-")
    assert found["con"] != "con"
    assert found["日本"].startswith("system-")
    assert found["GPT-4"] == slugs(["GPT-4"])["GPT-4"]
