"""Files beside the checkout that other tools have written."""

from functools import partial
from pathlib import Path

import pytest

CASES = Path(__file__).parents[4] / "shared" / "cases" / "contract"


@pytest.fixture
def case():
    """Name a file of the cases by its folder and name."""
    if not CASES.is_dir():
        pytest.skip("no cases beside the checkout")
    return CASES.joinpath


@pytest.fixture
def rag_case(case):
    """Name a file of the cases of RAG tools."""
    return partial(case, "rag")
