"""One prompt for all of GroUSE's metrics (appendix G), and the names of all prompts (table 6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from arena.data.errors import checked_choice
from arena.llm.prompts import PromptTemplate, ReplaceablePrompt, Templates
from arena.llm.requests import Prompt, object_schema
from surrogate_arena.papers.grouse.metrics import JUDGED_METRICS
from surrogate_arena.papers.grouse.scoring_prompts import (
    ABLATIONS,
    GROUSE_PROMPTS,
    JOINT_ORDER,
    PACKAGE,
    SAMPLE_VARIABLES,
    TASK_PROMPT,
    GrousePrompts,
    ReplyFields,
    ReplyForm,
    answer_schema,
    filled_instructions,
    json_prompts_refused,
    template_versions,
    user_text,
)

JOINT_NAME = "joint"
PROMPT_NAMES = (
    "without-justification",
    "whole",
    "without-ground-truth",
    "without-chain-of-thought",
)
"""Prompts of table 6, the paper's best first: ``whole``, or ``without-`` one of ``ABLATIONS``."""
JOINT_PROMPT = ReplaceablePrompt(
    name="all",
    asks="All four metrics of an answer in one prompt (GroUSE, appendix G)",
    reply='JSON: {"answer_2": {"answer_relevancy": S, "completeness": S, …}}, each S a score or an '
    "object with a score",
    variables=SAMPLE_VARIABLES,
    package=PACKAGE,
    packaged_name="joint.v1",
)
"""What a user's template may replace where one prompt asks for all metrics."""


@dataclass(frozen=True)
class JointPrompts(GrousePrompts):
    """Prompts for all four metrics at once (appendix G), one call per answer."""

    def __post_init__(self) -> None:
        if self.reply_form == "result":
            raise json_prompts_refused(list(GROUSE_PROMPTS))

    @property
    def version(self) -> str:
        """Names and digests of the templates, and the form of replies."""
        return f"{self.prompt_version(JOINT_ORDER[0])}|{self.reply_form}"

    def prompt_version(self, metric: str) -> str:
        """Return what identifies the prompt, the same for every metric."""
        template = self.user_template(metric)
        if template is not None:
            return f"{template.version}|joint"
        parts = [f"{name}.v1" for name in JUDGED_METRICS]
        versions = template_versions(TASK_PROMPT, *parts, JOINT_PROMPT.packaged_name)
        return f"{versions}|{self.fields.version}|joint"

    def user_template(self, metric: str) -> PromptTemplate | None:  # noqa: ARG002 - one for all
        """Return the user's template for all metrics, if any."""
        return self.templates.replacing(JOINT_PROMPT)

    def packaged_prompt(self, metric: str, values: Mapping[str, Any]) -> Prompt:
        """Fill the packaged templates: the task, all metrics, and the form of replies."""
        reply = self.fields.values(*JOINT_ORDER)
        parts = [filled_instructions(TASK_PROMPT, reply)]
        for name in JUDGED_METRICS:
            # The joint part shows the form of the reply, once for all metrics.
            without_form = {**self.fields.values(name), "form": ""}
            parts.append(filled_instructions(f"{name}.v1", without_form))
        parts.append(filled_instructions(JOINT_PROMPT.packaged_name, reply))
        system = "\n\n".join(part.strip() for part in parts)
        return Prompt.of(user_text(values, reply), system, self.prompt_version(metric))

    def answer_form(self, metric: str) -> tuple[str, dict[str, Any]]:  # noqa: ARG002 - one for all
        """Return the name of a reply's schema, and the schema."""
        schemas = {name: answer_schema(name, self.fields) for name in JOINT_ORDER}
        return "all_metrics", object_schema(schemas)


def prompts_named(name: str, reply_form: ReplyForm, templates: Templates) -> GrousePrompts:
    """Return the prompts of a name.

    ``whole``, ``without-justification`` (the paper's best), ``without-ground-truth`` or
    ``without-chain-of-thought``; after ``joint-`` all metrics in one prompt.
    """
    variant = name.removeprefix(JOINT_NAME).removeprefix("-") or PROMPT_NAMES[0]
    checked_choice(variant, PROMPT_NAMES, "prompt")
    left_out = [part for part in ABLATIONS if variant == f"without-{part}"]
    kind = JointPrompts if name.startswith(JOINT_NAME) else GrousePrompts
    return kind(reply_form, ReplyFields(tuple(left_out)), templates)
