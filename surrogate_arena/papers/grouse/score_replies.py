"""Reading GroUSE's scores from replies of LLMs: JSON objects, or ``[RESULT] 5``."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

from arena.llm.json_replies import JsonReplyError, last_json_object, with_plain_keys
from arena.llm.quotations import own_matches
from arena.llm.replies import UnparsableError
from arena.text.thoughts import without_thoughts
from surrogate_arena.papers.grouse.metrics import BINARY, SCALES

SCORED, ONLY = "answer_2", "answer"
"""Key of the answer to score: with the expected answer shown, and without it."""
SCORE_KEY = "score"

_NUMBER = re.compile(r"\d(?:\.0+)?")
_RESULT = re.compile(r"\[RESULT\][\s:*(\[\"'`]*([^\s)\]*\"'`,;]+)", re.IGNORECASE)
_NULLS = frozenset({"null", "none", "n/a"})
_TRUTHS = MappingProxyType({"true": 1, "false": 0})


def read_metric_score(
    text: str, metric: str, scored: Collection[str] = (SCORED,), is_cut: bool | None = None
) -> int | None:
    """Read the score of answer 2, or of the only answer, from a reply.

    The last object with a score counts, and nothing quoted inside texts. ``scored`` are keys of the
    answer to score, of which the first one present counts; ``is_cut``: a limit ended the reply.
    """
    try:
        reply = last_json_object(without_thoughts(text, is_cut), scored, not is_cut)
    except JsonReplyError as error:
        raise UnparsableError(str(error)) from error
    # With the expected answer shown, its scores are in the reply too, and are not read.
    key = next(key for key in scored if key in reply)
    answer = reply[key]
    if not isinstance(answer, Mapping):
        raise UnparsableError(f"{key} is not a JSON object")
    score = _score_field(answer, metric, key)
    if isinstance(score, Mapping):
        # A reply by all metrics holds an object for each metric, which holds the score.
        score = _score_field(score, metric, key)
    return _read_score_text(score, metric)


def _score_field(answer: Mapping[str, Any], metric: str, key: str) -> object:
    fields = with_plain_keys(answer)
    for name in (SCORE_KEY, metric):
        if name in fields:
            return fields[name]
    raise UnparsableError(f"{key} has no score for {metric}")


def read_result(text: str, metric: str) -> int | None:
    """Read the score after the last ``[RESULT]`` of a reply, as Prometheus' replies end."""
    matches = own_matches(_RESULT, text)
    if not matches:
        raise UnparsableError("the reply does not end in [RESULT] and a score")
    return _read_score_text(matches[-1][1].rstrip("."), metric)


def _read_score_text(value: object, metric: str) -> int | None:
    written = str(value).strip().casefold()
    if value is None or written in _NULLS:
        return None
    scale = SCALES[metric]
    # "4/5" and "4 out of 5" are a 4, "4/10" is of another scale and no score.
    written = re.sub(rf"(?<=\d)\s?(?:/|out of)\s?{scale[-1]}\Z", "", written)
    if written in _TRUTHS and scale == BINARY:
        return _TRUTHS[written]
    if _NUMBER.fullmatch(written) and int(written[0]) in scale:
        return int(written[0])
    expected = f"{scale[0]} to {scale[-1]}"
    raise UnparsableError(f"{metric} is {written[:40]!r}; expected {expected}, or null")
