import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import ArenaError, UsageError
from features import DEFAULT_FEATURES, GROUPS, parse_features
from features.declare.feature import CUTOFF, Feature
from features.measures.choosing import chosen_features


@st.composite
def configured(draw):
    feature = draw(st.sampled_from(GROUPS["deterministic"]))
    return feature.with_settings({item.name: draw(values_of(item)) for item in feature.parameters})


def values_of(parameter):
    if parameter.name == CUTOFF:
        return st.integers(1, 1000)
    return st.sampled_from(parameter.choices)


@given(st.lists(configured(), min_size=1, max_size=6, unique_by=str))
def test_text_reads_back_as_the_same_features(features):
    assert parse_features(",".join(map(str, features))) == tuple(features)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("citation_recall", ["citation_recall@10"]),
        ("citation_recall@5", ["citation_recall@5"]),
        (" bleu , rouge_l ", ["bleu", "rouge_l"]),
        ("target_language(identifier=py3langid)", ["target_language"]),
        (
            "citation_recall@10,target_language(identifier=langid)",
            ["citation_recall@10", "target_language(identifier=langid)"],
        ),
        ("english ( part = reason )", ["english(part=reason)"]),
        ("default", [str(feature) for feature in DEFAULT_FEATURES]),
        (
            "bleu,default",
            ["bleu", *(str(item) for item in DEFAULT_FEATURES if item.name != "bleu")],
        ),
        ("citation_map,citation_map@10", ["citation_map@10"]),
        ("default,cited_sentences", [*map(str, DEFAULT_FEATURES), "cited_sentences"]),
    ],
)
def test_features_are_read(text, names):
    assert [str(feature) for feature in parse_features(text)] == names


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("citation_recal", "no feature is named 'citation_recal'; did you mean 'citation_recall'?"),
        ("english(identifer=langid)", "no parameter 'identifer'; did you mean 'identifier'?"),
        ("english(identifier=langi)", "cannot be 'langi'; did you mean 'langid'?"),
        ("english()", "cannot read ''"),
        ("english(identifier=langid,identifier=langid)", "once"),
        ("citation_recall(k=5)", "a cutoff as citation_recall@k"),
        ("citation_recall@0", "a whole number from 1, not 0"),
        ("bleu@3", "takes no cutoff"),
        ("bleu(", "is not a feature"),
        ("bleu rouge_l", "is not a feature"),
        ("", "no feature is asked for"),
    ],
)
def test_unknown_features_are_refused(text, message):
    with pytest.raises(UsageError) as caught:
        parse_features(text)
    assert message in str(caught.value)


def test_only_names_and_features_are_features():
    with pytest.raises(UsageError, match=r"function .* is not a feature"):
        chosen_features(["bleu", lambda sample: len(sample.text)])


def test_two_features_of_one_name_are_refused():
    one, other = (Feature("own", "", "", (), measure) for measure in (len, abs))
    assert chosen_features([one, one]) == (one,)
    with pytest.raises(UsageError, match="two features are named own"):
        chosen_features([one, other])
    with pytest.raises(UsageError, match="bleu is one of this package"):
        chosen_features([Feature("bleu", "", "", (), len)])


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_feature_that_breaks_its_word_is_an_error(value, make_sample):
    broken = Feature("broken", "", "", (), lambda sample: value)
    with pytest.raises(ArenaError, match="broken gave"):
        broken.measure(make_sample("x"))
