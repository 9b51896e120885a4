import pytest

from arena import UsageError
from features.models.cross_encoder import longest_input
from features.models.pair_scorer import PairWindows
from features.models.scorer import clean

WORDS = [f"w{number}" for number in range(40)]
BERT = ("[CLS] $A [SEP] $B:1 [SEP]:1", ("[CLS]", "[SEP]"))
XLM_R = ("<s> $A </s> </s> $B </s>", ("<s>", "</s>"))


@pytest.fixture(params=[BERT, XLM_R], ids=["bert", "xlm-r"])
def tokenizer(request):
    tokenizers = pytest.importorskip("tokenizers", reason="needs surrogate-arena[tokenizers]")
    template, special = request.param
    vocabulary = {word: place for place, word in enumerate(["[UNK]", *special, "a", "b", *WORDS])}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    made.add_special_tokens(list(special))
    made.post_processor = tokenizers.processors.TemplateProcessing(
        pair=template, special_tokens=[(name, vocabulary[name]) for name in special]
    )
    made.enable_padding(length=100)
    made.enable_truncation(7)
    return made


def plain(tokenizer):
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def test_a_short_pair_is_one_window(tokenizer):
    assert PairWindows(tokenizer, 40, long_text=0).cut(("w1 w2", "w3")) == [("w1 w2", "w3")]
    assert PairWindows(tokenizer, 40, long_text=1).cut(("", "")) == [("", "")]


@pytest.mark.parametrize("long_text", [0, 1])
def test_windows_cover_the_long_text_and_overlap_by_a_quarter(tokenizer, long_text):
    longest = plain(tokenizer).num_special_tokens_to_add(True) + 9
    pair = (" ".join(WORDS), "w0")
    windows = PairWindows(tokenizer, longest, long_text).cut(pair if long_text == 0 else pair[::-1])
    assert {window[1 - long_text] for window in windows} == {"w0"}
    pieces = [window[long_text].split() for window in windows]
    assert [piece[0] for piece in pieces] == ["w0", "w6", "w12", "w18", "w24", "w30", "w36"]
    assert {len(piece) for piece in pieces[:-1]} == {8}
    assert pieces[-1] == WORDS[-4:]


def test_the_other_text_is_cut_off_at_half_the_room(tokenizer):
    longest = plain(tokenizer).num_special_tokens_to_add(True) + 10
    windows = PairWindows(tokenizer, longest, long_text=1).cut((" ".join(WORDS), "w7 w8"))
    assert windows == [(" ".join(WORDS[:5]), "w7 w8")]


def test_no_text_writes_a_separator(tokenizer):
    """The vocabulary of this tokenizer holds its separators, as those of XLM-R's kind do."""
    text = "w2 [SEP] w3 </s> w4 <s>"
    (window,) = PairWindows(tokenizer, 40, long_text=1).cut(("w1", text))
    whole = plain(tokenizer).encode("w1", "w2")
    separators = {number for number in whole.ids if tokenizer.id_to_token(number) not in WORDS}
    found = plain(tokenizer).encode(*window).ids
    assert sum(map(separators.__contains__, found)) == sum(map(separators.__contains__, whole.ids))
    assert [word for word in window[1].split() if word in WORDS] == ["w2", "w3", "w4"]


def test_a_window_without_room_is_refused(tokenizer):
    with pytest.raises(UsageError, match="too few for a pair"):
        PairWindows(tokenizer, 6, long_text=0)


@pytest.mark.parametrize(
    ("stated", "config", "expected"),
    [
        ([int(1e30)], {}, 512),
        ([None], {"max_position_embeddings": 300}, 300),
        ([8192], {"max_position_embeddings": 8194}, 512),
        ([128, 64], {"max_position_embeddings": 300}, 64),
        ([], {"model_type": "xlm-roberta", "max_position_embeddings": 514, "pad_token_id": 1}, 512),
        ([], {"model_type": "roberta", "max_position_embeddings": 130, "pad_token_id": 1}, 128),
        ([], {"model_type": "deberta-v2", "max_position_embeddings": -1}, 512),
    ],
)
def test_the_longest_input(stated, config, expected):
    assert longest_input(stated, config, most=512) == expected


def test_halves_of_surrogate_pairs_are_replaced():
    assert clean("a\ud800b\udfff\x00é😀") == "a\ufffdb\ufffd\x00é😀"
