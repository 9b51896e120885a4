"""Long texts are cut into windows that a model can take."""

import pytest
from small_models import SENTENCES, save_tokenizer

from features.models import ModelOptions, load_scorer
from features.models.sentence_models import longest_input
from features.text.tokens import without_surrogates

WORDS = " ".join(SENTENCES * 4).lower().split()


@pytest.fixture(scope="module")
def reranker(tiny_reranker):
    return load_scorer("reranker", str(tiny_reranker), ModelOptions(device="cpu"))


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    from transformers import AutoTokenizer

    folder = tmp_path_factory.mktemp("tokenizer")
    save_tokenizer(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    return lambda text: len(tokenizer(text, add_special_tokens=False)["input_ids"])


def test_windows_cover_the_long_text_and_overlap_by_a_quarter(reranker, counted):
    windows = reranker.windows(("paris", " ".join(WORDS)))
    assert {window[0] for window in windows} == {"paris"}
    room = 65 - 3 - 1
    assert all(counted(text) <= room for _, text in windows)
    found = []
    for _, text in windows:
        piece = text.split()
        overlap = next((n for n in range(len(piece), 0, -1) if found[-n:] == piece[:n]), 0)
        assert not found or 0 < counted(" ".join(piece[:overlap])) <= room // 4
        found += piece[overlap:]
    assert found == WORDS


def test_the_other_text_is_cut_off_at_half_the_room(reranker, counted):
    windows = reranker.windows((" ".join(WORDS), "paris is the capital"))
    assert len(windows) == 1
    assert counted(windows[0][0]) == (65 - 3) // 2
    assert windows[0][1] == "paris is the capital"


def test_no_text_writes_a_separator(reranker):
    (window,) = reranker.windows(("paris", "the [SEP] capital [CLS] of"))
    assert "[" not in window[1]
    assert window[1].split() == ["the", "capital", "of"]


@pytest.mark.parametrize(
    ("stated", "config", "expected"),
    [
        (int(1e30), {}, 512),
        (int(1e30), {"max_position_embeddings": 300}, 300),
        (514, {"model_type": "roberta", "max_position_embeddings": 130, "pad_token_id": 1}, 128),
        (8192, {"max_position_embeddings": 8194}, 512),
        (128, {"max_position_embeddings": 300}, 128),
        (int(1e30), {"max_position_embeddings": -1}, 512),
    ],
)
def test_the_longest_input(stated, config, expected):
    assert longest_input(stated, config, most=512) == expected


def test_halves_of_surrogate_pairs_are_replaced():
    assert without_surrogates("a\ud800b\udfff\x00é😀") == "a\ufffdb\ufffd\x00é😀"
