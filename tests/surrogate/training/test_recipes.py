"""The papers' numbers, what devices decide, and how chats become batches."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.data.errors import DataError, UsageError
from surrogate.training.batches import IGNORED, Collator, packed, padded, token_rows
from surrogate.training.recipes import RECIPES, Hardware, TuningSettings, plan_for
from surrogate.training.rows import ChatRow, read_chat_rows

CPU = Hardware("cpu")


def test_the_numbers_are_those_of_the_papers():
    mirage, grouse = RECIPES["mirage"], RECIPES["grouse"]  # table 6; appendix H
    assert (mirage.rank, mirage.alpha, mirage.dropout) == (16, 16, 0.05)
    assert (mirage.learning_rate, mirage.batch, mirage.epochs) == (2e-4, 32, 1)
    assert mirage.max_length == 6144
    assert (grouse.rank, grouse.alpha, grouse.dropout) == (32, 16, 0.05)
    assert (grouse.learning_rate, grouse.batch, grouse.epochs) == (2e-4, 64, 3)
    assert (grouse.max_length, grouse.warmup_steps(50)) == (7104, 10)
    assert (grouse.packing, grouse.quantized) == (True, True)
    assert mirage.warmup_steps(50) == 5


def test_a_processor_takes_one_example_at_a_time():
    plan = plan_for(RECIPES["mirage"], CPU)
    assert (plan.precision, plan.attention) == ("fp32", "sdpa")
    assert (plan.together, plan.accumulation, plan.is_quantized) == (1, 32, False)


@given(st.sampled_from(sorted(RECIPES)), st.integers(1, 100), st.floats(0, 200, allow_nan=False))
@settings(max_examples=50)
def test_a_step_is_of_as_many_examples_on_every_device(name, batch, memory):
    recipe = TuningSettings(batch=batch).of(name)
    for hardware in (CPU, Hardware("cuda", memory_gib=memory)):
        plan = plan_for(recipe, hardware)
        assert plan.together * plan.accumulation == batch


@pytest.fixture(scope="module")
def loaded(tiny_llama):
    from arena.llm.local.folder import local_model
    from arena.llm.local.loading import load_local

    return load_local(local_model(str(tiny_llama)))


def chat(*contents):
    roles = ["user", "assistant"]
    messages = [{"role": roles[place % 2], "content": text} for place, text in enumerate(contents)]
    return ChatRow.model_validate({"messages": messages})


def test_the_last_message_alone_is_learned(loaded):
    (row,) = token_rows([chat("Why?", "First.", "And?", "Last.")], loaded.tokenizer)
    assert loaded.tokenizer.decode(row.tokens[row.asked :]) == "Last.<end>"
    assert loaded.tokenizer.decode(row.tokens[: row.asked]).endswith("And?<end>\n### assistant:\n")
    assert row.labels == [IGNORED] * row.asked + list(row.tokens[row.asked :])


def test_packed_rows_are_computed_as_each_by_itself(loaded):
    import torch

    rows = token_rows(
        [chat("a?", "b"), chat("longer question?", "cc"), chat("d", "ee")], loaded.tokenizer
    )
    with torch.inference_mode():
        batch = packed(rows)
        output = loaded.model(**batch)
        together = output.logits[0]
        start = 0
        for row in rows:
            alone = loaded.model(input_ids=torch.tensor([row.tokens])).logits[0]
            part = together[start : start + len(row.tokens)]
            assert torch.allclose(part, alone, atol=1e-5)
            start += len(row.tokens)
        apart = loaded.model(**padded(rows, pad=0))
    assert output.loss == pytest.approx(float(apart.loss), abs=1e-5)
    apart = padded(rows, pad=0)
    learned = (batch["labels"] != IGNORED).sum(), (apart["labels"][:, 1:] != IGNORED).sum()
    assert learned[0] == learned[1] == sum(len(row.tokens) - row.asked for row in rows)


def test_a_single_row_is_never_packed(loaded):
    rows = token_rows([chat("a?", "b")], loaded.tokenizer)
    batch = Collator(0, packing=True)([{"row": rows[0]}])
    assert "position_ids" not in batch


def test_a_template_that_changes_the_prompt_is_refused(loaded):
    class Changing:
        def apply_chat_template(self, messages, **_):
            return f"{len(messages)}"

    with pytest.raises(UsageError, match="writes a prompt differently"):
        token_rows([chat("a?", "b")], Changing())


def test_faulty_chats_are_named_by_line(tmp_path):
    path = tmp_path / "chats.jsonl"
    user = {"role": "user", "content": "Why?"}
    lines = [
        {"messages": [user, {"role": "assistant", "content": "So."}]},
        {"messages": [user]},
        {"messages": [user, user]},
        {"messages": [user, {"role": "robot", "content": "So."}]},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(DataError) as error:
        read_chat_rows(path)
    assert [problem.line for problem in error.value.problems] == [2, 3, 4]
    path.write_text(json.dumps({"prompt": [user], "chosen": [], "rejected": []}) + "\n")
    with pytest.raises(UsageError, match="pairs of which one is preferred"):
        read_chat_rows(path)
