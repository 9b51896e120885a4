"""LLMs that judge: ``judge``, ``gate``, ``prompts``."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from arena.data.errors import UnusableRepliesError, UsageError
from arena.judging.judging_settings import JudgingSettings
from surrogate.cli import options as opt
from surrogate.cli.options import FILE, given_features, setting, settings_of
from surrogate.cli.printing import command, plain, print_notes, progress_lines, show

if TYPE_CHECKING:
    from arena.judging import ChosenPairs
    from arena.judging.run import JudgingSummary
    from arena.text.prompts import ReplaceablePrompt

STORE = "judging.sqlite"
NO_COST = "not known; give each model's price (--prices FILE)"
INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""
STATUS = {"better": 0, "same": 0, "worse": 3, "cannot say": 4}
"""Exit status of each verdict of the gate; 1 and 2 are errors."""
OF_PAIRS = ("questions", "pairs", "budget", "until", "both_orders", "form", "prior", "panel")
"""Settings of judging that a gate decides itself."""
DRY_RUN = "Dry run: nothing was asked; tokens are estimates"
PROMPT_COLUMNS = ["command", "name", "asks", "variables", "reply"]


def judge(
    arena: opt.Arena,
    model: Annotated[str | None, setting(JudgingSettings, "model")] = None,
    base_url: Annotated[str | None, setting(JudgingSettings, "base_url")] = None,
    api_key_env: Annotated[str | None, setting(JudgingSettings, "api_key_env")] = None,
    temperature: opt.Temperature = None,
    max_tokens: opt.MaxTokens = None,
    body: opt.Body = None,
    omit: opt.Omit = None,
    questions: Annotated[int | None, setting(JudgingSettings, "questions")] = None,
    pairs: Annotated[str | None, setting(JudgingSettings, "pairs")] = None,
    budget: Annotated[int | None, setting(JudgingSettings, "budget")] = None,
    prior: Annotated[str | None, setting(JudgingSettings, "prior")] = None,
    panel: Annotated[str | None, setting(JudgingSettings, "panel")] = None,
    both_orders: Annotated[
        bool | None, setting(JudgingSettings, "both_orders", "--both-orders/--no-both-orders")
    ] = None,
    template: Annotated[str | None, setting(JudgingSettings, "template")] = None,
    join: Annotated[
        list[Path] | None,
        Option(help="Stores of other machines to take replies from first; repeatable.", **FILE),
    ] = None,
    config: opt.Config = None,
    dry_run: opt.DryRun = False,
    prices: opt.Prices = None,
    as_json: opt.Json = False,
) -> None:
    """Judge pairs of answers with an LLM or a panel, and add the verdicts to the arena folder."""
    settings = settings_of(JudgingSettings, config, locals())

    import pandas as pd

    from arena.data.folder import read_arena
    from arena.judging import dry_run_judge
    from arena.judging.run import judge as judge_pairs
    from arena.judging.run import lasting_failures
    from arena.llm import Budget, open_store, read_prices
    from surrogate.board.judge_report import recorded_agreements

    is_adaptive = settings.pairs == "adaptive"
    if is_adaptive and dry_run:
        raise UsageError("adaptive pairs are chosen as verdicts come; leave --dry-run out")
    judges = settings.llm_judges()
    known_prices = None if prices is None else read_prices(prices)
    read = read_arena(arena)
    limit = Budget(settings.max_calls)
    expected: pd.DataFrame | None = None
    if settings.prior is not None:
        from surrogate.board.board import Board
        from surrogate.ranking.prior import expected_systems

        expected = expected_systems(Board.load(settings.prior), read)
    chooser: Any = settings.pair_chooser(read, expected, lasting_failures(arena), limit)
    where = settings.store or str(arena / STORE)
    if dry_run:
        chosen = chooser.chosen([])
        with opened_if_there(where) as opened:
            runs = {
                member.judge: vars(dry_run_judge(read, member, chosen, opened, known_prices))
                for member in judges
            }
        table = pd.DataFrame([{"judge": name, **run} for name, run in runs.items()])
        cost = NO_COST if prices is None else ""
        shown = {**_counts_of(chosen), "judges": table, "cost": cost}
        show(shown, as_json, {"judges": DRY_RUN})
        return
    for member in () if join or Path(where).exists() else judges:
        member.settings.api_key()  # without a key no store is made
    with kept_replies(where), open_store(where) as store:
        store.join(join or ())
        judging = judge_pairs(
            *(read, judges, chooser, store),
            budget=limit,
            prices=known_prices,
            progress=progress_lines(),
            people=recorded_agreements(arena),
        )
    file, added = judging.write(arena)
    panel_votes = judging.panel and {
        "verdicts": len(judging.panel.judgments),
        "ties for want of a majority": judging.panel.split,
        "pairs with fewer than half of the judges": judging.panel.too_few,
    }
    summaries = [summary.as_json() for summary in judging.summaries]
    for summary in () if as_json else judging.summaries:
        _print_summary(summary)
    shown = {**_counts_of(judging.pairs), "judges": summaries, "panel": panel_votes}
    shown |= {"agreement": judging.agreement, "failures": judging.failure_counts}
    if is_adaptive:
        shown |= {"languages": chooser.progress(), "ratings": chooser.ratings()}
        shown |= {"batches": judging.batches, "stopped": judging.reason}
    titles = {
        "judges": "",
        "agreement": "Agreement with other judges on the same pairs (Cohen's kappa)",
        "failures": "Without a verdict, listed beside it",
        "languages": "Pairs of the questions drawn",
        "ratings": "Ratings by these verdicts and the prior, if any (90% intervals)",
        "added": "Verdicts added",
    }
    show(shown | {"file": file, "added": added}, as_json, titles)
    if judging.failed:
        raise UnusableRepliesError(f"no pair that was asked got a verdict: {judging.reasons}")
    if as_json:
        return
    if any(summary.check.grade == "unreliable" for summary in judging.summaries):
        print(command("diagnose", arena, "--judge", settings.judge))
    else:
        print(command("board", arena, "--judge", settings.judge, "--out", "out/board"))


def gate(
    board: opt.Board,
    candidate: Annotated[Path, Option(help="Answers of the new version.", **FILE)],
    baseline: Annotated[
        str | None, Option(help="System to compare with. Default: the best judged system")
    ] = None,
    model: Annotated[str | None, Option(help="LLM judge to ask if needed.")] = None,
    base_url: Annotated[str | None, setting(JudgingSettings, "base_url")] = None,
    api_key_env: opt.ApiKeyEnv = None,
    temperature: opt.Temperature = None,
    max_tokens: opt.MaxTokens = None,
    body: opt.Body = None,
    omit: opt.Omit = None,
    columns: opt.Columns = None,
    feature_table: opt.FeatureTable = None,
    budget: Annotated[int | None, Option(min=2, help="Maximum number of verdicts.")] = None,
    error: Annotated[float, Option(help="Probability of a wrong decision.")] = 0.05,
    margin: Annotated[float, Option(help="Difference of a win rate from 0.5 that matters.")] = 0.05,
    arena: opt.MovedArena = None,
    config: opt.Config = None,
    as_json: opt.Json = False,
) -> None:
    """Decide whether a new version of a system is better than a baseline, the same, or worse.

    The status is 0 for better or the same, 3 for worse, 4 where this cannot be said.
    """
    settings = settings_of(JudgingSettings, config, {**locals(), "budget": None}, OF_PAIRS)

    from arena.llm import open_store
    from surrogate.cli.ranking import read_to_rank
    from surrogate.ranking.gate import GateJudging, GateRates
    from surrogate.ranking.gate import gate as decide

    stated = settings.model_fields_set - {"model", "languages", "seed"}
    if not settings.model and (stated or budget is not None):
        raise UsageError("judging options need --model")
    judge = settings.llm_judge() if settings.model else None
    published, folder, read, new = read_to_rank(board, arena, candidate, columns, is_judged=True)
    where = settings.store or str(folder / STORE)
    opened: Any = nullcontext() if judge is None else open_store(where)
    with kept_replies(where), opened as store:
        found = decide(
            *(published, new, read, baseline),
            judging=None
            if judge is None
            else GateJudging(judge, store, budget, settings.seed, progress_lines()),
            rates=GateRates(error, margin),
            languages=settings.languages,
            feature_table=given_features(feature_table, new),
        )
    if as_json:
        shown = {**plain(found), "sentences": found.sentences}
        show(shown | {"win_rate": found.verdicts and found.verdicts.win_rate}, as_json)
    else:
        print_notes(found.sentences, "")
    if found.verdicts is not None and found.verdicts.usage.is_unusable:
        reasons = found.verdicts.usage.shown_failures()
        raise UnusableRepliesError(f"no pair that was asked got a verdict: {reasons}")
    raise SystemExit(STATUS[found.verdict])


@contextmanager
def kept_replies(store: str) -> Iterator[None]:
    """Say on Ctrl-C what is kept and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        print(
            f"Interrupted. Replies that came are kept in {store}; the same command goes on from "
            "there and asks nothing twice.",
            file=sys.stderr,
        )
        raise SystemExit(INTERRUPTED) from None


