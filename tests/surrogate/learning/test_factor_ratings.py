"""What attributes add to ratings: known effects are found, and unseen combinations predicted."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

from arena import Arena, UsageError
from surrogate.learning.posterior.factors import factor_ratings

MODELS = {"large": 1.2, "middle": 0.0, "small": -1.2}
RETRIEVERS = {"dense": 0.6, "sparse": -0.6}
ORDER = {"effects": ["attribute", "value"], "combinations": ["system"]}


def arena(unbuilt=(), questions=60, seed=0):
    """Systems of known strengths, all pairs of them judged on every question."""
    random = np.random.default_rng(seed)
    built = [pair for pair in product(MODELS, RETRIEVERS) if pair not in unbuilt]
    strength = {"-".join(pair): MODELS[pair[0]] + RETRIEVERS[pair[1]] for pair in built}
    asked = pd.DataFrame({"query_id": [f"q{place}" for place in range(questions)], "query": "Why?"})
    rows = [
        {
            "query_id": query,
            "system_a": one,
            "system_b": other,
            "winner": "a"
            if random.random() < 1 / (1 + np.exp(strength[other] - strength[one]))
            else "b",
        }
        for query in asked["query_id"]
        for one, other in combinations(strength, 2)
    ]
    answers = asked[["query_id"]].merge(pd.DataFrame({"system": list(strength)}), how="cross")
    made = Arena.from_frames(
        asked, answers.assign(answer="So."), pd.DataFrame(rows), language="en", judge="j"
    )
    parts = pd.DataFrame(built, columns=["model", "retriever"], dtype=object)
    return replace(made, attributes=parts.assign(system=list(strength))[["system", *parts]])


def test_known_effects_lie_in_their_intervals():
    inside = []
    for seed in range(8):
        found = factor_ratings(arena(seed=seed)).effects
        truth = found["value"].map(MODELS | RETRIEVERS).astype(float)
        inside += list((found["low"] <= truth) & (truth <= found["high"]))
        np.testing.assert_allclose(found["effect"], truth, atol=0.45)
    assert np.mean(inside) >= 0.8


def test_a_combination_that_nobody_built_is_predicted():
    found = factor_ratings(arena(unbuilt=[("small", "dense")]))
    rows = found.combinations.set_index(["model", "retriever"])
    new = rows.loc[("small", "dense")]
    assert new["system"] is None
    assert new["low"] < -0.6 < new["high"]
    assert rows.loc[("small", "sparse"), "rating"] < new["rating"]
    assert new["rating"] < rows.loc[("middle", "dense"), "rating"]
    widths = rows["high"] - rows["low"]
    assert widths.idxmax() == ("small", "dense")
    assert found.tau >= 0.6  # of five systems: two of ten pairs are swapped


def test_attributes_that_say_nothing_do_not_predict():
    """Held against the model's own ratings, that are shrunk to the attributes, it was .25."""
    taus = []
    for seed in range(8):
        random = np.random.default_rng(seed)
        names = [f"s{place:02}" for place in range(12)]
        pairs = list(combinations(names, 2))
        asked = pd.DataFrame({"query_id": [f"q{place}" for place in range(4)], "query": "Why?"})
        rows = [
            (query, *pairs[pair], random.choice(["a", "b"]))
            for query in asked["query_id"]
            for pair in random.choice(len(pairs), 30, replace=False)
        ]
        judgments = pd.DataFrame(rows, columns=["query_id", "system_a", "system_b", "winner"])
        answers = asked[["query_id"]].merge(pd.DataFrame({"system": names}), how="cross")
        made = Arena.from_frames(
            asked, answers.assign(answer="So."), judgments, language="en", judge="j"
        )
        told = pd.DataFrame({"system": names, "color": random.permutation(list("aaabbbcccddd"))})
        told["shape"] = random.permutation(list("xxxxyyyyzzzz"))
        taus.append(factor_ratings(replace(made, attributes=told)).tau)
    assert np.nanmean(taus) < 0.1


def test_order_of_rows_and_names_of_values_change_nothing():
    one = arena(questions=12)
    other = replace(
        one,
        judgments=one.judgments.sample(frac=1, random_state=1, ignore_index=True),
        attributes=one.attributes.sample(frac=1, random_state=2, ignore_index=True),
    )
    found = [factor_ratings(each) for each in (one, other)]
    for name, keys in ORDER.items():
        first, second = (getattr(each, name).sort_values(keys, ignore_index=True) for each in found)
        pd.testing.assert_frame_equal(first, second, atol=1e-5)


def test_systems_without_attributes_are_left_out_and_unknown_values_are_like_no_other():
    told = arena()
    some = told.attributes.copy()
    some.loc[0, "retriever"] = None
    found = factor_ratings(replace(told, attributes=some.drop(index=5)))
    assert len(set(found.combinations["system"].dropna())) == 5
    dense = found.effects.set_index("value").loc["dense", "systems"]
    assert dense == 2
    assert found.skipped == {"systems": f"no attributes of {some.loc[5, 'system']}"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"by": ["color"]}, "no attribute 'color' here; there is model, retriever"),
        ({"judge": "x"}, "no judge 'x' here"),
    ],
)
def test_what_is_not_there_is_said(changes, message):
    with pytest.raises(UsageError, match=message):
        factor_ratings(arena(questions=4), **changes)
