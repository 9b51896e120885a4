"""LLMs that judge: ``judge``."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.data.wording import Remark, count_of
from arena.judging.judging_settings import JudgingSettings
from surrogate_arena.cli import options as opt
from surrogate_arena.cli.model_calls import DRY_RUN, NO_COST, STORE, kept_replies
from surrogate_arena.cli.printing import command, print_remarks, progress_lines, show, wrapped
from surrogate_arena.cli.setting_options import takes_settings

if TYPE_CHECKING:
    from arena.data.arena import Arena
    from arena.judging import ChosenPairs, Forecast, Judging
    from arena.judging.judging_summary import JudgingSummary
    from arena.llm import Price

PAIRS = "Pairs, each order counted"
RANDOM_DRY_RUN = (
    "Dry run of as many random pairs: nothing was asked; the same prompt takes one call; tokens "
    "are estimates"
)
NO_TOKENS = "not known; the server does not state the tokens of its answers"


@takes_settings(
    JudgingSettings,
    "model",
    "plug_in",
    "base_url",
    "api_key_env",
    "batch",
    "questions",
    "pairs",
    "budget",
    "max_cost",
    "prior",
    "panel",
    "escalate",
    "audit",
    "template",
)
def judge_command(
    arena: opt.Arena,
    settings: JudgingSettings,
    dry_run: opt.DryRun = False,
    prices: opt.Prices = None,
    as_json: opt.Json = False,
) -> None:
    """Judge pairs of answers with an LLM or a panel, and add the verdicts to the arena folder."""
    settings.require_plan()

    from arena.data.folder import read_arena
    from arena.judging import forecast, judge, questions_to_judge
    from arena.judging.judging_result import lasting_failures, require_verdicts
    from arena.judging.plans.plan import judging_budget
    from arena.llm import read_prices
    from surrogate_arena.cli.judging_records import recorded_agreements

    price_of = {} if prices is None else read_prices(prices)
    judging_budget(settings, price_of)  # a model without a price is refused before anything is done
    read = read_arena(arena)
    store_path = Path(settings.store or arena / STORE)
    prior = None
    if settings.is_adaptive:
        from surrogate_arena.diagnosis.judging_prior import judging_prior

        questions = questions_to_judge(read, settings)
        prior = judging_prior(read, questions, settings.prior, seed=settings.seed)
    failed = lasting_failures(arena)
    expected = forecast(read, settings, prior=prior, failed=failed)
    if dry_run:
        _dry_run(read, settings, store_path, price_of, expected, as_json)
        return
    if expected is not None:
        print(f"{expected}.", file=sys.stderr)
    with kept_replies(store_path):
        judging = judge(
            read,
            settings,
            store_path,
            prior=prior,
            failed=failed,
            prices=price_of,
            progress=progress_lines(),
            people=recorded_agreements(arena),
        )
    file, n_added = judging.write(arena)
    _show_judging(judging, file, n_added, as_json)
    if judging.error is not None:
        first = judging.summaries[0]
        is_usable = any(first.verdicts.values()) and first.check.grade != "unreliable"
        if settings.escalate is not None and is_usable:
            # The first judge's verdicts are in the arena by now, and a board can be built of them.
            print(command("board", arena, "--judge", settings.first_judge), file=sys.stderr)
        raise judging.error
    require_verdicts(judging.usage)
    if as_json:
        return
    judges = settings.judge
    asked = {summary.judge for summary in judging.summaries}
    if settings.escalate is not None and settings.escalate not in asked:
        judges = settings.first_judge
    # A board of an unreliable judge misleads: first show what is wrong with the verdicts.
    if any(summary.check.grade == "unreliable" for summary in judging.summaries):
        print(command("diagnose", arena, "--judge", judges))
    else:
        print(command("board", arena, "--judge", judges, "--out", "out/board"))


def _dry_run(
    arena: Arena,
    settings: JudgingSettings,
    store_path: Path,
    prices: Mapping[str, Price],
    expected: Forecast | None,
    as_json: bool,
) -> None:
    import pandas as pd

    from arena.judging import dry_run_judge, likely_pairs
    from arena.llm import open_for_dry_run

    planned = likely_pairs(arena, settings, expected)
    rows = []
    with open_for_dry_run(store_path) as store:
        for judge, of_judge in planned:
            counts = dry_run_judge(arena, judge, of_judge, store, prices)
            rows.append({"judge": judge.judge, **vars(counts)})
    shown = _counts_of(planned[0][1])
    shown["forecast"] = expected
    shown["judges"] = pd.DataFrame(rows)
    shown["cost"] = "" if prices else NO_COST
    title = DRY_RUN if expected is None else RANDOM_DRY_RUN
    show(shown, as_json, {"pairs": PAIRS, "judges": title})


def _show_judging(judging: Judging, file: Path, n_added: int, as_json: bool) -> None:
    if not as_json:
        _print_judging(judging, file, n_added)
        return
    shown = _counts_of(judging.pairs)
    shown["judges"] = [summary.as_json() for summary in judging.summaries]
    if judging.derived is not None:
        shown[judging.derived.name] = dict(judging.derived.counts)
    shown["agreement"] = judging.agreement
    shown["failures"] = judging.usage.failures
    if judging.pairs.adaptive:
        shown["languages"] = judging.progress
        shown["ratings"] = judging.ratings
        shown["rounds"] = judging.rounds
        shown["stopped"] = judging.reason
    if n_added:
        shown["file"] = file
    shown["added"] = n_added
    shown["records"] = _record_counts(judging) or None
    shown["renewed"] = judging.n_renewed or None
    show(shown, as_json)


def _record_counts(judging: Judging) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for records in judging.records:
        counts.update(records.counts())
    return dict(counts)


def _print_judging(judging: Judging, file: Path, n_added: int) -> None:
    """Print what was added, then what matters most of it; --json has all."""
    added = f"{count_of(n_added, 'verdict')} added" + (f" to {file}" if n_added else "")
    n_before = sum(summary.already_judged for summary in judging.summaries)
    print(f"{added}; {n_before:,} were judged before" if n_before else added)
    if judging.derived is not None:
        print(f"{judging.derived.name}: {_listed(judging.derived.counts)}")
    for summary in judging.summaries:
        n_ties = summary.verdicts["tie"]
        n_decided = sum(summary.verdicts.values()) - n_ties
        text = f"{summary.judge}: {count_of(n_decided, 'win')} and {count_of(n_ties, 'tie')}"
        if summary.identical:
            text += f"; {count_of(summary.identical, 'pair')} of identical answers"
        print("\n".join(wrapped(text)))
        if summary.usage.prompts:
            print("\n".join(wrapped(f"{summary.usage}; cost {_cost(summary)}")))
    print_remarks([*_judging_remarks(judging)])


def _judging_remarks(judging: Judging) -> Iterator[Remark]:
    for summary in judging.summaries:
        yield summary.check.remark
        yield from summary.remarks
    if judging.usage.failures:
        text = f"without a verdict (failed_judgments.jsonl): {_listed(judging.usage.failures)}"
        yield Remark("failures", "warning", text)
    # An error is printed last.
    if judging.reason and judging.error is None:
        yield Remark("stopped", "info", f"stopped: {judging.reason}")
    for summary in judging.summaries:
        if summary.rejudged:
            text = f"{summary.rejudged} judged again because an answer was edited"
            yield Remark("edited", "info", text)
        if summary.flags:
            yield Remark("flags", "info", f"flags: {_listed(summary.flags)}")
    records = _record_counts(judging)
    if records:
        yield Remark("records", "info", f"new in the folder further: {_listed(records)}")
    if judging.n_renewed:
        text = f"{count_of(judging.n_renewed, 'verdict')} made again from these tables"
        yield Remark("renewed", "info", text)


def _counts_of(chosen: ChosenPairs) -> dict[str, Any]:
    return {
        "questions": chosen.counts,
        "pairs": len(chosen),
        "identical_answers": len(chosen.identical),
    }


def _cost(summary: JudgingSummary) -> str:
    if summary.cost is not None:
        return f"{summary.cost:.4f}"
    if summary.usage.without_tokens > 0:
        return NO_TOKENS
    return NO_COST


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())
