"""Rankings of several systems in a row: battles of every two, one cluster; Plackett and Luce."""

import itertools

import choix
import numpy as np
import pandas as pd
import pytest

from arena.rating.ratings import rate
from surrogate_arena.importers.judgments import counted_judgments_of

NAMES = np.array(["s0", "s1", "s2", "s3", "s4", "s5"])
STRENGTHS = np.array([1.0, 0.6, 0.2, -0.2, -0.6, -1.0])


def rankings(n_rows, n_ranked=4, seed=0):
    """Rankings by the model of Plackett and Luce: items of ``NAMES``, the best first."""
    random = np.random.default_rng(seed)
    rows = []
    for _ in range(n_rows):
        items = random.choice(len(NAMES), n_ranked, replace=False)
        # Gumbel noise: the order of the sums is a ranking by these strengths (Yellott, 1977).
        rows.append(items[np.argsort(-(STRENGTHS[items] + random.gumbel(size=n_ranked)))])
    return np.array(rows)


def wide(orders, seed=1):
    """Write them as WMT does: systems in any order, each with its rank."""
    random = np.random.default_rng(seed)
    rows = []
    for order in orders:
        places = random.permutation(len(order))
        row = {f"system{n}Id": NAMES[order[place]] for n, place in enumerate(places, start=1)}
        row |= {f"system{n}rank": int(place) + 1 for n, place in enumerate(places, start=1)}
        rows.append(row)
    return pd.DataFrame(rows)


def read(table, tmp_path, **options):
    path = tmp_path / "rankings.csv"
    table.to_csv(path, index=False)
    return counted_judgments_of(path, **options)


def by_system(judgments, **options):
    return rate(judgments, **options).table.set_index("system")["rating"].sort_index()


def won(judgments):
    """Winner, loser and whether it is a tie, whatever the sides."""
    rows = []
    for row in judgments.astype(str).itertuples():
        sides = (row.system_a, row.system_b)
        order = sides if row.winner == "a" else sides[::-1]
        rows.append((*sorted(sides), "tie") if row.winner == "tie" else (*order, "won"))
    return sorted(rows)


def test_ratings_by_pairs_are_close_to_the_strengths_of_plackett_and_luce(tmp_path):
    orders = rankings(800)
    ours = by_system(read(wide(orders), tmp_path).table, ridge=0.0, rounds=0)
    theirs = choix.ilsr_rankings(len(NAMES), [tuple(order) for order in orders], max_iter=20)
    np.testing.assert_allclose(ours, theirs - theirs.mean(), atol=0.1)
    np.testing.assert_allclose(ours, STRENGTHS, atol=0.15)


def test_the_pairs_of_one_ranking_are_one_cluster(tmp_path):
    """Errors are those of a bootstrap over rankings, and larger than of pairs on their own."""
    judgments = read(wide(rankings(150)), tmp_path).table

    def errors(table, **options):
        rated = rate(table, **options).table.set_index("system").sort_index()
        return ((rated["high"] - rated["low"]) / (2 * 1.96)).to_numpy()

    assert judgments["query_id"].nunique() == 150
    clustered = errors(judgments)
    bootstrapped = errors(judgments, ridge=0.0, rounds=400)
    assert np.mean(clustered / bootstrapped) == pytest.approx(1.0, abs=0.1)
    assert np.mean(clustered / errors(judgments.drop(columns="query_id"))) > 1.1


def test_ties_and_missing_ranks_are_read(tmp_path):
    columns = {f"model_{n}": [name, name] for n, name in enumerate("xyz", start=1)}
    columns |= {"rank_1": [1, 2], "rank_2": [None, 3], "rank_3": [1, 1], "voter": ["v", "w"]}
    found = read(pd.DataFrame(columns), tmp_path)
    expected = [("x", "z", "tie"), ("x", "y", "won"), ("z", "x", "won"), ("z", "y", "won")]
    assert won(found.table) == sorted(expected)
    assert set(found.table["voter"]) == {"v", "w"}
    assert "2 rankings" in found.understood[0]


def test_neither_names_nor_the_order_of_columns_or_rows_change_ratings(tmp_path):
    table = wide(rankings(60))
    expected = by_system(read(table, tmp_path).table)
    shuffled = table.sample(frac=1, random_state=1)
    reversed_columns = table[table.columns[::-1]]
    names = {"s0": "z", "s5": "b"}
    renamed = table.replace(names)
    back = {new: old for old, new in names.items()}
    for changed, old_names in ((shuffled, {}), (reversed_columns, {}), (renamed, back)):
        found = by_system(read(changed, tmp_path).table).rename(old_names)
        np.testing.assert_allclose(found.sort_index(), expected, atol=1e-6)


def test_a_stated_question_is_the_cluster(tmp_path):
    table = wide(rankings(40)).assign(item=list(itertools.islice(itertools.cycle("pq"), 40)))
    stated = read(table, tmp_path, columns={"query_id": "item"}).table
    assert set(stated["query_id"]) == {"p", "q"}


def test_rankings_of_wmt_and_orders_of_languages_are_read_as_the_cases_state(case):
    read_rankings = counted_judgments_of(case("arena", "12_five_ranks_wide.csv"))
    assert len(read_rankings.table) == 300
    assert read_rankings.table["query_id"].nunique() == 30
    languages = counted_judgments_of(case("arena", "10_simpson_languages.csv")).table
    notes = rate(languages, language="all").notes
    assert any(note.startswith("x is ahead of y over all languages") for note in notes)
