"""Rules of the checks of single answers; None where a rule cannot check."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain

from arena.data.languages import language_name
from arena.text.answers import find_citations
from arena.text.reader import shows_nothing
from arena.text.thoughts import has_thoughts
from features.declare.sample import Question, Sample
from features.measures.language import likeliest_language, supported_share
from features.text.sentences import (
    LIST_MARKER,
    are_prose,
    breaks_off,
    ends_in_mid_sentence,
    is_bare_marker,
    is_prose,
    is_terminated,
)
from features.text.tokens import folded_line, folded_words, tokens_per_word, word_ngrams, words
from surrogate.checks.table import find_mark, refusals, unfinished_words

Rule = Callable[[Sample], bool | None]
OPENING = 100
"""Characters in which a refusal says that it is one."""
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_LOOP = re.compile(r"\W*+(.{8,300}?)\1{3,}")
_LAST_LETTERS = re.compile(r"[^\W\d_]{1,6}")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|[。！？；।\n]")
_QUOTE = re.compile('["“„«「『]')
_INDEXED = re.compile(r"\[(?<=\b[A-Za-z]\[)[^\[\]]*\]")
_CITATION_AT_END = re.compile(r"\[[^\[\]\s]+\]\W*\Z")
_HYPHEN_AT_END = re.compile(r"[^\W\d_]{2}-\Z")
_OPEN_AT_END = re.compile(r"(?:\[(?<!\\\[)[^\[\]\n]{0,20}|\n[ \t]*[-*+•])\s*\Z")
"""An open bracket, or an item without a text."""
_LABEL = re.compile(r"^[^\w\n]*+[^\W\d]++\W{0,3}[:：](?P<gap>\W{0,3})", re.MULTILINE)
_MARK_AT_END = re.compile(r"(?:#\w+\W*|```)\Z")


def is_empty(sample: Sample) -> bool:
    """Return whether a reader sees nothing, or one mark again and again."""
    return shows_nothing(sample.parsed.text)


def is_error_text(sample: Sample) -> bool | None:
    """Return whether it begins as no answer does, but a program's message."""
    # Share of words from which it may tell what question and passages say
    least_told = 0.5
    if not find_mark("error", sample.text):
        return False
    message = folded_words(sample.text.partition("\n")[0])
    is_asked = find_mark("failure", sample.question.query) is not None
    return None if is_asked or _told_share(message, sample.question) >= least_told else True


def reports_failure(sample: Sample) -> bool:
    """Return whether a short text begins with words of a failure that was not asked about."""
    # Words of the longest message, and of an opening that is more than "Sorry."
    longest = 40
    shortest = 3
    # Share of words from which it tells what question and passages say
    least_told = 0.25
    if sample.citations.matched:
        return False
    message = sample.folded_words
    n_parts = tokens_per_word(message)
    if not 0 < len(message) <= longest * n_parts:
        return False
    opening = ""
    for sentence in _SENTENCE_END.split(sample.text):
        opening += f"{sentence} "
        if len(words(opening)) >= shortest * n_parts:
            break
    if not find_mark("failure", opening) or find_mark("failure", sample.question.query):
        return False
    return _told_share(message, sample.question) < least_told


def _told_share(tokens: Sequence[str], question: Question) -> float:
    """Return which share of the telling words, else numbers, a question and its passages have."""
    given = given_line(question).split()
    about = content_words(tokens) or _numbers(tokens)
    shared = about & (content_words(given) | _numbers(given))
    return len(shared) / max(1, len(about))


def _numbers(tokens: Sequence[str]) -> set[str]:
    return {token for token in tokens if token.isdecimal()}


def given_line(question: Question) -> str:
    """Return the case-folded words of a question and its passages in one line."""
    # Many answers have a passage, whose words are remembered.
    return " ".join(map(folded_line, [question.query, *question.passage_texts]))


def given_text(question: Question) -> str:
    """Return a question and its passages as one text."""
    return "\n".join([question.query, *question.passage_texts])


def content_words(tokens: Sequence[str]) -> set[str]:
    """Return a text's telling words; runs where not spaced."""
    # Shorter ones are of any text.
    shortest_word = 5
    shortest_run = 3
    if tokens_per_word(tokens) > 1:
        return set(map(" ".join, word_ngrams(tokens, shortest_run)))
    return {word for word in set(tokens) if len(word) >= shortest_word}


