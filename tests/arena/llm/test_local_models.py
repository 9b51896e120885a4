"""Models on this machine: which paths are models, what is refused, and how they are asked."""

import json
import shutil

import pytest

from arena.data.errors import UsageError
from arena.llm import Llm, LlmSettings, Prompt, ask_table, open_store
from arena.llm.llm_settings import EmbeddingSettings
from arena.llm.local.folder import required_model

CONFIG = {"model_type": "llama"}
LORA = {
    "peft_type": "LORA",
    "base_model_name_or_path": "some/base",
    "r": 4,
    "lora_alpha": 8,
    "target_modules": ["q_proj", "v_proj"],
}


def located(model, **fields):
    return LlmSettings(model=str(model), **fields).located()


@pytest.fixture
def make(tmp_path):
    def make(name="model", **files):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        for stem, content in files.items():
            file = folder / stem.replace("__", ".")
            file.write_text(content if isinstance(content, str) else json.dumps(content))
        return folder

    return make


def test_a_folder_is_asked_by_its_name_and_digest(make):
    folder = make(config__json=CONFIG, model__safetensors="weights")
    settings = located(folder, concurrency=8)
    assert settings.model.startswith("model@")
    assert len(settings.model.partition("@")[2]) == 8
    assert settings.local == settings.where == str(folder)
    assert settings.concurrency == 1
    assert settings.api_key() == "none"
    assert settings.located() is settings
    make(model__safetensors="other weights!")
    assert located(folder).model != settings.model


def test_a_server_that_is_stated_is_asked_by_the_name_given(make):
    folder = make(config__json=CONFIG, model__safetensors="weights")
    there = located(folder, base_url="http://localhost:8000/v1")
    assert (there.model, there.local) == (str(folder), "")
    assert located("gpt-4o") == LlmSettings(model="gpt-4o")


def test_an_adapter_is_told_apart_by_weights_and_base_and_not_by_where_it_lies(make, tmp_path):
    base = make("base", config__json=CONFIG, model__safetensors="weights")
    adapted = {**LORA, "base_model_name_or_path": str(base)}
    one = make("one", adapter_config__json=adapted, adapter_model__safetensors="a")
    moved = shutil.copytree(base, tmp_path / "moved" / "base")
    elsewhere = {
        **LORA,
        "base_model_name_or_path": str(moved),
        "target_modules": ["v_proj", "q_proj"],
    }
    two = make("two", adapter_config__json=elsewhere, adapter_model__safetensors="a")
    three = make("three", adapter_config__json={**adapted, "r": 8}, adapter_model__safetensors="a")
    digests = [required_model(str(each)).digest for each in (one, two, three)]
    assert digests[0] == digests[1] != digests[2]
    (moved / "model.safetensors").write_text("other weights")
    assert required_model(str(two)).digest != digests[1]


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ({"config__json": CONFIG, "pytorch_model__bin": "x"}, "pytorch_model.bin"),
        ({"adapter_config__json": LORA, "adapter_model__bin": "x"}, "adapter_model.bin"),
        ({"config__json": CONFIG}, "no weights"),
        (
            {
                "config__json": {**CONFIG, "quantization_config": {"quant_method": "x"}},
                "model__safetensors": "x",
            },
            "quantized weights",
        ),
        ({"config__json": "[1]", "model__safetensors": "x"}, "JSON object"),
        ({"config__json": "{", "model__safetensors": "x"}, "not valid JSON"),
    ],
)
def test_folders_of_strangers_run_no_code(make, files, named):
    with pytest.raises(UsageError, match=named):
        located(make(**files))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("peft_type", "IA3"), ("use_dora", True), ("modules_to_save", ["lm_head"])],
        *[("init_lora_weights", way) for way in ("pissa_niter_4", "olora", "corda", "loftq")],
        *[("alora_invocation_tokens", [1]), ("something_new", 3), ("bias", "all")],
        *[("lora_alpha", float("inf")), ("target_modules", "(a+)+"), ("r", 10**9)],
    ],
)
def test_adapters_that_are_not_plain_are_refused(make, name, value):
    folder = make(adapter_config__json={**LORA, name: value}, adapter_model__safetensors="x")
    with pytest.raises(UsageError, match=name):
        located(folder)


@pytest.mark.parametrize("path", ["./nowhere", "/nowhere/model", "nowhere.gguf"])
def test_a_path_that_leads_nowhere_is_no_name_of_a_model(path):
    with pytest.raises(UsageError, match="nowhere"):
        located(path)


def test_damaged_weights_are_said_and_end_the_run(make, tmp_path):
    pytest.importorskip("transformers")
    folder = make(
        config__json={**CONFIG, "auto_map": {"AutoModelForCausalLM": "evil.Model"}},
        model__safetensors="no weights",
        evil__py="raise SystemExit('ran')",
    )
    settings = located(folder)
    with open_store(tmp_path / "store.sqlite") as store:
        llm = Llm(settings, store)
        with pytest.raises(UsageError, match="cannot be read"):
            ask_table(["Why?"], Prompt.of, lambda each: each, llm)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"grammar": "x"}, "grammar"),
    ],
)
def test_what_a_model_here_cannot_follow_is_refused_before_it_is_loaded(make, tmp_path, body, said):
    pytest.importorskip("transformers")
    folder = make(config__json=CONFIG, model__safetensors="never read")
    settings = located(folder)
    with open_store(tmp_path / "store.sqlite") as store, pytest.raises(UsageError, match=said):
        ask_table(
            ["Why?"],
            Prompt.of,
            lambda each: each,
            Llm(settings.sending(**body), store),
        )
    embedding = EmbeddingSettings(model=str(folder)).located()
    with open_store(tmp_path / "store.sqlite") as store, pytest.raises(UsageError, match="embeds"):
        ask_table(["Why?"], Prompt.of, lambda each: each, Llm(embedding, store))
