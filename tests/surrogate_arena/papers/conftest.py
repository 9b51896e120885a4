"""Labeled answers made up for tests, and real ones where they are."""

import pytest
from memerag_samples import answered, labeled, lines_of
from shared_data import shared_path

from arena.llm import Budget, Llm, LlmSettings, open_store
from surrogate_arena.papers.memerag.sentences import read_memerag


@pytest.fixture(scope="session")
def memerag_folder():
    return shared_path("data/memerag")


@pytest.fixture(scope="session")
def memerag_sentences(memerag_folder):
    return read_memerag(memerag_folder, ["en", "de", "es", "fr", "hi"])


@pytest.fixture
def small_folder(tmp_path):
    """Two languages, five sentences that count and one that does not."""
    folder = tmp_path / "memerag"
    folder.mkdir()
    en = [
        answered(
            34,
            labeled("Paris is in France.", "Supported", "Direct paraphrase"),
            labeled("It is huge.", "Not Supported", "Adds new information", number=1),
        ),
        answered("q2", labeled("Perhaps.", "Challenging to determine")),
    ]
    de = [
        answered(
            "q1",
            labeled("Paris liegt in Frankreich.", "supported ", "Logical conclusion"),
            labeled("Oslo ist groß & <schön>.", "Not Supported", "Contradiction", number=1),
            labeled("Ja.", "Supported", "Other", "Unrelated to the question", number=2),
        )
    ]
    (folder / "en.jsonl").write_text(lines_of(*en), encoding="utf-8")
    (folder / "de.jsonl").write_text(lines_of(*de), encoding="utf-8")
    return folder


@pytest.fixture
def small_sentences(small_folder):
    return read_memerag(small_folder)


@pytest.fixture
def quick(tmp_path):
    """Settings that make a command short."""
    path = tmp_path / "quick.toml"
    path.write_text("replicates = 20\npermutations = 50\nconcurrency = 1\n")
    return path


@pytest.fixture
def llm_at(tmp_path):
    """Make an LLM at a server, with a store that the test's LLMs share."""
    with open_store(tmp_path / "store.sqlite") as store:

        def make(server, max_calls=None, settings=None, retries=0):
            quick = {"timeout_s": 5.0}
            here = {"base_url": server.url, "api_key_env": None, "retries": retries, **quick}
            asked = (settings or LlmSettings(model="m")).model_copy(update=here)
            return Llm(asked, store, Budget(max_calls))

        yield make
