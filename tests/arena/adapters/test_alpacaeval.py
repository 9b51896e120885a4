"""AlpacaEval's result folders: outputs, preferences, the leaderboard."""

import json

import numpy as np
import pytest

from arena import DataError, UsageError, import_arena

JUDGE = "weighted_alpaca_eval_gpt4_turbo"
REFERENCE = "gpt4_1106_preview"
BOARD = (
    ",win_rate,standard_error,n_total,mode,length_controlled_winrate,lc_standard_error\n"
    "m1,75.0,2.0,805,community,60.0,0.5\n"
    "elsewhere,20.0,1.0,805,verified,25.0,\n"
)


def preference(instruction, value, system="m1", first=REFERENCE):
    return {
        "instruction": instruction,
        "output_1": f"reference on {instruction}",
        "generator_1": first,
        "dataset": "koala",
        "output_2": f"{system} on {instruction}",
        "generator_2": f"{system} as it calls itself",
        "annotator": JUDGE,
        "preference": value,
        "price_per_example": None,
    }


@pytest.fixture
def clone(tmp_path):
    def write(path, content):
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        target.write_text(text, encoding="utf-8")

    def outputs(system, *instructions):
        return [
            {"instruction": asked, "output": f"{system} on {asked}", "generator": system}
            for asked in instructions
        ]

    write("results/m1/model_outputs.json", outputs("m1", "q1", "q2", "q3", "q1"))
    write("results/m2/model_outputs.json", outputs("m2", "q1", "q2"))
    verdicts = [
        preference("q1", 1.02),
        preference("q2", 1.98),
        preference("q3", 1.5),
        preference("q4", 1.1),
        preference("q1", None),
    ]
    write(f"results/m1/{JUDGE}/annotations.json", verdicts)
    write("results/m1/claude/annotations.json", verdicts)
    write(f"src/leaderboards/{JUDGE}_leaderboard.csv", BOARD)
    write(f"old/{JUDGE}_leaderboard.csv", BOARD.rsplit("\n", 2)[0] + "\n")
    write(".git/model_outputs.json", "no JSON")
    return tmp_path


def test_outputs_preferences_and_win_rates(clone):
    read = import_arena("alpacaeval", [clone])
    arena = read.arena
    assert arena.info.systems == (REFERENCE, "m1", "m2")
    assert arena.info.reference_system == REFERENCE
    assert sorted(arena.queries["query"]) == ["q1", "q2", "q3"]
    asked = dict(zip(arena.queries["query_id"], arena.queries["query"], strict=True))
    won = {asked[row.query_id]: row.winner for row in arena.judgments.itertuples()}
    assert won == {"q1": "a", "q2": "b", "q3": "tie"}
    assert set(arena.judgments["system_b"]) == {"m1"}
    answers = arena.answers.set_index(["system", arena.answers["query_id"].map(asked)])["answer"]
    assert answers[REFERENCE, "q2"] == "reference on q2"
    assert len(answers) == 3 + 3 + 2


def test_the_leaderboard_becomes_published_ratings_in_logits(clone):
    published = import_arena("alpacaeval", [clone]).arena.published_ratings
    rated = published.set_index(["judge", "system"])
    assert rated.loc[("published", "m1"), "rating"] == pytest.approx(np.log(3))
    error = rated.loc[("published", "m1"), "standard_error"]
    assert error == pytest.approx(0.02 / (0.75 * 0.25))
    controlled = rated.loc["published:length_controlled_winrate"]
    assert controlled.loc["elsewhere", "rating"] == pytest.approx(np.log(1 / 3))
    assert controlled.loc["m1", "standard_error"] == pytest.approx(0.005 / 0.24)


def test_what_is_left_out_is_counted(clone):
    skipped = import_arena("alpacaeval", [clone / "results", clone / "src", clone / "old"]).skipped
    reasons = dict(zip(skipped["reason"], skipped["count"], strict=True))
    assert reasons["the instruction stands in the file before"] == 1
    assert reasons["the system has no output to the instruction"] == 1
    assert reasons["its preference is null, or not from 1 to 2"] == 1
    assert reasons[f"it holds no verdicts of {JUDGE}"] == 1
    assert reasons["another leaderboard has more systems"] == 1
    assert reasons["'mode' is no rating"] == 1


def test_faults_name_file_item_and_field(clone):
    path = clone / "results" / "m1" / "model_outputs.json"
    path.write_text('[{"instruction": "", "output": "x"}, 3]')
    with pytest.raises(DataError) as caught:
        import_arena("alpacaeval", [clone])
    found = "\n".join(map(str, caught.value.problems))
    assert "results/m1/model_outputs.json:1: instruction = ''" in found
    assert "results/m1/model_outputs.json:2: is a JSON number, not an object" in found
    path.write_text('{"a": 1}')
    with pytest.raises(DataError, match="holds a JSON object, not an array"):
        import_arena("alpacaeval", [clone])


def test_a_folder_without_outputs_is_refused(tmp_path):
    (tmp_path / "notes.json").write_text("[]")
    with pytest.raises(UsageError, match=r"there is no model_outputs\.json in"):
        import_arena("alpacaeval", [tmp_path])
