"""Asking a model that runs in this process, by the requests that servers get."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Mapping
from typing import Any

from arena.llm import replies
from arena.llm.completions import read_completion
from arena.llm.llm_settings import EMBEDDINGS, LlmSettings, Request, digest
from arena.llm.local.folder import required_model
from arena.llm.local.loading import Loaded, load_local, quiet
from arena.llm.replies import Completion, Fault

TAKEN = frozenset({"model", "messages", "temperature", "max_tokens", "seed", "top_p"}) | {
    *("logprobs", "top_logprobs")
}
"""Fields of a request that are followed; with any other, the request is refused."""

_LONGEST_REPLY = 1024
_SEED_DIGITS = 15
_ALONE = threading.Lock()
"""Held while a model is loaded or generates: seeds are the library's, models shared by runs."""


class LocalTransport:
    """Answers requests by one model, one at a time; it is loaded by the first request.

    Replies do not depend on what else is asked: greedy, or sampled with a seed of the request's
    own (the request's ``seed`` where there is one, else digits of its key).
    """

    def __init__(self, settings: LlmSettings) -> None:
        self._path = settings.local

    async def call(self, request: Request) -> Completion | Fault:
        """Answer one request."""
        return await asyncio.to_thread(self._answer, request)

    async def close(self) -> None:
        """Do nothing: the model stays in memory for the next run."""

    def _answer(self, request: Request) -> Completion | Fault:
        asked = json.loads(request.body)
        refused = _refused(asked, request.path)
        if refused is not None:
            return refused
        with _ALONE:
            loaded = load_local(required_model(self._path))
            try:
                return _generated(loaded, asked, request.key)
            except Exception as error:  # of a library, on a prompt: no reason to end a run
                return Fault(replies.REJECTED, f"{type(error).__name__}: {error}"[:300])


def _refused(asked: Mapping[str, Any], path: str) -> Fault | None:
    """Return the fault of a request that a model run here would not follow."""
    if path == EMBEDDINGS:
        said = "a model that is run here writes texts, and embeds none"
        return Fault(replies.REJECTED, said, advice="name an embedder")
    further = sorted(set(asked) - TAKEN)
    if not further:
        return None
    said = f"a model that is run here takes no {', '.join(further)}"
    is_form = "response_format" in further
    advice = 'ask for text (`replies = "text"` of --config)' if is_form else "leave it out"
    return Fault(replies.REJECTED, said, advice=advice)


def _generated(loaded: Loaded, asked: Mapping[str, Any], key: str) -> Completion | Fault:
    started = time.perf_counter()
    tokenizer, messages = loaded.tokenizer, asked["messages"]
    text = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    ids = tokenizer(text, add_special_tokens=False, return_tensors="pt")["input_ids"]
    context = int(getattr(loaded.model.config, "max_position_embeddings", None) or 2**31)
    size = ids.shape[1]
    if size >= context:
        said = f"the prompt has {size} tokens, the model's context {context}"
        return Fault(replies.CONTEXT_LENGTH, said)
    stated = getattr(loaded.model.generation_config, "eos_token_id", None)
    listed = stated if isinstance(stated, list) else [stated, tokenizer.eos_token_id]
    ends = sorted({int(end) for end in listed if end is not None})
    most = min(asked.get("max_tokens") or _LONGEST_REPLY, context - size)
    stated_seed = asked.get("seed")
    seed = int(digest(key)[:_SEED_DIGITS], 16) if stated_seed is None else int(stated_seed)
    output = _run(loaded, ids, asked, (most, seed, ends))
    new = output.sequences[0][size:].tolist()
    is_whole = bool(new) and new[-1] in ends
    shown = new[:-1] if is_whole else new
    payload = {
        "model": asked["model"],
        "choices": [
            {
                "message": {"content": tokenizer.decode(shown, skip_special_tokens=True)},
                "finish_reason": "stop" if is_whole else "length",
                "logprobs": {"content": _logprobs(output, shown, asked, tokenizer)},
            }
        ],
        "usage": {"prompt_tokens": size, "completion_tokens": len(new)},
    }
    return read_completion(payload, time.perf_counter() - started)


def _run(
    loaded: Loaded,
    ids: Any,  # noqa: ANN401 - a tensor
    asked: Mapping[str, Any],
    limits: tuple[int, int, list[int]],
) -> Any:  # noqa: ANN401 - of transformers
    import torch
    import transformers

    (most, seed, ends), heat = limits, asked.get("temperature") or 0.0
    sampling = {"temperature": heat, "top_p": asked.get("top_p", 1.0), "top_k": 0}
    library: Any = transformers  # whose constructors have no types
    config = library.GenerationConfig(
        max_new_tokens=most,
        do_sample=heat > 0,
        eos_token_id=ends,
        pad_token_id=loaded.tokenizer.pad_token_id or ends[0],
        output_logits=bool(asked.get("logprobs")),
        return_dict_in_generate=True,
        **(sampling if heat > 0 else {}),
    )
    devices = [torch.cuda.current_device()] if loaded.device == "cuda" else []
    with quiet(), torch.random.fork_rng(devices), torch.inference_mode():
        torch.manual_seed(seed)
        ids = ids.to(loaded.device)
        mask = torch.ones_like(ids)
        return loaded.model.generate(input_ids=ids, attention_mask=mask, generation_config=config)


def _logprobs(
    output: Any,  # noqa: ANN401 - of transformers
    tokens: list[int],
    asked: Mapping[str, Any],
    tokenizer: Any,  # noqa: ANN401 - of transformers
) -> list[dict[str, Any]] | None:
    """Write the log-probabilities of a reply's tokens as servers do: of the model, unsampled."""
    if not asked.get("logprobs"):
        return None
    content = []
    for token, logits in zip(tokens, output.logits, strict=False):
        scores = logits[0].float().log_softmax(-1)
        best = scores.topk(min(asked.get("top_logprobs") or 0, len(scores)))
        likeliest = [
            {"token": tokenizer.decode([int(each)]), "logprob": float(score)}
            for score, each in zip(best.values, best.indices, strict=True)
        ]
        written, logprob = tokenizer.decode([token]), float(scores[token])
        content.append({"token": written, "logprob": logprob, "top_logprobs": likeliest})
    return content
