"""What a judge of faithfulness sees, what it says, and what a judge is."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol, get_args

import pandas as pd

from arena.data.errors import UsageError
from arena.llm.client import complete
from arena.llm.replies import EMPTY, OVER_BUDGET, PASSING, REFUSAL, UNPARSABLE, Completion, Outcome
from arena.llm.settings import Endpoint, ModelSettings, Prompt
from arena.llm.usage import Usage
from arena.text.prompts import packaged_prompt
from surrogate.metaevaluation.memerag.rating_files import read_label
from surrogate.metaevaluation.memerag.reading import (
    JUDGED,
    NOT_SUPPORTED,
    SENTENCE_KEY,
    SUPPORTED,
    canonical_label,
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence to judge, without its human labels.

    Attributes:
        language: Language code of question and answer.
        question: The question.
        passages: The passages that the answer was written from.
        answer: The whole answer.
        sentence: The sentence of it that is to be judged.
    """

    language: str
    question: str
    passages: tuple[str, ...]
    answer: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge says of a claim.

    Attributes:
        label: ``Supported`` or ``Not Supported``; None if the judge gave none.
        failure: Why there is no label; None if there is one.
        was_asked: False where the judge could not be reached: the sentence is left out of the
            scores, and counted. A judge that was asked and gave no label is wrong.
    """

    label: str | None
    failure: str | None = None
    was_asked: bool = True


class Judge(Protocol):
    """Whoever tells supported sentences from others."""

    @property
    def name(self) -> str:
        """Name in tables, such as ``llm:gpt-4o-mini``."""

    @property
    def prompt(self) -> str:
        """Name of the prompt and its version, or the settings that verdicts depend on."""

    def judge(self, claims: Sequence[Claim]) -> Sequence[Verdict]:
        """Return a verdict for each claim, in their order."""


JudgeFunction = Callable[[str, Sequence[str], str, str], str | None]
"""From question, passages, answer and sentence to a label, or None where there is none."""


@dataclass(frozen=True)
class FunctionJudge:
    """Any function as a judge.

    Attributes:
        name: Its name in tables.
        function: From question, passages, answer and sentence to ``Supported``, ``Not Supported``
            or None.
        prompt: What the function's verdicts depend on, if anything.
    """

    name: str
    function: JudgeFunction
    prompt: str = ""

    def judge(self, claims: Sequence[Claim]) -> list[Verdict]:
        """Ask the function about each claim.

        Raises:
            UsageError: If it returns anything else than the two labels or None.
        """
        return [
            self._verdict(self.function(each.question, each.passages, each.answer, each.sentence))
            for each in claims
        ]

    def _verdict(self, said: object) -> Verdict:
        if said is None:
            return Verdict(None, "no_label")
        label = canonical_label("factuality", said) if isinstance(said, str) else None
        if label not in JUDGED:
            raise UsageError(
                f"the judge {self.name} returned {said!r}; return {' or '.join(JUDGED)}, "
                "or None where there is no verdict"
            )
        return Verdict(label)


def claims_of(sentences: pd.DataFrame) -> list[Claim]:
    """Return the claims of a table of sentences, as ``read_memerag`` gives it, in its order."""
    columns = ["language", "query", "passages", "answer", "sentence"]
    return [Claim(*row) for row in sentences[columns].itertuples(index=False, name=None)]


VERDICT_COLUMNS = [
    *("judge", "prompt", *SENTENCE_KEY),
    *("factuality", "fine_grained_factuality", "label", "failure", "was_asked"),
]


def judge_sentences(
    sentences: pd.DataFrame, judges: Sequence[Judge], limit: int | None = None
) -> pd.DataFrame:
    """Let judges judge every sentence that is not challenging to determine (section 5.1).

    Args:
        sentences: As ``read_memerag`` returns them.
        judges: Judges, each of which sees the sentences without their labels.
        limit: Judge the first so many sentences of each language only.

    Returns:
        Columns ``VERDICT_COLUMNS``, one row a judge and sentence. ``label`` is missing where
        ``failure`` says why; ``was_asked`` is False where the judge could not be reached.

    Raises:
        UsageError: If there is no judge or no sentence, two judges have the same name and prompt,
            or a judge does not return one verdict a sentence.
    """
    judged = judged_sentences(sentences, limit)
    _check_judges(judges)
    return pd.concat([_verdicts(judged, judge) for judge in judges], ignore_index=True)


def judged_sentences(sentences: pd.DataFrame, limit: int | None = None) -> pd.DataFrame:
    """Return the sentences that count: those that people could label, in their order."""
    known = sentences[sentences["factuality"].isin(JUDGED)]
    if limit is not None:
        known = known.groupby("language", sort=False).head(limit)
    if known.empty:
        raise UsageError(
            f"there is no sentence to judge; some must be labeled {' or '.join(JUDGED)}"
        )
    return known.reset_index(drop=True)


def _check_judges(judges: Sequence[Judge]) -> None:
    if not judges:
        raise UsageError("there is no judge; give one at least")
    known = [(judge.name, judge.prompt) for judge in judges]
    repeated = sorted({pair for pair in known if known.count(pair) > 1})
    if repeated:
        raise UsageError(f"the judge {repeated[0][0]} is given twice; give each once")


def _verdicts(sentences: pd.DataFrame, judge: Judge) -> pd.DataFrame:
    verdicts = list(judge.judge(claims_of(sentences)))
    if len(verdicts) != len(sentences):
        raise UsageError(
            f"the judge {judge.name} returned {len(verdicts)} verdicts for {len(sentences)} "
            "sentences; return one for each"
        )
    known = [*SENTENCE_KEY, "factuality", "fine_grained_factuality"]
    return sentences[known].assign(
        judge=judge.name,
        prompt=judge.prompt,
        label=pd.Series([each.label for each in verdicts], dtype=object),
        failure=pd.Series([each.failure for each in verdicts], dtype=object),
        was_asked=[each.was_asked for each in verdicts],
    )[VERDICT_COLUMNS]


RUN = 5
THRESHOLD = 0.55

_SPACES = re.compile(r"\s+")


@dataclass(frozen=True)
class LexicalJudge:
    """Calls a sentence supported if enough of its runs of characters stand in one passage.

    Attributes:
        threshold: Share of the runs from which on a sentence is supported, for all languages.
        length: Characters of a run.
    """

    threshold: float = THRESHOLD
    length: int = RUN

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1 or self.length < 1:
            raise UsageError("give a threshold from 0 to 1 and a length of 1 or more")

    @property
    def name(self) -> str:
        """``lexical``."""
        return "lexical"

    @property
    def prompt(self) -> str:
        """The settings."""
        return f"characters:{self.length}|threshold:{self.threshold}"

    def judge(self, claims: Sequence[Claim]) -> list[Verdict]:
        """Judge each claim by itself."""
        return [
            Verdict(SUPPORTED if self.share(each) >= self.threshold else NOT_SUPPORTED)
            for each in claims
        ]

    def share(self, claim: Claim) -> float:
        """Return the share of the sentence's runs that its best passage holds, 0 to 1."""
        runs = character_runs(claim.sentence, self.length)
        held = (set(character_runs(text, self.length)) for text in claim.passages)
        return max((sum(run in known for run in runs) / len(runs) for known in held), default=0.0)


