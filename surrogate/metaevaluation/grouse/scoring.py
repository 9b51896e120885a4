"""Answers of GroUSE to score, and how LLMs are asked to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

from arena.data.errors import UsageError, checked_choice
from arena.llm.settings import Prompt
from arena.text.prompts import (
    NO_TEMPLATES,
    PromptTemplate,
    ReplaceablePrompt,
    Templates,
    Variable,
    delimiter_code,
    packaged_prompt,
)
from surrogate.metaevaluation.grouse.lexical import score_lexically
from surrogate.metaevaluation.grouse.replies import (
    REPLY_FORMS,
    SCORE_KEY,
    ReplyFields,
    read_metric_score,
    response_format,
)
from surrogate.metaevaluation.grouse.unit_tests import (
    JUDGED_METRICS,
    SCALES,
    AnswerSample,
    JudgedMetric,
)
from surrogate.metaevaluation.judges import FunctionJudge, JudgePrompts, LexicalJudge, Verdict


@dataclass(frozen=True, slots=True)
class ScoringTask:
    """An answer to score by one metric; the verdict is a score of its scale, or null.

    Attributes:
        metric: The metric.
        sample: The answer, and what it is held against.
    """

    metric: JudgedMetric
    sample: AnswerSample

    def ask(self, judge: FunctionJudge) -> Verdict:
        """Ask for a score of the metric's scale, or None for null."""
        sample, scale = self.sample, SCALES[self.metric]
        said = judge.function(
            self.metric, sample.question, sample.references, sample.expected, sample.answer
        )
        if said is None:
            return Verdict(None)
        if not isinstance(said, int | float) or said not in scale:
            known = ", ".join(map(str, scale))
            raise judge.refuse(said, f"for {self.metric}, return one of {known}, or None for null")
        return Verdict(int(said))

    def compare(self, judge: LexicalJudge) -> Verdict:
        """Score by the characters that texts share, see ``score_lexically``."""
        return Verdict(score_lexically(self.metric, self.sample, judge))


JOINT_NAME = "joint"
PROMPT_NAMES = (
    "without-justification",
    "whole",
    "without-ground-truth",
    "without-chain-of-thought",
)

_PACKAGE = "surrogate.metaevaluation.grouse"
_TASK = "task.v1"
_SAMPLE = "sample.v1"
_REPLY = ("form", "has_ground_truth", "has_justification", "has_chain_of_thought")
_SHOWN = ("question", "references", "answer_1", "answer_2", "code")

_SHOWS_QUESTION = frozenset({"answer_relevancy", "completeness", "usefulness"})
_SHOWS_REFERENCES = frozenset({"completeness", "faithfulness"})

_VARIABLES: MappingProxyType[str, Variable] = MappingProxyType(
    {
        "question": Variable("the question", "samplequestion"),
        "references": Variable("list of the references' texts", ("sampleone", "sampletwo")),
        "answer_1": Variable("the expected answer", "samplefirst", also=("ground_truth",)),
        "answer_2": Variable("the answer to score", "samplesecond", True, ("prediction",)),
        "code": Variable("code for delimiters; stands in none of the texts", "samplecode"),
    }
)
_FIGURES = {"answer_relevancy": 8, "completeness": 9, "usefulness": 10, "faithfulness": 11}


def _prompt_of(metric: JudgedMetric) -> ReplaceablePrompt:
    scale = SCALES[metric]
    return ReplaceablePrompt(
        metric,
        f"{metric.replace('_', ' ').capitalize()} of an answer (GroUSE, figure "
        f"{_FIGURES[metric]}); a template is the whole prompt",
        f'JSON: {{"answer_2": {{"{metric}": S}}}}, or {{"{metric}": S}} where answer_1 is not '
        f"shown; S {scale[0]} to {scale[-1]} or null",
        _VARIABLES,
        _PACKAGE,
        f"{metric}.v1",
    )


