"""What LLMs are asked: ``prompts``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from itertools import chain
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from arena.data.errors import UsageError
from surrogate_arena.cli import options as opt
from surrogate_arena.cli.printing import print_notes, show

if TYPE_CHECKING:
    from arena.llm.prompts import ReplaceablePrompt


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

    listed = []
    for sender, sent_prompts in all_prompts().items():
        for prompt in sent_prompts:
            if name is None or name == prompt.name:
                listed.append((sender, prompt))
    if not listed:
        raise UsageError(f"there is no prompt {name!r}; 'prompts' lists all")
    rows = []
    for sender, prompt in listed:
        meanings = _meanings(prompt)
        row = {
            "command": sender,
            "name": prompt.name,
            "asks": prompt.asks,
            "variables": ", ".join(meanings),
            "reply": prompt.reply,
        }
        rows.append(row)
        if name is not None and not paper and not as_json:
            _print_prompt(prompt, meanings)
    table = pd.DataFrame(rows)
    if paper:
        text = files("surrogate_arena.cli").joinpath("papers.toml").read_text(encoding="utf-8")
        sources = tomllib.loads(text)
        columns = pd.DataFrame([sources[prompt.packaged_name] for _, prompt in listed])
        table = table[["command", "name"]].join(columns)
    if as_json:
        show({"prompts": table}, as_json)
    elif paper:
        for row in table.to_dict("records"):
            print_notes([f"{row['name']} ({row['command']}): {row['paper']}, {row['at']}"], "")
            print_notes([row["differs"]], "Different here")
    elif name is None:
        show({"prompts": table[["command", "name", "asks"]]}, as_json)


def _meanings(prompt: ReplaceablePrompt) -> dict[str, str]:
    """Return the names of each variable, required ones with a star, and what it holds."""
    meanings = {}
    for name, variable in prompt.variables.items():
        star = "*" if variable.is_required else ""
        meanings[" or ".join((name, *variable.also)) + star] = variable.meaning
    return meanings


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
    from surrogate_arena.generation import ANSWER_PROMPTS, TIME_PROMPT
    from surrogate_arena.papers import Grouse, Memerag, Wikieval

    judging = [form.replaceable for form in JUDGE_FORMS.values()]
    # Ragas's prompts of features serve some judges too; they are listed with the features.
    wikieval = tuple(prompt for prompt in Wikieval.replaceable if prompt not in FEATURE_PROMPTS)
    grouse = tuple(prompt for prompt in Grouse.replaceable if prompt not in FEATURE_PROMPTS)
    return {
        "judge": tuple(chain.from_iterable(judging)),
        "features, board, rank": FEATURE_PROMPTS,
        "generate": (*ANSWER_PROMPTS.values(), TIME_PROMPT),
        "metaeval memerag": tuple(Memerag.replaceable),
        "metaeval wikieval": wikieval,
        "metaeval grouse": grouse,
    }
