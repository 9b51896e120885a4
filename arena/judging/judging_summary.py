"""The summary of one judge's run: counts, cost, trust, and remarks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from arena.data.answer_digests import with_digests
from arena.data.arena import Arena
from arena.data.schema import FLAG_SEPARATOR, WINNERS
from arena.data.wording import Remark, count_of
from arena.judging.appending import replaced_flags
from arena.judging.choosing.chosen_pairs import ChosenPairs
from arena.judging.llm_judge import LlmJudge, pairs_left
from arena.judging.rounds import JudgedRounds
from arena.llm.replies import CONTENT_FILTER, REFUSAL, UNPARSABLE
from arena.llm.usage import Price, Usage
from arena.quality.agreement import without_identical
from arena.quality.judge_label import label_judge
from arena.quality.judge_report import Grade, JudgeLabel, JudgeTest
from arena.quality.judge_tests import Share
from arena.quality.people_agreement import PeopleAgreement

NOTABLE_INVALID = 0.05
"""Share of unparsable replies above which a judge is doubtful."""


@dataclass(frozen=True)
class JudgingSummary:
    """Counts of one judge's run.

    Attributes:
        pairs: Pairs chosen; each order counts.
        already_judged: Pairs that this judge had judged before.
        rejudged: Earlier verdicts that were replaced, as an answer was edited.
        identical: Pairs of identical answers, which are ties without a call.
        flags: Pairs by oddities of answers or replies.
        check: Label of trust.
    """

    judge: str
    prompt: str
    pairs: int
    already_judged: int
    rejudged: int
    identical: int
    verdicts: dict[str, int]
    flags: dict[str, int]
    usage: Usage
    cost: float | None
    check: JudgeLabel
    remarks: tuple[Remark, ...]

    @property
    def invalid(self) -> int:
        """Return the number of unreadable replies, without refusals and failed calls."""
        return self.usage.failures.get(UNPARSABLE, 0)

    def as_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        fields = asdict(self)
        # The counts of calls and tokens become fields of the summary itself.
        del fields["usage"]
        fields.update(self.usage.as_json(), asked=self.usage.asked, invalid=self.invalid)
        return fields


def summarize_judge(
    arena: Arena,
    judge: LlmJudge,
    pairs: ChosenPairs,
    run: JudgedRounds,
    prices: Mapping[str, Price],
    people: PeopleAgreement | None,
) -> JudgingSummary:
    """Count what a run of one judge brought."""
    earlier = arena.judgments[arena.judgments["judge"] == judge.judge]
    outcome = run.outcome_of(judge.judge)
    usage = Usage.total(judge.asked_settings.model, run.usages[judge.judge])
    left = [pairs_left(arena, judge, part) for part in run.rounds]
    n_already_judged = len(pairs) - sum(map(len, left))
    n_invalid = usage.failures.get(UNPARSABLE, 0)
    judgments = pd.concat([arena.judgments, outcome.judgments], ignore_index=True)
    own = judgments[judgments["judge"] == judge.judge]
    n_judged = len(without_identical(own, arena.answers))
    n_replies = usage.asked + len(without_identical(earlier))
    on_replies = reply_test(n_judged, n_invalid, n_replies)
    check = label_judge(
        judge.judge,
        judgments,
        arena.answers,
        people=people,
        further=() if on_replies is None else (on_replies,),
    )
    flags: Counter[str] = Counter()
    for joined_flags in pd.concat([outcome.judgments["flags"], outcome.failures["flags"]]):
        flags.update(flag for flag in joined_flags.split(FLAG_SEPARATOR) if flag)
    winner_counts = outcome.judgments["winner"].value_counts()
    remarks = _remarks(judge, earlier, usage, usage.asked + n_already_judged)
    return JudgingSummary(
        judge=judge.judge,
        prompt=judge.prompt.version,
        pairs=len(pairs),
        already_judged=n_already_judged,
        rejudged=_count_replaced(arena, judge, outcome.judgments),
        identical=sum(len(part.identical) for part in left),
        verdicts={winner: int(winner_counts.get(winner, 0)) for winner in WINNERS},
        flags=dict(sorted(flags.items())),
        usage=usage,
        cost=usage.cost(prices),
        check=check,
        remarks=(*outcome.remarks, *remarks),
    )


def reply_test(n_verdicts: int, n_invalid: int, n_replies: int) -> JudgeTest | None:
    """Test how many replies are unparsable."""
    if not n_replies:
        return None
    if not n_verdicts and not n_invalid:
        return JudgeTest("replies", "not known", f"none of {n_replies:,} prompts got a verdict")
    invalid = Share(n_invalid, n_replies)
    grade: Grade = "consistent"
    if invalid.value > 0.5:
        grade = "unreliable"
    elif invalid.value > NOTABLE_INVALID:
        grade = "doubtful"
    verb = "is" if n_invalid == 1 else "are"
    shown_replies = count_of(n_replies, "reply", "replies")
    sentence = f"{n_invalid:,} of {shown_replies} {verb} unparsable ({invalid.value:.1%})"
    return invalid.test("replies", grade, sentence)


def _count_replaced(arena: Arena, judge: LlmJudge, judgments: pd.DataFrame) -> int:
    outdated = arena.outdated[arena.outdated["judge"] == judge.judge]
    return int(replaced_flags(outdated, with_digests(judgments, arena.answers)).sum())


def _remarks(
    judge: LlmJudge, earlier: pd.DataFrame, usage: Usage, n_replies: int
) -> Iterator[Remark]:
    n_invalid = usage.failures.get(UNPARSABLE, 0)
    n_refused = sum(usage.failures.get(reason, 0) for reason in (REFUSAL, CONTENT_FILTER))
    if n_invalid + n_refused > NOTABLE_INVALID * n_replies:
        # Pairs that a judge cannot or will not decide are seldom like the others. Refusals do not
        # make its other verdicts worse, so they are no fault in its label.
        verb = "is" if n_invalid == 1 else "are"
        refused = f" and {n_refused} refused" if n_refused else ""
        sentence = (
            f"{n_invalid} of {count_of(n_replies, 'reply', 'replies')} of {judge.judge} {verb} "
            f"unparsable{refused}; the pairs it did judge may not be a random sample"
        )
        yield Remark("unparsable", "warning", sentence, statistic=n_invalid + n_refused)
    version = judge.prompt.version
    versions = earlier["prompt"].dropna() if "prompt" in earlier else ()
    other_versions = sorted({str(name) for name in versions if name != version})
    if other_versions:
        sentence = (
            f"the arena holds verdicts of {judge.judge} from another prompt ({other_versions[0]}, "
            f"now {version}); give this judge a name of its own to keep them apart"
        )
        yield Remark("prompts", "warning", sentence)
