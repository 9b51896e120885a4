"""Prompts that LLMs get: ``prompts``."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Annotated

from typer import Argument

from arena.data.errors import UsageError
from surrogate_arena.cli import options as opt
from surrogate_arena.cli.folders import has_folder
from surrogate_arena.cli.printing import show

if TYPE_CHECKING:
    from arena.llm.prompts import ReplaceablePrompt


def prompts(
    name: Annotated[str | None, Argument(help="Prompt to print. Default: list all of them")] = None,
    as_json: opt.Json = False,
) -> None:
    """List the prompts that LLMs are sent, or print one; --template replaces them.

    A prompt is printed with its variables (required ones with a star) and what replies must say;
    --json lists them all.
    """
    import pandas as pd

    listed = []
    for sender, sent_prompts in all_prompts().items():
        for prompt in sent_prompts:
            if name is None or name == prompt.name:
                listed.append((sender, prompt))
    if not listed:
        raise UsageError(f"there is no prompt {name!r}; 'prompts' lists all")
    rows = []
    for sender, prompt in listed:
        meanings = {}
        for variable_name, variable in prompt.variables.items():
            star = "*" if variable.is_required else ""
            meanings[" or ".join((variable_name, *variable.also)) + star] = variable.meaning
        row = {
            "command": sender,
            "name": prompt.name,
            "asks": prompt.asks,
            "variables": ", ".join(meanings),
            "reply": prompt.reply,
        }
        rows.append(row)
        if name is not None and not as_json:
            _print_prompt(prompt, meanings)
    table = pd.DataFrame(rows)
    if as_json:
        show({"prompts": table}, as_json)
    elif name is None:
        show({"prompts": table[["command", "name", "asks"]]}, as_json)


def _print_prompt(prompt: ReplaceablePrompt, meanings: Mapping[str, str]) -> None:
    # Everything but the text is a Jinja comment, so that the output is a template as it stands.
    print(f"{{# {prompt.packaged_name}: {prompt.asks} #}}")
    print(prompt.packaged_text())
    for names, meaning in meanings.items():
        print(f"{{# {names}: {meaning} #}}")
    print(f"{{# Read from the reply: {prompt.reply} #}}")


def all_prompts() -> dict[str, tuple[ReplaceablePrompt, ...]]:
    """Return every replaceable prompt by the command that sends it."""
    from arena.judging.forms import JUDGE_FORMS
    from features.models import FEATURE_PROMPTS

    judging = [form.replaceable for form in JUDGE_FORMS.values()]
    prompts_by_command = {
        "judge": tuple(chain.from_iterable(judging)),
        "features, board, rank": tuple(FEATURE_PROMPTS),
    }
    for folder in ("generation", "papers"):
        if has_folder(folder):
            commands = import_module(f"surrogate_arena.{folder}.commands")
            prompts_by_command |= commands.sent_prompts()
    return prompts_by_command
