"""FaithJudge's clone: sources, judged answers, and judgments made of single verdicts."""

import json
from collections import Counter

import pandas as pd
import pytest

from arena import DataError, UsageError, import_arena
from arena.adapters.records.collected import judgments_of_marks

QA = {
    "source_id": 14300,
    "source": {
        "question": "how are they paid\n",
        "passages": "passage 1:By the hour.\n\npassage 2:By passage 1: as it says.\n\n",
    },
    "responses": [],
}
SUMMARY = {"source_id": "7", "source": " A film. ", "summaries": []}
UNANSWERED = {"source_id": "8", "source": "A book.", "summaries": []}


def verdict(system, task, source_id, label):
    text = f"{system} on {source_id}"
    record = {"task": task, "source_id": source_id, "candidate_text": text}
    return record | {"prompt": "…", "evaluation_response": "…", "classification": label}


def write(path, *records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


@pytest.fixture
def clone(tmp_path):
    write(tmp_path / "eval_data" / "ragtruth_qa.jsonl", QA)
    write(tmp_path / "eval_data" / "faithbench_summary.jsonl", SUMMARY, UNANSWERED)
    write(tmp_path / "eval_data" / "other.jsonl", QA)
    labels = {"m1": "Consistent", "m2": "Inconsistent", "m3": "Consistent", "m4": "Invalid"}
    for system, label in labels.items():
        folder = tmp_path / "eval_results" / "org" / system
        prefix = "o3-mini_" if system == "m1" else ""
        ending = "_hallucination_eval.txt"
        write(
            folder / f"{prefix}ragtruth-qa{ending}", verdict(system, "ragtruth-qa", "14300", label)
        )
        asked = [verdict(system, "faithbench-summary", number, label) for number in ("7", "9")]
        write(folder / f"faithbench-summary{ending}", *asked)
    return tmp_path


def test_sources_answers_and_judgments(clone):
    arena = import_arena("faithjudge", [clone]).arena
    queries = arena.queries.set_index("query_id")
    qa = queries.loc["ragtruth-qa:14300"]
    assert qa["query"] == "how are they paid"
    assert [(item["passage_id"], item["text"]) for item in qa["passages"]] == [
        ("1", "By the hour."),
        ("2", "By"),  # "passage 1:" stands there again
    ]
    assert queries.loc["faithbench-summary:7", "passages"][0]["text"] == "A film."
    assert arena.info.systems == ("org/m1", "org/m2", "org/m3", "org/m4")
    assert len(arena.answers) == 8
    judged = arena.judgments
    assert set(judged["judge"]) == {"faithjudge-o3-mini"}
    won = Counter()
    for row in judged.itertuples():
        sides = sorted([row.system_a, row.system_b])
        winner = {"a": row.system_a, "b": row.system_b}.get(row.winner, "tie")
        won[(*sides, winner)] += 1
    assert won == {
        ("org/m1", "org/m2", "org/m1"): 2,
        ("org/m1", "org/m3", "tie"): 2,
        ("org/m2", "org/m3", "org/m3"): 2,
    }


def test_what_is_left_out_is_counted(clone):
    skipped = import_arena("faithjudge", [clone]).skipped
    reasons = skipped.groupby("reason")["count"].sum().to_dict()
    assert reasons["no system answered it"] == 1
    assert reasons["its source is not there"] == 4
    assert reasons["its classification is 'Invalid'"] == 2
    assert sum(count for reason, count in reasons.items() if "none of the tasks" in reason) == 1


def test_pairs_can_be_fewer(clone):
    assert len(import_arena("faithjudge", [clone], most_pairs=2).arena.judgments) == 4


def test_faults_name_the_place(clone):
    write(clone / "eval_data" / "ragtruth_qa.jsonl", {"source_id": 1, "source": "text"})
    with pytest.raises(DataError, match=r"eval_data/ragtruth_qa.jsonl:1: source = 'text': is no"):
        import_arena("faithjudge", [clone])
    with pytest.raises(UsageError, match=r"there is no eval_data/TASK\.jsonl in"):
        import_arena("faithjudge", [clone / "eval_results"])


def test_sides_are_drawn_evenly_and_do_not_depend_on_order():
    marks = pd.DataFrame(
        [
            {"language": "en", "query_id": f"q{q}", "system": f"s{s}", "judge": "j", "mark": s}
            for q in range(60)
            for s in range(5)
        ]
    )
    made = judgments_of_marks(marks)
    assert len(made) == 60 * 10
    assert 0.42 < (made["winner"] == "a").mean() < 0.58
    better = made["system_a"].where(made["winner"] == "a", made["system_b"])
    worse = made["system_b"].where(made["winner"] == "a", made["system_a"])
    assert (better > worse).all()
    again = judgments_of_marks(marks.sample(frac=1, random_state=0))
    pd.testing.assert_frame_equal(made, again)
