"""Judges that are functions of other installed packages."""

from __future__ import annotations

import json
from dataclasses import dataclass

from arena.data.errors import UsageError
from arena.data.plug_ins import PlugIn, find_plug_in, plug_ins
from arena.data.schema import WINNERS
from arena.data.wording import did_you_mean, first_of
from arena.judging.answer_pairs import BY_NAME, Comparison, arguments_by_name
from arena.judging.judging_settings import JudgingSettings
from arena.judging.pairwise import ComparisonPrompt
from arena.judging.verdict_parsing import PairVerdict
from arena.llm.functions import (
    FunctionTransport,
    is_async,
    named_parameters,
    source_digest,
    source_files,
)
from arena.llm.replies import Completion
from arena.llm.requests import Prompt

POSITIONAL = ("question", "answer_a", "answer_b")
"""What a judge gets, before what it gets by name."""
_RESULT = "return 'a', 'b' or 'tie', or a tuple of that and the reason as a text"


@dataclass(frozen=True)
class FunctionPrompt(ComparisonPrompt):
    """Arguments of a judge that is a function, without names of systems.

    ``judge_version`` has the judge's name, its file's digest, and its package.
    """

    judge_version: str
    parameters: tuple[str, ...]

    @property
    def version(self) -> str:
        """Return the version of the judge."""
        return self.judge_version

    def prompt_for(self, comparison: Comparison) -> Prompt:
        """Return the arguments for a pair of answers as JSON."""
        arguments = {
            "question": comparison.question,
            "answer_a": comparison.answer_a,
            "answer_b": comparison.answer_b,
            **arguments_by_name(
                self.parameters, comparison.key[0], comparison.passages, comparison.history
            ),
        }
        return Prompt.of(json.dumps(arguments, ensure_ascii=False), version=self.version)

    def read(self, completion: Completion) -> PairVerdict:
        """Read the verdict that ``_encoded`` wrote."""
        result = json.loads(completion.text or "")
        return PairVerdict(result["winner"], reason=result["reason"])


def plug_in_settings(settings: JudgingSettings) -> tuple[JudgingSettings, FunctionPrompt]:
    """Import ``settings.plug_in`` in a server's place."""
    plug_in = _judge_plug_in(str(settings.plug_in))
    function = plug_in.load_function().function
    files = source_files(function, plug_in.entry_point.module)
    parameters = named_parameters(function, POSITIONAL, BY_NAME, str(plug_in))
    if not is_async(function) and "concurrency" not in settings.model_fields_set:
        # A plain function need not be safe to call from several threads.
        settings = settings.model_copy(update={"concurrency": 1})
    transport = FunctionTransport(function, POSITIONAL, _encoded, settings.timeout_s, files)
    version = f"{plug_in.name}@{source_digest(files)}|{plug_in.package}"
    return (
        settings.handled_by(transport, where=plug_in.name, model=version),
        FunctionPrompt(version, parameters),
    )


def _judge_plug_in(name: str) -> PlugIn:
    plug_in = find_plug_in("judge", name)
    if plug_in is not None:
        return plug_in
    names = list(dict.fromkeys(plug_in.name for plug_in in plug_ins("judge")))
    hint = did_you_mean(name, names)
    listed = first_of(names) or "none"
    raise UsageError(f"no installed package declares a judge {name!r}; {hint} known: {listed}")


def _encoded(result: object) -> str:
    winner, reason = result, ""
    if isinstance(result, tuple) and len(result) == 2:
        winner, reason = result
    if winner not in WINNERS or not isinstance(reason, str):
        raise ValueError(f"it returned {result!r:.80}; {_RESULT}")
    return json.dumps({"winner": winner, "reason": reason}, ensure_ascii=False)
