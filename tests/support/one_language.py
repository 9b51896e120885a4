"""Judgments of one language in which all systems meet, and a feature that tells their strengths."""

from dataclasses import asdict

import numpy as np
import pandas as pd
from round_robins import round_robin

from arena.rating.tournaments import bootstrap_tournaments
from surrogate.learning.language_data import LanguageData, TournamentSettings


def one_language(tournaments):
    """Return 12 systems on 15 questions, with the feature ``f0``."""
    settings = TournamentSettings(tournaments=tournaments, seed=7)
    judgments = round_robin(questions=15)
    systems = sorted({*judgments["system_a"], *judgments["system_b"]})
    questions = tuple(judgments["query_id"].unique())
    keys = pd.MultiIndex.from_product(
        [["en"], systems, questions], names=["language", "system", "query_id"]
    )
    noise = 0.1 * np.random.default_rng(1).normal(size=len(keys))
    strengths = np.repeat(np.linspace(-1.5, 1.5, len(systems)), len(questions))
    X = pd.DataFrame({"f0": strengths + noise}, keys).reset_index()
    drawn = bootstrap_tournaments(judgments, **asdict(settings))
    return LanguageData("en", judgments, X, questions, drawn, settings)
