"""Settings of a board: their text, its parser, and the command that makes a board again."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import UsageError
from surrogate.board.settings import (
    PRESETS,
    BoardRecord,
    BoardSettings,
    chosen_settings,
    join_list,
    split_list,
)

NAMES = (
    st.text(alphabet=st.sampled_from("ab |,()\\:\n"), min_size=1, max_size=8)
    | st.text(min_size=1)
    | st.just("none")
)


@given(st.lists(NAMES, max_size=4))
def test_a_list_of_any_names_is_read_back_from_its_text(names):
    assert split_list(join_list(names)) == tuple(names)


@given(NAMES, st.lists(NAMES, max_size=3), st.lists(NAMES, max_size=3), st.floats(0, 1e300))
def test_a_record_is_read_back_from_its_text(judge, metaevaluation, holdout, ridge):
    record = BoardRecord(
        judge=judge, metaevaluation=tuple(metaevaluation), holdout=tuple(holdout), ridge=ridge
    )
    assert BoardRecord.parse(str(record)) == record


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("features:a", "judge: Field required"),
        ("judge:a|judge:b", "judge twice"),
        ("judge:a|model:b", "model: Extra inputs"),
        ("judge:a|seed:x", "seed: "),
    ],
)
def test_what_is_no_signature_is_refused(text, message):
    with pytest.raises(UsageError, match=message):
        BoardRecord.parse(text)


def test_options_are_checked_by_name_and_value():
    settings = chosen_settings(BoardSettings(seed=3), {"ties": "drop"})
    assert (settings.seed, settings.ties) == (3, "drop")
    with pytest.raises(UsageError, match="there is no option tournament"):
        chosen_settings(None, {"tournament": 3})
    with pytest.raises(UsageError, match="ties = 'win': input should be 'half' or 'drop'"):
        chosen_settings(None, {"ties": "win"})


def test_a_preset_is_a_set_of_values_under_those_that_are_stated():
    preset = chosen_settings(None, {"preset": "mirage"})
    assert preset == BoardSettings(**PRESETS["mirage"])
    assert (preset.surrogate, preset.ridge, preset.ties) == ("random-forest", 0.0, "drop")
    assert preset.features == ("as-published",)
    stated = chosen_settings(BoardSettings(ridge=0.3), {"preset": "mirage", "ties": "half"})
    assert (stated.ridge, stated.ties, stated.rows) == (0.3, "half", "overall")
    assert chosen_settings(None, {"preset": None}) == BoardSettings()
    with pytest.raises(UsageError, match=r"^unknown preset 'mirag'; use one of mirage"):
        chosen_settings(None, {"preset": "mirag"})


def test_the_command_of_a_board_with_a_meta_evaluation_names_its_judge(small_board):
    summary = small_board.summary
    record = summary.settings.model_copy(
        update={"judge": "gpt|4o", "metaevaluation": ("memerag 0.71",), "holdout": ("a,b", "c")}
    )
    command = shlex.split(summary.model_copy(update={"settings": record}).reproduction().command)
    options = dict(zip(command[3::2], command[4::2], strict=True))
    assert options["--judge"] == "gpt|4o"
    assert split_list(options["--holdout"]) == ("a,b", "c")
    assert "--metaevaluation" not in options
    assert options["--surrogate"] == record.surrogate
