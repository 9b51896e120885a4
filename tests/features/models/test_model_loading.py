import json
import shutil
import subprocess
import sys

import pytest
from small_models import change_config

from arena import MissingDependencyError, UsageError
from features.models import KINDS, ModelOptions, load_scorer, model_folder
from features.models.model_folder import require_model
from features.models.support import NLI_MODEL

CPU = ModelOptions(device="cpu")
LOCAL_KINDS = [kind for kind in KINDS if kind not in ("llm", "ragas")]


@pytest.mark.parametrize("kind", LOCAL_KINDS)
@pytest.mark.parametrize("name", [NLI_MODEL, "no-such-model", "./no/such/folder", "/a/b/c"])
def test_a_model_that_is_not_here_is_refused_without_the_network(kind, name, monkeypatch):
    pytest.importorskip("sentence_transformers", reason="needs surrogate-arena[neural]")

    def refuse(*args, **kwargs):
        raise AssertionError("asked the network")

    monkeypatch.setattr("socket.socket.connect", refuse)
    monkeypatch.setattr("socket.getaddrinfo", refuse)
    with pytest.raises(UsageError, match="give the folder it is in") as caught:
        load_scorer(kind, name, CPU)
    assert repr(name) in str(caught.value)
    assert "`download`" in str(caught.value)


def test_weights_that_would_be_unpickled_are_refused(tiny_reranker, tmp_path):
    shutil.copytree(tiny_reranker, tmp_path, dirs_exist_ok=True)
    (tmp_path / "model.safetensors").rename(tmp_path / "pytorch_model.bin")
    with pytest.raises(UsageError, match=r"pytorch_model\.bin only") as caught:
        load_scorer("reranker", str(tmp_path), CPU)
    assert "save the model again as safetensors" in str(caught.value)


def test_code_that_a_model_brings_is_refused(minilm, tmp_path):
    shutil.copytree(minilm, tmp_path, dirs_exist_ok=True)
    modules = json.loads((tmp_path / "modules.json").read_text())
    modules[1]["type"] = "custom.Pooling"
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(UsageError, match="brings code of its own"):
        load_scorer("embedder", str(tmp_path), CPU)


def test_a_folder_without_a_model_is_refused(tmp_path):
    pytest.importorskip("sentence_transformers", reason="needs surrogate-arena[neural]")
    with pytest.raises(UsageError, match="holds no model"):
        load_scorer("nli", str(tmp_path), CPU)


def test_a_model_without_a_trained_head_is_refused(tiny_reranker, tmp_path):
    shutil.copytree(tiny_reranker, tmp_path, dirs_exist_ok=True)
    change_config(tmp_path, architectures=["XLMRobertaModel"])
    with pytest.raises(UsageError, match=r"no sequence classifier.*XLMRobertaModel"):
        load_scorer("reranker", str(tmp_path), CPU)


@pytest.mark.parametrize("device", ["cuda:99", "tpu", "cpu:1"])
def test_a_device_that_is_not_there_is_refused(tiny_reranker, device):
    with pytest.raises(UsageError, match="has no device"):
        load_scorer("reranker", str(tiny_reranker), ModelOptions(device=device))


def test_the_extra_that_is_wanting_is_named(monkeypatch):
    monkeypatch.setattr(model_folder, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"\[neural\]"):
        require_model(NLI_MODEL, part="output")


@pytest.mark.slow
def test_importing_loads_nothing_heavy_and_loading_prints_nothing(tiny_reranker):
    code = f"""
import sys
from features.models import ModelOptions, load_scorer
import features.models.support
heavy = ("torch", "transformers", "sentence_transformers", "tokenizers")
assert not [name for name in heavy if name in sys.modules]
load_scorer("reranker", {str(tiny_reranker)!r}, ModelOptions("cpu")).score([("a", "b")])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
