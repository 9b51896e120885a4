"""Small files in the schemas in which others publish, for the fuzzing of what reads them."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from arena import import_arena
from surrogate_arena.importers.imports import Reader
from surrogate_arena.papers import read_memerag_answers, read_mirage
from surrogate_arena.papers.grouse.metrics import JUDGED_METRICS
from surrogate_arena.papers.grouse.unit_tests import read_unit_tests
from surrogate_arena.papers.memerag.sentences import read_memerag
from surrogate_arena.papers.wikieval.pairs import read_wikieval

Readers = tuple[Callable[[Path], object], ...]
"""What reads a folder: as judged by people, or as an arena."""


def _lines(*records: object) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def _labeled(number: int, factuality: object) -> dict[str, object]:
    return {
        "sentence_id": number,
        "sentence": f"Oslo is in Norway, says {number}.",
        "factuality": factuality,
        "fine_grained_factuality": None,
        "relevance": "Directly answers the question",
        "comments": "",
    }


def _answered(query_id: str) -> dict[str, object]:
    labels = ("Supported", "Not Supported", ["Supported", "Supported", "Not Supported"])
    return {
        "query_id": query_id,
        "query": "Where is Oslo?",
        "context": [{"text": "Oslo is the capital of Norway."}, {"text": "Bergen."}],
        "answer": [_labeled(number, label) for number, label in enumerate(labels)],
    }


MEMERAG = {"en.jsonl": _lines(_answered("q1"), _answered("q2")), "de.jsonl": _lines(_answered("q"))}

_CONTEXT, _ANSWER = "Oslo is in Norway. 720,000 people live there.", "It is in Norway."
WIKIEVAL = {
    "data/train.jsonl": _lines(
        {
            "question": "Where is Oslo?",
            "answer": _ANSWER,
            "ungrounded_answer": "In Sweden.",
            "poor_answer": "Oslo is nice.",
            "context_v1": [_CONTEXT],
            "context_v2": [_CONTEXT + " Fish is sold."],
            "source": "Oslo",
        }
    )
}
GROUSE = {
    "unit_tests.jsonl": _lines(
        *(
            {
                "input": "Why?",
                "actual_output": answer,
                "expected_output": "No document answers.",
                "references": ["A & B", "C"],
                "metadata": {"test_type": test_type},
                "conditions": {f"{metric}_condition": "==None" for metric in JUDGED_METRICS},
            }
            for answer, test_type in (
                ("No document answers.", "Highest marks 2"),
                ("Because [1].", "Highest marks 1"),
            )
        )
    )
}

_PROMPT = "Question: Where?\n\nContexts:\n[1#0] Oslo.\n[1#1] Bergen.\n\nInstruction: Answer."
_SCORES = ("language_detection", "answer_bleu", "answer_rougeL")
MIRAGE = {
    "prompts/en/dev.jsonl": _lines(
        {"query_id": "q", "prompt": _PROMPT, "positive_ids": ["1#0"], "negative_ids": ["1#1"]}
    ),
    "outputs/en/dev.jsonl": _lines(
        {
            "query_id": "q",
            "outputs": [
                {"model": "one", "output": "In Oslo [1#0]."},
                {"model": "two", "output": "No."},
            ],
            **{name: {"one": 0.5, "two": 0.1} for name in _SCORES},
        }
    ),
    "judgments/en/dev.jsonl": _lines(
        {"query_id": "q", "judge": "j", "verdict": "A", "model_A": "one", "model_B": "two"}
    ),
}


def _imported(kind: Reader) -> Callable[[Path], object]:
    return lambda folder: import_arena(kind, [folder])


def _unit_tests(folder: Path) -> object:
    return read_unit_tests(folder / "unit_tests.jsonl")


PUBLISHED: Mapping[str, tuple[tuple[Mapping[str, str], Readers], ...]] = {
    "MEMERAG": ((MEMERAG, (read_memerag, _imported(read_memerag_answers))),),
    "WikiEval": ((WIKIEVAL, (read_wikieval,)),),
    "GroUSE": ((GROUSE, (_unit_tests,)),),
    "MIRAGE-Bench": ((MIRAGE, (_imported(read_mirage),)),),
}
"""Who published to files as they are laid out, and what reads them."""
