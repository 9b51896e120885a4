"""Every setting of judging says what it is for, and lists of settings follow from that."""

from typing import Annotated

import pytest
from pydantic import Field

from arena.judging import JudgingSettings
from arena.llm.llm_settings import SettingUse, fields_by_use

REPLIES = ("value", "file", "not")


def test_every_setting_is_in_exactly_one_group():
    groups = [fields_by_use(JudgingSettings, replies=replies) for replies in REPLIES]
    names = sorted(name for group in groups for name in group)
    assert names == sorted(JudgingSettings.model_fields)
    # What a store knows a reply by is what replies depend on.
    assert {"model", "temperature", "max_tokens", "body", "omit"} < groups[0]


def test_what_a_judge_of_another_package_refuses_is_of_llms():
    of_llms = fields_by_use(JudgingSettings, is_of_llm=True)
    assert {"model", "form", "template"} < of_llms
    assert of_llms.isdisjoint({"plug_in", "name", "questions", "seed"})


def test_a_new_setting_without_a_use_or_with_two_is_refused():
    class Unmarked(JudgingSettings):
        mood: str = Field(default="stern")

    class Doubled(JudgingSettings):
        mood: Annotated[str, SettingUse("value"), SettingUse("not")] = "stern"

    for settings in (Unmarked, Doubled):
        with pytest.raises(ValueError, match="mood needs one SettingUse"):
            fields_by_use(settings, replies="value")
