"""Where the work is done changes nothing."""

import pandas as pd
from joblib import parallel_config

from features import extract
from features.engine import extraction

FEATURES = "citation_map,bleu,rouge_l,target_language,english,answer_length"


def test_joblibs_own_configuration_is_used(small_arena, monkeypatch):
    monkeypatch.setattr(extraction, "CHUNK", 2)
    with parallel_config(backend="threading", n_jobs=2):
        found = extract(small_arena, FEATURES, n_jobs=None)
    expected = extract(small_arena, FEATURES)
    pd.testing.assert_frame_equal(found, expected, check_exact=False, rtol=0, atol=1e-6)
