"""How LLMs are asked for GroUSE's scores: prompts, and the form of their replies.

Fields of a reply can be left out one kind at a time (table 6). Requests are sent with their keys in
alphabetical order, and servers let a model write the fields in the order of the schema: names are
chosen so that the reasoning comes before the score.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from arena.data.errors import UsageError, checked_choice
from arena.llm.replies import Completion
from arena.llm.requests import Prompt, object_schema, schema_format
from arena.text.prompts import (
    NO_TEMPLATES,
    PromptTemplate,
    ReplaceablePrompt,
    Templates,
    Variable,
    delimiter_code,
    packaged_prompt,
)
from features.models.llm_scorer import Verdict
from surrogate.papers.grouse.metrics import JUDGED_METRICS, SCALES, AnswerSample
from surrogate.papers.grouse.score_replies import (
    ONLY,
    SCORE_KEY,
    SCORED,
    read_metric_score,
    read_result,
)
from surrogate.papers.judges import FunctionJudge, JudgePrompts

ABLATIONS = ("ground-truth", "justification", "chain-of-thought")
BEST = ("justification",)
"""What the paper's best prompt leaves out (table 6)."""
JUSTIFICATION = "justification"
JOINT_ORDER: tuple[str, ...] = tuple(sorted(JUDGED_METRICS))
"""Metrics as a reply by all of them has them: in the order that requests are sent in."""
JOINT_NAME = "joint"
PROMPT_NAMES = ("without-justification", "whole", *(f"without-{name}" for name in ABLATIONS[::2]))
ReplyForm = Literal["json_schema", "text", "result"]

_SENTENCES = "each_sentence"
_REASONING: Mapping[str, tuple[str, ...]] = {
    "answer_relevancy": ("declines_to_answer",),
    "completeness": ("answer_is_in_references",),
    "usefulness": ("declines_to_answer", "gives_further_facts"),
    "faithfulness": ("declines_and_adds_nothing", _SENTENCES),
}
_SENTENCE_CHECKS = ("cites_a_reference", "cites_the_right_one", "matches_it")
_PACKAGE = "surrogate.papers.grouse"
_TASK, _SAMPLE = "task.v1", "sample.v1"
_REPLY = ("form", "has_ground_truth", "has_justification", "has_chain_of_thought")
_SHOWN = ("question", "references", "answer_1", "answer_2", "code")
_SHOWS_QUESTION = frozenset({"answer_relevancy", "completeness", "usefulness"})
_SHOWS_REFERENCES = frozenset({"completeness", "faithfulness"})
_VARIABLES: Mapping[str, Variable] = {
    "question": Variable("the question", "samplequestion", also=("input",)),
    "references": Variable(
        "list of the references' texts", ("sampleone", "sampletwo"), also=("contexts",)
    ),
    "answer_1": Variable(
        "the expected answer", "samplefirst", also=("ground_truth", "expected_output")
    ),
    "answer_2": Variable(
        "the answer to score", "samplesecond", True, ("prediction", "actual_output")
    ),
    "code": Variable("code for delimiters; found in none of the texts", "samplecode"),
}
_FIGURES = {"answer_relevancy": 8, "completeness": 9, "usefulness": 10, "faithfulness": 11}

GROUSE_PROMPTS = {
    metric: ReplaceablePrompt(
        metric,
        f"{metric.replace('_', ' ').capitalize()} of an answer (GroUSE, figure "
        f"{_FIGURES[metric]}); a template is the whole prompt",
        f'JSON: {{"answer_2": {{"{metric}": S}}}}, or "answer" where there is but one; S '
        f"{SCALES[metric][0]} to {SCALES[metric][-1]} or null; [RESULT] S (replies = result)",
        _VARIABLES,
        _PACKAGE,
        f"{metric}.v1",
    )
    for metric in JUDGED_METRICS
}
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
class ReplyFields:
    """The parts of a reply (table 6 leaves each out once).

    Attributes:
        without: Parts to leave out: ``ground-truth`` (the expected answer, shown and scored
            together with the one in question), ``justification`` (a free text),
            ``chain-of-thought`` (fields that go through the metric's conditions).
    """

    without: tuple[str, ...] = BEST

    @property
    def version(self) -> str:
        """The parts left out, in a fixed order."""
        left_out = [name for name in ABLATIONS if name in self.without]
        if not left_out:
            return "whole"
        return f"without:{','.join(left_out)}"

    @property
    def answers(self) -> tuple[str, ...]:
        """Keys of all answers shown, the one in question last."""
        if "ground-truth" in self.without:
            return (ONLY,)
        return ("answer_1", SCORED)

    def reasoning(self, metric: str) -> tuple[str, ...]:
        """Names of the fields before the score."""
        names: list[str] = []
        if "chain-of-thought" not in self.without:
            names += _REASONING[metric]
        if JUSTIFICATION not in self.without:
            names.append(JUSTIFICATION)
        return tuple(names)

    def values(self, *metrics: str) -> dict[str, Any]:
        """Return what the packaged templates say of a reply by one metric, or by all."""
        form = self._of_answer(metrics[0])
        if len(metrics) > 1:
            # Appendix G: an object for each metric.
            form = _written({metric: self._of_answer(metric) for metric in metrics})
        return {
            "form": _written(dict.fromkeys(self.answers, form)),
            "has_ground_truth": "ground-truth" not in self.without,
            "has_justification": JUSTIFICATION not in self.without,
            "has_chain_of_thought": "chain-of-thought" not in self.without,
        }

    def _of_answer(self, metric: str) -> str:
        checks = dict.fromkeys(_SENTENCE_CHECKS, "B")
        sentence = {"begins_with": '"first words of the sentence"', **checks}
        # S is a score, B a boolean: the templates say so.
        forms = {SCORE_KEY: "S", JUSTIFICATION: '"..."', _SENTENCES: f"[{_written(sentence)}]"}
        names = (*self.reasoning(metric), SCORE_KEY)
        return _written({name: forms.get(name, "B") for name in names})


