"""The first tokens of a text."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import MissingDependencyError, UsageError
from arena.llm.trimming import Trimmer, read_tokenizer


@pytest.mark.parametrize(
    ("text", "tokens", "kept"),
    [
        ("short", 2, "short"),
        ("a" * 9, 2, "a" * 8),
        ("日本語の本", 3, "日本語の"),  # 3 bytes a character
        ("ab👩‍👩‍👧", 3, "ab"),  # a family is one letter of 18 bytes
        ("कि" * 4, 3, "कि" * 2),
        ("e\u0301" * 3, 1, "e\u0301"),  # e and an accent: 3 bytes
    ],
)
def test_four_bytes_are_a_token(text, tokens, kept):
    assert Trimmer().trim(text, tokens) == kept


@given(st.text(), st.integers(1, 20))
def test_what_is_kept_is_the_beginning_and_short_enough(text, tokens):
    kept = Trimmer().trim(text, tokens)
    assert text.startswith(kept)
    assert len(kept.encode(errors="replace")) <= 4 * tokens
    rest = text[len(kept) :]
    assert not kept or not rest or not unicodedata.category(rest[0]).startswith("M")


@pytest.fixture
def tokenizer_file(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    tokenizer = tokenizers.Tokenizer(WordLevel({"[UNK]": 0, "a": 1}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.enable_truncation(2)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return tmp_path / "tokenizer.json"


def test_a_tokenizer_counts_its_own_tokens(tokenizer_file):
    trimmer = read_tokenizer(tokenizer_file)
    assert trimmer.trim("a bird sang, a lot", 3) == "a bird sang"
    assert trimmer.trim("a bird sang", 3) == "a bird sang"
    assert trimmer.name.startswith("tokenizer:")


def test_letters_of_several_tokens_stay_whole(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import ByteLevel

    alphabet = {letter: place for place, letter in enumerate(ByteLevel.alphabet())}
    tokenizer = tokenizers.Tokenizer(BPE(alphabet, []))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.save(str(tmp_path / "bytes.json"))
    assert read_tokenizer(tmp_path / "bytes.json").trim("日本語", 7) == "日本"


def test_what_is_no_tokenizer_is_refused(tmp_path, monkeypatch):
    pytest.importorskip("tokenizers")
    path = tmp_path / "t.json"
    with pytest.raises(UsageError, match="there is no tokenizer"):
        read_tokenizer(path)
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(UsageError, match=r"t\.json is not a tokenizer\.json"):
        read_tokenizer(path)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(
        MissingDependencyError, match=r"needs the package tokenizers.*\[tokenizers\]"
    ):
        read_tokenizer(path)
