"""Questions whose answers are least alike by subset2evaluate, all their pairs, share of points."""

from __future__ import annotations

import subset2evaluate.methods
from entry import shares_of_points


def method(arena, ask, budget, seed):
    answers = arena.answers.groupby("query_id")[["system", "answer"]]
    items = []
    for query_id, rows in answers:
        texts = dict(zip(rows["system"], rows["answer"], strict=True))
        items.append({"query_id": query_id, "tgt": texts})
    diversity = subset2evaluate.methods.diversity(items, metric="unigram")
    order = sorted(range(len(items)), key=lambda index: -diversity[index])
    for index in order:
        pairs = ask.pairs[ask.pairs["query_id"] == items[index]["query_id"]]
        for pair in pairs.sample(frac=1, random_state=seed).itertuples():
            if ask.left == 0:
                break
            ask(pair.query_id, pair.system_a, pair.system_b)
    return shares_of_points(ask.verdicts).to_dict()
