"""Judges of faithfulness on features: grounding and its calibration, NLI, judges by name."""

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from arena import Arena, ArenaInfo, UsageError, read_arena
from arena.simulation import sample_arena
from features.models import ModelOptions
from surrogate.metaevaluation import model_judges
from surrogate.metaevaluation.grounding_judge import (
    DEFAULT_SETTINGS,
    GroundingJudge,
    GroundingSettings,
    Rarity,
    balanced_weights,
    calibrate_grounding,
    ground,
)
from surrogate.metaevaluation.known_claims import built_claims, cited_claims, corrupted
from surrogate.metaevaluation.memerag.balanced_accuracy import score_judges
from surrogate.metaevaluation.memerag.judges import Claim, judge_sentences
from surrogate.metaevaluation.memerag.reading import read_memerag
from surrogate.metaevaluation.sessions import JudgeMakers, make_judge

SHARED = Path(__file__).parents[3] / "shared" / "data"
YES, NO = "Supported", "Not Supported"
PASSAGES = (
    "The tower in Paris was opened in 1889 and is 330 metres high.",
    "Helsinki became the capital of Finland in 1812.",
)


def claim(sentence, passages=PASSAGES, question="How high is it?", language="en"):
    return Claim(language, question, passages, sentence, sentence)


def grounding(sentence, **fields):
    return ground([claim(sentence, **fields)])[0]


def said(sentence, **fields):
    return GroundingJudge().judge([claim(sentence, **fields)])[0].label


def test_coverage_is_that_of_the_best_passage():
    assert grounding(PASSAGES[0]).coverage == pytest.approx(1)
    assert grounding("the TOWER in  paris").coverage == pytest.approx(1)
    assert grounding("Qwzx vbkj").coverage == 0
    split = grounding("The tower in Paris. Helsinki became the capital.").coverage
    assert 0.3 < split < 0.7


def test_rare_runs_weigh_more():
    rarity = Rarity(["common words", "common things", "common words"])
    assert rarity.weight("commo") < rarity.weight("words") < rarity.weight("never")


def test_numbers_and_names_that_nothing_holds():
    assert grounding("It is 330 metres high since 1.889.").missing_numbers == 0
    assert grounding("It is 331 metres high, 12, 13, 14 and 15.").missing_numbers == 3
    assert grounding("Is it 400?", question="Is it 400 or 500?").missing_numbers == 0
    assert grounding("So Helsinki and Oslo and Rome.").missing_names == pytest.approx(2 / 3)
    assert grounding("So it is.").missing_names == 0
    assert grounding("यह ३३० मीटर ऊँचा है").missing_numbers == 0


def test_verdicts_follow_the_score():
    assert said("The tower in Paris is 330 metres high.") == YES
    assert said("The tower in Paris is 412 metres high.") == NO
    assert said("Bananas are rich in potassium.") == NO
    assert said("Where?", passages=()) == NO
    lenient = GroundingJudge(GroundingSettings(0, 0, 0))
    assert lenient.judge([claim("Bananas.")])[0].label == YES
    assert lenient.prompt != GroundingJudge().prompt


def test_languages_are_counted_apart_and_order_does_not_matter():
    claims = [claim(text, language=code) for code in ("en", "fr") for text in PASSAGES]
    found = ground(claims)
    assert found[:2] == found[2:]
    assert ground(claims[::-1]) == found[::-1]


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


def test_default_settings_tell_built_claims_apart_as_well_as_others():
    """On a part of the claims that they come from; calibrating on all of them takes a minute."""
    if not (SHARED / "arenas").is_dir():
        pytest.skip(f"no real arenas at {os.path.relpath(SHARED / 'arenas')}")
    built = built_claims(read_arena(SHARED / "arenas" / "nomiracl"), 8)
    grounded = ground([each.claim for each in built.claims], built.passages)
    scores = np.array([each.score(DEFAULT_SETTINGS) for each in grounded])
    labels = np.array([each.is_supported for each in built.claims])
    weights = balanced_weights(built.claims)
    best = max(weights[(scores >= step) == labels].sum() for step in np.linspace(0, 1, 101))
    found = weights[(scores >= DEFAULT_SETTINGS.threshold) == labels].sum()
    assert found > best - 0.02
    assert found > 0.68


def test_the_grounding_judge_on_real_labels():
    if not (SHARED / "memerag").is_dir():
        pytest.skip(f"no MEMERAG at {os.path.relpath(SHARED / 'memerag')}")
    sentences = read_memerag(SHARED / "memerag")
    scores = score_judges(judge_sentences(sentences, [GroundingJudge()]), 200)
    found = scores.set_index("language")["balanced_accuracy"]
    assert found["macro"] == pytest.approx(0.662, abs=0.002)
    assert found.min() > 0.55


class SmallNli:
    """Entails what stands in the passage; counts what it is asked."""

    device, signature = "cpu", "small"

    def __init__(self):
        self.items = []

    def score(self, items):
        self.items += items
        rows = [(0.5, 0.4, 0.1) if said in text else (0.4, 0.1, 0.5) for text, said in items]
        return np.array(rows, dtype=np.float32)


def test_an_nli_model_supports_what_a_passage_entails(monkeypatch):
    model, asked = SmallNli(), []

    def load(*arguments):
        asked.append(arguments)
        return model

    monkeypatch.setattr(model_judges, "load_scorer", load)
    options = ModelOptions("cpu")
    judge = model_judges.NliJudge("some/model", options)
    claims = [claim(text) for text in ("Paris", "Finland", "Bananas", "Paris")]
    assert [each.label for each in judge.judge(claims)] == [YES, YES, NO, YES]
    assert asked == [("nli", "some/model", options)]
    assert len(model.items) == len(set(model.items)) == 6
    assert judge.judge([claim("Paris", passages=())])[0].label == NO
    assert (judge.name, judge.prompt) == ("nli:some/model", "a passage entails the sentence")


def test_judges_by_name():
    makers = JudgeMakers(llm=lambda model: f"LLM {model}", nli=lambda model: f"NLI {model}")
    assert make_judge("llm:org/model:free", makers) == "LLM org/model:free"
    assert make_judge("nli:/a/folder", makers) == "NLI /a/folder"
    assert make_judge("lexical", makers).name == "lexical"
    assert make_judge(" grounding ", makers).name == "grounding"
    for spec in ("llm", "nli:"):
        with pytest.raises(UsageError, match="names no model"):
            make_judge(spec, makers)
    for spec in ("", "gpt-4o", "lexical:", "grounding:x", "LLM:m"):
        with pytest.raises(UsageError, match=r"there is no judge .*; give one of llm:MODEL"):
            make_judge(spec, makers)
