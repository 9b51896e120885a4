"""``surrogate-arena prompts``: what LLMs are asked, and what may take its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from surrogate.cli.group import new_group
from surrogate.cli.options import JsonOption

if TYPE_CHECKING:
    import pandas as pd

    from arena.text.prompts import ReplaceablePrompt

prompts = new_group(
    help="The prompts that LLMs are sent, which templates of your own may replace (--template).",
)

COLUMNS = ["command", "name", "asks", "variables", "reply"]


@prompts.command("list")
def list_prompts(as_json: JsonOption = False) -> None:
    """List the prompts: where they are used, their names, variables, and what replies must say."""
    from surrogate.cli import printing

    table = prompts_table()
    if as_json:
        printing.print_json(table)
        return
    printing.print_columns("Prompts that --template replaces", table, COLUMNS)


@prompts.command("show")
def show_prompt(
    name: Annotated[str, typer.Argument(help="Name of a prompt, as 'prompts list' has it.")],
) -> None:
    """Print the template that comes with the package, and below it what each variable holds."""
    from arena.data.errors import UsageError

    found = [prompt for known in all_prompts().values() for prompt in known if prompt.name == name]
    if not found:
        raise UsageError(f"there is no prompt {name!r}; 'prompts list' shows which there are")
    for prompt in found:
        print(f"{{# {prompt.packaged_name}: {prompt.asks} #}}")
        print(prompt.packaged_text())
        for variable, each in prompt.variables.items():
            print(f"{{# {' or '.join((variable, *each.also))}: {each.meaning} #}}")


def prompts_table() -> pd.DataFrame:
    """Tabulate all replaceable prompts: ``COLUMNS``; required variables have a star."""
    import pandas as pd

    rows = [
        (command, prompt.name, prompt.asks, ", ".join(_variables(prompt)), prompt.reply)
        for command, known in all_prompts().items()
        for prompt in known
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _variables(prompt: ReplaceablePrompt) -> list[str]:
    return [
        f"{' or '.join((name, *each.also))}{'*' if each.is_required else ''}"
        for name, each in prompt.variables.items()
    ]


def all_prompts() -> dict[str, tuple[ReplaceablePrompt, ...]]:
    """Return every replaceable prompt by the command that sends it."""
    from arena.generation import PROTOCOLS, TIME_PROMPT
    from arena.judging.graded import GRADED_PROMPTS
    from arena.judging.prompt import PAIRWISE_PROMPTS
    from features.models import FEATURE_PROMPTS
    from surrogate.metaevaluation.grouse.scoring import GROUSE_PROMPTS, JOINT_PROMPT
    from surrogate.metaevaluation.memerag.highlighting import HIGHLIGHT_PROMPT
    from surrogate.metaevaluation.memerag.memerag import MEMERAG_PROMPTS
    from surrogate.metaevaluation.wikieval.wikieval import WIKIEVAL_PROMPTS

    rated = {prompt.name for prompt in FEATURE_PROMPTS}
    return {
        "judge": (*PAIRWISE_PROMPTS.values(), *GRADED_PROMPTS.values()),
        "features, board, rank": FEATURE_PROMPTS,
        "generate": (*(protocol.prompt for protocol in PROTOCOLS.values()), TIME_PROMPT),
        "metaeval memerag": (*MEMERAG_PROMPTS, HIGHLIGHT_PROMPT),
        "metaeval wikieval": tuple(each for each in WIKIEVAL_PROMPTS if each.name not in rated),
        "metaeval grouse": (*GROUSE_PROMPTS.values(), JOINT_PROMPT),
    }