def character_runs(text: str, length: int) -> list[str]:
    """Return the runs of so many characters of a text, case-folded, spaces joined.

    Returns:
        At least one run: a shorter text is a run by itself.
    """
    plain = _SPACES.sub(" ", text.casefold()).strip()
    return [plain[start : start + length] for start in range(len(plain) - length + 1)] or [plain]


PromptName = Literal["zero_shot", "cot", "ag", "ag_cot"]
PROMPTS: tuple[PromptName, ...] = get_args(PromptName)

_PACKAGE = "surrogate.metaevaluation.memerag"
_VARIABLES = ("context", "answer_segment")


@dataclass(frozen=True)
class FaithfulnessPrompt:
    """One of the four prompts.

    Attributes:
        name: Which one.
    """

    name: PromptName

    def __post_init__(self) -> None:
        if self.name not in PROMPTS:
            raise UsageError(f"unknown prompt {self.name!r}; use one of {', '.join(PROMPTS)}")

    @property
    def version(self) -> str:
        """Names and digests of the templates."""
        system = packaged_prompt(_PACKAGE, f"{self.name}.v1", ())
        return f"{system.version}+{packaged_prompt(_PACKAGE, 'task.v1', _VARIABLES).version}"

    def ask(self, claim: Claim) -> Prompt:
        """Make the prompt for a claim."""
        version = self.version
        context = [{"text": text} for text in claim.passages]
        task = packaged_prompt(_PACKAGE, "task.v1", _VARIABLES)
        return Prompt.of(
            task.fill({"context": context, "answer_segment": claim.sentence}),
            packaged_prompt(_PACKAGE, f"{self.name}.v1", ()).fill({}),
            version,
        )


