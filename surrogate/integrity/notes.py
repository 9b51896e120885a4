"""What is seen in answers: facts that keep a system from a rank, and notes that do not.

A fact is that answers are too few, empty, the same whatever was asked, or fit other questions as
well as their own. All else that is unusual beside the judged systems is a note in neutral words:
there are honest reasons for it, and a reader decides. A near-copy stands beside what it copies.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import stdtrit

from arena.data.schema import QUESTION_KEY
from arena.data.systems import with_passages_of
from arena.data.types import Floats
from arena.text.thoughts import without_thoughts
from surrogate.integrity.measures import (
    measure_fit,
    measure_texts,
    passages_of_questions,
    plain_answers,
)
from surrogate.learning.estimation.answer_texts import hashed, unit_rows
from surrogate.learning.surrogate import ANSWER_MARK, Surrogate

LEAST_COVERAGE = 0.2
"""Share of a language's questions that a system without verdicts must have answered."""
FEWEST_ANSWERS, ENOUGH_ANSWERS = 5, 50
"""Answers that it needs at least, where there are so many questions; that are always enough."""
GROUPS = 10
"""Parts of a system's answers that are left out in turn."""
NEARLY_THE_SAME = 0.97
"""Cosine of character n-grams from which two answers are one: other numbers or words are not."""
SHORTEST = 40
"""Characters of an answer that can be copied: shorter ones ("I do not know.") are alike anyway."""
SHARE = 0.9
"""Of a system's answers that make it a copy, when they are one other system's."""
DIGITS = 9
"""Of cosines, so that rounding errors do not say who was copied."""
MOST_BESIDE = 300
"""Judged systems beside which all are seen, evenly spaced, so that time and memory are bounded."""
PART = 1_000_000
"""Pairs of answers that are compared at a time."""
TOO_FEW_ANSWERS = "not ranked: it answered {} of {} questions, and {} are needed"
NOT_RANKED = "not ranked: {}"
SEEN = "seen in its answers: {}"
NEAR_COPY = "near-copy of {}, beside which it stands"
Key = tuple[str, str]
"""Language and system."""

FACTS: Mapping[str, tuple[float, float, str]] = {
    "same": (0.5, 0.3, "{:.0%} of its answers are the same text whatever was asked, or empty"),
    "misfit": (0.25, 0.2, "its answers fit other questions as well as their own"),
}
"""Measure to the value above which it keeps a system from a rank, by how much it must exceed that
of every judged system, and what is said."""
UNUSUAL = 0.005
"""Probability that a measure of an ordinary system lies beyond its bound."""
UNUSUAL_FEATURE = 0.01
"""Probability that any feature of an ordinary system does."""
LEAST_ADDED = 0.02
"""Logits that a feature must add to a rating to be named."""
FAR_FEATURES = "its rating gains {:.2f} logits by features far from the judged systems': {}"
FEWEST_JUDGED = 3
"""Judged systems that are needed to know what is usual."""
NOTED: Mapping[str, tuple[float, str]] = {
    "shared": (
        0.02,
        "judged answers to the same questions explain {value:.0%} of its wording ({usual:.0%} is "
        "usual), most of it those of {nearest}",
    ),
    "shared_most": (
        0.03,
        "judged answers explain {value:.0%} of the wording of a quarter of its answers "
        "({usual:.0%} is usual), most of it those of {nearest}",
    ),
    "repeated": (
        0.03,
        "its answers to other questions explain {value:.0%} of its wording ({usual:.0%} is usual)",
    ),
    "elsewhere": (
        0.03,
        "its answers are like judged answers to another question (cosine {value:.2f}, {usual:.2f} "
        "is usual)",
    ),
    "new_pairs": (
        0.05,
        "{value:.0%} of its pairs of words are in no judged answer and no passage ({usual:.0%} is "
        "usual)",
    ),
    "new_run": (
        0.05,
        "its answers have places where {value:.0%} of the pairs of words are in no judged answer "
        "and no passage ({usual:.0%} is usual)",
    ),
    "doubled": (
        0.03,
        "{value:.0%} of its runs of three words are repeated within an answer ({usual:.0%} is "
        "usual)",
    ),
}
"""Measure to the smallest standard deviation that judged systems are taken to have, so that what
they all do alike makes no small difference unusual; and what is said."""
SHARED = {"shared", "shared_most"}
"""Measures of which some judged systems, versions of each other, may have any value."""


