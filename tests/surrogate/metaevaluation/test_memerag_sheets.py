"""Sheets for annotators: every path to a label, what is to be filled in, highlighted support."""

import pandas as pd
import pytest
from chat_server import broken, completion

from arena import UsageError
from arena.llm import Completion, UnparsableError
from surrogate.metaevaluation.memerag.sheets import (
    FILLED_COLUMNS,
    highlight_support,
    read_support,
    write_sheet,
)


def test_sheets_go_out_without_labels(small_sentences, tmp_path):
    write_sheet(small_sentences, tmp_path / "anna.csv")
    sheet = pd.read_csv(tmp_path / "anna.csv")
    assert "factuality" not in sheet
    assert sheet.loc[0, "passages"] == "[1] Paris is in France.\n\n[2] Oslo."
    assert sheet[FILLED_COLUMNS].isna().all().all()
    with pytest.raises(UsageError, match=r"anna\.txt: a sheet is a CSV file"):
        write_sheet(small_sentences, tmp_path / "anna.txt")


SENTENCES = pd.DataFrame(
    {
        "language": "en",
        "query_id": ["q0", "q1", "q2", "q3"],
        "sentence_id": 0,
        "query": "Where?",
        "passages": [("Oslo is a city. It is big.", "Trams run in Oslo.")] * 4,
        "answer": "…",
        "sentence": ["Oslo is big.", "Bergen is big.", "It names 3.1.", "It fails."],
    }
)


def reply(label, references):
    return f"<rationale>So.</rationale><label>{label}</label><references>{references}</references>"


def behave(prompt, _=None):
    if "It fails." in prompt:
        return broken()
    if "It names 3.1." in prompt:
        return completion(reply(1, "3.1"))
    return completion(reply(0, "") if "Bergen" in prompt else reply(1, "1.2, 2.1"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (reply(1, "1.2, 2.1, 1.2"), (True, ((1, 2), (2, 1)))),
        (reply(0, "1.2"), (False, ())),
        ("<label>0</label> or <label> 1 </label>", (True, ())),
        (f"<think>{reply(1, '1.1')}</think><label>1</label>", (True, ())),
        *((text, None) for text in ("1", "<label>10</label>", "<think>1: <label>1</label>")),
    ],
)
def test_support_is_read(text, found):
    if found is None:
        with pytest.raises(UnparsableError):
            read_support(Completion(text))
    else:
        assert read_support(Completion(text)) == found


def test_support_is_marked_and_failures_mark_nothing(serve, llm_at):
    server = serve(behave)
    found, usage = highlight_support(SENTENCES, llm_at(server))
    table = found.set_index("query_id")
    assert table.loc["q0", "highlighted"] == (
        "Oslo is a city. **It is big.**",
        "**Trams run in Oslo.**",
    )
    plain = ("Oslo is a city. It is big.", "Trams run in Oslo.")
    assert all(table.loc[query, "highlighted"] == plain for query in ("q1", "q2", "q3"))
    assert table["is_supported"].tolist() == [True, False, None, None]
    assert table["reason"].tolist() == [None, None, "unparsable", "server_error"]
    assert "names sentence 3.1" in table.loc["q2", "detail"]
    assert usage.failures == {"unparsable": 1, "server_error": 1}
    assert "1.2: It is big.\n" in next(iter(server.asked))