if TYPE_CHECKING:
    from arena.llm.store import Store

RETRIES = 5
TEMPERATURE = 0.1
TOP_P = 0.1

_ASKED_AGAIN = frozenset({UNPARSABLE, EMPTY, REFUSAL})
_NOT_ASKED = PASSING | {OVER_BUDGET}

Progress = Callable[[str, int, int], None]


def paper_settings(model: str, max_tokens: int | None = 1024) -> ModelSettings:
    """Return a model's settings as in the paper: temperature and top_p of 0.1."""
    return ModelSettings(
        model, temperature=TEMPERATURE, max_tokens=max_tokens, extra_body={"top_p": TOP_P}
    )


@dataclass(frozen=True)
class LlmFaithfulnessJudge:
    """A judge.

    Attributes:
        settings: Model, temperature and so on; see ``paper_settings``.
        store: Keeps every reply: what it has is not asked again.
        endpoint: Where the model is asked.
        prompt_name: Which of the paper's prompts.
        retries: How often a claim is asked again, at most, where the reply has no label. Each try
            has a purpose of its own in the store, and the next seed where the settings have one.
        max_calls: Most prompts to send in a run, retries included; None for all.
        progress: Called with a stage's name, what is done of it, and all of it.
        usages: What each try asked and used; grows as the judge is at work.
    """

    settings: ModelSettings
    store: Store = field(repr=False)
    endpoint: Endpoint = field(default_factory=Endpoint)
    prompt_name: PromptName = "ag_cot"
    retries: int = RETRIES
    max_calls: int | None = None
    progress: Progress | None = field(default=None, repr=False)
    usages: list[Usage] = field(default_factory=list, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.retries < 0:
            raise UsageError(f"retries is {self.retries}; give 0 or more")

    @property
    def name(self) -> str:
        """``llm:`` and the model."""
        return f"llm:{self.settings.model}"

    @property
    def prompt(self) -> str:
        """Names and digests of the templates."""
        return FaithfulnessPrompt(self.prompt_name).version

    def judge(self, claims: Sequence[Claim]) -> list[Verdict]:
        """Ask the model about every claim.

        Returns:
            A verdict a claim. A claim without a label after all retries counts against the model;
            one that was not answered, because the server failed or ``max_calls`` was used up, was
            not asked: run again.

        Raises:
            UsageError: See ``arena.llm.complete``.
            MissingDependencyError: If Jinja, the SDK or SQLAlchemy is not installed.
        """
        prompt = FaithfulnessPrompt(self.prompt_name)
        asked = [prompt.ask(claim) for claim in claims]
        verdicts: list[Verdict] = [Verdict(None, OVER_BUDGET, was_asked=False)] * len(claims)
        pending = list(range(len(claims)))
        calls_left = self.max_calls
        for attempt in range(self.retries + 1):
            outcomes = self._ask([asked[place] for place in pending], attempt, calls_left)
            for place, outcome in zip(pending, outcomes, strict=True):
                verdicts[place] = _verdict(outcome)
            if calls_left is not None:
                calls_left -= min(calls_left, sum(map(_was_sent, outcomes)))
            pending = [place for place in pending if verdicts[place].failure in _ASKED_AGAIN]
            if not pending:
                break
        return verdicts

    def _ask(
        self, prompts: Sequence[Prompt], attempt: int, max_calls: int | None
    ) -> list[Outcome[str]]:
        seed = self.settings.seed
        settings = replace(self.settings, seed=None if seed is None else seed + attempt)
        purpose = f"retry {attempt}" if attempt else ""
        stage = f"{self.name} {purpose}".strip()
        run = complete(
            [replace(prompt, purpose=purpose) for prompt in prompts],
            settings,
            endpoint=self.endpoint,
            store=self.store,
            parse=_read,
            max_calls=max_calls,
        )
        self.usages.append(run.usage)
        outcomes: list[Outcome[str]] = []
        for outcome in run:
            outcomes.append(outcome)
            if self.progress is not None:
                self.progress(stage, len(outcomes), len(prompts))
        return outcomes


def _read(completion: Completion) -> str:
    return read_label(completion.text or "")


def _verdict(outcome: Outcome[str]) -> Verdict:
    if outcome.failure is None:
        return Verdict(outcome.value)
    return Verdict(None, outcome.failure, was_asked=outcome.failure not in _NOT_ASKED)


def _was_sent(outcome: Outcome[str]) -> bool:
    return not outcome.from_store and outcome.failure != OVER_BUDGET
