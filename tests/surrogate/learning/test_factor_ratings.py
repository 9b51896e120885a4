"""What attributes add to ratings: known effects are found, and unseen systems predicted."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

from arena import Arena, UsageError
from surrogate.learning.estimation.factors import factor_ratings

MODELS = {"large": 1.2, "middle": 0.0, "small": -1.2}
RETRIEVERS = {"dense": 0.6, "sparse": -0.6}


def arena(questions=60, seed=0):
    """Systems of known strengths, all pairs of them judged on every question."""
    random = np.random.default_rng(seed)
    built = list(product(MODELS, RETRIEVERS))
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
        rated = factor_ratings(arena(seed=seed))
        found = rated.effects
        truth = found["value"].map(MODELS | RETRIEVERS).astype(float)
        inside += list((found["low"] <= truth) & (truth <= found["high"]))
        np.testing.assert_allclose(found["effect"], truth, atol=0.45)
        assert rated.tau >= 0.6
    assert np.mean(inside) >= 0.8


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
    first, second = (each.effects.sort_values(["attribute", "value"]) for each in found)
    pd.testing.assert_frame_equal(
        first.reset_index(drop=True), second.reset_index(drop=True), atol=1e-5
    )
    assert found[0].tau == pytest.approx(found[1].tau)


def test_systems_without_attributes_are_left_out_and_unknown_values_are_like_no_other():
    told = arena()
    some = told.attributes.copy()
    some.loc[0, "retriever"] = None
    found = factor_ratings(replace(told, attributes=some.drop(index=5)))
    systems = found.effects.set_index("value")["systems"]
    assert (systems[["dense", "sparse"]].sum(), systems["dense"]) == (4, 2)
    assert found.skipped == {"systems": f"no attributes of {some.loc[5, 'system']}"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"by": ["color"]}, "no attribute 'color' here; available: model, retriever"),
        ({"judge": "x"}, "no judge 'x' here"),
    ],
)
def test_what_is_not_there_is_said(changes, message):
    with pytest.raises(UsageError, match=message):
        factor_ratings(arena(questions=4), **changes)
