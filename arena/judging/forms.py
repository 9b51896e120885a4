"""The forms of judging, by the setting ``form``."""

from __future__ import annotations

from types import MappingProxyType

from arena.data.errors import UsageError, argument
from arena.judging.graded import MarkPrompt, OrderPrompt
from arena.judging.judging_settings import JudgingForm, JudgingSettings
from arena.judging.nuggets.judging import NuggetPrompt
from arena.judging.pairwise import PairwisePrompt
from arena.judging.prompt import TemplatePrompt

JUDGE_FORMS = MappingProxyType[JudgingForm, type[TemplatePrompt]](
    {
        "pairwise": PairwisePrompt,
        "pointwise": MarkPrompt,
        "listwise": OrderPrompt,
        "nuggets": NuggetPrompt,
    }
)
"""What an LLM can be asked for. A class that leaves a step out, such as its calls, is abstract, and
mypy refuses it here."""


def prompt_of(settings: JudgingSettings) -> TemplatePrompt:
    """Return the prompt that settings describe."""
    if settings.form != "pairwise" and settings.verdict != "text":
        raise UsageError(
            f"with {settings.form} as {argument('form')}, replies are read from their text; leave "
            f"{argument('verdict')} text"
        )
    return JUDGE_FORMS[settings.form].of(settings)
