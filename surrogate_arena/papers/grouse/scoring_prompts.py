"""Prompts for GroUSE's scores, and the form of their replies.

Requests have their keys in alphabetical order, and models write fields in the order of the schema:
names are chosen so that the reasoning comes before the score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from arena.data.errors import UsageError
from arena.llm.prompts import (
    NO_TEMPLATES,
    PromptTemplate,
    ReplaceablePrompt,
    Templates,
    Variable,
    delimiter_code,
    packaged_prompt,
)
from arena.llm.replies import Completion
from arena.llm.requests import Prompt, object_schema, schema_format
from surrogate_arena.papers.grouse.metrics import JUDGED_METRICS, SCALES, AnswerSample
from surrogate_arena.papers.grouse.score_replies import (
    ONLY,
    SCORE_KEY,
    SCORED,
    read_metric_score,
    read_result,
)
from surrogate_arena.papers.judges import FunctionJudge, JudgePrompts
from surrogate_arena.papers.verdict import Verdict

ABLATIONS = ("ground-truth", "justification", "chain-of-thought")
"""Parts of a reply that table 6 leaves out, one at a time."""
JUSTIFICATION = "justification"
BEST = (JUSTIFICATION,)
"""What the paper's best prompt leaves out (table 6)."""
JOINT_ORDER: tuple[str, ...] = tuple(sorted(JUDGED_METRICS))
"""Metrics as a reply by all of them has them: in the order that requests are sent in."""
ReplyForm = Literal["json_schema", "text", "result"]

_SENTENCES = "each_sentence"
_REASONING: Mapping[str, tuple[str, ...]] = {
    "answer_relevancy": ("declines_to_answer",),
    "completeness": ("answer_is_in_references",),
    "usefulness": ("declines_to_answer", "gives_further_facts"),
    "faithfulness": ("declines_and_adds_nothing", _SENTENCES),
}
_SENTENCE_CHECKS = ("cites_a_reference", "cites_the_right_one", "matches_it")
PACKAGE = "surrogate_arena.papers.grouse"
TASK_PROMPT, _SAMPLE = "task.v1", "sample.v1"
_REPLY = ("form", "has_ground_truth", "has_justification", "has_chain_of_thought")
_SHOWN = ("question", "references", "answer_1", "answer_2", "code")
_SHOWS_QUESTION = frozenset({"answer_relevancy", "completeness", "usefulness"})
_SHOWS_REFERENCES = frozenset({"completeness", "faithfulness"})
SAMPLE_VARIABLES: Mapping[str, Variable] = {
    "question": Variable("the question", "samplequestion", also=("input",)),
    "references": Variable(
        "list of the references' texts", ("sampleone", "sampletwo"), also=("contexts",)
    ),
    "answer_1": Variable(
        "the expected answer", "samplefirst", also=("ground_truth", "expected_output")
    ),
    "answer_2": Variable(
        "the answer to score",
        "samplesecond",
        is_required=True,
        also=("prediction", "actual_output"),
    ),
    "code": Variable("code for delimiters; found in none of the texts", "samplecode"),
}
_FIGURES = {"answer_relevancy": 8, "completeness": 9, "usefulness": 10, "faithfulness": 11}

GROUSE_PROMPTS = {
    metric: ReplaceablePrompt(
        name=metric,
        asks=f"{metric.replace('_', ' ').capitalize()} of an answer (GroUSE, figure "
        f"{_FIGURES[metric]}); a template replaces the whole prompt",
        reply=f'JSON: {{"answer_2": {{"{metric}": S}}}}, or "answer" if there is only one; S '
        f"{SCALES[metric][0]} to {SCALES[metric][-1]} or null; [RESULT] S (replies = result)",
        variables=SAMPLE_VARIABLES,
        package=PACKAGE,
        packaged_name=f"{metric}.v1",
    )
    for metric in JUDGED_METRICS
}
"""Prompts that a user's templates may replace, by metric."""


@dataclass(frozen=True)
class ReplyFields:
    """Parts of a reply, of which table 6 leaves each out once.

    ``without`` may hold ``ground-truth`` (the expected answer, shown and scored beside the other),
    ``justification`` and ``chain-of-thought`` (the metric's conditions, one by one).
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
        """Keys of all answers shown, the one to score last."""
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
        """Return the values that packaged templates need to describe a reply."""
        form = self._answer_form(metrics[0])
        if len(metrics) > 1:
            # Appendix G: an object for each metric.
            form = _written({metric: self._answer_form(metric) for metric in metrics})
        return {
            "form": _written(dict.fromkeys(self.answers, form)),
            "has_ground_truth": "ground-truth" not in self.without,
            "has_justification": JUSTIFICATION not in self.without,
            "has_chain_of_thought": "chain-of-thought" not in self.without,
        }

    def _answer_form(self, metric: str) -> str:
        checks = dict.fromkeys(_SENTENCE_CHECKS, "B")
        sentence = {"begins_with": '"first words of the sentence"', **checks}
        # S is a score, B a boolean: the templates say so.
        forms = {SCORE_KEY: "S", JUSTIFICATION: '"..."', _SENTENCES: f"[{_written(sentence)}]"}
        names = (*self.reasoning(metric), SCORE_KEY)
        return _written({name: forms.get(name, "B") for name in names})


def _written(fields: Mapping[Any, str]) -> str:
    return "{" + ", ".join(f'"{name}": {form}' for name, form in fields.items()) + "}"


def answer_schema(metric: str, fields: ReplyFields) -> dict[str, Any]:
    """Return the JSON schema of what a reply says of an answer by a metric."""
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
    """An answer to score by one metric."""

    metric: str
    sample: AnswerSample

    def ask(self, judge: FunctionJudge) -> Verdict:
        """Ask for a score of the metric's scale, or None for null."""
        sample = self.sample
        texts = (sample.question, sample.references, sample.expected, sample.answer)
        return Verdict(judge.function(self.metric, *texts))  # type: ignore[arg-type]


