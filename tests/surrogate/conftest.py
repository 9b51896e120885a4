"""A small simulated arena and its board, shared by the tests of this floor."""

import shutil

import numpy as np
import pytest
from simulations import small_simulation

from arena import Arena, write_arena
from features import extract
from surrogate import build_board
from surrogate.cli.app import main
from surrogate.learning.language_data import TournamentSettings, language_data

CHROMIUM = shutil.which("chromium")
SETTINGS = TournamentSettings(tournaments=6)
QUICK_FEATURES = ("answer_length", "content_coverage", "citation_recall@10")


@pytest.fixture(scope="session")
def simulation():
    return small_simulation()


@pytest.fixture(scope="session")
def small_arena(simulation):
    return simulation.arena


@pytest.fixture(scope="session")
def english_arena(small_arena):
    """The small arena in one language, which halves the price of what is built of it."""
    return small_arena.select(["en"])


@pytest.fixture(scope="session")
def small_board(small_arena, shared):
    """A board with all that is there by default but few tournaments: seconds to build."""
    return shared("small_board", lambda: build_board(small_arena, tournaments=10, seed=3))


@pytest.fixture(scope="session")
def bilingual_arena():
    """Six systems in two languages, for boards that take a second."""
    return small_simulation(range(6), questions=6).arena


@pytest.fixture(scope="session")
def bilingual_folder(bilingual_arena, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bilingual")
    write_arena(bilingual_arena, folder)
    return folder


@pytest.fixture(scope="session")
def tiny_simulation():
    return small_simulation(range(6), ["en"], questions=6)


@pytest.fixture(scope="session")
def tiny_arena(tiny_simulation):
    return tiny_simulation.arena


@pytest.fixture(scope="session")
def tiny_folder(tiny_arena, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    write_arena(tiny_arena, folder)
    return folder


@pytest.fixture(scope="session")
def quick_board(small_arena, build_quickly, shared):
    """What ``build_quickly`` makes of the small arena, for tests that only read it."""
    return shared("quick_board", lambda: build_quickly(small_arena))


@pytest.fixture(scope="session")
def quick_features(small_arena):
    """Three features of the small arena."""
    return extract(small_arena, ",".join(QUICK_FEATURES))


@pytest.fixture(scope="session")
def build_quickly(quick_features):
    """Build a board of the small arena where it does not matter what predicts its ratings."""

    def build(arena, **options):
        asked = quick_features
        if isinstance(arena, Arena):  # a part of the small arena has its own part of the features
            asked = asked[asked["language"].isin(arena.info.languages)]
        quick = {"feature_table": asked, "surrogate": "linear", "tournaments": 2}
        return build_board(arena, **{**quick, **options})

    return build


@pytest.fixture(scope="session")
def quick_options():
    """The same for the command ``board``."""
    chosen = ["--features", ",".join(QUICK_FEATURES), "--surrogate", "linear"]
    return [*chosen, "--tournaments", 2, "--jobs", 1]


@pytest.fixture(scope="session")
def forest_board(bilingual_arena):
    """A board by the paper's own surrogate, which holds two systems out."""
    features = ",".join(QUICK_FEATURES)
    options = {"tournaments": 3, "seed": 3, "surrogate": "random-forest"}
    return build_board(bilingual_arena, features=features, **options)


@pytest.fixture(scope="session")
def arena_folder(small_arena, tmp_path_factory):
    folder = tmp_path_factory.mktemp("arena")
    write_arena(small_arena, folder)
    return folder


@pytest.fixture(scope="session")
def run():
    """Run a command in this process and return its exit status."""

    def run_command(*arguments):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as stop:
            return stop.code
        return 0

    return run_command


@pytest.fixture(scope="session")
def simulated(simulation):
    return simulation


@pytest.fixture(scope="session")
def table(simulated):
    """The true quality of each system with noise, a feature that says nothing, and gaps."""
    random = np.random.default_rng(0)
    keys = ["language", "system", "query_id"]
    rows = simulated.arena.answers[keys].merge(simulated.truth, on=["language", "system"])
    made = rows[keys].assign(
        close=rows["quality"] + 0.05 * random.normal(size=len(rows)),
        nothing=random.normal(size=len(rows)),
    )
    made.loc[random.random(len(made)) < 0.05, "nothing"] = np.nan
    return made.sort_values(keys, ignore_index=True)


@pytest.fixture(scope="session")
def settings():
    """Options of ``validate`` that make it quick."""
    return {"tournaments": SETTINGS.tournaments}


@pytest.fixture(scope="session")
def data_of():
    """Arrange an arena and a feature table, language by language."""

    def arrange(arena, features):
        return language_data(arena, features, SETTINGS)

    return arrange


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    if CHROMIUM is None:
        pytest.skip("needs chromium")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()
