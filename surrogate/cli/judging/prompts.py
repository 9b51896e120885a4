"""``surrogate-arena prompts``: what LLMs are asked, and what may take its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from surrogate.cli.options import JsonOption

if TYPE_CHECKING:
    import pandas as pd

    from arena.text.prompts import ReplaceablePrompt

COLUMNS = ["command", "name", "asks", "variables", "reply"]


def prompts(
    name: Annotated[
        str | None, typer.Argument(help="Name of a prompt to print; without one, all are listed.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the prompts that LLMs are sent, or print one; --template replaces them.

    Listed are where they are used, their variables, and what replies must say.
    """
    from arena.data.errors import UsageError
    from surrogate.cli import printing

    if name is None and as_json:
        printing.print_json(prompts_table())
    elif name is None:
        printing.print_columns("Prompts that --template replaces", prompts_table(), COLUMNS)
    else:
        found = [each for known in all_prompts().values() for each in known if each.name == name]
        if not found:
            raise UsageError(f"there is no prompt {name!r}; 'prompts' shows which there are")
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
    from surrogate.metaevaluation.grouse.prompts import GROUSE_PROMPTS, JOINT_PROMPT
    from surrogate.metaevaluation.memerag.memerag import MEMERAG_PROMPTS
    from surrogate.metaevaluation.memerag.sheets import HIGHLIGHT_PROMPT
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