def opened_if_there(where: str) -> Any:  # noqa: ANN401 - a store, or nothing to look into
    """Open a store for a dry run, which makes none."""
    from arena.llm import open_store

    return open_store(where) if Path(where).is_file() else nullcontext()


def _counts_of(chosen: ChosenPairs) -> dict[str, Any]:
    return {
        "questions": chosen.counts,
        "pairs": len(chosen),
        "both_orders": chosen.both_orders,
        "identical_answers": len(chosen.identical),
    }


def _print_summary(summary: JudgingSummary) -> None:
    verdicts = ", ".join(f"{count} {winner}" for winner, count in summary.verdicts.items())
    flags = ", ".join(f"{count} {name}" for name, count in summary.flags.items())
    cost = NO_COST if summary.cost is None else format(summary.cost, ".4f")
    said = [
        f"{summary.check.short} ({summary.prompt})",
        f"{verdicts} ({summary.identical} of identical answers); failed: {summary.invalid}",
        f"{summary.usage}; {summary.already_judged} were judged before",
        f"Cost: {cost}" * (summary.cost is not None or summary.usage.calls > 0),
        f"Flags: {flags}" * bool(flags),
    ]
    print_notes([*filter(None, said), *summary.warnings, *summary.check.faults], "")
    print_notes(summary.check.facts, "")


