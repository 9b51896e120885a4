"""The grounding judge's settings are what their calibration finds, without any label."""

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from grounding_calibration import balanced_weights, calibrate_grounding, calibrate_on_arenas
from known_claims import built_claims, cited_claims, corrupted

from arena import Arena, ArenaInfo, UsageError
from arena.simulation import sample_arena
from surrogate.metaevaluation.memerag.grounding import DEFAULT_SETTINGS

ARENAS = Path(__file__).parents[4] / "shared" / "data" / "arenas"
PASSAGES = (
    "The tower in Paris was opened in 1889 and is 330 metres high.",
    "Helsinki became the capital of Finland in 1812.",
)


def test_exchanged_facts_are_others_and_come_from_the_passages():
    draws = np.random.default_rng(0)
    made = {corrupted("The tower in Paris opened in 1889.", PASSAGES, draws) for _ in range(60)}
    assert "The tower in Paris opened in 1889." not in made
    assert "The tower in Finland opened in 1889." in made
    assert "The tower in Paris opened in 1812." in made
    assert corrupted("it is high", PASSAGES, draws) is None
    assert corrupted("in Paris", ("nothing here",), draws) is None


@pytest.fixture(scope="module")
def claims_of_sample():
    """Claims from the arena that comes with the package."""
    sample = sample_arena()
    chosen = sample.queries["query_id"].isin(sample.queries["query_id"].unique()[:8])
    queries = sample.queries[chosen]
    answers = sample.answers.merge(queries[["language", "query_id"]])
    arena = Arena(sample.info, queries, answers, sample.judgments.head(0))
    return cited_claims(arena), built_claims(arena, 4)


def test_claims_are_made_of_any_arena_and_calibrate_the_judge(claims_of_sample):
    cited, built = claims_of_sample
    kinds = Counter(each.kind for each in cited.claims)
    assert kinds["cited"] == kinds["elsewhere"] > 20
    assert {each.kind for each in built.claims} >= {"held", "joined", "removed", "mixed"}
    for each in (*cited.claims, *built.claims):
        assert len(each.claim.passages) <= 5
        assert each.is_supported == (each.kind in ("cited", "held", "joined"))
    found = calibrate_grounding([cited], [built])
    assert found == calibrate_grounding([cited], [built])
    assert 0 < found.threshold < 1
    assert min(found.numbers, found.names) >= 0


def test_claims_follow_the_seed(claims_of_sample):
    sample = sample_arena()
    few = Arena(sample.info, sample.queries.head(3), sample.answers.head(0), sample.judgments)
    once, again, other = (built_claims(few, 3, seed).claims for seed in (1, 1, 2))
    assert once == again
    assert once != other


def test_kinds_weigh_the_same(claims_of_sample):
    claims = claims_of_sample[1].claims
    weights = balanced_weights(claims)
    by_kind = Counter()
    for each, weight in zip(claims, weights, strict=True):
        by_kind[each.is_supported, each.kind] += weight
    unsupported = [weight for (supported, _), weight in by_kind.items() if not supported]
    assert sum(weights) == pytest.approx(1)
    assert sum(unsupported) == pytest.approx(0.5)
    assert max(unsupported) == pytest.approx(min(unsupported))
    with pytest.raises(UsageError, match="there must be supported and unsupported claims"):
        balanced_weights([each for each in claims if each.is_supported])


def test_languages_without_spaces_and_lone_passages_build_nothing():
    passages = [
        {"passage_id": str(n), "text": "東京は日本の首都です。人口は多い。"} for n in range(6)
    ]
    queries = pd.DataFrame(
        [
            ("q", "ja", "日本の首都はどこですか", passages),
            ("q", "en", "Where is it now?", passages[:1]),
        ],
        columns=["query_id", "language", "query", "passages"],
    )
    info = ArenaInfo(name="x", languages=["en", "ja"], systems=[])
    empty = pd.DataFrame(columns=["query_id", "language", "system", "answer"])
    assert built_claims(Arena(info, queries, empty, empty)).claims == ()


@pytest.mark.slow
def test_the_constants_are_what_the_calibration_gives():
    if not ARENAS.is_dir():
        pytest.skip(f"no real arenas at {os.path.relpath(ARENAS)}")
    assert calibrate_on_arenas(ARENAS) == DEFAULT_SETTINGS
