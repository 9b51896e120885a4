"""The hint of a missing extra names the place that the package was installed from."""

import json
from importlib import metadata

import pytest

from arena.data.errors import MissingDependencyError

CHECKOUT = {"url": "file:///home/ada/my%20arena", "dir_info": {"editable": True}}
GIT = {"url": "https://example.org/arena", "vcs_info": {"vcs": "git", "commit_id": "abc"}}


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, "pip install 'surrogate-arena[llm]'"),
        (CHECKOUT, "pip install -e '/home/ada/my arena[llm]'"),
        (GIT, "pip install 'surrogate-arena[llm] @ git+https://example.org/arena'"),
    ],
    ids=["index", "checkout", "git"],
)
def test_the_hint_installs_the_extra_from_the_same_place(origin, command, monkeypatch):
    class Installed:
        def read_text(self, name):
            assert name == "direct_url.json"
            return origin and json.dumps(origin)

    monkeypatch.setattr("importlib.metadata.distribution", lambda _: Installed())
    assert str(MissingDependencyError("judging", "openai", "llm")).endswith(command)


def test_a_checkout_that_is_not_installed_has_a_hint_too(monkeypatch):
    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.distribution", absent)
    assert "surrogate-arena[llm]" in str(MissingDependencyError("judging", "openai", "llm"))
