"""Is one judge better than another? Paired permutation tests (appendix E).

Under the null hypothesis the two verdicts on a sentence could as well be each other's. Swapping
them changes the difference in balanced accuracy by a fixed amount for each sentence, since the
human labels stay: a replicate is a sum of these amounts with random signs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from arena.data.errors import DataError, Problem, UsageError
from arena.data.files import atomic_path
from arena.data.schema import validation_problems
from arena.data.seeds import generator
from surrogate.metaevaluation.memerag.balanced_accuracy import MACRO, Unit
from surrogate.metaevaluation.memerag.judges import VERDICT_COLUMNS
from surrogate.metaevaluation.memerag.reading import FINE_GRAINED, JUDGED, SENTENCE_KEY

FloatArray = npt.NDArray[np.float64]

PERMUTATIONS = 10_000
SIGNIFICANCE = 0.05
COMPARISON_COLUMNS = [
    *("language", "balanced_accuracy_a", "balanced_accuracy_b", "difference", "p_value"),
    *("sentences", "disagreements", "reason"),
]

_CELLS_AT_ONCE = 4_000_000
_ROUNDING = 1e-12


@dataclass(frozen=True)
class JudgeComparison:
    """Two judges on the same sentences.

    Attributes:
        judge_a: Name and prompt of the first.
        judge_b: Name and prompt of the second.
        table: Columns ``COMPARISON_COLUMNS``, one row a language and one for ``macro``.
        left_out: Sentences that only one of them was asked about.
    """

    judge_a: tuple[str, str]
    judge_b: tuple[str, str]
    table: pd.DataFrame
    left_out: int


def compare_judges(
    verdicts_a: pd.DataFrame,
    verdicts_b: pd.DataFrame,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    unit: Unit = "sentence",
) -> JudgeComparison:
    """Test whether two judges differ in balanced accuracy, by language and on average.

    Args:
        verdicts_a: Verdicts of one judge, as ``judge_sentences`` returns them.
        verdicts_b: Verdicts of another judge, or of the same with another prompt.
        permutations: Random swaps.
        seed: Seed of the swaps.
        unit: What is swapped: the verdicts on a sentence, or on all sentences of a question.

    Returns:
        Two-sided p-values ``(1 + hits) / (1 + permutations)``.

    Raises:
        UsageError: If a table holds several judges, or the two have no sentence in common or hold
            different human labels for one.
    """
    joint, left_out = _joint(verdicts_a, verdicts_b)
    languages = list(joint["language"].drop_duplicates())
    amounts = {
        language: _amounts(joint[joint["language"] == language], unit) for language in languages
    }
    rows = [
        _row(language, joint[joint["language"] == language], amounts[language], permutations, seed)
        for language in languages
    ]
    everywhere = np.concatenate(list(amounts.values())) / len(languages)
    rows.append(_macro_row(rows, everywhere, permutations, seed))
    return JudgeComparison(
        _judge_of(verdicts_a),
        _judge_of(verdicts_b),
        pd.DataFrame(rows, columns=COMPARISON_COLUMNS),
        left_out,
    )


def permutation_p_value(amounts: FloatArray, permutations: int, seed: int, key: str) -> float:
    """Return the two-sided p-value of a sum whose terms may have either sign.

    Args:
        amounts: What each unit adds to the difference, shape (units,).
        permutations: Random signs to try.
        seed: Seed of the signs.
        key: What the test is for; other tests draw other signs.
    """
    moving = amounts[amounts != 0]
    if not len(moving):
        return 1.0
    draws = generator(seed, "permutation test", key)
    observed = abs(moving.sum()) - _ROUNDING
    at_once = max(1, _CELLS_AT_ONCE // len(moving))
    hits = 0
    for start in range(0, permutations, at_once):
        size = min(at_once, permutations - start)
        signs = draws.integers(0, 2, size=(size, len(moving)), dtype=np.int8) * 2.0 - 1.0
        hits += int((np.abs(signs @ moving) >= observed).sum())
    return (1 + hits) / (1 + permutations)


def _joint(verdicts_a: pd.DataFrame, verdicts_b: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    asked_a, asked_b = (_asked(verdicts) for verdicts in (verdicts_a, verdicts_b))
    joint = asked_a.merge(asked_b, on=SENTENCE_KEY, suffixes=("_a", "_b"))
    if joint.empty:
        raise UsageError("the two judges have no sentence in common; judge the same ones")
    differs = joint["factuality_a"] != joint["factuality_b"]
    if differs.any():
        first = joint.loc[differs, SENTENCE_KEY].iloc[0]
        raise UsageError(
            f"the runs hold different human labels for sentence {first['sentence_id']} of "
            f"{first['query_id']} ({first['language']}); compare runs on the same data"
        )
    return joint, len(asked_a) + len(asked_b) - 2 * len(joint)


def _asked(verdicts: pd.DataFrame) -> pd.DataFrame:
    _judge_of(verdicts)
    asked = verdicts[verdicts["was_asked"].astype(bool)]
    correct = asked["label"] == asked["factuality"]
    return asked[[*SENTENCE_KEY, "factuality"]].assign(correct=correct.to_numpy())


def _judge_of(verdicts: pd.DataFrame) -> tuple[str, str]:
    known = verdicts[["judge", "prompt"]].drop_duplicates()
    if len(known) != 1:
        raise UsageError(f"a table of verdicts holds {len(known)} judges; give those of one")
    return str(known.iloc[0]["judge"]), str(known.iloc[0]["prompt"])


def _amounts(joint: pd.DataFrame, unit: Unit) -> FloatArray:
    """Return what each unit adds to the difference in balanced accuracy, shape (units,)."""
    counts = joint["factuality_a"].value_counts()
    weights = joint["factuality_a"].map({label: 0.5 / count for label, count in counts.items()})
    gains = joint["correct_a"].astype(float) - joint["correct_b"].astype(float)
    amounts: FloatArray = (weights * gains).to_numpy(dtype=np.float64)
    if unit == "sentence":
        return amounts
    codes, _ = pd.factorize(joint["query_id"])
    summed: FloatArray = np.bincount(codes, weights=amounts).astype(np.float64)
    return summed


def _row(
    language: str, joint: pd.DataFrame, amounts: FloatArray, permutations: int, seed: int
) -> dict[str, object]:
    row: dict[str, object] = {
        "language": language,
        "sentences": len(joint),
        "disagreements": int((joint["correct_a"] != joint["correct_b"]).sum()),
    }
    absent = [label for label in JUDGED if label not in set(joint["factuality_a"])]
    if absent:
        return row | {"reason": f"no sentence both judged is labeled {absent[0]}"}
    recall = joint.groupby("factuality_a")[["correct_a", "correct_b"]].mean().mean()
    return row | {
        "balanced_accuracy_a": float(recall["correct_a"]),
        "balanced_accuracy_b": float(recall["correct_b"]),
        "difference": float(recall["correct_a"] - recall["correct_b"]),
        "p_value": permutation_p_value(amounts, permutations, seed, language),
    }


def _macro_row(
    rows: list[dict[str, object]], amounts: FloatArray, permutations: int, seed: int
) -> dict[str, object]:
    table = pd.DataFrame(rows, columns=COMPARISON_COLUMNS)
    counts = table[["sentences", "disagreements"]].sum()
    row: dict[str, object] = {
        "language": MACRO,
        "sentences": int(counts["sentences"]),
        "disagreements": int(counts["disagreements"]),
    }
    reasons = [str(each["reason"]) for each in rows if each.get("reason")]
    if reasons:
        return row | {"reason": reasons[0]}
    means = table[["balanced_accuracy_a", "balanced_accuracy_b", "difference"]].mean()
    p_value = permutation_p_value(amounts, permutations, seed, MACRO)
    return row | {str(name): float(mean) for name, mean in means.items()} | {"p_value": p_value}


DATASET: Literal["memerag"] = "memerag"
NOTICE = (
    "Human labels: MEMERAG (Cruz Blandón et al., ACL 2025), CC BY-NC 4.0; "
    "for evaluation, not for training."
)

_BY_JUDGE = ("judge", "prompt")
_COLUMNS = tuple(name for name in VERDICT_COLUMNS if name not in _BY_JUDGE)
_HINT = "write it anew with metaeval memerag --out"


class JudgeVerdicts(BaseModel):
    """Verdicts of one judge, a list a column."""

    model_config = ConfigDict(strict=True, extra="forbid")

    judge: str
    prompt: str
    language: list[str]
    query_id: list[str]
    sentence_id: list[int]
    factuality: list[Literal["Supported", "Not Supported"]]
    fine_grained_factuality: list[str | None]
    label: list[Literal["Supported", "Not Supported"] | None]
    failure: list[str | None]
    was_asked: list[bool]

    @model_validator(mode="after")
    def _columns_match(self) -> JudgeVerdicts:
        lengths = {len(getattr(self, name)) for name in _COLUMNS}
        if lengths == {0} or len(lengths) > 1:
            raise ValueError("the columns of a judge have different lengths, or none")
        return self


class RunContent(BaseModel):
    """Content of the file.

    Attributes:
        dataset: What was judged.
        notice: License of the human labels.
        version: Version of this format.
        judges: Verdicts by judge.
    """

    model_config = ConfigDict(strict=True, extra="ignore")

    dataset: Literal["memerag"] = DATASET
    notice: str = NOTICE
    version: Literal[1] = 1
    judges: list[JudgeVerdicts]


@dataclass(frozen=True)
class MemeragRun:
    """A run as read.

    Attributes:
        verdicts: As ``judge_sentences`` returns them.
        source: Name of the file.
    """

    verdicts: pd.DataFrame
    source: str

    def by_judge(self) -> dict[tuple[str, str], pd.DataFrame]:
        """Return the verdicts of each judge, by its name and prompt."""
        groups = self.verdicts.groupby(list(_BY_JUDGE), sort=False)
        return {(str(judge), str(prompt)): part for (judge, prompt), part in groups}


def write_run(verdicts: pd.DataFrame, path: Path | str) -> None:
    """Write verdicts to a JSON file, atomically; the same verdicts give the same bytes.

    Args:
        verdicts: As ``judge_sentences`` returns them.
        path: Target; its folder must exist.

    Raises:
        UsageError: If the folder does not exist.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent} to write {path.name} in")
    judges = [
        JudgeVerdicts(judge=judge, prompt=prompt, **_lists(part))
        for (judge, prompt), part in MemeragRun(verdicts, path.name).by_judge().items()
    ]
    text = RunContent(judges=judges).model_dump_json(indent=None)
    with atomic_path(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def read_run(path: Path | str) -> MemeragRun:
    """Read the file of a run.

    Raises:
        UsageError: If there is no such file.
        DataError: If it is no such file.
    """
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"there is no run at {path}; make one with metaeval memerag --out")
    try:
        content = RunContent.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise DataError(validation_problems(error, path.name, None, _hint)) from error
    problems = [_unknown_label(path.name, judge) for judge in content.judges]
    found = [problem for problem in problems if problem is not None]
    if found:
        raise DataError(found)
    tables = [_table(judge) for judge in content.judges]
    if not tables:
        raise DataError([Problem(path.name, None, "judges", [], "is an empty list", _HINT)])
    return MemeragRun(pd.concat(tables, ignore_index=True), path.name)


