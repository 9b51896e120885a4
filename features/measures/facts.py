"""Numbers in a text, in one notation however they are written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from features.declare.feature import Value, declared
from features.declare.sample import (
    EMPTY_ANSWER,
    NO_CAPITALS,
    NO_NAMES,
    NO_NUMBERS,
    Missing,
    Question,
    Sample,
    passage_text,
)
from features.measures.grounding import (
    CITED_OR_ALL,
    NO_EVIDENCE,
    Passages,
    evidence,
    passage_index,
    query_words,
)
from features.text.passage_index import members
from features.text.sentences import LIST_MARKER, THAI
from features.text.statements import Statement, cut_statements
from features.text.tokens import words

_NATIVE_DIGIT = re.compile(r"[^\D0-9]")
_LIST_MARKERS = re.compile(rf"^(?:{LIST_MARKER.pattern})", re.MULTILINE)
_MARKS = str.maketrans("٬٫’", ",.'")
# Every repetition of groups is bounded, so that no text takes more than linear time.
_SPACED = "[0-9]{1,3}(?:[ \u00a0\u2009\u202f][0-9]{3}){1,6}+(?![0-9])(?:[.,][0-9]++)?"
_NUMBER = re.compile(rf"{_SPACED}|[0-9]++(?:[.,'][0-9]++)*+")
_SPACE = re.compile(r"\s")
_GROUPED = re.compile(
    r"[1-9][0-9]{0,2}([.,'])[0-9]{3}(?:\1[0-9]{3})*+|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}"
)
_DECIMAL = re.compile(r"(?P<whole>.*[0-9])(?P<mark>[.,])(?P<fraction>[0-9]++)")


_OWN = "surrogate-arena"
_NEEDS = ("answer", "query", "passages")


def numbers_in(text: str) -> list[str]:
    """Return the numbers of a text, in order, repetitions included.

    Digits of any script count. ``1,000``, ``1.000``, ``1 000``, ``1'000`` and ``1000`` are the
    same number, and so are ``10,00,000`` and ``1000000``, ``2.50`` and ``2,5``; what else points
    and commas join, such as a date, is several numbers. A point or comma before three last
    digits is taken to group them. The numbers of list items and number words do not count.
    """
    plain = _NATIVE_DIGIT.sub(_ascii_digit, text).translate(_MARKS)
    written = _NUMBER.findall(_LIST_MARKERS.sub("", plain))
    return [number for token in written for number in _read(_SPACE.sub("", token))]


def _ascii_digit(digit: re.Match[str]) -> str:
    return str(unicodedata.decimal(digit[0]))


def _read(token: str) -> list[str]:
    if token.isdigit():
        return [_whole(token)]
    if _GROUPED.fullmatch(token):
        return [_joined(token)]
    decimal = _DECIMAL.fullmatch(token)
    if decimal and _is_whole(decimal["whole"], decimal["mark"]):
        fraction = decimal["fraction"].rstrip("0")
        whole = _whole(_joined(decimal["whole"]))
        return [f"{whole}.{fraction}" if fraction else whole]
    return [_whole(part) for part in re.split("[.,']", token)]


def _is_whole(text: str, decimal_mark: str) -> bool:
    """Tell whether a decimal mark may follow: digits, or groups of them with another mark."""
    return text.isdigit() or (decimal_mark not in text and bool(_GROUPED.fullmatch(text)))


def _joined(text: str) -> str:
    return re.sub("[.,']", "", text)


def _whole(digits: str) -> str:
    return digits.lstrip("0") or "0"


def names_in(sentence: str) -> list[str]:
    """Return the names of a sentence, case-folded, in order, repetitions included.

    A name is a word of two characters or more with a capital. The first word has one anyway and
    is left out, but where the next is of a script without capitals, whose sentences begin with
    none: ``DNA`` in ``DNA คือ`` and ``DNA是``, not ``Yes`` in ``Yes, DNA``.
    """
    found = words(sentence)
    counted = found if found and _precedes_uncased(found[0], sentence) else found[1:]
    return [word.casefold() for word in counted if len(word) > 1 and word[0].isupper()]


def _precedes_uncased(word: str, sentence: str) -> bool:
    """Return whether a letter of a script without capitals follows a word, but for a space."""
    following = sentence.partition(word)[2].lstrip()[:1]
    return following.isalpha() and not _is_cased(following)


def _is_cased(letter: str) -> bool:
    return letter.islower() or letter.isupper()


@declared(_OWN, _NEEDS, (*NO_EVIDENCE, EMPTY_ANSWER, NO_NUMBERS), CITED_OR_ALL)
def unsupported_numbers(sample: Sample, passages: Passages) -> Value:
    """Share of the answer's numbers that no passage holds.

    Numbers compare by value, however they are written; see ``numbers_in``.
    """
    allowed = evidence(sample, passages)
    if isinstance(allowed, Missing):
        return allowed
    if not sample.folded_words:
        return EMPTY_ANSWER
    numbers = frozenset(numbers_in(sample.text))
    if not numbers:
        return NO_NUMBERS
    return _share(numbers, numbers - _known_numbers(sample, allowed))


@declared(
    "surrogate-arena", _NEEDS, (*NO_EVIDENCE, EMPTY_ANSWER, NO_CAPITALS, NO_NAMES), CITED_OR_ALL
)
def unsupported_names(sample: Sample, passages: Passages) -> Value:
    """Share of the capitalized words within the answer's sentences that no passage holds.

    Names are capitalized words, see ``names_in``; in German every noun is one. In scripts without
    capitals that leaves foreign names alone. A name is held whatever its case.
    """
    allowed = evidence(sample, passages)
    if isinstance(allowed, Missing):
        return allowed
    if not sample.folded_words:
        return EMPTY_ANSWER
    if not any(map(_is_cased, sample.text)):
        return NO_CAPITALS
    names = _names(sample)
    if not names:
        return NO_NAMES
    index, asked = passage_index(sample), frozenset(query_words(sample))
    unknown = [name for name in names if not index.holders(name) & allowed and name not in asked]
    return _share(names, unknown)


def _share(things: Collection[str], unknown: Collection[str]) -> float:
    return len(unknown) / len(things)


def _known_numbers(sample: Sample, allowed: int) -> frozenset[str]:
    question = sample.question
    asked, by_passage = sample.memo.get(("numbers", question.key), lambda: _numbers(question))
    return asked.union(*(by_passage[passage] for passage in members(allowed)))


def _numbers(question: Question) -> tuple[frozenset[str], list[frozenset[str]]]:
    """Return the numbers of a question, and those of each of its passages."""
    by_passage = [frozenset(numbers_in(text)) for text in map(passage_text, question.passages)]
    return frozenset(numbers_in(question.query)), by_passage


def _names(sample: Sample) -> frozenset[str]:
    return frozenset(name for statement in _statements(sample) for name in names_in(statement.text))


def _statements(sample: Sample) -> tuple[Statement, ...]:
    """Cut the answer at full stops, also in Thai, so that names need no package for Thai.

    Where a Thai sentence ends does not matter: its first word counts like any other.
    """
    question = sample.question
    if question.language != THAI:
        return sample.statements("answer")
    return cut_statements(sample.part("answer"), question.passage_ids, "en")
