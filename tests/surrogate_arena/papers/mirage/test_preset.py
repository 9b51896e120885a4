"""The preset of MIRAGE-Bench against the published recipe on the packages that the paper names."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sacrebleu
from langid.langid import LanguageIdentifier, model
from mirage_recipe import fit_with_choix, run_recipe
from rouge_score.rouge_scorer import RougeScorer
from scipy.stats import kendalltau
from simulations import simulated_part

from arena.data.errors import UsageError
from arena.rating.tournaments import TOURNAMENTS_REGULARIZED, bootstrap_tournaments
from arena.text.answers import parse_answer, strip_citations
from features import extract, parse_features
from features.engine.extraction import FEATURE_KEY
from surrogate import Board, build_board
from surrogate.ranking.rank import place_systems
from surrogate_arena.papers.mirage.tournament_fits import holdout_r2

pytestmark = pytest.mark.slow

SEED, TOURNAMENTS = 5, 4
BY_MODELS = ("nli_entailment", "nli_neutral", "reranker_score", "llm_overlap", "llm_fluency")
BY_LIBRARIES = "bleu(tokenize=13a,order=full),rouge_l(tokens=rouge-score,stem=yes)"
BY_LANGID = "target_language(identifier=langid,part=output),english(identifier=langid,part=output)"
MEASURED = f"target_language,english,citation_recall,citation_map,{BY_LIBRARIES}"


@pytest.fixture(scope="module")
def arena():
    """Seven systems; in Hindi one wins every battle, so that no likelihood has a maximum."""
    made = simulated_part((0, 1, 2, 8, 9, 10, 11), ("en", "hi"), questions=6).arena
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


@pytest.fixture(scope="module")
def held_out(board):
    return holdout_r2(board).set_index("language")


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
    expected = pd.DataFrame(scores, columns=[*FEATURE_KEY, *names]).set_index(FEATURE_KEY)
    expected = expected if langid else expected[names[2:]]
    measured = extract(arena, BY_LANGID).merge(table, on=FEATURE_KEY) if langid else table
    found = measured.set_index(FEATURE_KEY)[list(expected)].fillna(0.0).loc[expected.index]
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("language", ["en", "hi"])
def test_its_numbers_are_those_of_the_recipe(board, held_out, arena, table, language):
    """Both learn from the same coefficients: the last digit decides between equal splits."""
    summary = board.summary.languages[language]
    judgments = arena.judgments[arena.judgments["language"] == language]
    tournaments = bootstrap_tournaments(judgments, TOURNAMENTS, 100, "drop", 0.0, SEED)
    fitted = iter(tournaments.coefficients)
    fell_back = []

    def fit(*tournament):
        ours = next(fitted)
        theirs, is_fallback = fit_with_choix(*tournament)
        fell_back.append(is_fallback)
        # What the prior leaves of logits without a maximum is found to the third digit only.
        np.testing.assert_allclose(ours, theirs, atol=5e-3 if is_fallback else 1e-6, rtol=5e-3)
        return ours, is_fallback

    recipe = run_recipe(
        judgments,
        table,
        board.summary.settings.holdout,
        tournaments=TOURNAMENTS,
        seed=SEED,
        fit=fit,
    )
    r2 = recipe.holdout_r2
    assert len(r2) == TOURNAMENTS
    found = held_out.loc[language, ["mean", "low", "high"]].to_list()
    assert found == pytest.approx([r2.mean(), *np.percentile(r2, [2.5, 97.5])], abs=1e-6)
    rows = board.ratings[board.ratings["language"] == language].set_index("system")
    rows = rows.loc[list(recipe.systems)]
    means = recipe.coefficients.mean(axis=0)
    np.testing.assert_allclose(rows["rating"], recipe.ratings, atol=1e-6)
    np.testing.assert_allclose(rows["arena_rating"], means, atol=1e-6)
    low, high = np.percentile(recipe.coefficients, [2.5, 97.5], axis=0)
    np.testing.assert_allclose(rows["arena_low"], low, atol=1e-6)
    np.testing.assert_allclose(rows["arena_high"], high, atol=1e-6)
    assert summary.tau == pytest.approx(kendalltau(recipe.ratings, means).statistic)
    assert recipe.n_fallbacks == sum(fell_back) == (TOURNAMENTS if language == "hi" else 0)
    note = TOURNAMENTS_REGULARIZED.format(recipe.n_fallbacks, TOURNAMENTS)
    assert (note in map(str, summary.remarks)) == (recipe.n_fallbacks > 0)


def test_the_recipe_learns_by_xgboost_and_rates_one_language_at_a_time(arena, table):
    pytest.importorskip("xgboost")
    english = arena.judgments[arena.judgments["language"] == "en"]
    recipe = run_recipe(english, table, arena.info.systems[:2], tournaments=2, regressor="xgboost")
    assert np.isfinite(recipe.ratings).all()
    with pytest.raises(UsageError, match="en, hi"):
        run_recipe(arena.judgments, table, ())


def test_it_ranks_a_new_system_once_loaded(board, table, tmp_path):
    best = board.overall["system"].iloc[0]
    board.save(tmp_path / "board")
    loaded = Board.load(tmp_path / "board")
    new = table[table["system"] == best].assign(system="newcomer", answer="It does.")
    answers = new[[*FEATURE_KEY, "answer"]]
    rows = board.ratings[board.ratings["system"] == best].set_index("language")["rating"]
    for item in (board, loaded):
        placed = place_systems(item, new, answers[["language", "query_id"]]).new
        np.testing.assert_allclose(placed.set_index("language")["rating"].loc[rows.index], rows)
