"""Cells: lists and records that were written as text are read back, or refused."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from surrogate_arena.importers.cells import decoded, is_missing_cell, opened_text, text_of_reply
from surrogate_arena.importers.literals import MOST_PRINTED, parsed_literal
from surrogate_arena.importers.passages import passages_of

BOTH = TOWER, LYNX = "The tower is 300 m high.", "A lynx eats hares."
NODE = (
    "[NodeWithScore(node=TextNode(id_='n1', embedding=None, metadata={'title': 'Towers'}, "
    "relationships={<NodeRelationship.SOURCE: '1'>: RelatedNodeInfo(node_id='d', hash='0')}, "
    f"text='{TOWER}', start_char_idx=0, end_char_idx=24), score=0.83), "
    f"NodeWithScore(node=TextNode(id_='n2', metadata={{}}, text='{LYNX}'), score=None)]"
)


def texts(cell):
    return [passage["text"] for passage in passages_of(cell)]


@pytest.mark.parametrize(
    "cell",
    [
        f"['{TOWER}' '{LYNX}']",
        f"['{TOWER}'\n '{LYNX}']",
        f"array(['{TOWER}', '{LYNX}'], dtype=object)",
        f"[np.str_('{TOWER}'), np.str_('{LYNX}')]",
        f"('{TOWER}', '{LYNX}')",
        f"[list(['{TOWER}']) list(['{LYNX}'])]",
        f"[['{TOWER}'], ['{LYNX}']]",
        f"[Document(metadata={{'a': 1}}, page_content='{TOWER}'), "
        f"Document(id='x', metadata={{}}, page_content='{LYNX}')]",
        f"[Document(page_content='{TOWER}') Document(page_content='{LYNX}')]",
        f"[(Document(page_content='{TOWER}'), 0.5), (Document(page_content='{LYNX}'), 0.2)]",
        f"page_content='{TOWER}' metadata={{}}\npage_content='{LYNX}' metadata={{}}",
        NODE,
        json.dumps([{"page_content": TOWER, "metadata": {}}, {"content": LYNX}]),
        json.dumps([{"pageContent": TOWER}, {"passage": LYNX}]),
        json.dumps([{"kwargs": {"page_content": TOWER}}, {"node": {"text": LYNX}, "score": 0.1}]),
        json.dumps([{"document": {"text": TOWER}}, {"_source": {"content": LYNX}}]),
        json.dumps({"documents": [[TOWER, LYNX]]}),
        json.dumps(json.dumps([TOWER, LYNX])),
        json.dumps([json.dumps({"text": TOWER}), json.dumps({"text": LYNX})]),
        json.dumps([f"['{TOWER}' '{LYNX}']"]),
        json.dumps([[TOWER, 0.9], [LYNX, 0.4]]),
        f"OrderedDict([('text', '{TOWER}')]), OrderedDict([('text', '{LYNX}')])".join("[]"),
        f"dict_values(['{TOWER}', '{LYNX}'])",
        f"odict_values(['{TOWER}', '{LYNX}'])",
        f"defaultdict(<class 'list'>, {{'documents': ['{TOWER}', '{LYNX}']}})",
        f"<StringArray>\n['{TOWER}', '{LYNX}']\nLength: 2, dtype: string",
        f"ArrowStringArray\n['{TOWER}', '{LYNX}']\nLength: 2, dtype: string",
        f"[['d1', '{TOWER}'], ['d2', '{LYNX}']]",
        f"[('first', '{TOWER}', 0.9), ('second', '{LYNX}', 0.8)]",
        f"[['Towers', ['The tower', 'is 300 m high.']], ['Lynxes', ['{LYNX}']]]",
        f"[Object(uuid=_UUID('3f'), properties={{'text': '{TOWER}'}}, references=None), "
        f"Object(uuid=_UUID('4f'), properties={{'text': '{LYNX}'}}, references=None)]",
        json.dumps({"matches": [{"metadata": {"text": TOWER}}, {"metadata": {"text": LYNX}}]}),
        json.dumps({"hits": {"total": 2, "hits": [{"_source": {"text": each}} for each in BOTH]}}),
        json.dumps([{"content": {"text": TOWER, "type": "TEXT"}}, {"content": {"text": LYNX}}]),
        json.dumps([{"content": [{"type": "text", "text": each}]} for each in BOTH]),
        json.dumps({"text": [TOWER, LYNX], "score": [0.5, 0.4]}),
        json.dumps({"title": ["a", "b"], "sentences": [["The tower", "is 300 m high."], [LYNX]]}),
        json.dumps([{"title": "a", "sentences": ["The tower ", "is 300 m high."]}, LYNX]),
        [TOWER, LYNX],
        (TOWER, LYNX),
        np.array([TOWER, LYNX], dtype=object),
        [{"text": TOWER}, LYNX],
    ],
)
def test_two_passages_however_they_were_written(cell):
    assert texts(cell) == [TOWER, LYNX]


def test_mixed_commas_are_three_passages():
    assert texts("['A.', 'B.' 'C.']") == ["A.", "B.", "C."]


@pytest.mark.parametrize(
    "cell",
    [
        None,
        math.nan,
        "",
        " ",
        "None",
        "nan",
        "NaN",
        "null",
        "<NA>",
        "N/A",
        "#N/A",
        "[]",
        "[None]",
        "[nan]",
        '["", null]',
        "array([], dtype=object)",
        "['None']",
    ],
)
def test_a_missing_value_is_no_passage(cell):
    assert passages_of(cell) == []


def test_rows_of_a_list_keep_their_ids_and_titles():
    rows = passages_of([["d1", TOWER], ["d2", LYNX]])
    assert [(row["passage_id"], row["text"]) for row in rows] == [("d1", TOWER), ("d2", LYNX)]
    (row,) = passages_of([["Towers", ["They are", "high."]]])
    assert (row["title"], row["text"]) == ("Towers", "They are high.")


@pytest.mark.parametrize(
    "text",
    [
        "content='So.' additional_kwargs={} response_metadata={'usage': {}} id='run-1'",
        "AIMessage(content='So.', additional_kwargs={}, response_metadata={})",
        "{'result': 'So.', 'source_documents': [Document(page_content='x')]}",
        "Response(response='So.', source_nodes=[], metadata=None)",
        "ChatCompletion(id='x', choices=[Choice(index=0, message=ChatMessage(content='So.'))])",
        "AIMessage(content=[{'type': 'text', 'text': 'So.'}])",
        "[{'generated_text': 'So.'}]",
    ],
)
def test_the_text_of_a_printed_reply_is_read(text):
    assert text_of_reply(text) == "So."
    assert text_of_reply(text[:-1]) is None or text.startswith("content=")


@pytest.mark.parametrize(
    "text", ["So.", "", "{'a': 1}", '{"answer": "So."}', "['So.']", "content is king", "f(x='a')"]
)
def test_other_texts_are_no_printed_replies(text):
    assert text_of_reply(text) is None


def test_a_gap_in_a_list_keeps_the_numbers_that_answers_cite():
    passages = passages_of("['a', None, 'b']")
    assert [(passage["passage_id"], passage["text"]) for passage in passages] == [
        ("1", "a"),
        ("3", "b"),
    ]


@pytest.mark.parametrize(
    "cell",
    [
        "['a' 'b'",
        "['it's', 'b']",
        "['a''b']",
        "('a' 'b')",
        "{'a' 'b'}",
        "['a' + 'b']",
        "['a' ... 'b']",
        "['a', ...]",
        "[<Doc object at 0x7f00>]",
        "<Doc object at 0x7f00>",
        f"[Document(id=6c5d, content: '{'x' * 100}...')]",
        "[open('x')",
        "[a, b]",
        '["a", ',
        "[{'a': 1}]",
        "Document(page_content='The tower",
        "[1, 2]",
        5,
        True,
        ["a", 3],
        [["a", "b"], 3],
        "0    a\n1    b\nName: text, dtype: object",
        "0  a\n1  b\ndtype: object",
        "  text\n0  a\n1  b",
        "     text  score\n0  a    0.5\n..  ...\n9  b   0.4\n\n[10 rows x 2 columns]",
        'shape: (2,)\nSeries: \'\' [str]\n[\n\t"a"\n\t"b"\n]',
        "dict_values(['a'",
        "<StringArray>\n['a', ..., 'b']\nLength: 9, dtype: string",
        "OrderedDict([('a', 'b'",
        "<StringArray>\n['a', 'b']\nLength: 9, dtype: string",
        "OrderedDict([('d', 'a')])",
        '[["Towers", "They are high."], ["Lynxes", "They eat hares."]]',
        "\"['a'\"",
        "[f'{a}', 'b']",
        "['a' if b else 'c']",
        "[__import__('os').name]",
    ],
)
def test_what_is_no_list_of_passages_is_refused(cell):
    with pytest.raises(ValueError):  # noqa: PT011 - the clause is not claimed
        passages_of(cell)


@pytest.mark.parametrize(
    "text",
    [
        "[1] The tower.",
        "[Applause]",
        '"War" is a book.',
        "(see above) It is.",
        "x = [1, 2]",
        "Buildings|Heights",
        "f(x) is 3",
        "a: b",
        "{{ name }}",
        "It is 5, or [6].",
    ],
)
def test_a_text_that_is_no_list_is_one_passage(text):
    assert texts(text) == [text]


def test_texts_in_a_list_that_was_read_stay_as_they_are():
    code = ["['x'] is a list", '{"k": 1}', '"quoted"', "[2]"]
    assert texts(code) == code
    assert texts(json.dumps(code)) == code


def test_ids_and_titles_come_from_the_record_or_its_metadata():
    first, second = passages_of(
        json.dumps(
            [
                {"document_id": 7, "content": "a", "metadata": {"title": "T"}},
                {"id": "x", "page_content": "b", "title": "U"},
            ]
        )
    )
    assert (first["passage_id"], first["title"]) == ("7", "T")
    assert (second["passage_id"], second["title"]) == ("x", "U")
    parts = passages_of([{"id": "d", "text": "a"}, {"id": "d", "text": "b"}])
    assert [passage["passage_id"] for passage in parts] == ["1", "2"]


def test_json_is_opened_at_any_depth():
    inner = {"question": "How?", "messages": [{"content": json.dumps({"answer": "So."})}]}
    assert decoded(json.dumps(json.dumps(inner))) == {
        "question": "How?",
        "messages": [{"content": {"answer": "So."}}],
    }
    assert decoded("{'a': [None, True, 1.5], 'b': ('x',)}") == {"a": [None, True, 1.5], "b": ["x"]}
    for text in ("plain", "None", "5", '"quoted"', "print('x')", "f(a=1)", "[a]", ""):
        assert decoded(text) == text


def test_what_is_deep_or_long_is_refused_without_a_crash():
    deep = "[" * 100_000
    assert decoded(deep) == deep
    with pytest.raises(ValueError, match="deeper"):
        parsed_literal("[" * 1000 + "]" * 1000)
    with pytest.raises(ValueError, match="longer"):
        parsed_literal("'" + "a" * MOST_PRINTED + "'")
    nested = "a"
    for _ in range(12):
        nested = json.dumps([nested])
    assert isinstance(decoded(nested), list)


@given(st.text())
def test_any_text_is_opened_or_left(text):
    decoded(text)
    is_missing_cell(text)


def plain(text):
    """Tell whether a text would not itself be taken for a list, a record or a missing value."""
    return text.strip()[:1] not in tuple("[{('\"<") and "=" not in text and "(" not in text


PLAIN = st.text(st.characters(exclude_categories=["Cs"]), max_size=30).filter(
    lambda text: plain(text) and not is_missing_cell(text)
)


@given(st.lists(PLAIN, min_size=1, max_size=5))
def test_a_list_that_was_printed_reads_back_as_the_same_list_or_is_refused(written):
    array = np.array(written, dtype=object)
    cells = [
        str(written),
        repr(tuple(written)),
        repr(array),
        json.dumps(written),
        str(array),
        json.dumps(json.dumps(written)),
        str(np.array(written)),
        pd.DataFrame({"c": [array]}).to_csv(index=False).split("\n", 1)[1].strip('"\n'),
    ]
    assume(not any(text.endswith("\x00") for text in written))  # numpy drops it
    for cell in cells[:-1]:
        assert texts(cell) == written
    try:
        read = texts(cells[-1])
    except ValueError:
        return
    if '"' not in "".join(written):
        assert read == written


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=4))
def test_a_printed_list_is_never_read_as_other_texts(written):
    for cell in (str(written), str(np.array(written, dtype=object))):
        assert opened_text(cell) == written


@pytest.mark.slow
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_a_printed_value_reads_back(value):
    assert parsed_literal(repr(value)) == value
