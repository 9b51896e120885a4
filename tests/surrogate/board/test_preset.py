"""The preset of MIRAGE-Bench against a plain loop over the libraries that the paper names."""

from dataclasses import replace

import choix
import numpy as np
import pandas as pd
import pytest
import sacrebleu
from langid.langid import LanguageIdentifier, model
from rouge_score.rouge_scorer import RougeScorer
from scipy.stats import kendalltau
from simulations import sample_part
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import r2_score

from arena.data.seeds import seed_sequence
from arena.rating.tournaments import DECIMALS, TOURNAMENTS_REGULARIZED, bootstrap_tournaments
from arena.text.answers import parse_answer
from arena.text.citations import strip_citations
from features import extract, parse_features
from surrogate import Board, build_board, place_systems
from surrogate.learning.surrogate import KEYS

SEED, TOURNAMENTS = 5, 4
BY_MODELS = ("nli_entailment", "nli_neutral", "reranker_score", "llm_overlap", "llm_fluency")
BY_LIBRARIES = "bleu(tokenize=13a,order=full),rouge_l(tokens=rouge-score,stem=yes)"
BY_LANGID = "target_language(identifier=langid,part=output),english(identifier=langid,part=output)"
MEASURED = f"target_language,english,citation_recall,citation_map,{BY_LIBRARIES}"


@pytest.fixture(scope="module")
def arena():
    """Seven systems; in Hindi one wins every battle, so that no likelihood has a maximum."""
    made = sample_part((0, 1, 2, 8, 9, 10, 11), ("en", "hi"), questions=6).arena
    judgments, best = made.judgments, made.info.systems[0]
    winner = judgments["winner"].mask(judgments["system_a"] == best, "a")
    winner = winner.mask(judgments["system_b"] == best, "b")
    winner = judgments["winner"].where(judgments["language"] == "en", winner)
    return replace(made, judgments=judgments.assign(winner=winner))


@pytest.fixture(scope="module")
def table(arena):
    """Features by the libraries, and what models would have given, some of it missing."""
    measured = extract(arena, MEASURED)
    random = np.random.default_rng(0)
    given = pd.DataFrame(random.normal(size=(len(measured), 5)), columns=list(BY_MODELS))
    return measured.assign(**given.where(random.random(given.shape) < 0.8))


@pytest.fixture(scope="module")
def board(arena, table):
    return build_board(
        arena, preset="mirage", feature_table=table, tournaments=TOURNAMENTS, seed=SEED
    )


def scored_by_libraries(arena, identifier=None):
    """Yield each answer's key with langid's, if asked, sacrebleu's and rouge-score's own values."""
    texts, outputs = {}, {}
    for row in arena.answers.merge(arena.queries, on=["language", "query_id"]).itertuples():
        ids = [item["passage_id"] for item in row.passages]
        key, parsed = (row.language, row.system, row.query_id), parse_answer(row.answer)
        texts[key], outputs[key] = (
            strip_citations(text, ids) for text in (parsed.text, parsed.output)
        )
    for (language, system, query_id), text in texts.items():
        reference = texts[language, arena.info.reference_system, query_id]
        known = {}
        output = outputs[language, system, query_id]
        if identifier is not None and any(map(str.isalpha, output)):
            known = dict(identifier.rank(output))
        scorer = RougeScorer(["rougeL"], use_stemmer=language == "en")
        yield (
            *(language, system, query_id, known.get(language, 0.0), known.get("en", 0.0)),
            sacrebleu.corpus_bleu([text], [[reference]]).score / 100,
            scorer.score(reference, text)["rougeL"].fmeasure,
        )


