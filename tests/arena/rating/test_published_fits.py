"""Published fits that maximum likelihood must meet: see the table in ``benchmarks/README.md``.

Data: Stigler (1994), citations between journals of statistics; Agresti (2002, table 10.10), games
of baseball at home; Springall (1973), flavors. Figures of the first two are from BradleyTerry2
in R. The example of Wikipedia's article on the model is also a test of arena-rank.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import log_expit

from arena.rating.battles import Battles
from arena.rating.bradley_terry import NormalPrior
from arena.rating.likelihood import BattleLikelihood
from arena.rating.ratings import rate

JOURNALS = ("Biometrika", "Comm Statist", "JASA", "JRSS-B")
CITED = [[714, 730, 498, 221], [33, 425, 68, 17], [320, 813, 1072, 142], [284, 276, 325, 188]]
TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
WON_AT_HOME = ["444646", "344664", "242446", "352446", "523456", "233442", "211213"]
LOST_AT_HOME = ["323120", "323013", "534320", "315321", "153220", "534324", "556464"]
WON = "2 0 5 2 0 12 13 10 6 17 9 8 24 16 15 22 14 11 24 22 17 3 2 12 10 8 5 20 15 13 27 19 18 2 2 6"
LOST = "16 21 10 15 22 3 9 12 11 2 6 12 2 3 2 2 4 4 1 0 2 14 18 6 6 9 11 0 2 5 1 1 2 13 21 8"
TIED = "7 1 10 7 2 9 5 3 5 7 8 6 0 5 7 4 5 7 3 3 6 9 4 5 6 11 9 2 5 9 0 5 2 8 5 8"


def table_of(rows, sides):
    table = pd.DataFrame(rows, columns=["system_a", "system_b", "winner", "count"])
    table = table.loc[table.index.repeat(table["count"])].reset_index(drop=True)
    return table.assign(sides=sides)


def citations():
    rows = []
    for cited, journal in enumerate(JOURNALS):
        for citing, other in enumerate(JOURNALS):
            if cited != citing:
                rows.append((journal, other, "a", CITED[cited][citing]))
    return table_of(rows, "none")


def baseball(sides="shown"):
    rows = []
    for number, home in enumerate(TEAMS):
        away = [team for team in TEAMS if team != home]
        for place, team in enumerate(away):
            rows.append((home, team, "a", int(WON_AT_HOME[number][place])))
            rows.append((home, team, "b", int(LOST_AT_HOME[number][place])))
    return table_of(rows, sides)


def flavors():
    first, second = np.triu_indices(9, 1)
    rows = []
    for winner, counts in {"a": WON, "b": LOST, "tie": TIED}.items():
        for pair, count in enumerate(map(int, counts.split())):
            names = f"flavor {first[pair] + 1}", f"flavor {second[pair] + 1}"
            rows.append((*names, winner, count))
    return table_of(rows, "none")


def abilities(rated, reference):
    ratings = rated.table.set_index("system")["rating"]
    return ratings - ratings[reference]


def test_citations_are_those_of_r():
    expected = {"Comm Statist": -2.94907, "JASA": -0.47957, "JRSS-B": 0.26895}
    found = abilities(rate(citations(), ridge=0, rounds=0), "Biometrika")
    assert found[list(expected)].to_dict() == pytest.approx(expected, abs=5e-6)


def test_default_errors_of_counts_are_those_of_maximum_likelihood():
    """R: .10255, .06059, .07083 for the differences from Biometrika."""
    rated = rate(citations())
    frame = rated.covariance
    errors = {}
    for name in JOURNALS[1:]:
        variance = frame.loc[name, name] + frame.loc["Biometrika", "Biometrika"]
        errors[name] = float(np.sqrt(variance - 2 * frame.loc[name, "Biometrika"]))
    expected = {"Comm Statist": 0.10255, "JASA": 0.06059, "JRSS-B": 0.07083}
    assert errors == pytest.approx(expected, rel=0.02)


def test_baseball_is_that_of_r_with_and_without_home():
    without = abilities(rate(baseball("none"), ridge=0, rounds=0), "Baltimore")
    expected = {"Boston": 1.1077, "Cleveland": 0.6839, "Detroit": 1.4364, "Milwaukee": 1.5814}
    assert without[list(expected)].to_dict() == pytest.approx(expected, abs=5e-5)
    battles = Battles.from_judgments(baseball())
    items = battles.items_by_side
    biases = replace(items.biases, precisions=np.zeros(1))
    likelihood = BattleLikelihood(replace(items, biases=biases))
    *ratings, home = likelihood.mode(NormalPrior.ridge(7, 0.0))
    found = pd.Series(ratings, list(battles.systems))
    expected = {"Boston": 1.1438, "Cleveland": 0.7047, "Detroit": 1.4754, "Milwaukee": 1.6196}
    expected |= {"New York": 1.2813, "Toronto": 1.3271}
    found = found[list(expected)] - found["Baltimore"]
    assert found.to_dict() == pytest.approx(expected, abs=5e-5)
    assert home == pytest.approx(0.3023, abs=5e-5)
    # Battles do not tell the level of ratings.
    information = likelihood.information(np.array([*ratings, home]))
    inverse = np.linalg.inv(information + np.diag([1e-6] * 7 + [0]))
    assert np.sqrt(inverse[-1, -1]) == pytest.approx(0.131, abs=5e-4)


def test_flavors_with_ties_are_the_maximum():
    table = flavors()
    rated = rate(table, ridge=0, rounds=0)
    names = sorted(set(table["system_a"]) | set(table["system_b"]))
    place = {name: index for index, name in enumerate(names)}
    a = table["system_a"].map(place).to_numpy()
    b = table["system_b"].map(place).to_numpy()
    points = table["winner"].map({"a": 1.0, "b": 0.0, "tie": 0.5}).to_numpy()

    def loss(ratings):
        logits = ratings[a] - ratings[b]
        return -(points * log_expit(logits) + (1 - points) * log_expit(-logits)).sum()

    found = rated.table.set_index("system")["rating"][names].to_numpy()
    best = minimize(loss, found + 0.1 * np.arange(9), method="BFGS", options={"gtol": 1e-7}).x
    np.testing.assert_allclose(found, best - best.mean(), atol=1e-5)
    assert loss(found) <= loss(best) + 1e-9


def test_the_example_of_wikipedia():
    wins = {"AB": 2, "AD": 1, "BA": 3, "BC": 5, "CB": 3, "CD": 1, "DA": 4, "DC": 3}
    table = table_of([(*pair, "a", count) for pair, count in wins.items()], "none")
    rated = rate(table, ridge=0, rounds=0).table.set_index("system")["rating"]
    strengths = np.exp(rated).to_dict()
    expected = {"A": 0.640, "B": 1.043, "C": 0.660, "D": 2.270}
    assert strengths == pytest.approx(expected, abs=5e-4)
