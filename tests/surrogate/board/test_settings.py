"""Settings of a board: lists as text, presets, and the file that makes a board again."""

import tomllib

import pytest

from arena import UsageError
from surrogate.board.settings import PRESETS, BoardSettings, chosen_settings, split_list


def test_a_list_is_split_at_commas_outside_parentheses():
    assert split_list(" judge(a,b), c@10(x=1,y=2) ,,d ") == ("judge(a,b)", "c@10(x=1,y=2)", "d")
    assert split_list("none") == split_list("") == ()
    assert split_list(["a,b", "c"]) == ("a,b", "c")


def test_options_are_checked_by_name_and_value():
    settings = chosen_settings(BoardSettings(seed=3), {"ties": "drop"})
    assert (settings.seed, settings.ties) == (3, "drop")
    with pytest.raises(UsageError, match="tournament"):
        chosen_settings(None, {"tournament": 3})
    with pytest.raises(UsageError, match="ties = 'win'"):
        chosen_settings(None, {"ties": "win"})


def test_a_preset_is_a_set_of_values_under_those_that_are_stated():
    preset = chosen_settings(None, {"preset": "mirage"})
    assert preset == BoardSettings(**PRESETS["mirage"])
    assert (preset.surrogate, preset.ridge, preset.ties) == ("random-forest", 0.0, "drop")
    stated = chosen_settings(BoardSettings(ridge=0.3), {"preset": "mirage", "ties": "half"})
    assert (stated.ridge, stated.ties, stated.rows) == (0.3, "half", "overall")
    assert chosen_settings(None, {"preset": None}) == BoardSettings()
    with pytest.raises(UsageError, match="'mirag'"):
        chosen_settings(None, {"preset": "mirag"})


def test_the_settings_of_a_board_are_read_back_from_their_toml(small_board):
    record = small_board.summary.settings.model_copy(
        update={"judge": 'gpt|4o "x" ü', "metaevaluation": ("m 0.71",), "holdout": ("a,b", "c")}
    )
    again = BoardSettings.model_validate(tomllib.loads(record.toml()))
    own = again.model_dump()
    assert own == record.model_dump(include=set(own))
    assert (again.judge, again.holdout) == ('gpt|4o "x" ü', ("a,b", "c"))
    assert "metaevaluation:m 0.71|" in str(record)
