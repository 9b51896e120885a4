"""How often does a gate call answers broken that are not, and does it see those that are?

    python benchmarks/broken_answers.py ARENA ... [--systems 12] [--draws 2] [--json FILE]

Two parts. Alarms: every system of an arena as a candidate against every other as a baseline, by
kind, with the systems that raise them: whoever reads their answers sees whether these are right.
Found: real answers are broken in a fifth, half and all of the questions, and compared with those
of another system that raised no alarm against them; printed are the shares called broken.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from arena import Arena, read_arena
from arena.statistics.bootstrap import generator
from surrogate.checks.answer_checks import CHECKS, compare_measured
from surrogate.checks.faults import measure_faults

SHARES = (0.2, 0.5, 1.0)
FOREIGN = {
    False: "Das weiß man seit langem: die Antwort steht in vielen Büchern, und wer sie liest, "
    "findet dort auch die Gründe, aus denen sie so und nicht anders ausfällt.",
    True: "The answer has been known for a long time: it can be found in many books, and those "
    "who read them will also learn why it is as it is and not otherwise.",
}
"""An answer in German, and for questions in German one in English."""
REFUSALS = {
    "ar": "عذرًا، لا أعرف الإجابة عن هذا السؤال.",
    "de": "Das kann ich leider nicht beantworten, denn dazu habe ich keine Informationen.",
    "en": "I'm sorry, but I cannot answer this question.",
    "es": "Lo siento, no puedo responder a esta pregunta.",
    "ja": "申し訳ありませんが、この質問にはお答えできません。",
    "ko": "죄송하지만 이 질문에는 답변을 드릴 수 없습니다.",
    "ru": "К сожалению, я не могу ответить на этот вопрос.",
    "zh": "抱歉，我无法回答这个问题。",
}


def cut(row: pd.Series, rng: np.random.Generator) -> str:
    """Keep the first part of an answer."""
    return str(row["answer"])[: int(len(row["answer"]) * rng.uniform(0.3, 0.9))]


def cut_short(row: pd.Series, rng: np.random.Generator) -> str:  # noqa: ARG001
    """Keep sixty characters."""
    return str(row["answer"])[:60]


def emptied(row: pd.Series, rng: np.random.Generator) -> str:  # noqa: ARG001
    """Leave nothing."""
    return ""


def in_other_language(row: pd.Series, rng: np.random.Generator) -> str:  # noqa: ARG001
    """Answer in German, or in English where German is asked for."""
    return FOREIGN[row["language"] == "de"]


def with_dead_citation(row: pd.Series, rng: np.random.Generator) -> str:
    """Cite a passage that is not there."""
    return f"{row['answer']} [{rng.integers(900, 999)}]"


def repeated(row: pd.Series, rng: np.random.Generator) -> str:  # noqa: ARG001
    """Write the longest paragraph once more."""
    longest = max(str(row["answer"]).splitlines() or [""], key=len)
    return f"{row['answer']}\n{longest}"


def refused(row: pd.Series, rng: np.random.Generator) -> str:  # noqa: ARG001
    """Refuse, in the question's language where the list has it."""
    return REFUSALS.get(row["language"], REFUSALS["en"])


