import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.text.answers import cited_passages
from features.text.sentences import Statement, cut_statements

SEGMENT = "msmarco_v2.1_doc_12_345#3_678"
IDS = ("1", "2", "3", "12#3", "a.b/../c", SEGMENT)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("Paris [1].", [("Paris.", "1")]),
        ("Paris is big [1]. Rome is old [2].", [("Paris is big.", "1"), ("Rome is old.", "2")]),
        ("Paris is big. [1] Rome is old. [2]", [("Paris is big.", "1"), ("Rome is old.", "2")]),
        ("Paris is big.[1]Rome is old.[2]", [("Paris is big.", "1"), ("Rome is old.", "2")]),
        ("[2] Paris is big. Rome.", [("Paris is big.", "2"), ("Rome.", "")]),
        ("Big [3], [1, 2][3] it is.", [("Big, it is.", "3 1 2")]),
        ("Dr. Smith [2] said so.", [("Dr. Smith said so.", "2")]),
        ("One. Two.\n[1] [2]", [("One.", ""), ("Two.", "1 2")]),
        ("One. Two.\n\nSources: [1], [2]", [("One.", ""), ("Two.", ""), ("Sources:,", "1 2")]),
        ("One.\n[1] Two. Three.", [("One.", ""), ("Two.", "1"), ("Three.", "")]),
        ("- One [1]\n- [2] Two\n- Three", [("One", "1"), ("Two", "2"), ("Three", "")]),
        ("1. One [1]\n2. Two. And more [2]", [("One", "1"), ("Two.", ""), ("And more", "2")]),
        (f"Safe. [{SEGMENT}] Sound [12#3].", [("Safe.", SEGMENT), ("Sound.", "12#3")]),
        ("Path [a.b/../c]. End.", [("Path.", "a.b/../c"), ("End.", "")]),
        ("Unknown [9] and known [1].", [("Unknown and known.", "1")]),
        ("Prose [in brackets] stays.", [("Prose [in brackets] stays.", "")]),
        ("Linked [[1]](https://a.b/c.d). End.", [("Linked.", "1"), ("End.", "")]),
        ("## Heading\nText [1].\n***\n[2]", [("Text.", "1 2")]),
        ("[1] [2] ...", []),
        ("#1 of all [1].", [("#1 of all.", "1")]),
        ("巴黎很大【１】。罗马[2]很老。", [("巴黎很大。", "1"), ("罗马 很老。", "2")]),
        ("पेरिस बड़ा है [१]। रोम [२]।", [("पेरिस बड़ा है।", "1"), ("रोम।", "2")]),
        ("باريس كبيرة [١]. روما؟ [٢]", [("باريس كبيرة.", "1"), ("روما؟", "2")]),
    ],
)
def test_statements_of_real_notations(text, expected):
    found = cut_statements(text, IDS, "en")
    assert found == tuple(Statement(said, tuple(cited.split())) for said, cited in expected)


def test_thai_statements():
    found = cut_statements("ผมไปครับ [1] ผมไม่ไปครับ [2]", IDS, "th")
    assert found == (Statement("ผมไปครับ", ("1",)), Statement("ผมไม่ไปครับ", ("2",)))


@given(
    st.lists(
        st.sampled_from(
            ["Paris. ", "rome ", "[1]", " [2, 3]", f"[{SEGMENT}]", "\n", "。", "- ", "# ", "\ud800"]
        )
    ).map("".join)
)
def test_what_the_text_cites_its_statements_cite(text):
    statements = cut_statements(text, IDS, "en")
    cited = {name for statement in statements for name in statement.cited}
    assert cited == (set(cited_passages(text, IDS).matched) if statements else set())
    assert all(len(set(statement.cited)) == len(statement.cited) for statement in statements)