def _written(fields: Mapping[Any, str]) -> str:
    """Write a form of JSON, given a placeholder for the value of each key."""
    return "{" + ", ".join(f'"{name}": {form}' for name, form in fields.items()) + "}"


def _answer_schema(metric: str, fields: ReplyFields) -> dict[str, Any]:
    checks = {name: {"type": "boolean"} for name in _SENTENCE_CHECKS}
    sentence = object_schema({"begins_with": {"type": "string"}, **checks})
    schemas = {_SENTENCES: {"type": "array", "items": sentence}, JUSTIFICATION: {"type": "string"}}
    properties = {}
    for name in fields.reasoning(metric):
        properties[name] = schemas.get(name, {"type": "boolean"})
    # The score stands last, so that the model writes its reasons before it.
    score = {"anyOf": [{"type": "integer", "enum": list(SCALES[metric])}, {"type": "null"}]}
    properties[SCORE_KEY] = score
    return object_schema(properties)


@dataclass(frozen=True, slots=True)
class ScoringTask:
    """An answer to score by one metric; the verdict is a score of its scale, or null."""

    metric: str
    sample: AnswerSample

    def ask(self, judge: FunctionJudge) -> Verdict:
        """Ask for a score of the metric's scale, or None for null."""
        sample = self.sample
        texts = (sample.question, sample.references, sample.expected, sample.answer)
        return Verdict(judge.function(self.metric, *texts))  # type: ignore[arg-type]


