"""What boards say, held against their own files: each remark is computed again from these."""

import json
import math
import re

import numpy as np
import pandas as pd
import pytest

from arena.rating.tournaments import bootstrap_tournaments
from surrogate import Board
from surrogate.board.intervals import systems_for_half
from surrogate.board.remarks import MOST_NAMED, board_remarks

LIMITS = ("unseen", "gain", "unjudged")
QUESTION = ["language", "query_id"]


class Files:
    """The files of a board, read without the project's own code."""

    def __init__(self, folder):
        self.board = pd.read_csv(folder / "board.csv", keep_default_na=False, na_values=[""])
        self.overall = pd.read_csv(folder / "overall.csv", keep_default_na=False, na_values=[""])
        self.verdict_ratings = pd.read_csv(folder / "verdict_ratings.csv")
        self.remarks = pd.read_csv(folder / "remarks.csv")
        self.differences = pd.read_csv(folder / "differences.csv")
        self.summary = json.loads((folder / "summary.json").read_text())
        self.report = json.loads((folder / "judge_report.json").read_text())
        self.languages = sorted(self.board["language"].unique())
        arena = folder / self.summary["arena_folder"]
        self.info = json.loads((arena / "arena.json").read_text())
        for name in ("queries", "answers", "judgments"):
            path = arena / f"{name}.jsonl.gz"
            setattr(self, name, pd.read_json(path, lines=True, dtype=False))

    @property
    def comparisons(self):
        """The judge's verdicts, each once."""
        table = self.judgments[self.judgments["judge"] == self.summary["settings"]["judge"]]
        return table[~table.astype(str).duplicated()]

    @property
    def verdicts(self):
        """The judge's verdicts, but for ties between answers of one text."""
        table = self.comparisons
        texts = self.answers.set_index([*QUESTION, "system"])["answer"]
        sides = []
        for side in ("system_a", "system_b"):
            sides.append(texts.loc[pd.MultiIndex.from_frame(table[[*QUESTION, side]])].to_numpy())
        return table[(sides[0] != sides[1]) | (table["winner"] != "tie")]

    def ranked(self, language):
        table = self.board[self.board["language"] == language] if language else self.overall
        return table[table["rank"].notna()].sort_values("rank", kind="stable")

    def leaders(self, language):
        """Systems that no ranked one is better than with a probability over 95%."""
        if not language:
            if len(self.languages) > 1:
                ranked = self.ranked("")
                return list(ranked.loc[ranked["rank_low"] == 1, "system"])
            language = self.languages[0]
        ranked = list(self.ranked(language)["system"])
        pairs = self.differences[self.differences["language"] == language]
        pairs = pairs[pairs["system"].isin(ranked) & (pairs["probability"] > 0.95)]
        return [name for name in ranked if name not in set(pairs["opponent"])]

    def sentences(self, name):
        return self.remarks.loc[self.remarks["name"] == name, "sentence"]

    @property
    def predicted(self):
        is_unjudged = (self.board["split"] == "unjudged") & self.board["rating"].notna()
        return set(self.board.loc[self.board["place"].notna() | is_unjudged, "system"])


def first(files, language):
    leaders = files.leaders(language)
    row = files.ranked(language).iloc[0]
    assert leaders == [row["system"]]
    return leaders, {name: row[name] for name in ("wins", "wins_low", "wins_high")}


def shared(files, language):
    leaders = files.leaders(language)
    assert len(leaders) > 1
    return leaders, {"systems": len(leaders)}


def leads(files, language):
    [leader] = files.leaders("")
    ranked = files.board[files.board["rank"] == 1]
    languages = list(ranked.loc[ranked["system"] == leader, "language"])
    alone = [language for language in languages if files.leaders(language) == [leader]]
    numbers = {"leads": len(languages), "alone": len(alone), "languages": len(files.languages)}
    return [leader], numbers


def count(files, language):
    tables = [files.board, files.queries, files.comparisons]
    rows, queries, comparisons = [
        table[table["language"] == language] if language else table for table in tables
    ]
    counts = {"systems": rows["system"].nunique(), "languages": rows["language"].nunique()}
    return [], counts | {"questions": len(queries), "comparisons": len(comparisons)}


def judged_by(files, language):
    """A judge that is a system names itself; one of a family begins as its systems do."""
    judge = files.summary["settings"]["judge"]
    systems = list(files.board["system"].unique())
    named = [name for name in systems if name == judge]
    if not named:
        named = [name for name in systems if name[:4].lower() == judge[:4].lower()]
    ranks = files.overall.set_index("system")["rank"]
    named.sort(key=lambda name: ranks[name])
    assert (judge in systems) == files.sentences("judged by").iloc[0].endswith("one of the systems")
    return named, {"others": len(named) - 1, "systems": len(named)}


