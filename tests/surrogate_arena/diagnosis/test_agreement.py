"""What is said of judges beside kappa."""

import pandas as pd
import pytest
from people_votes import arena_of

from arena.data.errors import UsageError
from arena.quality.people_agreement import agreement_with_people
from surrogate_arena.diagnosis.agreement import agreement_with_one_vote, agreement_with_reference


def test_the_table_of_single_votes_has_the_kappas_of_the_label():
    judgments = arena_of(judge_right=0.6, person_right=0.85)
    other = judgments[judgments["judge"] == "j"].assign(judge="k")
    people = [name for name in judgments["judge"].unique() if name != "j"]
    table = agreement_with_one_vote(pd.concat([judgments, other]), people)
    among = agreement_with_people(judgments, ["j"]).among_people
    assert table["judge"].tolist() == ["j", "k"]
    assert table["kappa"].to_numpy() == pytest.approx(among.judge_kappa)
    assert table["kappa_of_people"].to_numpy() == pytest.approx(among.kappa)
    assert (table["high"] < 0).all()  # people agree more with each other than with either judge
    assert table["difference"].to_numpy() == pytest.approx(among.judge_kappa - among.kappa)
    with_one_person = judgments[judgments["judge"].isin(["j", people[0]])]
    assert agreement_with_one_vote(with_one_person, people[:1]).empty


def test_people_alone_have_nobody_to_be_compared_with():
    judgments = arena_of(judge_right=0.6, person_right=0.85)
    by_people = judgments[judgments["judge"] != "j"]
    with pytest.raises(UsageError, match="there is nothing to compare"):
        agreement_with_reference(by_people, by_people["judge"].unique())
