"""``surrogate-arena import``: what kinds of sources there are."""

from __future__ import annotations

from surrogate.cli.group import new_group

_KINDS = {
    "mirage": "published:import_mirage",
    "lmarena": "published:import_lmarena",
    "alpacaeval": "published:import_alpacaeval",
    "faithjudge": "published:import_faithjudge",
    "memerag": "published:import_memerag",
    "wikieval": "published:import_wikieval",
    "grouse": "published:import_grouse",
    "csv": "records:import_csv",
    "promptfoo": "records:import_promptfoo",
    "inspect": "records:import_inspect",
    "langfuse": "records:import_langfuse",
    "langsmith": "records:import_langsmith",
    "miracl": "published:import_miracl",
}

imports = new_group(
    help="Read what others published, or other tools wrote, into an arena folder.",
    places={kind: f"surrogate.cli.data.imports.{place}" for kind, place in _KINDS.items()},
)