GROUSE_PROMPTS = MappingProxyType[JudgedMetric, ReplaceablePrompt](
    {metric: _prompt_of(metric) for metric in JUDGED_METRICS}
)
"""Prompts that a user's templates may replace, by metric."""

JOINT_PROMPT = ReplaceablePrompt(
    "all",
    "All four metrics of an answer in one prompt (GroUSE, appendix G)",
    'JSON: {"answer_2": {"answer_relevancy": S, "completeness": S, …}}, each S a score or an '
    "object with a score",
    _VARIABLES,
    _PACKAGE,
    "joint.v1",
)
"""What a user's template may replace where one prompt asks for all metrics."""


@dataclass(frozen=True)
class GrousePrompts(JudgePrompts[ScoringTask]):
    """The prompts of the four metrics.

    Attributes:
        reply_form: How far the server holds a model to the form of the reply; see
            ``response_format``. With a template of the user's own, whose keys nobody knows here,
            a server that is to be held to a schema is held to some JSON object.
        fields: What packaged prompts ask for.
        templates: Files in the place of ``GROUSE_PROMPTS``, or of ``JOINT_PROMPT``.
        is_joint: Whether one prompt asks for all four metrics, as in the paper's appendix G: one
            call an answer, whatever the pipeline takes of it.
    """

    reply_form: str = "json_schema"
    fields: ReplyFields = field(default_factory=ReplyFields)
    templates: Templates = NO_TEMPLATES
    is_joint: bool = False
    max_tokens: ClassVar[int] = 2048

    def __post_init__(self) -> None:
        checked_choice(self.reply_form, REPLY_FORMS, "form of replies")

    @classmethod
    def named(
        cls, name: str, reply_form: str = "json_schema", templates: Templates = NO_TEMPLATES
    ) -> GrousePrompts:
        """Return the prompts of a name.

        Args:
            name: ``whole``, ``without-justification`` (the paper's best), ``without-ground-truth``
                or ``without-chain-of-thought``; after ``joint-`` all metrics in one prompt.
            reply_form: See ``reply_form``.
            templates: Files in the place of packaged prompts.

        Raises:
            UsageError: For another name.
        """
        kept = name.removeprefix(JOINT_NAME).removeprefix("-") or PROMPT_NAMES[0]
        left_out = checked_choice(kept, PROMPT_NAMES, "prompt").removeprefix("without-")
        fields = ReplyFields(() if left_out == "whole" else (left_out,))
        return cls(reply_form, fields, templates, name.startswith(JOINT_NAME))

    @property
    def version(self) -> str:
        """Names and digests of the templates, and the form of replies."""
        if self.is_joint:
            return f"{self._joint_version}|{self.reply_form}"
        versions = [metric_version(metric, self.templates).split("+") for metric in JUDGED_METRICS]
        names = "+".join(dict.fromkeys(part for parts in versions for part in parts))
        return f"{names}|{self.fields.version}|{self.reply_form}"

    @property
    def _joint_version(self) -> str:
        own = self.templates.replacing(JOINT_PROMPT)
        if own is not None:
            return f"{own.version}|joint"
        names = (_TASK, *(f"{metric}.v1" for metric in JUDGED_METRICS), JOINT_PROMPT.packaged_name)
        parts = [packaged_prompt(_PACKAGE, name, _REPLY).version for name in names]
        parts.append(packaged_prompt(_PACKAGE, _SAMPLE, (*_SHOWN, *_REPLY)).version)
        return f"{'+'.join(parts)}|{self.fields.version}|joint"

    def ask(self, item: ScoringTask) -> list[Prompt]:
        """Make the prompt for an answer, with what the metric needs."""
        metric, sample = item.metric, item.sample
        values = {
            "question": sample.question if metric in _SHOWS_QUESTION else None,
            "references": sample.references if metric in _SHOWS_REFERENCES else (),
            "answer_1": sample.expected,
            "answer_2": sample.answer,
            "code": delimiter_code(
                sample.question, *sample.references, sample.expected, sample.answer
            ),
        }
        everything = {"question": sample.question, "references": sample.references}
        if self.is_joint:
            return [self._joint(values | everything)]
        version = metric_version(metric, self.templates)
        own = self.templates.replacing(GROUSE_PROMPTS[metric])
        if own is not None:
            return [Prompt.of(own.fill(values | everything), version=version)]
        asked = self.fields.values(metric)
        instructions = [
            packaged_prompt(_PACKAGE, name, _REPLY).fill(asked) for name in (_TASK, f"{metric}.v1")
        ]
        user = packaged_prompt(_PACKAGE, _SAMPLE, (*_SHOWN, *_REPLY)).fill(values | asked)
        version = f"{version}|{self.fields.version}"
        return [Prompt.of(user, "\n\n".join(instructions), version)]

    def _joint(self, values: Mapping[str, Any]) -> Prompt:
        """Ask for all metrics; the same prompt whichever of them it is asked for."""
        own = self.templates.replacing(JOINT_PROMPT)
        if own is not None:
            return Prompt.of(own.fill(values), version=self._joint_version)
        of_metrics = [(f"{metric}.v1", self.fields.values(metric)) for metric in JUDGED_METRICS]
        end = of_metrics[0][1] | {"form": self.fields.joint_form()}
        asked = [(_TASK, end), *((name, each | {"form": ""}) for name, each in of_metrics)]
        instructions = [
            packaged_prompt(_PACKAGE, name, _REPLY).fill(each).strip()
            for name, each in (*asked, (JOINT_PROMPT.packaged_name, end))
        ]
        user = packaged_prompt(_PACKAGE, _SAMPLE, (*_SHOWN, *_REPLY)).fill({**values, **end})
        return Prompt.of(user, "\n\n".join(instructions), self._joint_version)

    def task(self, item: ScoringTask) -> str:
        """Name the metric: each has a scale and a schema of its own."""
        return item.metric

    def reply_format(self, task: str) -> Mapping[str, object] | None:
        """Return the ``response_format`` of a metric's requests."""
        metric, form = judged_metric(task), self.reply_form
        if self._own(metric) is not None and form == "json_schema":
            form = "json_object"
        return response_format(None if self.is_joint else metric, form, self.fields)

    def read(self, text: str, task: str) -> int | None:
        """Read a score, see ``read_metric_score``."""
        metric = judged_metric(task)
        own = self._own(metric)
        if own is None:
            return read_metric_score(text, metric, (self.fields.scored,))
        is_alone = not GROUSE_PROMPTS[metric].shows(own, "answer_1")
        keys = ("answer_2", "answer", "answer_1", SCORE_KEY) if is_alone else ("answer_2",)
        return read_metric_score(text, metric, keys)

    def _own(self, metric: JudgedMetric) -> PromptTemplate | None:
        prompt = JOINT_PROMPT if self.is_joint else GROUSE_PROMPTS[metric]
        return self.templates.replacing(prompt)


def judged_metric(name: str) -> JudgedMetric:
    """Return the metric of a name.

    Raises:
        UsageError: If judges are asked for no such metric.
    """
    for metric in JUDGED_METRICS:
        if metric == name:
            return metric
    raise UsageError(f"there is no prompt for {name!r}; use one of {', '.join(JUDGED_METRICS)}")


def metric_version(metric: JudgedMetric, templates: Templates = NO_TEMPLATES) -> str:
    """Return names and digests of a metric's templates."""
    own = templates.replacing(GROUSE_PROMPTS[metric])
    if own is not None:
        return own.version
    parts = [(_TASK, _REPLY), (f"{metric}.v1", _REPLY), (_SAMPLE, (*_SHOWN, *_REPLY))]
    return "+".join(packaged_prompt(_PACKAGE, *part).version for part in parts)
