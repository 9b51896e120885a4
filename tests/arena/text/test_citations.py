"""Citations of answers: what is one, what is prose, and whose they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.text.answers import Citations, cited_passages, find_citations, strip_citations

MSMARCO = "msmarco_v2.1_doc_00_528303199#9_967565969"
KNOWN = ("0", "1", "2", "3", "12#3", "140086#29", MSMARCO)


SINGLE = {
    "1": [
        "[1]",
        "[१]",
        "【1】",
        "[Doc 1]",
        "[document 1]",
        "[文档1]",
        "[^1]",
        "[[1]]",
        "[01]",
        "【1†source】",
        "[\u200f1\u200e]",
        "[1](http://example.org/a)",
    ],
    "2": ["[২]"],
    "3": ["[౩]", "[๓]", "[Passage 3]"],
    "12#3": ["[12#3]", "[１２＃３]"],
    "140086#29": ["[Doc 140086#29]"],
    "0": ["[0]"],
    MSMARCO: [f"text [{MSMARCO}] more"],
}
SEVERAL = {
    ("1", "2"): [
        "[1, 2]",
        "[1][2]",
        "[1] and [2] and [1]",
        "[1、2]",
        "[١، ٢]",
        "[١؛ ٢]",
        "[۱،۲]",
        "［１，２］",
        "[1\n, 2]",
    ],
    ("2", "1"): ["[2,1]"],
    ("1", "3"): ["[Passages 1, 3]"],
    ("1", "2", "3"): ["[1，2；3]", "[1-3]", "[1–3]", "[১–৩]"],
    ("140086#29", "12#3"): ["[140086#29; 12#3]"],
}


@pytest.mark.parametrize(
    ("text", "known"),
    [(text, (one,)) for one, texts in SINGLE.items() for text in texts]
    + [(text, ids) for ids, texts in SEVERAL.items() for text in texts],
)
def test_citations_of_known_passages(text, known):
    citations = cited_passages(text, KNOWN)
    assert citations.matched == known
    assert citations.unmatched == ()


@pytest.mark.parametrize(
    "text",
    [
        "[sic]",
        "[citation needed]",
        "[...]",
        "[…]",
        "[text](http://a.b)",
        "[]",
        "[ ]",
        "[x]",
        "[July 4]",
        "[0.5]",
        "[COVID-19]",
        "[in 1990, 3 people]",
        "[AT&T]",
        "1]",
        "[1",
        "(1)",
        "[I don't know]",
        "【メリット】",
        "[#アシスタント]",
        "[1990-2000]",
        "[3 people]",
    ],
)
def test_prose_in_brackets_is_no_citation(text):
    assert cited_passages(text, KNOWN) == Citations((), (), (), 0)
    assert strip_citations(text, KNOWN) == text


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("[7]", ("7",)),
        ("[7, 1, 8, 7]", ("7", "8")),
        ("[٩]", ("9",)),
        ("[2-5]", ("4", "5")),
        *[(f"[{one}]", (one,)) for one in ("1-500", "5-3", "999#1", "9" * 20)],
        ("[msmarco_v2.1_doc_11_5#0_0]", ("msmarco_v2.1_doc_11_5#0_0",)),
    ],
)
def test_unknown_ids_are_kept_in_order(text, unknown):
    assert cited_passages(text, KNOWN).unmatched == unknown


def test_ranking_interleaves_known_and_unknown():
    citations = cited_passages("[3] [9] [1, 3] [8]", KNOWN)
    assert citations == Citations(("3", "9", "1", "8"), ("3", "1"), ("9", "8"), 3)


@pytest.mark.parametrize(
    ("text", "stripped"),
    [
        ("Paris [1].", "Paris."),
        ("[1] Paris", "Paris"),
        ("Paris [1][2], Lyon [1, 2].", "Paris, Lyon."),
        ("巴黎【1】。", "巴黎。"),
        ("पेरिस [१]।", "पेरिस।"),
        ("باريس [١، ٢].", "باريس."),
        ("see [1](http://example.org/a) now", "see now"),
        ("word[1]word", "word word"),
        ("a [sic] [9] b", "a [sic] b"),
        ("a [[1]] b", "a b"),
        ("a\n\n[1] b", "a\n\n b"),
        ("[1](http://a[2]) b", "(http://a) b"),
        ("", ""),
    ],
)
def test_citations_are_stripped(text, stripped):
    assert strip_citations(text, KNOWN) == stripped


CITED = st.lists(st.integers(0, 30), min_size=1, max_size=12)
WRITTEN = {
    "single": lambda ids: " ".join(f"x [{cited}]" for cited in ids),
    "list": lambda ids: f"x [{', '.join(map(str, ids))}].",
    "arabic": lambda ids: "[" + "، ".join(map(str, ids)).translate(_digits("٠")) + "]",
    "bengali": lambda ids: "".join(f"[{cited}]" for cited in ids).translate(_digits("০")),
    "wide": lambda ids: "".join(f"【{cited}】" for cited in ids).translate(_digits("０")),
}


def _digits(zero):
    return {ord("0") + value: chr(ord(zero) + value) for value in range(10)}


@pytest.mark.parametrize("style", WRITTEN)
@given(ids=CITED)
def test_order_of_first_citation_is_kept(style, ids):
    known = tuple(map(str, range(0, 31, 2)))
    citations = cited_passages(WRITTEN[style](ids), known)
    expected = list(dict.fromkeys(map(str, ids)))
    assert list(citations.ranking) == expected
    assert list(citations.matched) == [cited for cited in expected if cited in known]
    assert list(citations.unmatched) == [cited for cited in expected if cited not in known]


@given(st.text(alphabet="[]【】() 12,#-aé١\n\u200f", max_size=60))
def test_any_text_is_searched(text):
    markers = list(find_citations(text, KNOWN))
    assert all(0 <= marker.start < marker.end <= len(text) for marker in markers)
    ends = [0, *(marker.end for marker in markers)]
    assert all(end <= marker.start for end, marker in zip(ends, markers, strict=False))
    assert len(strip_citations(text, KNOWN)) <= len(text)