def prompts(
    name: Annotated[str | None, Argument(help="Prompt to print. Default: list all of them")] = None,
    paper: Annotated[
        bool, Option("--paper", help="Say where a paper prints its own text, and what differs.")
    ] = False,
    as_json: opt.Json = False,
) -> None:
    """List the prompts that LLMs are sent, or print one; --template replaces them.

    With its text a prompt's variables are printed, required ones with a star, and what replies
    must say; --json lists them all.
    """
    import pandas as pd

    listed = [(sender, each) for sender, known in all_prompts().items() for each in known]
    listed = [(sender, each) for sender, each in listed if name in (None, each.name)]
    if not listed:
        raise UsageError(f"there is no prompt {name!r}; 'prompts' lists all")
    rows = []
    for sender, prompt in listed:
        shown = {
            f"{' or '.join((variable, *each.also))}{'*' if each.is_required else ''}": each.meaning
            for variable, each in prompt.variables.items()
        }
        rows.append((sender, prompt.name, prompt.asks, ", ".join(shown), prompt.reply))
        if name is None or paper or as_json:
            continue
        print(f"{{# {prompt.packaged_name}: {prompt.asks} #}}")
        print(prompt.packaged_text())
        print("\n".join(f"{{# {names}: {meaning} #}}" for names, meaning in shown.items()))
        print(f"{{# Of a reply is read: {prompt.reply} #}}")
    table = pd.DataFrame(rows, columns=PROMPT_COLUMNS)
    if paper:
        text = files("surrogate.cli").joinpath("papers.toml").read_text(encoding="utf-8")
        said = tomllib.loads(text)
        printed = [said[each.packaged_name] for _, each in listed]
        table = table[["command", "name"]].join(pd.DataFrame(printed))
    if as_json:
        show({"prompts": table}, as_json)
    elif paper:
        for row in table.to_dict("records"):
            print_notes([f"{row['name']} ({row['command']}): {row['paper']}, {row['at']}"], "")
            print_notes([row["differs"]], "Different here")
    elif name is None:
        show({"prompts": table[["command", "name", "asks"]]}, as_json)


def all_prompts() -> dict[str, tuple[ReplaceablePrompt, ...]]:
    """Return every replaceable prompt by the command that sends it."""
    from arena.generation import ANSWER_PROMPTS, TIME_PROMPT
    from arena.judging.graded import GRADED_PROMPTS
    from arena.judging.prompt import PAIRWISE_PROMPTS
    from features.models import FEATURE_PROMPTS
    from surrogate.papers import Grouse, Memerag, Wikieval

    return {
        "judge": (*PAIRWISE_PROMPTS.values(), *GRADED_PROMPTS.values()),
        "features, board, rank": FEATURE_PROMPTS,
        "generate": (*ANSWER_PROMPTS.values(), TIME_PROMPT),
        "metaeval memerag": tuple(Memerag.replaceable),
        "metaeval wikieval": tuple(p for p in Wikieval.replaceable if p not in FEATURE_PROMPTS),
        "metaeval grouse": tuple(p for p in Grouse.replaceable if p not in FEATURE_PROMPTS),
    }
