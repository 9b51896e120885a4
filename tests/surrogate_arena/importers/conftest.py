"""Files beside the checkout that other tools have written."""

from functools import partial

import pytest
from shared_data import shared_path


@pytest.fixture
def case():
    """Name a file of the cases by its folder and name."""
    return shared_path("cases/contract").joinpath


@pytest.fixture
def rag_case(case):
    """Name a file of the cases of RAG tools."""
    return partial(case, "rag")
