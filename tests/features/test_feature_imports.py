import subprocess
import sys

HEAVY = [
    *("torch", "transformers", "openai", "datasets", "xgboost", "matplotlib", "plotly"),
    *("langid", "py3langid", "sacrebleu", "sentencex", "pythainlp", "pycrfsuite"),
    *("sentence_transformers", "onnxruntime", "tokenizers", "distributed", "dask", "ray"),
]


def test_importing_features_loads_nothing_heavy():
    code = f"import sys, features; print([name for name in {HEAVY} if name in sys.modules])"
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert printed == "[]\n"
