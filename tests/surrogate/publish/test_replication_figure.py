"""The picture of quality against judged questions."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from arena import DataError, UsageError
from surrogate.publish.figures.studies import read_replication, replication_curves
from surrogate.validation import validate
from surrogate.validation.scores import MACRO
from surrogate.validation.study import REPLICATION_COLUMNS as TABLE_COLUMNS

NUMBERS = (3, 6, 12, 24)


def rows_of(language, taus, verdicts):
    return pd.DataFrame(
        {
            **dict.fromkeys(TABLE_COLUMNS, 0.5),
            "language": language,
            "questions": list(map(float, NUMBERS)),
            "judgments": [10.0 * number for number in NUMBERS],
            "tau": taus,
            "tau_verdicts": verdicts,
        }
    )[TABLE_COLUMNS]


def note_of(figure):
    return re.sub(r"\s+", " ", figure.texts[1].get_text())


def lines_of(figure):
    (axes,) = figure.findobj(lambda part: hasattr(part, "get_xticks"))
    return [line for line in axes.get_lines() if len(line.get_xdata()) == len(NUMBERS)]


@pytest.mark.parametrize(
    ("taus", "needed"),
    [
        ((0.2, 0.4, 0.8, 0.9), "with the surrogate 8 do."),  # between 6 and 12, on a log scale
        ((0.6, 0.7, 0.8, 0.9), "with the surrogate 3 or fewer do."),
        ((0.1, 0.2, 0.3, 0.4), "with the surrogate these do not suffice."),
        ((0.7, 0.4, 0.6, 0.9), "with the surrogate 8 do."),  # from where on it stays above
    ],
)
def test_says_how_many_questions_the_surrogate_saves(taus, needed):
    table = rows_of("en", taus, (0.1, 0.2, 0.3, 0.6))
    if taus[2] == 0.6:
        table["tau_verdicts"] = (0.1, 0.2, 0.3, 0.5)
    note = note_of(replication_curves(table, "s"))
    assert re.search(r"Verdicts alone reach 0\.[56]0 with 24 questions", note)
    assert note.endswith(needed)


def test_draws_each_kind_of_rating_of_the_mean_or_one_language():
    english = rows_of("en", (0.2, 0.4, 0.8, 0.9), (0.1, 0.2, 0.3, 0.6))
    mean = rows_of(MACRO, (0.3, 0.5, 0.7, 0.8), (0.2, 0.3, 0.4, 0.5))
    table = pd.concat([english, rows_of("sw", (0.1,) * 4, (0.1,) * 4), mean])
    for language, drawn in ((None, mean), ("en", english)):
        figure = replication_curves(table.sample(frac=1, random_state=0), "sig", "mine", language)
        lines = lines_of(figure)
        for line, column in zip(lines, ("tau", "tau_verdicts", "tau_surrogate"), strict=True):
            np.testing.assert_array_equal(line.get_ydata(), drawn[column])
        texts = [text.get_text() for text in figure.findobj(Text)]
        assert {"verdicts and surrogate", "verdicts alone", "surrogate alone"} <= set(texts)
        part = "en" if language else "mean over 2 languages"
        assert " ".join(figure.texts[0].get_text().split()).endswith(f"mine, {part}")
        assert "30 to 240 judgments" in note_of(figure)
    with pytest.raises(UsageError, match="no tau of fi; it has"):
        replication_curves(table, "sig", language="fi")


def test_a_real_study_is_read_and_drawn_by_the_command(small_arena, small_board, tmp_path, run):
    study = validate(
        *(small_arena, "replication", "linear", 2),
        **{"judged": (2, None), "feature_table": small_board.features},
    )
    path = tmp_path / "study.json"
    table = study.table.astype(object).where(study.table.notna(), None).to_dict("records")
    path.write_text(json.dumps({"table": table, "signature": study.signature}))
    read, signature = read_replication(path)
    pd.testing.assert_frame_equal(read, study.table.reset_index(drop=True), check_dtype=False)
    assert signature == study.signature
    assert run("publish", path, "--as", "figures", "--out", tmp_path / "plots") == 0
    assert (tmp_path / "plots" / "replication.png").read_bytes().startswith(b"\x89PNG")
    (tmp_path / "other.json").write_text(json.dumps({"table": [{"a": 1}], "signature": ""}))
    with pytest.raises(DataError, match="is no study of replication"):
        read_replication(tmp_path / "other.json")