@pytest.mark.parametrize("langid", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_its_features_are_those_of_the_libraries(arena, table, langid):
    """That of langid takes seconds to load."""
    names = [str(item) for item in parse_features(f"{BY_LANGID},{BY_LIBRARIES}")]
    identifier = LanguageIdentifier.from_modelstring(model, norm_probs=True) if langid else None
    scores = scored_by_libraries(arena, identifier)
    expected = pd.DataFrame(scores, columns=[*KEYS, *names]).set_index(KEYS)
    expected = expected if langid else expected[names[2:]]
    measured = extract(arena, BY_LANGID).merge(table, on=KEYS) if langid else table
    found = measured.set_index(KEYS)[list(expected)].fillna(0.0).loc[expected.index]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def drawn_seed(*keys):
    return int(seed_sequence(*keys).generate_state(1)[0])


def forest_of(seed, language):
    """A forest as scikit-learn has it, with the seed that a surrogate's own gives.

    Weights of 1, which change nothing but the stream of random numbers, are given as ours are.
    """
    return RandomForestRegressor(random_state=drawn_seed(seed, "surrogate", language, "final"))


def loop(arena, table, language, held_out):
    """Run Algorithm 1 and what follows it as written down; return R², means and ratings."""
    judgments = arena.judgments[arena.judgments["language"] == language]
    tournaments = bootstrap_tournaments(judgments, TOURNAMENTS, 100, "drop", 0.0, SEED)
    systems = list(tournaments.systems)
    features = [name for name in table if name not in KEYS and not name.endswith(":missing")]
    own = table[table["language"] == language].fillna(dict.fromkeys(features, 0.0))
    values = {key: row[features].to_numpy(float) for key, row in own.set_index(KEYS[1:]).iterrows()}
    train = [index for index, name in enumerate(systems) if name not in held_out]
    held = [index for index, name in enumerate(systems) if name in held_out]

    def mean_features(questions):
        return np.array(
            [sum(values[name, query] for query in questions) / len(questions) for name in systems]
        )

    scores, fitted, fell_back = [], [], 0
    for number, draws in enumerate(tournaments.draws):
        drawn = np.repeat(np.array(tournaments.battles.questions, dtype=object), draws)
        pairs = []
        for query in drawn:
            for row in judgments[judgments["query_id"] == query].itertuples():
                pair = (systems.index(row.system_a), systems.index(row.system_b))
                pairs += {"a": [pair], "b": [pair[::-1]], "tie": []}[row.winner]
        try:
            with np.errstate(all="ignore"):
                coefficients = choix.ilsr_pairwise(len(systems), pairs)
        except (ValueError, RuntimeError):
            coefficients = choix.opt_pairwise(len(systems), pairs, tol=1e-12)
            fell_back += 1
        # What the prior leaves of logits without a maximum is found to the third digit only.
        ours = tournaments.coefficients[number]
        np.testing.assert_allclose(ours, coefficients - coefficients.mean(), rtol=5e-3, atol=5e-3)
        own_seed = drawn_seed(SEED, "surrogate", language, "tournament", str(number))
        forest = forest_of(own_seed, language)
        rows = mean_features(drawn)
        worst_first = sorted(train, key=lambda place: ours[place])  # whatever they are called
        forest.fit(rows[worst_first], ours[worst_first], sample_weight=np.ones(len(train)))
        scores.append(r2_score(ours[held], forest.predict(rows[held])))
        fitted.append(ours)
    means = np.round(np.mean(fitted, axis=0), DECIMALS)
    rows = mean_features(sorted(own["query_id"].unique()))
    forest = forest_of(SEED, language)
    worst_first = sorted(train, key=lambda place: means[place])
    forest.fit(rows[worst_first], means[worst_first], sample_weight=np.ones(len(train)))
    return systems, np.array(scores), np.array(fitted), forest.predict(rows), fell_back


@pytest.mark.parametrize("language", ["en", "hi"])
def test_its_numbers_are_those_of_a_plain_loop(board, arena, table, language):
    said = board.summary.languages[language]
    systems, scores, fitted, ratings, fell_back = loop(arena, table, language, said.holdout)
    assert said.holdout_r2.tournaments == len(scores) == TOURNAMENTS
    assert said.holdout_r2.mean == pytest.approx(scores.mean(), abs=1e-6)
    bounds = np.percentile(scores, [2.5, 97.5])
    assert (said.holdout_r2.low, said.holdout_r2.high) == pytest.approx(tuple(bounds), abs=1e-6)
    own = board.ratings[board.ratings["language"] == language].set_index("system").loc[systems]
    np.testing.assert_allclose(own["rating"], ratings, atol=1e-6)
    np.testing.assert_allclose(own["arena_rating"], fitted.mean(axis=0), atol=1e-6)
    low, high = np.percentile(fitted, [2.5, 97.5], axis=0)
    bounds = own[["arena_low", "arena_high"]].to_numpy().T
    np.testing.assert_allclose(bounds, [low, high], atol=1e-6)
    assert said.tau == pytest.approx(kendalltau(ratings, fitted.mean(axis=0)).statistic)
    assert fell_back == (TOURNAMENTS if language == "hi" else 0)
    note = TOURNAMENTS_REGULARIZED.format(fell_back, TOURNAMENTS)
    assert (note in said.notes) == (fell_back > 0)


def test_it_ranks_a_new_system_once_loaded(board, table, tmp_path):
    best = board.overall["system"].iloc[0]
    board.save(tmp_path / "board")
    loaded = Board.load(tmp_path / "board")
    new = table[table["system"] == best].assign(system="newcomer", answer="")
    answers = new[[*KEYS, "answer"]]
    rows = board.ratings[board.ratings["system"] == best].set_index("language")["rating"]
    for item in (board, loaded):
        placed = place_systems(item, new, answers[["language", "query_id"]]).new
        np.testing.assert_allclose(placed.set_index("language")["rating"].loc[rows.index], rows)
