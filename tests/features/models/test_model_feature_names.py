"""Names of features that read a model: models, templates, and the paper's group."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import UsageError
from features import FEATURES, GROUPS, parse_features
from features.declare.feature import CUTOFF, MODEL
from features.models.templates import TEMPLATE


@st.composite
def configured(draw):
    names = [name for name, feature in FEATURES.items() if feature.reading is not None]
    feature = FEATURES[draw(st.sampled_from(names))]
    return feature.with_settings({item.name: draw(values_of(item)) for item in feature.parameters})


def values_of(parameter):
    if parameter.name == CUTOFF:
        return st.integers(1, 1000)
    if parameter.name == MODEL:
        return st.sampled_from(["folder/of a model", "./x=y@1", "organization/name-2.0"])
    if parameter.name == TEMPLATE:
        named = [f"{name}@0123456789ab" for name in parameter.prompts]
        return st.sampled_from(["packaged", named[-1], "+".join(named)])
    return st.sampled_from(parameter.choices)


@given(st.lists(configured(), min_size=1, max_size=6, unique_by=str))
def test_text_reads_back_as_the_same_features(features):
    assert parse_features(",".join(map(str, features))) == tuple(features)


def test_a_model_is_named_by_its_name_or_folder():
    assert [str(feature) for feature in parse_features("reranker_score(model=a/b c)")] == [
        "reranker_score(model=a/b c)"
    ]
    with pytest.raises(UsageError, match="a model is given by its name"):
        parse_features("reranker_score(model=)")


def test_the_papers_features_are_also_there_by_the_libraries_it_names():
    by_libraries = [feature.name for feature in GROUPS["as-published"]]
    assert by_libraries == [feature.name for feature in GROUPS["paper"]]
    other = {str(feature) for feature in {*GROUPS["as-published"]} - {*GROUPS["paper"]}}
    assert other == {
        "target_language(identifier=langid,part=output)",
        "english(identifier=langid,part=output)",
        "bleu(tokenize=13a,order=full)",
        "rouge_l(tokens=rouge-score,stem=yes)",
    }
