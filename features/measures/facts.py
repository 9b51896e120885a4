"""Numbers and names of an answer: which of them does no passage that it cites hold?"""

from __future__ import annotations

import re
from unicodedata import digit

from features.declare.feature import THIS_PACKAGE, Value, declared
from features.declare.sample import (
    NO_CAPITALS,
    NO_NAMES,
    NO_NUMBERS,
    Missing,
    Question,
    Sample,
)
from features.measures.grounding import evidence, members, query_words
from features.text.sentences import LIST_MARKER, THAI, Statement, cut_statements
from features.text.tokens import words

_NATIVE_DIGIT = re.compile(r"[^\D0-9]")
_LIST_MARKERS = re.compile(rf"\n(?:{LIST_MARKER.pattern})")
# Every repetition of groups is bounded, so that no text takes more than linear time.
_SPACED = "[0-9]{0,2}(?:[ \u00a0\u2009\u202f][0-9]{3}){1,6}+(?![0-9])(?:[.,][0-9]++)?"
# Both alternatives follow a digit, which is soon found.
_NUMBER = re.compile(rf"[0-9](?:{_SPACED}|[0-9]*+(?:[.,'][0-9]++)*+)")
_GROUPED = re.compile(
    r"[1-9][0-9]{0,2}([.,'])[0-9]{3}(?:\1[0-9]{3})*+|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}"
)
_DECIMAL = re.compile(r"(?P<whole>.*[0-9])(?P<mark>[.,])(?P<fraction>[0-9]++)")

_NEEDS = ("answer", "query", "passages")


def numbers_in(text: str) -> list[str]:
    """Return the numbers of a text, in order, repetitions included.

    Digits of any script count. ``1,000``, ``1.000``, ``1 000``, ``1'000`` and ``1000`` are one
    number, and so are ``2.50`` and ``2,5``; dates are several. A mark before three last digits
    groups them. Numbers of list items do not count.
    """
    if not text.isascii():
        text = _NATIVE_DIGIT.sub(lambda match: str(digit(match[0])), text)
        # Arabic marks of groups and decimals, and the apostrophe of Swiss groups.
        text = text.replace("٬", ",").replace("٫", ".").replace("’", "'")
    numbers: list[str] = []
    for token in _NUMBER.findall(_LIST_MARKERS.sub("\n", f"\n{text}")):
        numbers += _read("".join(token.split()))
    return numbers


def _read(token: str) -> list[str]:
    if token.isdigit():
        return [_whole(token)]
    if _GROUPED.fullmatch(token):
        return [_joined(token)]
    decimal = _DECIMAL.fullmatch(token)
    if decimal and _is_whole(decimal["whole"], decimal["mark"]):
        fraction = decimal["fraction"].rstrip("0")
        digits = _whole(_joined(decimal["whole"]))
        return [f"{digits}.{fraction}" if fraction else digits]
    return [_whole(part) for part in re.split("[.,']", token)]


def _is_whole(text: str, decimal_mark: str) -> bool:
    return text.isdigit() or (decimal_mark not in text and bool(_GROUPED.fullmatch(text)))


def _joined(text: str) -> str:
    return re.sub("[.,']", "", text)


def _whole(digits: str) -> str:
    return digits.lstrip("0") or "0"


def _names_in(sentence: str) -> list[str]:
    """Return the names of a sentence, case-folded: words with a capital, of two characters or more.

    The first word is left out unless the next is of a script without capitals (``DNA คือ``).
    """
    candidates = words(sentence)
    if candidates and not _precedes_uncased(candidates[0], sentence):
        candidates = candidates[1:]
    return [word.casefold() for word in candidates if len(word) > 1 and word[0].isupper()]


def _precedes_uncased(word: str, sentence: str) -> bool:
    following = sentence.partition(word)[2].lstrip()[:1]
    return following.isalpha() and not _is_cased(following)


def _is_cased(letter: str) -> bool:
    return letter.islower() or letter.isupper()


@declared(source=THIS_PACKAGE, needs=_NEEDS)
def unsupported_numbers(sample: Sample) -> Value:
    """Share of the answer's distinct numbers that no passage contains.

    Those of the question count as held. Numbers compare by value, however they are written.
    """
    support = evidence(sample)
    if isinstance(support, Missing):
        return support
    numbers = frozenset(numbers_in(sample.wording))
    if not numbers:
        return NO_NUMBERS
    question = sample.question
    in_query, by_passage = sample.memo.get(("numbers", question.key), lambda: _numbers(question))
    supported = in_query.union(*(by_passage[passage] for passage in members(support.cited)))
    return len(numbers - supported) / len(numbers)


@declared(source=THIS_PACKAGE, needs=_NEEDS)
def unsupported_names(sample: Sample) -> Value:
    """Share of the capitalized words inside the answer's sentences that no passage contains.

    In German every noun is one; in scripts without capitals only foreign names are. Case does not
    matter for being held.
    """
    support = evidence(sample)
    if isinstance(support, Missing):
        return support
    if not any(map(_is_cased, sample.text)):
        return NO_CAPITALS
    names: set[str] = set()
    for statement in _statements(sample):
        names.update(_names_in(statement.text))
    if not names:
        return NO_NAMES
    outside_query = names.difference(query_words(sample))
    unsupported = [
        name for name in outside_query if not support.index.holders(name) & support.cited
    ]
    return len(unsupported) / len(names)


def _numbers(question: Question) -> tuple[frozenset[str], list[frozenset[str]]]:
    by_passage = [frozenset(numbers_in(text)) for text in question.passage_texts]
    return frozenset(numbers_in(question.query)), by_passage


def _statements(sample: Sample) -> tuple[Statement, ...]:
    """Cut at full stops, so that Thai names need no package."""
    question = sample.question
    if question.language != THAI:
        return sample.statements("answer")
    return cut_statements(sample.part("answer"), question.passage_ids, "en")
