"""Do the passages say what the answer says? By natural-language inference, a sentence at a time.

A passage is read as its title and its text on lines of their own. Statements are the sentences of
the whole output, as citations are often asked for in the reasoning; ``part=answer`` reads those
after ``##Answer:`` only, ``part=reason`` those after ``##Reason:``. Ids that no passage has are
left to ``invalid_citations``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from features.declare.asked import OUTPUTS
from features.declare.feature import (
    SENTENCES,
    Item,
    Measurement,
    Reading,
    Scores,
    Value,
    choice,
    declared,
    model,
)
from features.declare.sample import (
    EMPTY_PASSAGES,
    NO_CITED_PASSAGES,
    NO_PASSAGES,
    NO_REASON,
    NO_STATEMENTS,
    Missing,
    Part,
    Sample,
    joined_passages,
    passage_texts,
)
from features.models.model_folder import require_model
from features.text.statements import Statement

NLI_MODEL = "MoritzLaurer/mDeBERTa-v3-base-xnli-multilingual-nli-2mil7"
"""The model of MIRAGE-Bench."""

_ENTAILMENT = OUTPUTS.index("entailment")
_PART = choice("part", "output", "answer", "reason")

Verdicts = Mapping[Item, bool]
"""Whether a premise entails a hypothesis, by the pair of them."""


_MIRAGE = "MIRAGE-Bench, section 4.1, support"
_ALCE = "ALCE (Gao et al., 2023), section 3.3"
_UNASKED = (NO_PASSAGES, NO_REASON, NO_STATEMENTS)
_UNCITED = (*_UNASKED, NO_CITED_PASSAGES, EMPTY_PASSAGES)


def cited_pairs(sample: Sample, part: Part) -> tuple[Item, ...] | Missing:
    """Return (passage, statement) for each citation of each statement, or why there are none."""
    statements = _statements(sample, part)
    if isinstance(statements, Missing):
        return statements
    if not any(statement.cited for statement in statements):
        return NO_CITED_PASSAGES
    pairs = tuple(
        (text, statement.text)
        for statement in statements
        for text in passage_texts(sample.question, statement.cited)
    )
    return pairs or EMPTY_PASSAGES


def _by_nli(
    source: str,
    items: Callable[..., tuple[Item, ...] | Missing],
    missing: tuple[Missing, ...],
) -> Callable[[Measurement], Measurement]:
    return declared(
        source,
        ("answer", SENTENCES, "passages", "NLI model"),
        missing,
        *(model(NLI_MODEL), _PART),
        requirement=require_model,
        reading=Reading("nli", items),
    )


@_by_nli(_MIRAGE, cited_pairs, _UNCITED)
def nli_entailment(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Probability that the passages cited entail their sentences."""
    return _mean_of(scores, "entailment")


