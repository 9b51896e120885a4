"""Features that look good only when the whole table is seen do not pass the protocol."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest

from features import extract, parse_features
from surrogate.learning.ensembles import SelectedSurrogate, StackedSurrogate
from surrogate.learning.names import find_surrogate
from surrogate.learning.tensor import FeatureTensor
from surrogate.learning.training import Field
from surrogate.validation.protocols import leave_systems_out
from surrogate.validation.validate import summarize

COLUMNS = 150
KEPT = 3


@pytest.fixture(scope="module")
def noisy_arenas(simulated, arenas_of):
    """Features that know nothing of the systems, so many that some agree with any ratings."""
    judged = simulated.arena.judgments
    english = replace(simulated.arena, judgments=judged[judged["language"] == "en"])
    return [arenas_of(english, noise(simulated.arena.answers, seed)) for seed in range(3)]


def noise(answers, seed):
    random = np.random.default_rng(seed)
    rows = answers.loc[answers["language"] == "en", ["language", "system", "query_id"]]
    systems, owner = np.unique(rows["system"], return_inverse=True)
    own = random.normal(size=(len(systems), COLUMNS))[owner]
    values = own + 0.1 * random.normal(size=own.shape)
    names = [f"noise_{number:03}" for number in range(COLUMNS)]
    return pd.concat([rows, pd.DataFrame(values, rows.index, names)], axis=1)


def most_correlated(tensor, targets):
    means = tensor.means()[0]
    agreement = [abs(np.corrcoef(column, targets)[0, 1]) for column in means.T]
    return [tensor.features[place] for place in np.argsort(agreement)[-KEPT:]]


@dataclass(frozen=True)
class SelectingSurrogate:
    """Keeps the features that agree best with the ratings it is given, and nothing else."""

    pooled = False

    def fit(self, fields, random_state):
        (field,) = fields
        chosen = most_correlated(field.judged, field.targets)
        kept = Field(field.answers.take(features=chosen), field.tournaments)
        return _Selected(find_surrogate("ridge").fit([kept], random_state), chosen)


@dataclass(frozen=True)
class _Selected:
    fitted: object
    chosen: list[str]

    def predict(self, tensor: FeatureTensor, field: FeatureTensor):
        return self.fitted.predict(
            tensor.take(features=self.chosen), field.take(features=self.chosen)
        )


def tau_unseen(arenas, surrogate, repeats=2):
    return summarize(leave_systems_out(arenas, surrogate, repeats, 0), "", "", 0, "").scores.tau


def mean_tau(noisy_arenas, surrogate, repeats=2):
    return np.mean([tau_unseen(arenas, surrogate, repeats) for arenas in noisy_arenas])


def test_features_chosen_with_the_held_out_ratings_in_view_leak_and_chosen_inside_do_not(
    noisy_arenas,
):
    leaking = []
    for [arena] in noisy_arenas:
        chosen = most_correlated(arena.judged, arena.truth)
        leaking.append([replace(arena, answers=arena.answers.take(features=chosen))])
    assert mean_tau(leaking, find_surrogate("ridge")) > 0.4
    assert mean_tau(noisy_arenas, SelectingSurrogate()) < 0.2


@pytest.mark.parametrize("model", ["relative-ridge", "pooled-ridge", "pairwise-logistic"])
def test_normalising_by_the_field_gives_noise_no_rank(model, noisy_arenas):
    assert mean_tau(noisy_arenas, find_surrogate(model)) < 0.2


@pytest.mark.parametrize("kind", [SelectedSurrogate, StackedSurrogate])
def test_choosing_and_weighing_by_the_training_systems_give_noise_no_rank(kind, noisy_arenas):
    candidates = tuple(find_surrogate(name) for name in ("ridge", "relative-ridge"))
    assert mean_tau(noisy_arenas, kind(candidates), repeats=1) < 0.25


def test_a_held_out_system_is_nowhere_in_what_is_learned_from(noisy_arenas):
    [arena] = noisy_arenas[0]
    held = arena.systems[:3]
    field = arena.field_without(held)
    assert not set(held) & {*field.answers.systems, *field.tournaments.systems}
    assert field.tournaments.coefficients.shape[1] == len(arena.systems) - 3
    assert field.answers.values.shape[0] == len(arena.systems) - 3


def test_features_see_neither_judgments_nor_whose_an_answer_is(simulated):
    arena = simulated.arena
    names = {name: f"x{number}" for number, name in enumerate(arena.info.systems)}
    judgments = arena.judgments.assign(winner=arena.judgments["winner"].iloc[::-1].to_numpy())
    asked = "answer_length,citation_recall@10,ngram_coverage,target_language"
    first = extract(arena, parse_features(asked))
    again = extract(replace(arena, judgments=judgments), parse_features(asked))
    pd.testing.assert_frame_equal(again, first)
    other = replace(arena, answers=arena.answers.assign(system=arena.answers["system"].map(names)))
    renamed = extract(other, parse_features(asked))
    back = renamed.assign(system=renamed["system"].map({new: old for old, new in names.items()}))
    keys = ["language", "system", "query_id"]
    pd.testing.assert_frame_equal(
        back.sort_values(keys, ignore_index=True), first.sort_values(keys, ignore_index=True)
    )
