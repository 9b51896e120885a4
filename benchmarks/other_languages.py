"""What verdicts on a new system in two languages are worth in the others, and how sure they make.

By replay: some languages of an arena are drawn and a system is left out; the surrogate learns from
the others, and then gets the verdicts on the system's answers to some questions of two of the
languages. In those without such verdicts its rating, by answers alone and moved by the verdicts, is
held against that by the whole arena. Intervals are conformal, each by surrogates that had not seen
the systems it rests on; what they are held against is noisy too. Means over cases, each a draw.

Run:  python benchmarks/other_languages.py ARENA FEATURES.parquet [--judge J] [--cases 44]
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from worth import read_study, seen

from arena.data.seeds import generator
from arena.rating.posterior import RatingPosterior
from arena.statistics.significance import NORMAL_90
from surrogate.board.ratings.intervals import conformal_intervals, unseen_ratings
from surrogate.learning.cross_fitting import Repeats, leave_systems_out
from surrogate.learning.gaussian_process.surrogate import GaussianProcessSurrogate
from surrogate.learning.languages import LanguageData
from surrogate.learning.posterior.observations import Observation
from surrogate.learning.training import training_ratings

Floats = npt.NDArray[np.float64]

LANGUAGES = (4, 6, 10, 16)
QUESTIONS = (5, 10, 20, 40, 1000)
JUDGED = 2


def beside(rated: RatingPosterior | Observation, system: str) -> float:
    """Rating of a system less the mean of the others'."""
    place = rated.systems.index(system)
    return float(rated.ratings[place] - np.delete(rated.ratings, place).mean())


def with_verdicts(item: LanguageData, system: str, many: int, random: Floats) -> LanguageData:
    """Keep the verdicts on a system on some questions, and all on the others."""
    rows = item.judgments
    is_own = (rows["system_a"] == system) | (rows["system_b"] == system)
    questions = np.array(sorted(rows.loc[is_own, "query_id"].unique()), dtype=object)
    drawn = questions[np.argsort(random[: len(questions)])][:many]
    return item.judged_by(rows[~is_own | rows["query_id"].isin(set(drawn))])


def replayed(
    data: Sequence[LanguageData], truth: Mapping[str, Observation], number: int
) -> Iterator[dict[str, object]]:
    """One case: a row a language without verdicts and a number of questions."""
    random = generator(number, "other languages")
    sizes = sorted({min(size, len(data)) for size in LANGUAGES})
    places = random.choice(len(data), sizes[number % len(sizes)], replace=False)
    whole = [data[place] for place in sorted(places)]
    names = whole[0].systems
    round_ = number // math.lcm(len(names), len(sizes))  # every system with every size
    system = names[(number + round_) % len(names)]
    judged = {whole[place].language for place in random.choice(len(whole), JUDGED, replace=False)}
    known = [item.without([system]) for item in whole]
    surrogate = GaussianProcessSurrogate().fit(
        pd.concat([item.X for item in known]),
        training_ratings({item.language: item.tournaments for item in known}),
    )
    unseen = leave_systems_out(known, GaussianProcessSurrogate(), Repeats(1, number))
    intervals = conformal_intervals(unseen_ratings(unseen))
    X = pd.concat([item.X[item.X["system"] == system] for item in whole])
    before = surrogate.posterior(seen(known), X)
    orders = {item.language: random.random(len(item.judgments)) for item in whole}
    for many in QUESTIONS:
        given = [
            with_verdicts(item, system, many, orders[item.language])
            if item.language in judged
            else old
            for item, old in zip(whole, known, strict=True)
        ]
        after = surrogate.posterior(seen(given), X)
        for item in whole:
            name = item.language
            if name in judged or system not in truth[name].systems:
                continue
            place = before[name].systems.index(system)
            error = before[name].standard_errors[place]
            ratio = after[name].standard_errors[place] / error
            yield {
                "case": number,
                "questions": many,
                "languages": len(whole),
                "plain": beside(before[name], system) - beside(truth[name], system),
                "moved": beside(after[name], system) - beside(truth[name], system),
                "plain_width": (intervals[name].half_width or np.nan) * error,
                "error": error,
                "ratio": ratio,
            }


def summarized(rows: pd.DataFrame) -> pd.Series:
    """Errors and coverage at 90%, and by how many standard errors of cases the squares differ."""
    plain, moved = rows["plain"].abs(), rows["moved"].abs()
    better = (plain**2 - moved**2).groupby(rows["case"]).mean()
    half_width = (rows["plain_width"] / rows["error"]).clip(lower=NORMAL_90)
    factor = np.maximum(rows["ratio"], np.sqrt(rows["ratio"]))
    return pd.Series(
        {
            "rated": len(rows),
            "rmse_plain": np.sqrt((plain**2).mean()),
            "rmse_moved": np.sqrt((moved**2).mean()),
            "better_by_se": better.mean() / (better.std() / np.sqrt(len(better))),
            "inside_plain": (plain <= rows["plain_width"]).mean(),
            "inside_moved": (moved <= half_width * factor * rows["error"]).mean(),
            "inside_whole_factor": (moved <= rows["plain_width"] * rows["ratio"]).mean(),
            "inside_posterior": (moved <= NORMAL_90 * rows["ratio"] * rows["error"]).mean(),
            "width_plain": rows["plain_width"].mean(),
            "width_moved": (half_width * factor * rows["error"]).mean(),
        }
    )


def main() -> None:
    data, arguments = read_study(__doc__, cases=44, first=0)
    truth = seen(data)
    numbers = range(arguments.first, arguments.first + arguments.cases)
    rows = pd.DataFrame([row for number in numbers for row in replayed(data, truth, number)])
    for keys in (["questions"], ["questions", "languages"]):
        found = rows.groupby(keys).apply(summarized, include_groups=False)
        print(found.round(3).to_string())


if __name__ == "__main__":
    main()