def openness(files, language):
    n_open = sum(len(files.leaders(code)) > 1 for code in files.languages)
    return [], {"open": n_open, "languages": len(files.languages)}


def decided(files, language):
    assert openness(files, language)[1]["open"] == 0
    shares = [place["dropped"] / place["verdicts"] for place in files.report["first_places"]]
    assert min(shares, default=1) >= 0.005
    return [], {}


def hangs(files, language):
    place = min(files.report["first_places"], key=lambda one: one["dropped"] / one["verdicts"])
    numbers = {name: place[name] for name in ("dropped", "verdicts")}
    assert numbers["dropped"] / numbers["verdicts"] < 0.005
    return [place["first"], place["successor"]], numbers


def predicted(files, language):
    return sorted(files.predicted), {"systems": len(files.predicted)}


def standing(files, language, system):
    row = files.overall.set_index("system").loc[system]
    bounds = ("rank_low", "rank_high") if pd.notna(row["rank"]) else ("place_low", "place_high")
    numbers = {name: row[name] for name in ("wins", "wins_low", "wins_high", *bounds)}
    return [system], numbers | {"systems": int(files.overall["rank"].notna().sum())}


def coverage(files, language):
    parts = files.summary["languages"].values()
    tested = [part for part in parts if part["coverage_unseen"] is not None]
    weights = [part["systems_judged"] for part in tested]
    assert files.predicted
    share = np.average([part["coverage_unseen"] for part in tested], weights=weights)
    return [], {"coverage_unseen": share}


def untested(files, language):
    parts = files.summary["languages"].values()
    assert all(part["coverage_unseen"] is None for part in parts)
    return [], {}


def of_judge(files, language):
    assert files.report["label"]["grade"]
    return [], {}


def length(files, language):
    """At equal length a rating is as much higher or lower as the sentence says."""
    moves = files.verdict_ratings["at_equal_length"] - files.verdict_ratings["rating"]
    if len(files.languages) == 1:
        sentence = next(text for text in files.sentences("length"))
        for system, move in zip(files.verdict_ratings["system"], moves, strict=True):
            found = re.search(rf"{re.escape(system)} (\d\.\d\d) (higher|lower)", sentence)
            if found:
                shown = float(found[1]) * (1 if found[2] == "higher" else -1)
                assert shown == pytest.approx(move, abs=0.0051)
    assert moves.notna().any()
    return [], {}


def judge_test(files, name):
    [test] = [one for one in files.report["label"]["tests"] if name == f"{one['name']} test"]
    return {key: test[key] for key in ("statistic", "low", "high")}


def ties(files, language):
    winners = files.verdicts["winner"]
    share = winners.eq("tie").mean()
    return [], {"ties": winners.eq("tie").sum(), "verdicts": len(winners), "share": share}


def flips(files, language):
    """Pairs of which most verdicts in one order are for one system, in the other for the other."""
    verdicts = files.verdicts
    if "sides" in verdicts:
        verdicts = verdicts[verdicts["sides"] != "none"]
    is_turned = verdicts["system_a"] > verdicts["system_b"]
    points = verdicts["winner"].map({"a": 1, "b": -1, "tie": 0})
    pairs = [" ".join(sorted(pair)) for pair in verdicts[["system_a", "system_b"]].to_numpy()]
    table = verdicts.assign(pair=pairs, turned=is_turned, points=points.mask(is_turned, -points))
    orders = table.groupby([*QUESTION, "pair", "turned"])["points"].sum().unstack()
    orders = orders.reindex(columns=[False, True]).dropna()
    if orders.empty:
        return [], {}
    n_flips = int((orders[False] * orders[True] < 0).sum())
    counts = {"flips": n_flips, "pairs": len(orders), "share": n_flips / len(orders)}
    return [], counts | judge_test(files, "flips test")


def skipped(files, language):
    judged = files.judgments[files.judgments["judge"] == files.summary["settings"]["judge"]]
    n_judged = len(judged[QUESTION].drop_duplicates())
    return [], {"questions": len(files.queries) - n_judged, "ties": 0}


def same_answers(files, language):
    rows = files.answers[files.answers["language"] == language]
    texts = rows["answer"].str.split().str.join(" ")
    counts = texts.groupby(rows["system"]).agg(lambda column: column.value_counts().iloc[0])
    return [], {"answers": rows.groupby("system").size().max(), **counts.to_dict()}