@dataclass(frozen=True)
class Note:
    """What is seen in a system's answers in one language; a bar keeps it from a rank."""

    measure: str
    value: float
    is_bar: bool
    sentence: str


@dataclass(frozen=True)
class Seen:
    """What was seen in answers, by language and system: notes, and the system that one copies."""

    notes: Mapping[Key, Sequence[Note]] = field(default_factory=dict)
    originals: Mapping[Key, str] = field(default_factory=dict)

    def joined(self, notes: Mapping[Key, Note]) -> Seen:
        """Put one more note behind those of some systems."""
        added = {key: (*self.notes.get(key, ()), note) for key, note in notes.items()}
        return replace(self, notes={**self.notes, **added})


def look_at(
    answers: pd.DataFrame, judged: Mapping[str, Collection[str]], queries: pd.DataFrame
) -> dict[Key, tuple[Note, ...]]:
    """Look at systems' answers beside the judged systems' answers to the same questions.

    Args:
        answers: Columns ``language, system, query_id, answer`` of all of them, and ``passages``
            where some have their own.
        judged: Language to its judged systems.
        queries: Columns ``language, query_id, passages``.

    Returns:
        Language and system to what is seen. Of judged systems, facts alone: a verdict says more
        than what is unusual.
    """
    answers = answers.assign(answer=answers["answer"].map(without_thoughts))
    keys = zip(answers["language"], answers["system"], strict=True)
    is_judged = [system in judged.get(str(language), ()) for language, system in keys]
    shown = with_passages_of(queries, answers[is_judged])
    brought = with_passages_of(queries, answers)
    found: dict[Key, tuple[Note, ...]] = {}
    for language, systems in judged.items():
        rows = answers[answers["language"] == language]
        if rows.empty:
            continue
        shown_here, brought_here = (
            table[table["language"] == language] for table in (shown, brought)
        )
        rows, questions = plain_answers(rows, brought_here)
        known = sorted(set(systems) & set(rows["system"]))
        known = known[:: -(-max(len(known), 1) // MOST_BESIDE)]
        measured = measure_fit(rows, known)
        if len(known) >= FEWEST_JUDGED and not measured.index.isin(systems).all():
            seen = rows[~rows["system"].isin(systems) | rows["system"].isin(known)]
            texts = measure_texts(
                seen.reset_index(drop=True),
                known,
                passages_of_questions(shown_here, questions),
            )
            measured = measured.join(texts)
        usual = measured[measured.index.isin(systems)]
        for system, own in measured.iterrows():
            notes = [*_facts(own, usual)]
            if system not in systems and len(usual) >= FEWEST_JUDGED:
                notes += _unusual(own, usual)
            if notes:
                found[language, str(system)] = tuple(notes)
    return found


def _facts(own: pd.Series, usual: pd.DataFrame) -> Iterator[Note]:
    """Say what keeps a system from a rank: far beyond any judged system."""
    for name, (least, beyond, sentence) in FACTS.items():
        value = float(own[name])
        if value > least:
            known = usual[name].drop(own.name, errors="ignore")
            if value == 1 or not value <= known.max() + beyond:  # as it is where nobody is known
                yield Note(name, value, True, sentence.format(value))
                return


def _unusual(own: pd.Series, usual: pd.DataFrame) -> Iterator[Note]:
    """Say what hardly any ordinary system would have, by the spread of the judged systems."""
    for name, (least_deviation, sentence) in NOTED.items():
        value = float(own[name])
        judged_values = usual[name].dropna().to_numpy()
        n_judged = len(judged_values)
        if n_judged < FEWEST_JUDGED:
            continue
        center = float(judged_values.mean())
        deviation = float(judged_values.std(ddof=1))
        if name in SHARED:
            center = float(np.median(judged_values))
            deviation = _lower_deviation(judged_values, center)
        reach = beyond_ordinary(UNUSUAL, n_judged) * max(deviation, least_deviation)
        if value > center + reach:
            words = sentence.format(value=value, usual=center, nearest=own["nearest"])
            yield Note(name, value, False, words)


def _lower_deviation(values: Floats, center: float) -> float:
    """Return the standard deviation by the values up to the median.

    Judged systems that are versions of each other lie far above it: theirs would hide copies.
    """
    lower = values[values <= center]
    squares = float(np.sum((lower - center) ** 2))
    return math.sqrt(squares / max(len(lower) - 0.5, 1.0))


def beyond_ordinary(probability: float, n_judged: int) -> float:
    """Return how many standard deviations one more value exceeds with a small probability.

    It is Student's quantile for one more value of a normal sample: further away where few systems
    are judged.
    """
    quantile = float(stdtrit(n_judged - 1, 1 - probability))
    return quantile * math.sqrt(1 + 1 / n_judged)


def unusual_features(surrogate: Surrogate, X: pd.DataFrame) -> dict[Key, Note]:
    """Find systems whose rating gains from a feature far beyond the judged systems' values.

    Args:
        surrogate: The board's.
        X: Feature table of systems without verdicts; with the column ``answer`` where the
            surrogate reads answers.

    Returns:
        Language and system to a note that names these features, by what they add.
    """
    if X.empty:
        return {}
    effects = surrogate.feature_effects(X)
    # The more features are looked at, the further some feature of an ordinary system lies away.
    n_features = max(effects["feature"].nunique(), 1)
    effects = effects[(effects["added"] >= LEAST_ADDED) & (effects["count"] >= FEWEST_JUDGED)]
    bounds = {
        n: beyond_ordinary(UNUSUAL_FEATURE / n_features, n) for n in effects["count"].unique()
    }
    distances = (effects["value"] - effects["usual"]).abs()
    is_beyond = distances > effects["count"].map(bounds) * effects["deviation"]
    is_beyond &= effects["deviation"] > 0
    notes = {}
    for (language, system), rows in effects[is_beyond].groupby(["language", "system"]):
        rows = rows.sort_values("added", ascending=False, kind="stable")
        gain = float(rows["added"].sum())
        sentence = FAR_FEATURES.format(gain, ", ".join(rows["feature"]))
        notes[str(language), str(system)] = Note("features", gain, False, sentence)
    return notes


def system_status(
    seen: Seen,
    surrogate: Surrogate,
    X: pd.DataFrame,
    questions: Mapping[str, int],
    judged: Mapping[str, Sequence[str]],
) -> pd.DataFrame:
    """Find who is not ranked in each language and why, and what to remark.

    Args:
        seen: What was seen in the answers.
        surrogate: The board's.
        X: Feature table of the answers.
        questions: Language to its number of questions.
        judged: Language to systems whose verdicts tell how sure their ratings are.

    Returns:
        By ``language`` and ``system``: ``unranked`` (why; empty where it is ranked),
        ``original`` (the judged system it is a near-copy of, or empty), ``remark``, and
        ``variance`` of its rating for want of answers (squared logits).
    """
    counts = X.groupby(["language", "system"]).size()
    kept = [system not in judged.get(str(language), ()) for language, system in counts.index]
    unjudged = X.set_index(["language", "system"]).loc[counts.index[kept]].reset_index()
    variances = variances_of_coverage(surrogate, unjudged, questions)
    rows = []
    for key, count in counts.items():
        notes, original = seen.notes.get(key, ()), seen.originals.get(key, "")
        bars = "; ".join(note.sentence for note in notes if note.is_bar)
        asked = questions.get(key[0], 0)
        needed = needed_answers(asked)
        too_few = TOO_FEW_ANSWERS.format(count, asked, needed) if count < needed else ""
        reasons = [too_few, bars and NOT_RANKED.format(bars)]
        told = SEEN.format("; ".join(note.sentence for note in notes)) if notes else ""
        said = [original and NEAR_COPY.format(original), told]
        texts = ["; ".join(filter(None, part)) for part in (reasons, said)]
        rows.append((texts[0], original, texts[1], variances.get(key, 0.0)))
    columns = ["unranked", "original", "remark", "variance"]
    return pd.DataFrame(rows, counts.index, columns)


def without_remarks(note: str) -> str:
    """Return what a note says of a rating, without what is seen in the system's answers."""
    return note.partition(SEEN.split("{", maxsplit=1)[0])[0].removesuffix("; ")


def needed_answers(questions: int) -> int:
    """Return how many of a language's questions a system must have answered to be ranked."""
    share = math.ceil(round(LEAST_COVERAGE * questions, 9))
    return min(questions, max(FEWEST_ANSWERS, min(share, ENOUGH_ANSWERS)))


def variances_of_coverage(
    surrogate: Surrogate, X: pd.DataFrame, questions: Mapping[str, int]
) -> dict[Key, float]:
    """Return by how much ratings vary for want of answers to all questions, in squared logits.

    The delete-a-group jackknife (Kott, 2001) of what the surrogate predicts, times the finite
    population correction 1 - n / Q: a system that answered all Q questions has none.

    Args:
        surrogate: The board's.
        X: Feature table; with the column ``answer`` where the surrogate reads answers.
        questions: Language to its number of questions.

    Returns:
        Language and system to the variance; systems that answered every question, or one alone,
        are left out.
    """
    parts, corrections = [], dict[Key, float]()
    for (language, system), rows in X.groupby(["language", "system"]):
        total, size = questions.get(str(language), 0), len(rows)
        if not 1 < size < total:
            continue
        corrections[str(language), str(system)] = 1 - size / total
        ordered = rows.sort_values("query_id", kind="stable")
        groups = np.arange(size) % min(GROUPS, size)
        for group in range(groups.max() + 1):
            left = f"{system}{ANSWER_MARK}{group}"
            parts.append(ordered[groups != group].assign(system=left))
    if not parts:
        return {}
    rated = surrogate.predict(pd.concat(parts, ignore_index=True))
    owners = rated["system"].str.rsplit(ANSWER_MARK, n=1).str[0]
    spread = rated.groupby(["language", owners])["rating"].agg(
        lambda own: (own.notna().sum() - 1) * own.var(ddof=0)
    )
    return {key: float(spread[key]) * factor for key, factor in corrections.items()}


def near_copies(new: pd.DataFrame, known: pd.DataFrame) -> dict[Key, str]:
    """Find the new systems that are copies of a known one, word for word or nearly so.

    Both tables have the columns ``language, system, query_id, answer``.

    Returns:
        Language and new system to the known system of which it has nearly all answers there.
    """
    columns = ["language", "system", "query_id", "answer"]
    new, known = (rows.assign(answer=rows["answer"].map(without_thoughts)) for rows in (new, known))
    written, old = (rows.loc[rows["answer"].map(len) >= SHORTEST, columns] for rows in (new, known))
    place = written.groupby(["language", "system"]).cumcount()
    sizes = written.groupby(["language", "system"])["answer"].transform("size")
    # Of so few answers a copy must have one in common, too: most systems differ here.
    some = _same_answers(written[place <= sizes - np.floor(SHARE * sizes)], old)
    written = written[written["system"].isin(some["system"])]
    same = _same_answers(written, old[old["system"].isin(some["system_known"])])
    sizes = written.groupby(["language", "system"]).size()
    shared = same.groupby(["language", "system", "system_known"])["cosine"].agg(["size", "sum"])
    counts = shared.sort_values(["size", "sum"], kind="stable")["size"]
    return {
        (language, system): original
        for (language, system, original), count in counts.items()
        if count >= SHARE * sizes[language, system]
    }


def _same_answers(written: pd.DataFrame, old: pd.DataFrame) -> pd.DataFrame:
    """Find answers that are nearly another: ``language, system, system_known, cosine``."""
    old = old[old["query_id"].isin(written["query_id"])]
    one, other = (unit_rows(hashed(list(rows["answer"]))) for rows in (written, old))
    there, parts = old.groupby(QUESTION_KEY).indices, [np.empty((0, 3))]
    for key, places in written.groupby(QUESTION_KEY).indices.items():
        others = there.get(key, np.empty(0, dtype=np.intp))
        pairs = len(places) * len(others)  # compared a part at a time, so that memory stays small
        for part in np.array_split(places, -(-pairs // PART)) if pairs else ():
            cosines = sparse.coo_array(one[part] @ other[others].T)
            near = np.flatnonzero(cosines.data >= NEARLY_THE_SAME)
            row, column = (axis[near] for axis in cosines.coords)
            found = part[row], others[column], cosines.data[near].round(DIGITS)
            parts.append(np.column_stack(found))
    same = pd.DataFrame(np.concatenate(parts), columns=["place", "other", "cosine"])
    same = same.sort_values(["place", "other"], ignore_index=True)
    places, others = same["place"].astype(int), same["other"].astype(int)
    names = {name: written[name].to_numpy()[places] for name in ("language", "system")}
    return same.assign(**names, system_known=old["system"].to_numpy()[others])
