"""What a board says of its judge: golden counts, and what an arena's folder knows of it."""

from dataclasses import replace

import pandas as pd

from arena.judging import panel_verdicts
from surrogate.board.judge_report import JudgingRecords, report_judge


def test_a_report_on_a_panel_states_how_much_its_members_tell(small_arena):
    one, two, three = small_arena.info.systems[:3]
    rows = []
    for number, query_id in enumerate(small_arena.queries["query_id"][:6]):
        for side_a, side_b in ((one, two), (one, three), (two, three)):
            rows.append((query_id, side_a, side_b, "a", "sure"))
            rows.append((query_id, side_a, side_b, "ab"[number % 2], "unsure"))
    columns = ["query_id", "system_a", "system_b", "winner", "judge"]
    judgments = pd.DataFrame(rows, columns=columns).assign(language="en")
    panel = panel_verdicts(judgments, ["unsure", "sure"]).judgments
    arena = replace(small_arena, judgments=pd.concat([judgments, panel], ignore_index=True))
    report = report_judge(arena, "panel(majority)", {}, JudgingRecords())
    assert [member.judge for member in report.members] == ["sure", "unsure"]
    first, second = report.members
    assert first.discrimination > 1 > second.discrimination
    (sentence,) = report.member_sentences
    assert f"sure {first.discrimination:.2f} ({first.low:.2f} to {first.high:.2f})" in sentence
    assert report_judge(arena, "sure", {}, JudgingRecords()).members == ()
