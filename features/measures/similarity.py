"""Does the answer mean what other texts mean? Cosines of embeddings, from -1 to 1.

The answer is the part after ``##Answer:``, without citations. Texts longer than a model takes
(512 tokens for the default one) are cut off. ``prefix=query`` writes ``query: `` before every text,
as E5 models want it for texts of one kind; models that want nothing before it take ``prefix=none``.
"""

from __future__ import annotations

from features.measures.feature import Feature, Reading, Value, choice, model
from features.measures.sample import (
    EMPTY_ANSWER,
    EMPTY_PASSAGES,
    EMPTY_REFERENCE,
    NO_PASSAGES,
    NO_REFERENCE_ANSWER,
    NO_REFERENCE_SYSTEM,
    Missing,
    Sample,
    passage_texts,
)
from features.models.model_folder import Item, Scores, require_model
from features.text.overlap_scores import cosines

EMBEDDER = "intfloat/multilingual-e5-small"
"""94 languages, all of MIRAGE-Bench's but Yoruba."""

_PREFIX = choice("prefix", "query", "none")
_POOL = choice("pool", "max", "mean")


def reference_items(sample: Sample, prefix: str) -> tuple[Item, ...] | Missing:
    """Return the answer and the reference answer, or why there is none."""
    reference = sample.question.reference_text
    if isinstance(reference, Missing):
        return reference
    if not reference.strip():
        return EMPTY_REFERENCE
    return _with_answer(sample, (reference,), prefix)


def question_items(sample: Sample, prefix: str) -> tuple[Item, ...] | Missing:
    """Return the answer and the question."""
    return _with_answer(sample, (sample.question.query,), prefix)


def passage_items(sample: Sample, prefix: str, **_: object) -> tuple[Item, ...] | Missing:
    """Return the answer and the passages, or why there are none."""
    if not sample.question.passages:
        return NO_PASSAGES
    texts = passage_texts(sample.question, sample.question.passage_ids)
    return _with_answer(sample, texts, prefix) if texts else EMPTY_PASSAGES


def similarity(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Return the cosine of the answer's embedding and that of the other text."""
    return float(cosines(scores)[0])


def similarity_passages(_sample: Sample, scores: Scores, pool: str, **_: object) -> Value:
    """Return the cosine of the answer and the passage nearest to it, or the mean over passages."""
    near = cosines(scores)
    return float(near.max() if pool == "max" else near.mean())


def _with_answer(
    sample: Sample, others: tuple[str, ...], prefix: str
) -> tuple[Item, ...] | Missing:
    answer = sample.text.strip()
    if not answer:
        return EMPTY_ANSWER
    before = "" if prefix == "none" else f"{prefix}: "
    return tuple((before + text,) for text in (answer, *others))


SIMILARITY_REFERENCE = Feature(
    name="similarity_reference",
    summary="Cosine of the embeddings of the answer and the reference answer",
    source="surrogate-arena",
    needs=("answer", "reference answer", "embedding model"),
    measurement=similarity,
    parameters=(model(EMBEDDER), _PREFIX),
    missing=(NO_REFERENCE_SYSTEM, NO_REFERENCE_ANSWER, EMPTY_REFERENCE, EMPTY_ANSWER),
    requirement=require_model,
    reading=Reading("embedder", reference_items),
)
SIMILARITY_QUESTION = Feature(
    name="similarity_question",
    summary="Cosine of the embeddings of the answer and the question",
    source="surrogate-arena",
    needs=("answer", "embedding model"),
    measurement=similarity,
    parameters=(model(EMBEDDER), _PREFIX),
    missing=(EMPTY_ANSWER,),
    requirement=require_model,
    reading=Reading("embedder", question_items),
)
SIMILARITY_PASSAGES = Feature(
    name="similarity_passages",
    summary="Cosine of the embeddings of the answer and the passage nearest to it",
    source="surrogate-arena",
    needs=("answer", "passages", "embedding model"),
    measurement=similarity_passages,
    parameters=(model(EMBEDDER), _PREFIX, _POOL),
    missing=(NO_PASSAGES, EMPTY_PASSAGES, EMPTY_ANSWER),
    requirement=require_model,
    reading=Reading("embedder", passage_items),
)

SIMILARITY_FEATURES = (SIMILARITY_REFERENCE, SIMILARITY_QUESTION, SIMILARITY_PASSAGES)