def _lists(part: pd.DataFrame) -> dict[str, Any]:
    plain = part[list(_COLUMNS)].astype(object).where(part[list(_COLUMNS)].notna(), None)
    return {name: plain[name].tolist() for name in _COLUMNS}


def _table(judge: JudgeVerdicts) -> pd.DataFrame:
    columns = {name: pd.Series(getattr(judge, name), dtype=object) for name in _COLUMNS}
    table = pd.DataFrame(columns).assign(judge=judge.judge, prompt=judge.prompt)
    return table[VERDICT_COLUMNS].astype({"was_asked": bool, "sentence_id": int})


def _unknown_label(source: str, judge: JudgeVerdicts) -> Problem | None:
    unknown = sorted(set(judge.fine_grained_factuality) - {None, *FINE_GRAINED}, key=str)
    if not unknown:
        return None
    hint = f"use one of {', '.join(FINE_GRAINED)}, or null"
    return Problem(
        source, None, "fine_grained_factuality", unknown[0], "is no label of this field", hint
    )


def _hint(place: str) -> str:
    is_label = ".label." in place or ".factuality." in place
    return f"use {' or '.join(JUDGED)}" if is_label else _HINT


DAGGER = "†"
BEST = "best"


def mark_best(
    scores: pd.DataFrame,
    verdicts: pd.DataFrame,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> pd.DataFrame:
    """Mark in each language, and on average, the best judge and those that may be as good.

    Args:
        scores: As ``score_judges`` returns them.
        verdicts: The verdicts they are of.
        permutations: Random swaps of each test.
        seed: Seed of the swaps.

    Returns:
        The scores with ``p_value`` (of the test against the best judge of the row's language;
        missing for the best) and ``mark``: ``best``, ``†`` where p > 0.05, or nothing.
    """
    of_judge = dict(iter(verdicts.groupby(["judge", "prompt"], sort=False)))
    marked = scores.assign(p_value=float("nan"), mark="")
    for language, rows in scores.groupby("language", sort=False):
        known = rows[rows["balanced_accuracy"].notna()]
        if len(known) < 2:
            continue
        best = known["balanced_accuracy"].idxmax()
        marked.loc[best, "mark"] = BEST
        for place in known.index.drop(best):
            pair = [of_judge[_judge(scores, row)] for row in (best, place)]
            p_value = _p_value(pair, str(language), permutations, seed)
            marked.loc[place, "p_value"] = p_value
            marked.loc[place, "mark"] = DAGGER if p_value > SIGNIFICANCE else ""
    return marked


def _judge(scores: pd.DataFrame, row: object) -> tuple[str, str]:
    return str(scores.loc[row, "judge"]), str(scores.loc[row, "prompt"])


def _p_value(pair: list[pd.DataFrame], language: str, permutations: int, seed: int) -> float:
    if language != MACRO:
        pair = [verdicts[verdicts["language"] == language] for verdicts in pair]
    table = compare_judges(pair[0], pair[1], permutations, seed).table
    return float(table.loc[table["language"] == language, "p_value"].iloc[0])
