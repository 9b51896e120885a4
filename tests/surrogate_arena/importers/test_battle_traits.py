"""``fit --equal`` by counts that a file of battles holds, as LMArena's files carry them."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from arena.data.errors import UsageError
from arena.rating.battles import Battles
from arena.rating.bradley_terry import NormalPrior
from arena.rating.likelihood import BattleLikelihood
from arena.rating.ratings import rate
from surrogate_arena.importers.answer_traits import count_trait, relative_difference, with_traits
from surrogate_arena.importers.judgments import counted_judgments_of

STRENGTHS = {"long": 0.0, "middle": 0.3, "short": 0.6}
TOKENS = {"long": 900, "middle": 400, "short": 150}


def battles(n_rows=600, seed=0, likes=1.5):
    """Battles of a judge who likes tokens; the system that writes most is the weakest."""
    random = np.random.default_rng(seed)
    names = list(STRENGTHS)
    rows = []
    for number in range(n_rows):
        first, second = random.choice(names, 2, replace=False)
        tokens = [int(TOKENS[name] * random.uniform(0.4, 2.5)) for name in (first, second)]
        lists = random.integers(0, 6, 2)
        logit = STRENGTHS[first] - STRENGTHS[second] + 0.2
        logit += likes * (tokens[0] - tokens[1]) / sum(tokens)
        winner = "model_a" if random.random() < expit(logit) else "model_b"
        rows.append((f"q{number}", first, second, winner, *tokens, *map(int, lists)))
    columns = ["question_id", "model_a", "model_b", "winner", "tokens_a", "tokens_b"]
    return pd.DataFrame(rows, columns=[*columns, "lists_a", "lists_b"])


def read(table, tmp_path, *traits, **options):
    path = tmp_path / "battles.jsonl"
    path.write_text("\n".join(map(json.dumps, table.to_dict(orient="records"))))
    return counted_judgments_of(path, traits=traits, **options)


def by_system(judgments):
    return rate(judgments).table.set_index("system")["rating"].sort_index()


def test_ratings_at_equal_counts_are_those_of_logistic_regression(tmp_path):
    """scikit-learn's, with the same priors: a penalty for each system, judge's side and count."""
    table = battles()
    judgments = read(table, tmp_path, "tokens", "lists").table
    ours = Battles.from_judgments(judgments)
    mode = BattleLikelihood(ours.items_by_side).mode(NormalPrior.ridge(3, 1.0))
    columns = [
        (table["model_a"] == name).astype(float) - (table["model_b"] == name)
        for name in sorted(STRENGTHS)
    ]
    # The side's prior has half the deviation of the others.
    columns.append(np.full(len(table), 0.5))
    for trait in ("tokens", "lists"):
        columns.append(
            relative_difference(
                trait, table[f"{trait}_a"].to_numpy(float), table[f"{trait}_b"].to_numpy(float)
            )
        )
    model = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-10, max_iter=10_000)
    model.fit(np.column_stack(columns), table["winner"] == "model_a")
    expected = model.coef_[0] * [1, 1, 1, 0.5, 1, 1]
    np.testing.assert_allclose(mode, expected, atol=1e-5)


def test_the_system_that_only_writes_more_falls_back(tmp_path):
    table = battles(n_rows=1500)
    plain = by_system(read(table, tmp_path).table)
    equal = by_system(read(table, tmp_path, "tokens").table)
    assert plain["long"] > plain["short"]
    assert equal["short"] > equal["middle"] > equal["long"]
    assert equal["short"] - equal["long"] == pytest.approx(0.6, abs=0.3)


def nested(table):
    """The same counts as in LMArena's ``conv_metadata``."""
    records = []
    for row in table.to_dict(orient="records"):
        metadata = {}
        for side in "ab":
            metadata[f"sum_assistant_{side}_tokens"] = row.pop(f"tokens_{side}")
            n_lists = row.pop(f"lists_{side}")
            metadata[f"list_count_{side}"] = {"ordered": 1, "unordered": n_lists}
            metadata[f"header_count_{side}"] = dict.fromkeys(("h1", "h2"), n_lists)
            metadata[f"bold_count_{side}"] = {"**": 0, "__": 0}
        records.append({**row, "conv_metadata": metadata})
    return pd.DataFrame(records)


def test_style_is_read_from_what_lmarenas_files_carry(tmp_path):
    table = battles(n_rows=60)
    found = read(nested(table), tmp_path, "length", "lists", "headings", "bold")
    tokens = table["tokens_a"], table["tokens_b"]
    np.testing.assert_allclose(
        found.table["trait_length"].astype(float),
        np.clip(np.log(tokens[0] / tokens[1]), -1, 1),
    )
    lists = table["lists_a"], table["lists_b"]
    expected = (lists[0] - lists[1]) / (lists[0] + lists[1] + 2)
    np.testing.assert_allclose(found.table["trait_lists"].astype(float), expected)
    assert (found.table["trait_bold"] == 0).all()
    (line,) = [text for text in found.understood if text.startswith("headings")]
    assert "'conv_metadata.header_count_a' and 'conv_metadata.header_count_b'" in line


