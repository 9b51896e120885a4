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
    tokenizers = pytest.importorskip("tokenizers", reason="needs surrogate-arena[onnx]")
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


def words(tokenizer, window):
    return [word for word in map(tokenizer.id_to_token, window.ids) if word in WORDS]


def test_a_short_pair_is_one_window_as_the_tokenizer_makes_it(tokenizer):
    (window,) = PairWindows(tokenizer, 40, long_text=0).cut(("w1 w2", "w3"))
    whole = plain(tokenizer).encode("w1 w2", "w3")
    assert list(window.ids) == whole.ids
    assert list(window.types) == whole.type_ids


@pytest.mark.parametrize("long_text", [0, 1])
def test_windows_cover_the_long_text_and_overlap_by_a_quarter(tokenizer, long_text):
    longest = plain(tokenizer).num_special_tokens_to_add(True) + 9
    pair = (" ".join(WORDS), "w0")
    cutter = PairWindows(tokenizer, longest, long_text)
    windows = cutter.cut(pair if long_text == 0 else pair[::-1])
    assert {len(window.ids) for window in windows} == {longest}
    found = [words(tokenizer, window) for window in windows]
    pieces = [piece[:-1] if long_text == 0 else piece[1:] for piece in found]
    assert [piece[0] for piece in pieces] == ["w0", "w6", "w12", "w18", "w24", "w30", "w32"]
    assert pieces[-1] == WORDS[-8:]


def test_the_other_text_is_cut_off_at_half_the_room(tokenizer):
    longest = plain(tokenizer).num_special_tokens_to_add(True) + 10
    windows = PairWindows(tokenizer, longest, long_text=1).cut((" ".join(WORDS), "w7 w8"))
    assert [words(tokenizer, window) for window in windows] == [[*WORDS[:5], "w7", "w8"]]


def test_no_text_writes_a_separator(tokenizer):
    """The vocabulary of this tokenizer holds its separators, as those of XLM-R's kind do."""
    text = "w2 [SEP] w3 </s> w4 <s>"
    (window,) = PairWindows(tokenizer, 40, long_text=1).cut(("w1", text))
    whole = plain(tokenizer).encode("w1", "w2")
    separators = {number for number in whole.ids if tokenizer.id_to_token(number) not in WORDS}
    count = sum(number in separators for number in whole.ids)
    assert sum(number in separators for number in window.ids) == count
    assert words(tokenizer, window) == ["w1", "w2", "w3", "w4"]


def test_a_tokenizer_that_does_not_separate_texts_is_refused():
    tokenizers = pytest.importorskip("tokenizers", reason="needs surrogate-arena[onnx]")
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, "b": 1}, unk_token="a"))
    with pytest.raises(UsageError, match="does not mark where the second text"):
        PairWindows(made, 40, long_text=0)


def test_a_window_without_room_is_refused(tokenizer):
    with pytest.raises(UsageError, match="too few for a pair"):
        PairWindows(tokenizer, 5, long_text=0)


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
