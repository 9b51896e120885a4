"""Sources of a question's facts: its passages and those that systems retrieved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from arena.data.wording import Remark, count_of
from arena.judging.answer_pairs import ArenaTexts, QuestionKey, ShownPassage
from arena.llm.trimming import PASSAGE_TOKENS, PROMPT_TOKENS, Trimmer


class PooledPassages(NamedTuple):
    """Passages as a prompt shows them, how many trimmed and left out."""

    shown: tuple[ShownPassage, ...]
    n_trimmed: int = 0
    n_left_out: int = 0

    @property
    def share(self) -> str:
        """Return ``12 of 40 passages``, say; empty if all."""
        if not self.n_left_out:
            return ""
        n_shown = len(self.shown)
        return f"{n_shown} of {count_of(n_shown + self.n_left_out, 'passage')}"

    @classmethod
    def fitting(cls, passages: Sequence[ShownPassage], n_tokens: int) -> PooledPassages:
        """Keep the first passages, at least one, that fit a prompt."""
        trimmer = Trimmer()
        shown: list[ShownPassage] = []
        n_trimmed = 0
        for passage in passages:
            text = trimmer.trim(passage.text, PASSAGE_TOKENS)
            n_tokens += trimmer.count(f"[{passage.passage_id}] {passage.title or ''}: {text}\n")
            if shown and n_tokens > PROMPT_TOKENS:
                break
            n_trimmed += text != passage.text
            shown.append(replace(passage, text=text))
        return cls(tuple(shown), n_trimmed, len(passages) - len(shown))


def pooled_passages(texts: ArenaTexts, question: QuestionKey) -> list[ShownPassage]:
    """Return a question's passages, then those retrieved most often."""
    own = dict.fromkeys(texts.passages(question))
    n_systems: Counter[ShownPassage] = Counter()
    for system in texts.systems(question):
        n_systems.update(set(texts.passages(question, system)))
    retrieved = sorted(n_systems, key=lambda passage: (-n_systems[passage], repr(passage)))
    pooled = dict.fromkeys([*own, *retrieved])
    return [passage for passage in pooled if passage.text.strip()]


def passage_remarks(pools: Sequence[PooledPassages]) -> tuple[Remark, ...]:
    """Say of how many questions a prompt lacks passages."""
    shortened = [pool for pool in pools if pool.n_left_out or pool.n_trimmed]
    if not shortened:
        return ()
    n_left_out = sum(pool.n_left_out for pool in shortened)
    n_trimmed = sum(pool.n_trimmed for pool in shortened)
    sentence = (
        f"{count_of(len(shortened), 'prompt')} for facts had no room for all passages: "
        f"{n_left_out:,} left out ({PROMPT_TOKENS:,} tokens a prompt), {n_trimmed:,} trimmed "
        f"({PASSAGE_TOKENS} tokens a passage)"
    )
    return (Remark("passages", "warning", sentence, statistic=len(shortened)),)
