import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import ArenaError, UsageError
from features import DEFAULT_FEATURES, FEATURES, GROUPS, describe_features, parse_features
from features.feature import CUTOFF, Feature
from features.missing import EMPTY_ANSWER


@st.composite
def configured(draw):
    feature = draw(st.sampled_from(list(FEATURES.values())))
    settings = {
        item.name: draw(
            st.integers(1, 1000) if item.name == CUTOFF else st.sampled_from(item.choices)
        )
        for item in feature.parameters
    }
    return feature.with_settings(settings)


@given(st.lists(configured(), min_size=1, max_size=6, unique_by=str))
def test_text_reads_back_as_the_same_features(features):
    assert parse_features(",".join(map(str, features))) == tuple(features)


def test_names_of_the_default_features():
    assert [str(feature) for feature in DEFAULT_FEATURES] == [
        *("target_language", "english", "citation_recall@10", "citation_map@10", "bleu"),
        *("rouge_l", "answer_length", "citations", "invalid_citations"),
    ]


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
        ("citation_map@3 ( part = answer )", ["citation_map@3(part=answer)"]),
        ("english,english(identifier=langid)", ["english", "english(identifier=langid)"]),
        ("default", [str(feature) for feature in DEFAULT_FEATURES]),
        ("all", [str(feature) for feature in FEATURES.values()]),
    ],
)
def test_features_are_read(text, names):
    assert [str(feature) for feature in parse_features(text)] == names


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("citation_recal", "no feature is named 'citation_recal'; did you mean 'citation_recall'?"),
        ("zzz", "known: target_language, english, citation_recall"),
        ("english(identifer=langid)", "no parameter 'identifer'; did you mean 'identifier'?"),
        ("english(identifier=langi)", "cannot be 'langi'; did you mean 'langid'?"),
        ("english(identifier)", "cannot read 'identifier'"),
        ("english()", "cannot read ''"),
        ("english(identifier=langid,identifier=langid)", "once"),
        ("citation_recall(k=5)", "a cutoff as citation_recall@k"),
        ("citation_recall@0", "a whole number from 1, not 0"),
        ("citation_recall@-1", "a whole number from 1, not '-1'"),
        ("citation_recall@", "a whole number from 1, not ''"),
        ("citation_recall@9999999", "a whole number from 1"),
        ("bleu@3", "takes no cutoff"),
        ("bleu(", "is no feature"),
        ("bleu,,rouge_l", "is no feature"),
        ("bleu rouge_l", "is no feature"),
        ("bleu,bleu", "bleu is asked for twice"),
        ("citation_map,citation_map@10", "citation_map@10 is asked for twice"),
        ("default,bleu", "bleu is asked for twice"),
        ("", "no feature is asked for"),
    ],
)
def test_unknown_features_are_refused(text, message):
    with pytest.raises(UsageError) as caught:
        parse_features(text)
    assert message in str(caught.value)


def test_every_feature_is_described():
    table = describe_features()
    assert table["feature"].tolist() == [str(feature) for feature in FEATURES.values()]
    assert (table[["summary", "needs", "source"]] != "").all(axis=None)
    assert set(GROUPS) == {"default", "all"}


def test_repr_shows_the_name():
    assert repr(FEATURES["citation_map"]) == "Feature('citation_map@10')"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), EMPTY_ANSWER])
def test_a_feature_that_breaks_its_word_is_an_error(value, make_sample):
    broken = Feature("broken", "", "", (), lambda sample: value)
    with pytest.raises(ArenaError, match="broken gave"):
        broken.measure(make_sample("x"))
