"""Messages of failures, as programs of 30 families in 16 languages show them, and sound answers."""

from pathlib import Path

HERE = Path(__file__).parent


def messages():
    """Return language to messages."""
    by_language = {}
    for line in _lines("failure_messages.txt"):
        if line.startswith("## "):
            language = line.split()[-1]
        else:
            text = line.replace("\\n", "\n").replace("\\r", "\r")
            by_language.setdefault(language, []).append(text)
    return by_language


def sound_answers():
    """Return language, question and answer of texts that speak of servers, limits, maintenance."""
    return [line.split("|") for line in _lines("answers_about_failures.txt")]


def refusals_about_systems():
    """Return language and text of refusals that are no failures of a machine."""
    return [line.split("|") for line in _lines("refusals_about_systems.txt")]


def _lines(name):
    return (HERE / name).read_text(encoding="utf-8").splitlines()[1:]