BREAKS: dict[str, tuple[str, Callable[[pd.Series, np.random.Generator], str]]] = {
    "cut at a random point": ("cut", cut),
    "cut to 60 characters": ("cut", cut_short),
    "emptied": ("empty", emptied),
    "in another language": ("other language", in_other_language),
    "citing what is not there": ("dead citation", with_dead_citation),
    "a paragraph twice": ("repetition", repeated),
    "refusing": ("refusal", refused),
}
"""How answers are broken, and the check that should see it."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("arenas", nargs="+")
    parser.add_argument("--systems", type=int, default=1000, help="systems of an arena")
    parser.add_argument("--draws", type=int, default=2, help="broken candidates of each kind")
    parser.add_argument("--json", type=Path, help="file for the alarms of each pair")
    options = parser.parse_args()
    alarm_rows: list[dict[str, object]] = []
    detection_rows: list[dict[str, object]] = []
    for folder in options.arenas:
        arena = read_arena(folder, is_judged=False)
        shuffled = generator(0, "broken answers").permutation(list(arena.info.systems))
        is_drawn = arena.answers["system"].isin(shuffled[: options.systems])
        faults = measure_faults(arena, arena.answers[is_drawn])
        faults_by_system = {str(system): rows for system, rows in faults.groupby("system")}
        pairs = list(pair_alarms(faults_by_system))
        show_alarms(arena.info.name, pairs)
        alarm_rows += [{"arena": arena.info.name, **row} for row in pairs]
        unalarmed = [row for row in pairs if not row["kinds"]]
        detection_rows += broken_rows(arena, faults_by_system, unalarmed, options.draws)
    alarms = pd.DataFrame(alarm_rows)
    if options.json is not None:
        alarms.to_json(options.json, orient="records", indent=1)
    alarm_shares = alarms["kinds"].map(bool).groupby(alarms["arena"]).mean()
    print(f"\nPairs with an alarm:\n{alarm_shares.round(4).to_string()}")
    detections = pd.DataFrame(detection_rows)
    for columns in (["broken", "arena"], ["broken"]):
        shares = detections.pivot_table(index=columns, columns="share", values="found", sort=False)
        print(f"\nFound:\n{shares.round(2).to_string()}")


def pair_alarms(faults_by_system: dict[str, pd.DataFrame]) -> Iterator[dict[str, object]]:
    """Compare every system with every other."""
    for candidate, candidate_faults in faults_by_system.items():
        for baseline, baseline_faults in faults_by_system.items():
            if candidate == baseline:
                continue
            checks = compare_measured(candidate_faults, baseline_faults)
            kinds = sorted({check.name for check in checks.checks if check.severity == "error"})
            yield {
                "candidate": candidate,
                "baseline": baseline,
                "kinds": kinds,
                "alarms": list(checks.alarms),
            }


def show_alarms(name: str, pairs: list[dict[str, object]]) -> None:
    """Print how many pairs raise alarms of each kind, and which candidates."""
    print(f"\n{name}: {len(pairs)} pairs", flush=True)
    for kind in CHECKS:
        candidates = Counter(
            str(row["candidate"])
            for row in pairs
            if kind in list(row["kinds"])  # type: ignore[call-overload]
        )
        if candidates:
            named = ", ".join(f"{system} ({n})" for system, n in candidates.most_common())
            print(f"  {kind}: {candidates.total()} pairs; {named}")


def broken_rows(
    arena: Arena,
    faults_by_system: dict[str, pd.DataFrame],
    pairs: list[dict[str, object]],
    n_draws: int,
) -> Iterator[dict[str, object]]:
    """Break answers of candidates in pairs without an alarm, and say whether that raises one."""
    rng = generator(0, "broken answers", arena.info.name)
    for name, (check_name, break_answer) in BREAKS.items():
        usable = pairs
        if check_name == "dead citation":
            # Of answers none of which cites anything, a citation is no alarm.
            has_citations = {s: (rows["cited"] > 0).any() for s, rows in faults_by_system.items()}
            usable = [row for row in pairs if has_citations[str(row["baseline"])]]
        for index in rng.permutation(len(usable))[:n_draws]:
            baseline_faults = faults_by_system[str(usable[index]["baseline"])]
            answers = arena.answers[arena.answers["system"] == usable[index]["candidate"]]
            order = rng.permutation(len(answers))
            for share in SHARES:
                is_broken = order < round(share * len(answers))
                texts = [break_answer(answer, rng) for _, answer in answers.iterrows()]
                broken = answers.assign(answer=np.where(is_broken, texts, answers["answer"]))
                checks = compare_measured(measure_faults(arena, broken), baseline_faults)
                yield {
                    "arena": arena.info.name,
                    "broken": name,
                    "share": share,
                    "found": checks.is_broken,
                }


if __name__ == "__main__":
    main()