def cites_nothing_given(sample: Sample) -> bool | None:
    """Return whether it cites a passage that was not given, by a number in square brackets."""
    if not sample.question.passages:
        return None
    return any(dead_citations(sample))


def dead_citations(sample: Sample) -> Iterator[str]:
    """Yield each citation in square brackets of a passage that was not given."""
    ids = frozenset(sample.question.passage_ids)
    # Brackets index in code, and after a letter by itself: x[9].
    prose = _INDEXED.sub(" ", _without_code(sample.part("output")))
    markers = find_citations(prose, sample.question.passage_ids)
    unknown = [marker for marker in markers if not ids.issuperset(marker.ids)]
    if not unknown:
        return
    has_numbers = any(passage_id.isdecimal() for passage_id in ids)
    given = given_text(sample.question)
    for marker in unknown:
        citation = prose[marker.start : marker.end]
        if citation in given or "](http" in citation:
            continue
        for cited in set(marker.ids).difference(ids):
            if cited.isdecimal():
                is_place = not has_numbers and int(cited) <= len(ids)
                is_year = 1000 <= int(cited) <= 2999
                if is_place or is_year:
                    continue
            if not _is_own_source(sample, cited):
                yield cited


def _is_own_source(sample: Sample, cited: str) -> bool:
    listed = rf"^\W*\[?\^?{re.escape(cited)}\]?\W.*https?://"
    return re.search(listed, sample.part("output"), re.MULTILINE) is not None


def is_in_other_language(sample: Sample) -> bool | None:
    """Return whether it is in another language than its question."""
    # Probability of the language asked for among the supported ones: fewer than 1 of 1,000
    # beginnings of passages in that language have less.
    unlikely = 0.005
    likely = 0.5
    # A mixture of languages is no language: each half must be unlike the one asked for.
    unlikely_of_half = 0.05
    # Characters of either half that are read
    most_read = 200
    text = _without_code(sample.text)
    is_json = text[:1] in ("{", "[")
    if is_json or not is_prose(text):
        return None
    middle = len(text) // 2
    halves = (text[:middle][:most_read], text[middle:][-most_read:])
    language = sample.question.language
    probability = supported_share("".join(halves), language)
    if probability is None:
        return None
    if probability >= unlikely:
        is_mixed = any(
            is_prose(half) and (supported_share(half, language) or 0.0) < unlikely
            for half in halves
        )
        return None if is_mixed or probability < likely else False
    for half in halves:
        if (supported_share(half, language) or 0.0) >= unlikely_of_half:
            return None
    return None if _asks_for_language(sample.question.query, text) else True


def _asks_for_language(question: str, text: str) -> bool:
    found = likeliest_language(text)
    if found is None:
        return False
    is_named = language_name(found).casefold() in question.casefold()
    is_english = found == "en" and find_mark("english", question) is not None
    # What is to be translated stands in quotes.
    return is_named or is_english or _QUOTE.search(question) is not None


def is_cut(sample: Sample) -> bool | None:
    """Return whether it ends in mid-sentence."""
    text = sample.text
    is_broken_off = breaks_off(text)
    if _OPEN_AT_END.search(sample.part("output")):
        return True
    if _CITATION_AT_END.search(sample.part("output")):
        return None if is_broken_off else is_broken_off
    if _ends_unfinished(text, sample.question.language) or _ends_in_part_of_word(sample):
        return True
    if not is_broken_off:
        return is_broken_off
    is_ended = is_terminated(text) and not is_bare_marker(text.splitlines()[-1].strip())
    if is_ended or _MARK_AT_END.search(text):
        return False
    # A phrase may be cut or be all there is to say.
    return True if ends_in_mid_sentence(text) else None


def _ends_unfinished(text: str, language: str) -> bool:
    words = unfinished_words().get(language, "").split()
    endings = tuple(word.removeprefix("-") for word in words if word.startswith("-"))
    if endings and text.endswith(endings):
        return True
    *others, last = ["", *text.split()]
    return len(others) > 1 and (last in words or _HYPHEN_AT_END.search(last) is not None)


