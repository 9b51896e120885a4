"""Families of language models by their names, and how far a judge favors its own."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from types import MappingProxyType

import pandas as pd

from arena.data.schema import is_derived
from arena.data.seeds import generator
from arena.data.wording import count_of
from arena.diagnostics.verdicts import GROUP, ITEM, QUESTION_PAIR, Finding, listed
from arena.statistics.bootstrap import percentile_interval, resampled_sums

FAMILIES = MappingProxyType(
    {
        "OpenAI": r"gpt-?[345](?!all)|gpt-oss|chatgpt|openai|(?<![a-z0-9])o[134](?![a-z0-9])",
        "Anthropic": r"claude|anthropic",
        "Google": r"gemini|gemma|google|palm-?2|(?<![a-z])bard(?![a-z])",
        "Meta": r"llama|(?<![a-z])meta(?![a-z])|vicuna|alpaca",
        "Qwen": r"qwen|qwq",
        "Mistral": r"mi[sx]tral|ministral|codestral|magistral|pixtral",
        "Cohere": r"cohere|command-?(?:r|a|light|nightly)|(?<![a-z])aya(?![a-z])",
        "DeepSeek": r"deepseek",
        "Microsoft": r"(?<![a-z])phi-?[1-9]|microsoft|wizardlm",
        "xAI": r"grok|(?<![a-z])xai(?![a-z])",
        "Zhipu": r"(?<![a-z])(?:chat)?glm|zhipu",
        "01.AI": r"(?<![a-z])yi-|01-ai",
    }
)
"""Name of each family to a pattern of its models' names."""

RESAMPLES = 2000
PREFERENCE_COLUMNS = [
    *(*GROUP, "family", "systems", "others", "items", "questions"),
    *("share", "share_others", "excess", "low", "high"),
]

_PATTERNS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in FAMILIES.items()}


def model_families(name: str) -> frozenset[str]:
    """Return the families that a model's name speaks of; a distilled model may have two."""
    return frozenset(family for family, pattern in _PATTERNS.items() if pattern.search(name))


def families_of_systems(
    systems: Iterable[str], attributes: pd.DataFrame | None = None
) -> dict[str, frozenset[str]]:
    """Tell families: by the attribute ``family``, else by the name of the ``model``, or the own."""
    known = {} if attributes is None else attributes.set_index("system").to_dict(orient="index")
    made = {system: known.get(system, {}) for system in systems}
    return {
        system: frozenset({its["family"]})
        if isinstance(its.get("family"), str)
        else model_families(its["model"] if isinstance(its.get("model"), str) else system)
        for system, its in made.items()
    }


def self_preference_table(
    table: pd.DataFrame, attributes: pd.DataFrame | None = None, seed: int = 0
) -> pd.DataFrame:
    """Estimate how much more a judge gives its own family than other judges of the same pairs.

    Of pairs of which one system is of the judge's family, the share of points that the judge gives
    it (a tie is half), less that by all judges of other families who judged the same pair on the
    same question, averaged; panels, which say what others said, are no witnesses. It is an upper
    bound of what the literature calls self-preference: judges may differ for reasons of their own
    that happen to favor the family (Panickssery et al., 2024; Wataoka et al., 2024).

    Returns:
        ``PREFERENCE_COLUMNS``, a row a language, judge and family of it: the family's systems, the
        other judges of pairs that are shared, these pairs (``items``), their questions, both
        shares and the excess with its 95% interval over questions; NaN where no other judged.
    """
    systems = families_of_systems(sorted({*table["first"], *table["second"]}), attributes)
    judges = {rater: model_families(rater) for rater in sorted(table["judge"].unique())}
    wanted = [
        (rater, family, kin)
        for rater, its in judges.items()
        for family in sorted(its)
        if (kin := [system for system, families in systems.items() if family in families])
    ]
    rows: list[list[object]] = []
    scored = table.groupby(ITEM, observed=True)["points"].mean().reset_index() if wanted else table
    for rater, family, kin in wanted:
        is_first, is_second = scored["first"].isin(kin), scored["second"].isin(kin)
        toward = scored["points"].where(is_first, 1.0 - scored["points"])
        mixed = scored.assign(points=toward)[is_first != is_second]
        outside = [name for name in judges if family not in judges[name] and not is_derived(name)]
        others = mixed[mixed["judge"].isin(outside)]
        means = others.groupby(QUESTION_PAIR, observed=True)["points"].mean().rename("others")
        own = mixed[mixed["judge"] == rater].merge(
            means.reset_index(), on=QUESTION_PAIR, how="left"
        )
        for (language, judge), part in own.groupby(GROUP, observed=True):
            shared = part.dropna(subset="others")
            known = others.merge(shared[QUESTION_PAIR])["judge"].nunique()
            counts = [known, len(shared), shared["query_id"].nunique()]
            key = ("self-preference", rater, family, language)
            rows.append(
                [language, judge, family, listed(kin), *counts, *_excess(shared, seed, key)]
            )
    return pd.DataFrame(rows, columns=PREFERENCE_COLUMNS)


def _excess(shared: pd.DataFrame, seed: int, key: tuple[str, ...]) -> tuple[float, ...]:
    """Return both shares, their difference, and its interval over questions."""
    if shared.empty:
        return (math.nan,) * 5
    sums = shared.assign(one=1.0).groupby("query_id")[["one", "points", "others"]].sum().to_numpy()
    _, own, theirs = sums.sum(axis=0) / len(shared)
    low = high = math.nan
    if len(sums) > 1:
        drawn = resampled_sums(sums, RESAMPLES, generator(seed, *key))
        low, high = percentile_interval((drawn[:, 1] - drawn[:, 2]) / drawn[:, 0])
    return own, theirs, own - theirs, low, high


def self_preference_findings(table: pd.DataFrame) -> Iterator[Finding]:
    """Say by how much each judge favors its own family, as far as that can be known."""
    for row in table.itertuples():
        subject = f"{row.language}, {row.judge}"
        kin = f"its own family ({row.family}: {row.systems})"
        if not row.items:
            sentence = (
                f"it judges {kin}, and no judge of another family judged the same pairs; whether "
                "it prefers it is not known"
            )
            yield Finding("warning", "self-preference", subject, sentence)
            continue
        beyond = count_of(row.others, "other judge")
        by = f"{100 * row.excess:+.1f} points of win rate beyond {beyond}"
        if not math.isnan(row.low):
            by += f", 95% interval {100 * row.low:+.1f} to {100 * row.high:+.1f}"
        surely = row.low > 0
        said = "favors" if surely else "does not clearly favor"
        sentence = f"it {said} {kin}: {by}, on {count_of(row.items, 'pair')}"
        yield Finding("warning" if surely else "info", "self-preference", subject, sentence)