def test_what_is_counted_is_not_called_unread_and_parts_may_be_paths_with_dots(tmp_path):
    table = nested(battles(n_rows=20))
    tags = [{"math_v0.1": {"math": bool(number % 2)}} for number in range(len(table))]
    path = "category_tag.math_v0.1.math"
    found = read(table.assign(category_tag=tags), tmp_path, "length", further=[path])
    assert list(found.table[path]) == [False, True] * 10
    assert found.skipped.empty


def test_counts_may_be_columns_paths_or_the_answers_themselves(tmp_path):
    table = battles(n_rows=40)
    by_name = read(table, tmp_path, "tokens").table["trait_tokens"]
    by_column = read(table, tmp_path, "tokens_a").table["trait_tokens_a"]
    path = "conv_metadata.sum_assistant_a_tokens"
    by_path = read(nested(table), tmp_path, path).table[f"trait_{path}"]
    assert list(by_name) == list(by_column) == list(by_path)
    difference = (table["tokens_a"] - table["tokens_b"]).astype(float)
    texts = table.assign(
        response_a=["x" * n for n in table["tokens_a"]],
        response_b=["x" * n for n in table["tokens_b"]],
    ).drop(columns=["tokens_a", "tokens_b"])
    counted = read(texts, tmp_path, "length").table["trait_length"].astype(float)
    assert (np.sign(counted) == np.sign(difference)).all()


def test_no_column_of_that_name_and_no_number_are_refused(tmp_path):
    table = battles(n_rows=4)
    with pytest.raises(UsageError, match=r"no columns of 'words'.*tokens_a"):
        read(table, tmp_path, "words")
    with pytest.raises(UsageError, match="'tokens_b' holds many"):
        read(table.assign(tokens_b="many"), tmp_path, "tokens")


def mirrored(table):
    exchanged = {}
    for name in table:
        stem, _, side = name.rpartition("_")
        exchanged[name] = {"a": f"{stem}_b", "b": f"{stem}_a"}.get(side, name)
    other = {"model_a": "model_b", "model_b": "model_a"}
    return table.rename(columns=exchanged).assign(winner=table["winner"].map(other))[list(table)]


def renamed(table):
    return table.replace({"long": "a", "short": "z"})


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (mirrored, {}),
        (renamed, {"a": "long", "z": "short"}),
        (lambda table: table.sample(frac=1, random_state=1), {}),
    ],
)
def test_neither_sides_nor_names_nor_the_order_of_rows_matter(tmp_path, change, names):
    table = battles(n_rows=200)
    expected = by_system(read(table, tmp_path, "tokens").table)
    ratings = by_system(read(change(table), tmp_path, "tokens").table).rename(names)
    np.testing.assert_allclose(ratings.sort_index(), expected, atol=1e-7)


def test_where_sides_are_drawn_counts_go_with_their_systems(tmp_path):
    table = battles(n_rows=300)
    judgments = read(table, tmp_path, "tokens", no_sides=True).table
    a_is_longer = judgments["trait_tokens"].astype(float) > 0
    systems = table.set_index("question_id").loc[judgments["query_id"].astype(str)]
    is_same = systems["model_a"].to_numpy() == judgments["system_a"].to_numpy()
    longer = (systems["tokens_a"] > systems["tokens_b"]).to_numpy()
    assert (np.where(is_same, longer, ~longer) == a_is_longer).all()


def test_fit_rates_a_file_at_equal_counts(run, tmp_path, capsys):
    path = tmp_path / "battles.csv"
    battles().to_csv(path, index=False)
    assert run("fit", path, "--equal", "tokens,lists", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert "equal:tokens+lists" in found["signature"]
    assert [row["trait"] for row in found["biases"]] == ["side", "tokens", "lists"]
    battles().assign(half=["x", "y"] * 300).to_csv(path, index=False)
    assert run("fit", path, "--equal", "tokens", "--by", "half", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert "|equal:tokens|by:half|" in found["signature"]
    assert [row["trait"] for row in found["biases"]] == ["side", "tokens"]
    assert run("fit", path, "--equal", "words") == 2
    assert "--equal" in capsys.readouterr().err


def test_style_is_counted_in_the_texts_of_answers():
    answers = {
        "plain": "one two three",
        "styled": "# Title\n\n- **one**\n- two\n3. three\n\nSnake__case__name and **four**",
    }
    counts = {"lists": 3, "headings": 1, "bold": 2}
    for trait, number in counts.items():
        assert [count_trait(trait, text) for text in answers.values()] == [0, number]
    table = pd.DataFrame(
        {
            "query_id": "q",
            "language": "en",
            "system": list(answers),
            "answer": list(answers.values()),
        }
    )
    row = {"query_id": "q", "language": "en", "system_a": "plain", "system_b": "styled"}
    compared = with_traits(pd.DataFrame([row]), table, list(counts))
    assert compared[[f"trait_{name}" for name in counts]].to_numpy().tolist() == [[-1.0] * 3]