@dataclass(frozen=True)
class GrousePrompts(JudgePrompts[ScoringTask]):
    """How an LLM is asked for the scores of the four judged metrics, and how replies are read.

    Attributes:
        reply_form: What replies are: ``json_schema``, JSON that the server holds a model to (not
            with a template of the user's own: nobody here knows its keys), ``text``, JSON that
            nothing enforces, or ``result``, texts that end in ``[RESULT] 5``.
        fields: What packaged prompts ask for.
        templates: Files in the place of ``GROUSE_PROMPTS``, or of ``JOINT_PROMPT``.
        is_joint: Whether one prompt asks for all four metrics, as in the paper's appendix G: one
            call an answer, whatever the pipeline takes of it.
    """

    reply_form: ReplyForm = "json_schema"
    fields: ReplyFields = field(default_factory=ReplyFields)
    templates: Templates = NO_TEMPLATES
    is_joint: bool = False
    # A reply may go through the answer sentence by sentence.
    max_tokens: ClassVar[int] = 2048

    def __post_init__(self) -> None:
        if self.reply_form != "result":
            return
        prompts = list(GROUSE_PROMPTS.values())
        if self.is_joint:
            prompts = [JOINT_PROMPT]
        packaged = [prompt.name for prompt in prompts if self.templates.replacing(prompt) is None]
        if packaged or self.is_joint:
            named = " ".join(f"--template {name}=FILE" for name in packaged)
            raise UsageError(
                "our prompts ask for JSON, and all metrics in one for several scores; replies "
                f"that end in [RESULT] come of prompts of yours, one a metric: {named}"
            )

    @classmethod
    def named(
        cls, name: str, reply_form: ReplyForm = "json_schema", templates: Templates = NO_TEMPLATES
    ) -> GrousePrompts:
        """Return the prompts of a name.

        ``whole``, ``without-justification`` (the paper's best), ``without-ground-truth`` or
        ``without-chain-of-thought``; after ``joint-`` all metrics in one prompt.
        """
        variant = name.removeprefix(JOINT_NAME).removeprefix("-") or PROMPT_NAMES[0]
        left_out = checked_choice(variant, PROMPT_NAMES, "prompt").removeprefix("without-")
        fields = ReplyFields(())
        if left_out != "whole":
            fields = ReplyFields((left_out,))
        return cls(reply_form, fields, templates, is_joint=name.startswith(JOINT_NAME))

    @property
    def version(self) -> str:
        """Names and digests of the templates, and the form of replies."""
        if self.is_joint:
            return f"{self._joint_version}|{self.reply_form}"
        # Templates that several metrics share are named once.
        names: dict[str, None] = {}
        for metric in JUDGED_METRICS:
            names |= dict.fromkeys(self._version(metric).split("+"))
        return f"{'+'.join(names)}|{self.fields.version}|{self.reply_form}"

    @property
    def _joint_version(self) -> str:
        template = self.templates.replacing(JOINT_PROMPT)
        if template is not None:
            return f"{template.version}|joint"
        names = (_TASK, *(f"{metric}.v1" for metric in JUDGED_METRICS), JOINT_PROMPT.packaged_name)
        return f"{_versions(*names)}|{self.fields.version}|joint"

    def _version(self, metric: str) -> str:
        template = self._own_template(metric)
        if template is not None:
            return template.version
        return _versions(_TASK, f"{metric}.v1")

    def _own_template(self, metric: str) -> PromptTemplate | None:
        if self.is_joint:
            return self.templates.replacing(JOINT_PROMPT)
        return self.templates.replacing(GROUSE_PROMPTS[metric])

    def task(self, item: ScoringTask) -> str:
        """Name the metric: each has a scale and a schema of its own."""
        return item.metric

    def prompts_for(self, item: ScoringTask) -> list[Prompt]:
        """Make the prompt for an answer, with what the metric needs, or for all metrics."""
        return [self._prompt(item.metric, item.sample)]

    def _prompt(self, metric: str, sample: AnswerSample) -> Prompt:
        texts = (sample.question, *sample.references, sample.expected, sample.answer)
        values: dict[str, Any] = {
            "question": sample.question,
            "references": sample.references,
            "answer_1": sample.expected,
            "answer_2": sample.answer,
            "code": delimiter_code(*texts),
        }
        template = self._own_template(metric)
        if template is not None:
            version = template.version
            if self.is_joint:
                version = self._joint_version
            return Prompt.of(template.fill(values), version=version)
        if self.is_joint:
            return self._joint_prompt(values)
        # Figures 8 to 11 show each metric only what it is about.
        if metric not in _SHOWS_QUESTION:
            values["question"] = None
        if metric not in _SHOWS_REFERENCES:
            values["references"] = ()
        reply = self.fields.values(metric)
        system = "\n\n".join(_filled(name, reply) for name in (_TASK, f"{metric}.v1"))
        version = f"{self._version(metric)}|{self.fields.version}"
        return Prompt.of(_user_text(values, reply), system, version)

    def _joint_prompt(self, values: Mapping[str, Any]) -> Prompt:
        """Make the packaged prompt for all metrics (appendix G)."""
        reply = self.fields.values(*JOINT_ORDER)
        parts = [_filled(_TASK, reply)]
        for metric in JUDGED_METRICS:
            # The joint part shows the form of the reply, once for all metrics.
            parts.append(_filled(f"{metric}.v1", {**self.fields.values(metric), "form": ""}))
        parts.append(_filled(JOINT_PROMPT.packaged_name, reply))
        system = "\n\n".join(part.strip() for part in parts)
        return Prompt.of(_user_text(values, reply), system, self._joint_version)

    def reply_format(self, task: str) -> Mapping[str, object] | None:
        """Return the ``response_format`` of a metric's requests; None if it is left open."""
        if self.reply_form != "json_schema" or self._own_template(task) is not None:
            return None
        name = task
        answer = _answer_schema(task, self.fields)
        if self.is_joint:
            name = "all_metrics"
            answer = object_schema(
                {metric: _answer_schema(metric, self.fields) for metric in JOINT_ORDER}
            )
        reply = object_schema(dict.fromkeys(self.fields.answers, answer))
        return schema_format(name, reply)

    def read(self, completion: Completion, task: str) -> int | None:
        """Read a metric's score; see ``read_metric_score``.

        In replies that end in ``[RESULT] 5``, the text after the last mark counts.
        """
        if self.reply_form == "result":
            return read_result(completion.answer, task)
        keys = self.fields.answers[-1:]
        if self._own_template(task) is not None:
            # Nobody here knows whether a template of the user's shows the expected answer.
            keys = (SCORED, ONLY)
        return read_metric_score(completion.text or "", task, keys, completion.is_cut)


def _filled(name: str, reply: Mapping[str, Any]) -> str:
    """Return a packaged template of instructions, filled with what replies hold."""
    return packaged_prompt(_PACKAGE, name, _REPLY).fill(reply)


def _user_text(values: Mapping[str, Any], reply: Mapping[str, Any]) -> str:
    """Return the user's message: the texts, and the form of the reply."""
    return packaged_prompt(_PACKAGE, _SAMPLE, (*_SHOWN, *_REPLY)).fill({**values, **reply})


def _versions(*names: str) -> str:
    """Return names and digests of packaged templates, and of the one that shows the texts."""
    parts = [packaged_prompt(_PACKAGE, name, _REPLY).version for name in names]
    parts.append(packaged_prompt(_PACKAGE, _SAMPLE, (*_SHOWN, *_REPLY)).version)
    return "+".join(parts)
