"""MEMERAG's files: what is read, and what is said of damaged ones."""

import pytest
from memerag_samples import answered, labeled, lines_of

from arena import DataError
from surrogate_arena.papers.memerag.label_spread import label_distributions
from surrogate_arena.papers.memerag.sentences import read_memerag

GENERAL = {  # table 1: questions, sentences, words an answer, words a context
    "en": (250, 400, 30.3, 613.5),
    "de": (250, 468, 27.3, 455.0),
    "es": (250, 563, 52.1, 522.3),
    "fr": (250, 540, 48.7, 478.3),
    "hi": (250, 351, 23.8, 571.5),
}
FACTUALITY = {  # table 3; the French row is unreadable in the text at hand but for one figure
    "en": (65.2, 31.5, 3.2),
    "de": (71.2, 26.7, 2.1),
    "es": (65.7, 32.9, 1.4),
    "hi": (73.8, 25.6, 0.6),
}
RELEVANCE = {
    "en": (65.2, 32.5, 2.2),
    "de": (61.3, 26.5, 12.2),
    "es": (48.8, 43.9, 7.3),
    "hi": (68.9, 21.4, 9.7),
}
FINE_GRAINED = {  # table 4
    "Direct paraphrase": (8.5, 41.7, 25.0, 33.7, 40.7),
    "Logical conclusion": (41.2, 28.2, 30.4, 28.0, 5.7),
    "Other": (15.5, 1.3, 10.3, 0.4, 27.4),
    "Adds new information": (7.0, 9.6, 16.0, 15.0, 14.8),
    "Contradiction": (4.5, 11.3, 8.3, 5.9, 7.1),
    "Mis-referencing": (1.5, 3.0, 2.3, 3.7, 0.3),
    "Nuance shift": (6.8, 0.6, 4.3, 5.6, 1.7),
    "Opinion as fact": (0.5, 0.6, 0.2, 2.2, 0.3),
    "Wrong reasoning": (10.0, 0.6, 1.4, 1.9, 0.3),
    "Other mistake": (1.2, 0.9, 0.4, 3.5, 1.1),
    "Challenging to determine": (3.2, 2.1, 1.4, 0.2, 0.6),
}


def shown(values):
    return [f"{value:.1f}" for value in values]


def test_tables_1_3_and_4_of_the_paper(memerag_sentences):
    found = label_distributions(memerag_sentences)
    general = found["general"].set_index("language")
    for language, (questions, sentences, *words) in GENERAL.items():
        row = general.loc[language]
        assert (row["questions"], row["sentences"]) == (questions, sentences)
        assert shown(row[["answer_words", "context_words"]]) == shown(words)
    factuality = found["factuality"].set_index("language")
    relevance = found["relevance"].set_index("language")
    for language, percentages in FACTUALITY.items():
        assert shown(factuality.loc[language]) == shown(percentages)
        assert shown(relevance.loc[language]) == shown(RELEVANCE[language])
    assert shown(relevance.loc["fr"])[0] == "63.3"
    fine = found["fine_grained"].set_index("language").loc[list(GENERAL)]
    assert list(fine.columns) == list(FINE_GRAINED)
    for label, percentages in FINE_GRAINED.items():
        assert shown(fine[label]) == shown(percentages), label
    assert found["general"]["sentences"].sum() == 2322


def test_reads_labels_ids_and_whole_answers(small_sentences):
    assert list(small_sentences["language"]) == ["de", "de", "de", "en", "en", "en"]
    assert list(small_sentences["query_id"]) == ["q1", "q1", "q1", "34", "34", "q2"]
    first = small_sentences.iloc[0]
    assert first["factuality"] == "Supported"
    assert first["passages"] == ("Paris is in France.", "Oslo.")
    assert first["answer"] == "Paris liegt in Frankreich. Oslo ist groß & <schön>. Ja."
    shares = label_distributions(small_sentences)["factuality"].set_index("language")
    assert shares.loc["en", "Challenging to determine"] == pytest.approx(100 / 3)


def drop(name):
    return lambda record: record.pop(name)


def put(name, value):
    return lambda record: record.__setitem__(name, value)


def put_first(name, value):
    return lambda record: record["answer"][0].__setitem__(name, value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (drop("query"), r"en\.jsonl: has no query but"),
        (put("query_id", 1.5), r"query_id = 1.5"),
        (put("context", [{"text": ""}]), r"context.0.text = '': is empty"),
        (put("answer", []), r"en\.jsonl:1: answer = \[\]"),
        (put_first("factuality", None), r"answer.0.factuality = None: is missing"),
        (put_first("factuality", "Unsupported"), r"answer.0.factuality = 'Unsupported'"),
        (put_first("factuality", [None, None]), r"holds no label"),
    ],
)
def test_every_fault_is_told_with_place_and_hint(tmp_path, change, message):
    record = answered("q", labeled("Paris.", "Supported", "Other"))
    change(record)
    (tmp_path / "en.jsonl").write_text(lines_of(record))
    with pytest.raises(DataError, match=message):
        read_memerag(tmp_path)


def test_of_the_labels_of_several_people_the_first_with_most_votes_counts(tmp_path):
    yes, no, hard = "Supported", "Not Supported", "Challenging to determine"
    direct, other = "Direct paraphrase", "Other mistake"
    votes = [
        ([yes, yes, no, yes, no], [direct, "Other", other, direct, other]),
        ([yes, no, hard, no, yes], [direct, other, None, other, direct]),  # two against two
        ([yes, yes, yes, no, no], [direct, "Other", None, other, other]),  # as many of each
        ([hard, hard, hard, yes, yes], [None, None, None, direct, direct]),
        ([" supported "], ["direct paraphrase"]),
    ]
    rated = [
        labeled(f"S{number}.", coarse, fine, [None], number)
        for number, (coarse, fine) in enumerate(votes)
    ]
    (tmp_path / "en.jsonl").write_text(lines_of(answered("q", *rated)))
    found = read_memerag(tmp_path).fillna("none")
    assert found["factuality"].tolist() == [yes, yes, yes, hard, yes]
    assert found["fine_grained_factuality"].tolist() == [direct, direct, direct, "none", direct]
    assert set(found["relevance"]) == {"none"}


def test_problems_of_all_lines_and_files_come_together(tmp_path):
    twice = labeled("a", "Supported"), labeled("b", "Supported")
    good = answered("q", labeled("Paris.", "Supported"))
    (tmp_path / "en.jsonl").write_text("{broken\n" + lines_of(answered("r", *twice), good, good))
    (tmp_path / "de.jsonl").write_text("")
    with pytest.raises(DataError) as caught:
        read_memerag(tmp_path)
    text = str(caught.value)
    assert "de.jsonl: holds nothing" in text
    assert "en.jsonl:1: is not JSON" in text
    assert "en.jsonl:2: answer.sentence_id = [0, 0]: holds one twice" in text
    assert "en.jsonl:4: query_id = 'q': is already on line 3" in text