@dataclass(frozen=True)
class GrousePrompts(JudgePrompts[ScoringTask]):
    """Prompts for the four judged metrics, one each.

    ``reply_form`` is ``json_schema`` (the server enforces it, for our own prompts), ``text`` (JSON
    that nothing enforces), or ``result`` (texts that end in ``[RESULT] 5``).
    """

    reply_form: ReplyForm = "json_schema"
    fields: ReplyFields = field(default_factory=ReplyFields)
    templates: Templates = NO_TEMPLATES
    # A reply may go through the answer sentence by sentence.
    max_tokens: ClassVar[int] = 2048

    def __post_init__(self) -> None:
        if self.reply_form != "result":
            return
        packaged = [
            prompt.name
            for prompt in GROUSE_PROMPTS.values()
            if self.templates.replacing(prompt) is None
        ]
        if packaged:
            raise json_prompts_refused(packaged)

    @property
    def version(self) -> str:
        """Names and digests of the templates, and the form of replies."""
        # Templates that several metrics share are named once.
        names: dict[str, None] = {}
        for metric in JUDGED_METRICS:
            names |= dict.fromkeys(self._template_version(metric).split("+"))
        return f"{'+'.join(names)}|{self.fields.version}|{self.reply_form}"

    def _template_version(self, metric: str) -> str:
        template = self.user_template(metric)
        if template is not None:
            return template.version
        return template_versions(TASK_PROMPT, f"{metric}.v1")

    def prompt_version(self, metric: str) -> str:
        """Return what identifies a metric's prompt."""
        version = self._template_version(metric)
        if self.user_template(metric) is not None:
            return version
        return f"{version}|{self.fields.version}"

    def user_template(self, metric: str) -> PromptTemplate | None:
        """Return the user's template for a metric, if any."""
        return self.templates.replacing(GROUSE_PROMPTS[metric])

    def task(self, item: ScoringTask) -> str:
        """Name the metric: each has a scale and a schema of its own."""
        return item.metric

    def prompts_for(self, item: ScoringTask) -> list[Prompt]:
        """Make the prompt for an answer."""
        sample = item.sample
        texts = (sample.question, *sample.references, sample.expected, sample.answer)
        values: dict[str, Any] = {
            "question": sample.question,
            "references": sample.references,
            "answer_1": sample.expected,
            "answer_2": sample.answer,
            "code": delimiter_code(*texts),
        }
        template = self.user_template(item.metric)
        if template is None:
            return [self.packaged_prompt(item.metric, values)]
        return [Prompt.of(template.fill(values), version=self.prompt_version(item.metric))]

    def packaged_prompt(self, metric: str, values: Mapping[str, Any]) -> Prompt:
        """Fill the packaged templates with an answer and the texts about it."""
        shown = dict(values)
        # Figures 8 to 11 show each metric only what it is about.
        if metric not in _SHOWS_QUESTION:
            shown["question"] = None
        if metric not in _SHOWS_REFERENCES:
            shown["references"] = ()
        reply = self.fields.values(metric)
        parts = [filled_instructions(name, reply) for name in (TASK_PROMPT, f"{metric}.v1")]
        system = "\n\n".join(parts)
        return Prompt.of(user_text(shown, reply), system, self.prompt_version(metric))

    def reply_format(self, task: str) -> Mapping[str, object] | None:
        """Return the ``response_format`` of a metric's requests, if any."""
        if self.reply_form != "json_schema" or self.user_template(task) is not None:
            return None
        name, answer = self.answer_form(task)
        reply = object_schema(dict.fromkeys(self.fields.answers, answer))
        return schema_format(name, reply)

    def answer_form(self, metric: str) -> tuple[str, dict[str, Any]]:
        """Return the name of a reply's schema, and the schema."""
        return metric, answer_schema(metric, self.fields)

    def read(self, completion: Completion, task: str) -> int | None:
        """Read a metric's score: see ``read_metric_score`` and ``read_result``."""
        if self.reply_form == "result":
            return read_result(completion.answer, task)
        keys = self.fields.answers[-1:]
        if self.user_template(task) is not None:
            # Nobody here knows whether a template of the user's shows the expected answer.
            keys = (SCORED, ONLY)
        return read_metric_score(completion.text or "", task, keys, completion.is_cut)


def json_prompts_refused(packaged: Sequence[str]) -> UsageError:
    """Return the error of replies that end in [RESULT] where packaged prompts ask for JSON."""
    named = " ".join(f"--template {name}=FILE" for name in packaged)
    return UsageError(
        "our prompts ask for JSON, or for all metrics in one reply; for replies that end in "
        f"[RESULT], give your own prompt per metric: {named}"
    )


def filled_instructions(name: str, reply: Mapping[str, Any]) -> str:
    """Return a packaged template filled with what replies hold."""
    return packaged_prompt(PACKAGE, name, _REPLY).fill(reply)


def user_text(values: Mapping[str, Any], reply: Mapping[str, Any]) -> str:
    """Return the user's message: the texts, and the form of the reply."""
    return packaged_prompt(PACKAGE, _SAMPLE, (*_SHOWN, *_REPLY)).fill({**values, **reply})


def template_versions(*names: str) -> str:
    """Return names and digests of packaged templates, and of the one that shows the texts."""
    parts = [packaged_prompt(PACKAGE, name, _REPLY).version for name in names]
    parts.append(packaged_prompt(PACKAGE, _SAMPLE, (*_SHOWN, *_REPLY)).version)
    return "+".join(parts)