def interval(files, language):
    """The share of ranks that the summary's half-width spans among ratings by the verdicts."""
    found = files.summary["languages"][language]["interval"]
    drawn = ("tournaments", "questions", "ties", "ridge", "seed")
    options = {name: files.summary["settings"][name] for name in drawn}
    verdicts = files.comparisons[files.comparisons["language"] == language]
    drawn_ratings = bootstrap_tournaments(verdicts, **options)
    # Predictions of the system whose answers are the references are not tested.
    is_tested = np.array(drawn_ratings.systems) != files.info["reference_system"]
    ratings = drawn_ratings.mean_coefficients[is_tested]
    width = found["half_width"] / ratings.std(ddof=1)
    n_needed = systems_for_half(width, len(ratings), found["residuals"])
    # Two normal values differ by less than h with a probability of 2 Φ(h / √2) - 1.
    return [], {"judged": len(ratings), "share": math.erf(width / 2), "needed": n_needed}


def failures(files, language):
    assert files.report["failures"] is None
    return [], {}


def fragile(files, language):
    languages = [language] if language else files.languages
    [place] = [one for one in files.report["first_places"] if one["language"] in languages]
    numbers = {name: place[name] for name in ("dropped", "verdicts")}
    share = {"share": place["dropped"] / place["verdicts"]}
    return [place["first"], place["successor"]], numbers | share


def unreliable(files, language):
    assert files.report["label"]["grade"] == "unreliable"
    return [], {}


def caution(files, language):
    scores = files.summary["languages"][language] if language else files.summary["macro"]
    numbers = {"tau_unseen": scores["tau_unseen"]}
    if scores["split_half"] is not None:
        numbers["gain"] = scores["split_half"] - scores["split_half_verdicts"]
    return [], {name: number for name, number in numbers.items() if number is not None}


AGAIN = {
    "first": first,
    "shared": shared,
    "leads": leads,
    "count": count,
    "judged by": judged_by,
    "ties test": ties,
    "flips test": flips,
    "failures": failures,
    "skipped": skipped,
    "same answers": same_answers,
    "interval": interval,
    "open": openness,
    "decided": decided,
    "hangs": hangs,
    "predicted": predicted,
    "held": coverage,
    "unheld": coverage,
    "untested": untested,
    "judge": of_judge,
    "people": of_judge,
    "unreliable": unreliable,
    "length": length,
    "fragile": fragile,
    **dict.fromkeys(LIMITS, caution),
}
"""Name of a remark to what computes its systems and numbers again."""


def assert_shares(sentence, test):
    """A share and its interval are the test's, of either of two answers."""
    for texts in re.findall(r"(\d+)% \(95% interval (\d+)% to (\d+)%\)", sentence):
        shown = sorted(int(text) for text in texts)
        shares = [test[key] for key in ("low", "statistic", "high")]
        of_other = [1 - share for share in reversed(shares)]
        assert shown in [[round(100 * share) for share in these] for these in (shares, of_other)]


TESTS = [f"{name} test" for name in ("length", "side", "people", "circles", "repeats")]


@pytest.mark.slow
def test_every_remark_is_computed_again_from_the_files_of_the_board(real_board_folder):
    files = Files(real_board_folder)
    table = pd.read_csv(
        real_board_folder / "remarks.csv", keep_default_na=False, na_values={"statistic": ""}
    )
    assert len(table)
    for row in table.to_dict("records"):
        name, named = row["name"], json.loads(row["systems"])
        if name in ("standing", "outlook"):
            systems, expected = standing(files, row["subject"], *named)
        elif name in TESTS:
            systems, expected = [], judge_test(files, name)
            assert row["statistic"] == pytest.approx(expected["statistic"])
            assert_shares(row["sentence"], expected)
        else:
            systems, expected = AGAIN[name](files, row["subject"])
        assert (sorted(named) if name == "predicted" else named) == systems, row
        if pd.notna(row["statistic"]):
            numbers = list(expected.values())
            assert any(row["statistic"] == pytest.approx(number, abs=1e-6) for number in numbers)
        if name in ("judge", "people", "length", *TESTS, *LIMITS):
            continue
        # Every number of a sentence is one of these, or in a name.
        text = row["sentence"]
        names = {*files.board["system"], files.summary["settings"]["judge"]}
        for system in sorted(names, key=len, reverse=True):
            text = text.replace(system, "")
        shown = {float(number) for number in re.findall(r"\d+(?:\.\d+)?", text.replace(",", ""))}
        values = {*expected.values(), *(100 * value for value in expected.values()), 90, 95, 100}
        values |= {len(named), len(named) - MOST_NAMED}
        for number in shown:
            assert any(abs(number - value) <= 0.51 for value in values), (number, row)


@pytest.mark.slow
def test_a_board_that_was_read_says_what_it_wrote(real_board_folder):
    written = pd.read_csv(real_board_folder / "remarks.csv", keep_default_na=False)
    sentences = [remark.sentence for remark in board_remarks(Board.load(real_board_folder))]
    assert sentences == written["sentence"].tolist()
