"""Asking a model that runs in this process, by the requests that servers get."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from arena.llm import replies
from arena.llm.local.folder import required_model
from arena.llm.local.loading import Loaded, kept_local, quiet
from arena.llm.replies import Completion, Fault, read_completion
from arena.llm.settings import EMBEDDINGS, LlmSettings, Request, digest

TAKEN = frozenset(
    {
        "model",
        "messages",
        "temperature",
        "max_tokens",
        "seed",
        "logprobs",
        "top_logprobs",
        "stop",
        "top_p",
    }
)
"""Fields of a request that are followed; with any other, the request is refused."""
_FORMAT = "response_format"
_LONGEST_REPLY = 1024
_SEED_DIGITS = 15
_ALONE = threading.Lock()
"""Held while a model is loaded or generates: seeds are the library's, models shared by runs."""


class LocalTransport:
    """Answers requests by one model, one at a time.

    Replies do not depend on what else is asked: greedy, or sampled with a seed of the request's
    own (the request's ``seed`` where there is one, else digits of its key).

    Attributes:
        settings: Whose ``local`` says which model.
        reached: True: what goes wrong is the request's fault.
    """

    def __init__(self, settings: LlmSettings) -> None:
        self.settings = settings
        self.reached = True
        self._loaded: Loaded | None = None
        self._turn = asyncio.Lock()
        self._dropped = threading.Event()

    async def call(self, request: Request) -> Completion | Fault:
        """Answer one request; the first one loads the model."""
        async with self._turn:
            try:
                return await asyncio.to_thread(self._answer, request)
            except asyncio.CancelledError:
                self._dropped.set()  # ends the generation under way at its next token
                raise

    def _answer(self, request: Request) -> Completion | Fault:
        asked = json.loads(request.body)
        refused = _refused(asked, request.path)
        if refused is not None:
            return refused
        with _ALONE:
            if self._loaded is None:
                self._loaded = kept_local(required_model(self.settings.local))
            try:
                return self._generated(self._loaded, asked, request)
            except Exception as error:  # of a library, on a prompt: no reason to end a run
                return Fault(replies.REJECTED, f"{type(error).__name__}: {error}"[:300])

    def _generated(
        self, loaded: Loaded, asked: Mapping[str, Any], request: Request
    ) -> Completion | Fault:
        started = time.perf_counter()
        tokenizer, messages = loaded.tokenizer, asked["messages"]
        text = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
        ids = tokenizer(text, add_special_tokens=False, return_tensors="pt")["input_ids"]
        context = context_length(loaded.model)
        room = context - ids.shape[1]
        if room < 1:
            said = f"the prompt has {ids.shape[1]} tokens, the model's context {context}"
            return Fault(replies.CONTEXT_LENGTH, said)
        most = min(asked.get("max_tokens") or _LONGEST_REPLY, room)
        output = self._run(loaded, ids, asked, most, request)
        new = output.sequences[0][ids.shape[1] :].tolist()
        ends = _ends(loaded)
        is_whole = bool(new) and new[-1] in ends
        shown = new[:-1] if is_whole else new
        reply, is_stopped = _until(tokenizer.decode(shown, skip_special_tokens=True), asked)
        payload = {
            "model": asked["model"],
            "choices": [
                {
                    "message": {"content": reply},
                    "finish_reason": "stop" if is_whole or is_stopped else "length",
                    "logprobs": _logprobs(output, shown, asked, tokenizer),
                }
            ],
            "usage": {"prompt_tokens": ids.shape[1], "completion_tokens": len(new)},
        }
        return read_completion(payload, time.perf_counter() - started)

    def _run(
        self,
        loaded: Loaded,
        ids: Any,  # noqa: ANN401 - a tensor
        asked: Mapping[str, Any],
        most: int,
        request: Request,
    ) -> Any:  # noqa: ANN401 - of transformers
        import torch
        import transformers

        heat = asked.get("temperature") or 0.0
        sampling = {"temperature": heat, "top_p": asked.get("top_p", 1.0), "top_k": 0}
        library: Any = transformers  # whose constructors have no types
        config = library.GenerationConfig(
            max_new_tokens=most,
            do_sample=heat > 0,
            eos_token_id=_ends(loaded),
            pad_token_id=loaded.tokenizer.pad_token_id or _ends(loaded)[0],
            output_logits=bool(asked.get("logprobs")),
            return_dict_in_generate=True,
            **(sampling if heat > 0 else {}),
            **({"stop_strings": list(asked["stop"])} if asked.get("stop") else {}),
        )
        seed = asked.get("seed")
        drawn = int(digest(request.key)[:_SEED_DIGITS], 16) if seed is None else int(seed)
        devices = [torch.cuda.current_device()] if loaded.device == "cuda" else []
        with quiet(), torch.random.fork_rng(devices), torch.inference_mode():
            torch.manual_seed(drawn)
            ids = ids.to(loaded.device)
            return loaded.model.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                generation_config=config,
                tokenizer=loaded.tokenizer,
                stopping_criteria=library.StoppingCriteriaList([self._is_dropped]),
            )

    def _is_dropped(self, ids: Any, scores: Any, **_: object) -> Any:  # noqa: ANN401, ARG002
        import torch

        return torch.full((ids.shape[0],), self._dropped.is_set(), device=ids.device)