@_by_nli(_MIRAGE, cited_pairs, _UNCITED)
def nli_neutral(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Probability that the passages cited neither entail nor contradict their sentences."""
    return _mean_of(scores, "neutral")


@_by_nli(_MIRAGE, cited_pairs, _UNCITED)
def nli_contradiction(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Probability that the passages cited contradict their sentences."""
    return _mean_of(scores, "contradiction")


def attribution_pairs(sample: Sample, part: Part) -> tuple[Item, ...] | Missing:
    """Return the pairs that citation recall and precision ask about.

    These are, for each statement: all passages it cites, joined; and where it cites several, each
    one alone, and all but each one. That is 1 + 2n pairs for n > 2 citations, 3 for two.
    """
    statements = _statements(sample, part)
    if isinstance(statements, Missing):
        return statements
    pairs = (pair for statement in statements for pair in _attribution(sample, statement))
    return tuple(dict.fromkeys(pairs))


def cited_attribution_pairs(sample: Sample, part: Part) -> tuple[Item, ...] | Missing:
    """Return what ``attribution_pairs`` does, or why there are none."""
    pairs = attribution_pairs(sample, part)
    if pairs:
        return pairs
    cited = any(statement.cited for statement in sample.statements(part))
    return EMPTY_PASSAGES if cited else NO_CITED_PASSAGES


@_by_nli(_ALCE, attribution_pairs, _UNASKED)
def support_recall(sample: Sample, scores: Scores, part: Part) -> Value:
    """Share of sentences that the passages they cite entail; 0 for one that cites none.

    Citation recall of ALCE (Gao et al., 2023, "Enabling Large Language Models to Generate Text
    with Citations", section 3.3): a statement without citation is not supported and counts as 0.
    Entailed means that entailment is the most probable of the three labels; ALCE asks a model
    with two. All citations count; ALCE's code looks at the first three.
    """
    verdicts = _verdicts(attribution_pairs(sample, part), scores)
    statements = sample.statements(part)
    supported = [
        _is_entailed(sample, statement, statement.cited, verdicts) for statement in statements
    ]
    return sum(supported) / len(supported)


@_by_nli(_ALCE, cited_attribution_pairs, _UNCITED)
def support_precision(sample: Sample, scores: Scores, part: Part) -> Value:
    """Share of citations that are needed to support their sentences.

    Citation precision of ALCE (see ``support_recall``): a citation counts as 1 if its statement
    is supported by all passages it cites, joined, and the citation is not irrelevant. It is
    irrelevant if its passage alone does not entail the statement, and the other passages without
    it do. The share is over all citations of the answer.
    """
    verdicts = _verdicts(attribution_pairs(sample, part), scores)
    precise = [
        _is_precise(sample, statement, cited, verdicts)
        for statement in sample.statements(part)
        for cited in statement.cited
    ]
    return sum(precise) / len(precise)


def all_pairs(sample: Sample, part: Part) -> tuple[Item, ...] | Missing:
    """Return (passage, statement) for each passage and statement, statement by statement."""
    statements = _statements(sample, part)
    if isinstance(statements, Missing):
        return statements
    texts = passage_texts(sample.question, sample.question.passage_ids)
    pairs = tuple((text, statement.text) for statement in statements for text in texts)
    return pairs or EMPTY_PASSAGES


@_by_nli("surrogate-arena", all_pairs, (*_UNASKED, EMPTY_PASSAGES))
def uncited_support(sample: Sample, scores: Scores, part: Part) -> Value:
    """Highest entailment of each sentence by any passage, cited or not, averaged."""
    statements = len(sample.statements(part))
    entailment = scores[:, _ENTAILMENT].astype(np.float64).reshape(statements, -1)
    return float(entailment.max(axis=1).mean())


def _statements(sample: Sample, part: Part) -> Sequence[Statement] | Missing:
    if not sample.question.passages:
        return NO_PASSAGES
    if part == "reason" and sample.parsed.reason is None:
        return NO_REASON
    return sample.statements(part) or NO_STATEMENTS


def _mean_of(scores: Scores, output: str) -> float:
    return float(scores[:, OUTPUTS.index(output)].mean(dtype=np.float64))


def _attribution(sample: Sample, statement: Statement) -> Iterator[Item]:
    cited = statement.cited
    subsets = [cited]
    if len(cited) > 1:
        subsets += [(one,) for one in cited]
        subsets += [_without(cited, one) for one in cited]
    for subset in subsets:
        premise = joined_passages(sample.question, subset)
        if premise:
            yield premise, statement.text


def _verdicts(items: tuple[Item, ...] | Missing, scores: Scores) -> Verdicts:
    pairs = () if isinstance(items, Missing) else items
    return {item: int(row.argmax()) == _ENTAILMENT for item, row in zip(pairs, scores, strict=True)}


def _is_entailed(
    sample: Sample, statement: Statement, cited: Sequence[str], verdicts: Verdicts
) -> bool:
    """Say whether passages entail a statement; none, or empty ones, never do."""
    return verdicts.get((joined_passages(sample.question, cited), statement.text), False)


def _is_precise(sample: Sample, statement: Statement, one: str, verdicts: Verdicts) -> bool:
    if not _is_entailed(sample, statement, statement.cited, verdicts):
        return False
    rest = _without(statement.cited, one)
    alone = _is_entailed(sample, statement, (one,), verdicts)
    return alone or not _is_entailed(sample, statement, rest, verdicts)


def _without(cited: Sequence[str], one: str) -> tuple[str, ...]:
    return tuple(other for other in cited if other != one)
