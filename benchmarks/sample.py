"""Draw the sample of NoMIRACL.

    python benchmarks/sample.py NOMIRACL [--out arena/sample/nomiracl]

NOMIRACL is the arena of all its questions. The sample holds the four most spoken of its languages
(Ethnologue, 2025) and 40 questions of each, drawn by their content with seed 0, as this does:
``surrogate-arena select NOMIRACL --languages en,es,hi,zh --questions 40``. Labels of passages are
left out, because the verdicts were derived from them.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from arena import Arena, ArenaInfo, read_arena, write_arena
from arena.sample import sample_folder
from surrogate_arena.generation import SetRules, evaluation_set

LANGUAGES = ("en", "es", "hi", "zh")
QUESTIONS = 40
SOURCE = (
    "NoMIRACL (Thakur et al., 2024), baseline outputs of github.com/project-miracl/nomiracl, "
    "Apache-2.0; passages from Wikipedia, CC BY-SA 3.0; see ATTRIBUTION.md"
)
NOTE = (
    "Real outputs of 11 LLMs to real questions with 10 passages each. They were asked whether the "
    "passages answer the question, so answers are short. Judgments are derived from human labels: "
    "the system that is right about its question's label (answerable or not) wins; if both or "
    "neither are, it is a tie."
)


def drawn_sample(nomiracl: Arena) -> Arena:
    """Keep some languages and questions, without labels of passages."""
    sample, _ = evaluation_set(nomiracl.select(LANGUAGES), SetRules(questions=QUESTIONS))
    passages = [
        [passage | {"relevance": None} for passage in passages]
        for passages in sample.queries["passages"]
    ]
    info = ArenaInfo(
        name="nomiracl-sample",
        languages=sample.info.languages,
        systems=sample.info.systems,
        reference_system=sample.info.reference_system,
        source=SOURCE,
        note=NOTE,
    )
    return replace(sample, info=info, queries=sample.queries.assign(passages=passages))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("nomiracl", type=Path)
    parser.add_argument("--out", type=Path, default=sample_folder("nomiracl"))
    options = parser.parse_args()
    write_arena(drawn_sample(read_arena(options.nomiracl)), options.out)


if __name__ == "__main__":
    main()
