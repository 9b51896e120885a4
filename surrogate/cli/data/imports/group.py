"""``surrogate-arena import``: what kinds of sources there are."""

from __future__ import annotations

from surrogate.cli.group import Place, new_group

_FOLDER = "surrogate.cli.data.imports"
_KINDS = {
    "mirage": Place(f"{_FOLDER}.published:import_mirage", "MIRAGE-Bench"),
    "lmarena": Place(f"{_FOLDER}.published:import_lmarena", "LMArena"),
    "alpacaeval": Place(f"{_FOLDER}.published:import_alpacaeval", "AlpacaEval"),
    "faithjudge": Place(f"{_FOLDER}.published:import_faithjudge", "FaithJudge"),
    "memerag": Place(f"{_FOLDER}.published:import_memerag", "MEMERAG"),
    "wikieval": Place(f"{_FOLDER}.published:import_wikieval", "WikiEval"),
    "grouse": Place(f"{_FOLDER}.published:import_grouse", "GroUSE"),
    "csv": Place(f"{_FOLDER}.records:import_csv", "A table of answers"),
    "promptfoo": Place(f"{_FOLDER}.records:import_promptfoo", "Results of Promptfoo"),
    "inspect": Place(f"{_FOLDER}.records:import_inspect", "Logs of Inspect"),
    "langfuse": Place(f"{_FOLDER}.records:import_langfuse", "Exports of Langfuse"),
    "langsmith": Place(f"{_FOLDER}.records:import_langsmith", "Exports of LangSmith"),
    "miracl": Place(f"{_FOLDER}.published:import_miracl", "Questions of MIRACL"),
}

imports = new_group(
    "Read what others published, or other tools wrote, into an arena folder.", _KINDS
)