def _ends_in_part_of_word(sample: Sample) -> bool:
    # Letters that are missing: words with fewer more may be another form of the same one.
    fewest = 3
    tokens = sample.folded_text if sample.text[-1:].isalpha() else []
    if not are_prose(tokens):
        return False
    *others, last = tokens
    line = " ".join(["", given_line(sample.question), *others, ""])
    is_unit = "".join(others)[-1:].isdecimal()
    # Of most last words there is no other form, which is soon known of the whole line.
    if f" {last} " in line or f" {last}" not in line or is_unit or tokens_per_word(others) > 1:
        return False
    return any(word.startswith(last) and len(word) - len(last) >= fewest for word in line.split())


def repeats_itself(sample: Sample) -> bool:
    """Return whether a phrase is repeated to its end."""
    # Rules and drawings have few letters.
    fewest_letters = 6
    # Neither is a citation a phrase, nor are two phrases that cite different passages the same.
    for part in (sample.text, sample.part("answer")):
        text = _without_code(part).casefold()
        # The last letters of most texts are not there four times, as a phrase's are.
        ending = _LAST_LETTERS.search(text[::-1])
        if ending is None or text[::-1].count(ending[0]) < 4:
            return False
        text = LIST_MARKER.sub(" ", text)
        match = _LOOP.match(" ".join(text.split())[::-1])
        if match is None or sum(map(str.isalpha, match[1])) < fewest_letters:
            return False
    return True


def is_refusal(sample: Sample) -> bool | None:
    """Return whether it only refuses, though passages might answer."""
    # It answers by a passage, if only in part.
    if sample.citations.matched or not sample.folded_words:
        return False
    labels = [passage.relevance for passage in sample.question.passages]
    if labels and all(label == 0 for label in labels):
        return False
    if find_mark("however", sample.text):
        return False
    return refuses(sample.text, sample.question.language)


def refuses(text: str, language: str) -> bool | None:
    """Return whether a text only refuses; None without known phrases."""
    # Words of a refusal, or parts of words twice: a longer text answers after all
    most_words = 40
    if language not in refusals():
        return None
    opening = text[:OPENING].replace("’", "'").lower()
    # English is what models often fall back in.
    patterns = [_refusal_pattern(spoken) for spoken in dict.fromkeys([language, "en"])]
    matches = chain.from_iterable(pattern.finditer(opening) for pattern in patterns)
    # What is quoted within a text is a word for others to say.
    if not any(match.start() <= 1 or opening[match.start() - 1] not in '"“«' for match in matches):
        return False
    if any(find_mark("affirmative", line) for line in LIST_MARKER.sub("", text).splitlines()):
        return False
    tokens = words(text)
    return len(tokens) <= most_words * tokens_per_word(tokens)


@cache
def _refusal_pattern(language: str) -> re.Pattern[str]:
    return re.compile("|".join(refusals()[language]))


def leaks(sample: Sample) -> bool | None:
    """Return whether it shows prompt, template, tool call or thoughts."""
    if has_thoughts(sample.output) or _labels_its_question(sample):
        return True
    match = find_mark("leak", _without_code(sample.output))
    if match is None:
        return False
    is_quoted = match[0].lower() in given_text(sample.question).lower()
    is_asked = find_mark("about_prompts", sample.question.query)
    return None if is_quoted or is_asked else True


def _labels_its_question(sample: Sample) -> bool:
    """Return whether it repeats the question after a label, as a prompt has it."""
    query = sample.question.query.strip()
    if not query or query not in sample.output:
        return False
    for label in _LABEL.finditer(sample.output):
        first, last = label.span("gap")
        if sample.output.find(query, first, last + len(query)) >= 0:
            return True
    return False


def addresses_judge(sample: Sample) -> bool:
    """Return whether it speaks to whoever compares answers."""
    return find_mark("judge", _without_code(sample.part("output"))) is not None


def hides_text(sample: Sample) -> bool:
    """Return whether it holds text that a page does not show."""
    return find_mark("hidden", _without_code(sample.output)) is not None


def _without_code(text: str) -> str:
    return _CODE.sub(" ", text) if "`" in text else text


RULES: Mapping[str, Rule] = {
    "empty": is_empty,
    "error-text": is_error_text,
    "failure-message": reports_failure,
    "dead-citation": cites_nothing_given,
    "other-language": is_in_other_language,
    "cut": is_cut,
    "loop": repeats_itself,
    "refusal": is_refusal,
    "leak": leaks,
    "addresses-judge": addresses_judge,
    "hidden-text": hides_text,
}
"""Checks of a single answer; ``find_faults`` adds those that compare answers."""