@asynccontextmanager
async def open_local(settings: LlmSettings) -> AsyncIterator[LocalTransport]:
    """Open a model on this machine; it is loaded by the first request."""
    yield LocalTransport(settings)


def context_length(model: Any) -> int:  # noqa: ANN401 - of transformers
    """Return the most tokens that a model reads and writes together."""
    return int(getattr(model.config, "max_position_embeddings", None) or 2**31)


def _refused(asked: Mapping[str, Any], path: str) -> Fault | None:
    """Return the fault of a request that a model run here would not follow."""
    if path == EMBEDDINGS:
        said = "a model that is run here writes texts, and embeds none"
        return Fault(replies.REJECTED, said, advice="name an embedder")
    further = sorted(set(asked) - TAKEN)
    if not further:
        return None
    said = f"a model that is run here takes no {', '.join(further)}"
    advice = "leave it out"
    if _FORMAT in further:
        advice = "ask for text, which is not held to a form (--replies text)"
    return Fault(replies.REJECTED, said, advice=advice)


def _ends(loaded: Loaded) -> list[int]:
    """Return the tokens that end a reply."""
    stated = getattr(loaded.model.generation_config, "eos_token_id", None)
    ends = stated if isinstance(stated, list) else [stated, loaded.tokenizer.eos_token_id]
    return sorted({int(end) for end in ends if end is not None})


def _until(text: str, asked: Mapping[str, Any]) -> tuple[str, bool]:
    """Cut a reply off before the first of the texts that end one; say whether there was one."""
    places = [place for stop in asked.get("stop") or () if (place := text.find(stop)) >= 0]
    return (text[: min(places)], True) if places else (text, False)


def _logprobs(
    output: Any,  # noqa: ANN401 - of transformers
    tokens: Sequence[int],
    asked: Mapping[str, Any],
    tokenizer: Any,  # noqa: ANN401 - of transformers
) -> dict[str, Any] | None:
    """Write the log-probabilities of a reply's tokens as servers do: of the model, unsampled."""
    if not asked.get("logprobs"):
        return None
    content = []
    for token, logits in zip(tokens, output.logits, strict=False):
        scores = logits[0].float().log_softmax(-1)
        best = scores.topk(min(asked.get("top_logprobs") or 0, len(scores)))
        content.append(
            {
                "token": tokenizer.decode([token]),
                "logprob": float(scores[token]),
                "top_logprobs": [
                    {"token": tokenizer.decode([int(each)]), "logprob": float(score)}
                    for score, each in zip(best.values, best.indices, strict=True)
                ],
            }
        )
    return {"content": content}
