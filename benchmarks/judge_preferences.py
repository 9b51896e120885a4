"""Learn what judges liked in arenas without passages: the weights that the surrogate starts from.

    python benchmarks/judge_preferences.py ARENAS [--features FOLDER] [--out FILE]
    python benchmarks/tables.py first-boards

ARENAS holds the arena folders named in ``SOURCES``, all openly licensed; FOLDER holds feature
tables named after them (``rakuda.parquet``), which are measured otherwise. The scores of all
answers are regressed on ranked features (docs/reference/surrogate.md, section 1), with one set of
weights for all arenas, each arena counting the same:

    p = (λ I + Σ N/u)⁻¹ Σ t/u,  N = Σ X'PX,  t = Σ X'Py,  u = Σ y'Py

sums over the arena's questions. The table has, for each arena, Kendall's tau of its ratings with
first boards by weights that were learned without it, and with those by consensus.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from arena import read_arena
from arena.data import __version__
from arena.data.types import Floats
from arena.statistics.agreement import kendall_tau
from surrogate.board.unjudged_board import first_ratings
from surrogate.learning.answers_surrogate import AnswersSurrogate
from surrogate.learning.language_data import FEW_TOURNAMENTS, LanguageData
from surrogate.learning.question_scores import solved_language
from surrogate_arena.studies.study import Study

Source = dict[str, str]
SOURCES: tuple[Source, ...] = (
    {
        "arena": "rakuda",
        "judge": "gpt-4",
        "source": "https://github.com/yuzu-ai/japanese-llm-ranking",
        "license": "Apache-2.0",
    },
    {
        "arena": "mt-bench-ko-en",
        "judge": "gpt-4o-mini",
        "source": "https://github.com/pnu-clink/korean-mt-bench",
        "license": "Apache-2.0",
    },
    {
        "arena": "vicuna80",
        "judge": "people",
        "source": "https://github.com/artidoro/qlora",
        "license": "MIT",
    },
    {
        "arena": "vicuna80",
        "judge": "gpt-4",
        "source": "https://github.com/artidoro/qlora",
        "license": "MIT",
    },
)
PENALTY = 0.3
"""In units of the mean diagonal of Σ N/u; from .01 to 3, first boards rank alike."""
DECIMALS = 4


@dataclass(frozen=True)
class Moments:
    """Sums over the questions of one arena by one judge.

    Attributes:
        source: The arena and its judge.
        names: The F features.
        normal: X'PX, shape (F, F).
        target: X'Py, shape (F,).
        square: y'Py.
    """

    source: Source
    names: tuple[str, ...]
    normal: Floats
    target: Floats
    square: float

    @classmethod
    def of(cls, source: Source, languages: Sequence[LanguageData]) -> Moments:
        """Add up all languages of an arena."""
        X = pd.concat([data.X for data in languages])
        tournaments = {data.language: data.tournaments for data in languages}
        fitted = AnswersSurrogate(preferences={}).fit(X, tournaments)
        names = next(iter(fitted.peers_.values())).names
        normal = np.zeros((len(names), len(names)))
        target = np.zeros(len(names))
        square = 0.0
        if fitted.scores_ is None:
            raise SystemExit(f"{source['arena']} has no verdicts")
        for scored in fitted.scores_.languages.values():
            part = solved_language(scored)
            normal += part.normal
            target += part.target
            square += float(np.sum(part.scores * scored.scores))
        return cls(source, names, normal, target, square)


def study_of(arenas: Path, arena: str, judge: str | None, features: Path | None) -> Study:
    """Read an arena, with its feature table if there is one."""
    table = None
    if features is not None:
        table = pd.read_parquet(features / f"{arena}.parquet")
    return Study.of(
        read_arena(arenas / arena),
        AnswersSurrogate(preferences={}),
        judge=judge,
        tournaments=FEW_TOURNAMENTS,
        feature_table=table,
    )


@cache
def all_moments(arenas: Path, features: Path | None) -> list[Moments]:
    """Add up every arena of ``SOURCES``."""
    moments = []
    for source in SOURCES:
        study = study_of(arenas, source["arena"], source["judge"], features)
        moments.append(Moments.of(source, study.languages))
    return moments


def learned_weights(
    all_parts: Sequence[Moments], without: Collection[str] = ()
) -> dict[str, float]:
    """Return the weights by feature, learned without some arenas."""
    parts = [part for part in all_parts if part.source["arena"] not in without]
    arenas = [part.source["arena"] for part in parts]
    names = sorted({name for part in parts for name in part.names})
    normal = np.zeros((len(names), len(names)))
    target = np.zeros(len(names))
    for part in parts:
        indices = [names.index(name) for name in part.names]
        unit = part.square * arenas.count(part.source["arena"])
        normal[np.ix_(indices, indices)] += part.normal / unit
        target[indices] += part.target / unit
    penalty = PENALTY * np.trace(normal) / len(names)
    weights = np.linalg.solve(normal + penalty * np.eye(len(names)), target)
    rounded = dict(zip(names, weights.round(DECIMALS).tolist(), strict=True))
    return {name: weight for name, weight in rounded.items() if weight}


def first_board_taus(folder: Path, judge: str, language: str) -> list[float]:
    """Return how a first board ranks an arena: by weights learned without it, by consensus."""
    weights = learned_weights(all_moments(folder.parent, None), without=[folder.name])
    languages = study_of(folder.parent, folder.name, judge, None).languages
    [data] = [part for part in languages if part.language == language]
    taus = []
    for preferences in (weights, {}):
        first = first_ratings(
            data.X, language, data.systems, len(data.questions), preferences=preferences
        )
        ratings = first.table.set_index("system")["rating"].reindex(list(data.systems))
        taus.append(kendall_tau(ratings.to_numpy(np.float64), np.asarray(data.arena_ratings)))
    return taus


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("arenas", type=Path, help="folder of arena folders")
    parser.add_argument("--features", type=Path, help="folder of feature tables")
    parser.add_argument("--out", type=Path, help="file to write")
    options = parser.parse_args()
    moments = all_moments(options.arenas, options.features)
    learned = {
        "arenas": SOURCES,
        "script": "benchmarks/judge_preferences.py",
        "version": __version__,
        "learned": str(datetime.now(UTC).date()),
        "weights": learned_weights(moments),
    }
    text = json.dumps(learned, indent=2) + "\n"
    if options.out is None:
        print(text, end="")
    else:
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
