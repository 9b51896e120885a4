"""An arena that people and machines judge."""

from dataclasses import replace

import numpy as np
import pandas as pd
from simulations import small_simulation


def judged_by_many():
    """Two people on few questions, a machine that says the same on all, a coin, and one verdict."""
    arena = small_simulation(range(6), ["en"], questions=24).arena
    own = arena.judgments.reset_index(drop=True)
    few = own["query_id"].isin(sorted(own["query_id"].unique())[:6])
    people = own[few].assign(judge=np.where(np.arange(few.sum()) % 2, "person:Ada", "person:Bo"))
    coin = np.random.default_rng(0).choice(["a", "b"], len(own))
    tables = [people, own.assign(judge="gpt <4>"), own.assign(judge="coin", winner=coin)]
    tables += [own.iloc[:1].assign(judge="lone")]
    return replace(arena, judgments=pd.concat(tables, ignore_index=True))
