"""Model and dataset cards of a board."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath

from arena.data.errors import UsageError
from arena.data.files import file_digest
from arena.data.languages import LANGUAGE_CODE
from arena.data.wording import count_of
from surrogate.board.board import Board
from surrogate.board.summary import BoardSummary, LanguageSummary, MacroSummary
from surrogate.board.tables import BOARD_FILES, SURROGATE_FILE
from surrogate.publish.exports.tables import markdown_text
from surrogate.publish.formats import decimal, interval, language_name, percent, whole
from surrogate.publish.view import mean_importances

TAGS = ("surrogate-arena", "rag", "evaluation", "llm-as-a-judge", "bradley-terry", "leaderboard")


def checked_license(license_name: str) -> str:
    """Return the license.

    Raises:
        UsageError: If it is blank.
    """
    if not license_name.strip():
        raise UsageError("name the license of the answers and judgments with --license")
    return license_name.strip()


def code(text: str) -> str:
    """Return text as code in a line, with more backticks around it than in it."""
    plain = re.sub(r"\s", " ", text)
    longest = max((len(run) for run in re.findall("`+", plain)), default=0)
    ticks = "`" * (longest + 1)
    padding = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{ticks}{padding}{plain}{padding}{ticks}"


def bullets(items: Iterable[str]) -> str:
    """Return a list; items are Markdown."""
    return "\n".join(f"- {item}" for item in items)


def file_list(files: Sequence[str]) -> str:
    """Describe files of a board."""
    return bullets(f"{code(name)}: {BOARD_FILES[name]}" for name in files)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a pipe table; cells are Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def tau_table(board: Board) -> str:
    """Return how far ratings agree with verdicts they have not seen, by language."""
    macro = board.summary.macro
    rows = [
        [
            f"{markdown_text(language_name(code_))} ({markdown_text(code_)})",
            *_taus(found, macro.tau_unseen_of),
            str(found.systems_judged),
            str(found.questions_judged),
        ]
        for code_, found in board.summary.languages.items()
    ]
    if len(rows) > 1:
        rows.append(["mean", *_taus(macro, macro.tau_unseen_of), "", ""])
    others = [f"by {code(name)}" for name in macro.tau_unseen_of]
    header = ["Language", "halves", "verdicts alone", "gain", "unseen", "95% interval", *others]
    return table([*header, "trained on", "systems judged", "questions judged"], rows)


_TAUS = (
    "Kendall tau with verdicts. *Halves*: ratings by verdicts and surrogate from half "
    "of the questions with the verdicts on the other half; beside it the same by those verdicts "
    "alone, and what is gained (95% of the splits). *Unseen*: every system rated by a surrogate "
    "that was trained without it (95% interval over systems). *Trained on*: by the surrogate that "
    "had seen them, which says little:"
)


def _taus(found: LanguageSummary | MacroSummary, others: Iterable[str]) -> list[str]:
    return [
        decimal(found.split_half, 3),
        decimal(found.split_half_verdicts, 3),
        interval(found.gain_low, found.gain_high),
        decimal(found.tau_unseen, 3),
        interval(found.tau_unseen_low, found.tau_unseen_high),
        *(decimal(found.tau_unseen_of.get(name), 3) for name in others),
        decimal(found.tau, 3),
    ]


def signature_list(board: Board) -> str:
    """Take the signature apart, and say how the board is made again."""
    fields = bullets(
        f"{code(name)}: {code(text)}" for name, text, _ in board.summary.settings.fields()
    )
    again = board.summary.reproduction()
    return "\n\n".join(
        [fields, f"Made again by {code(again.command)}", *map(markdown_text, again.cautions)]
    )


def limits(board: Board) -> list[str]:
    """Return what limits how far the board can be trusted, as sentences."""
    found = [
        "A rating holds within its language and this field of systems; ratings of different "
        "languages are not on one scale.",
        *([] if board.summary.is_first else _of_surrogates(board)),
    ]
    items = board.summary.languages.items()
    notes = [
        f"{markdown_text(language)}: {markdown_text(note)}"
        for language, item in items
        for note in (
            *(item.warnings if len(items) > 1 and item.systems_judged else ()),
            *item.notes,
        )
    ]
    return found + [markdown_text(told) for told in board.summary.macro.warnings] + notes


def _of_surrogates(board: Board) -> list[str]:
    return [
        "The surrogate compares features and wording of answers with those of judged systems: it "
        "does not check what they say.",
        f"It can be no better than its judge, {markdown_text(board.summary.judge)}, "
        "and shares its biases.",
    ]


def front_matter(fields: Mapping[str, object]) -> str:
    """Return fields between lines of dashes, one a line.

    Args:
        fields: Plain names to what JSON can hold; None and empty ones are left out.
    """
    lines = [f"{name}: {_yaml(value)}" for name, value in fields.items() if value not in (None, [])]
    return "\n".join(["---", *lines, "---", ""])


def _yaml(value: object) -> str:
    """Write JSON without characters that YAML 1.1 takes for line ends or refuses."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return "".join(
        mark if mark.isprintable() and mark != "\ufeff" else _escape(mark) for mark in text
    )


def _escape(mark: str) -> str:
    code = ord(mark)
    if 0xD800 <= code <= 0xDFFF:
        return "\N{REPLACEMENT CHARACTER}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_LARGEST = "1M<n<10M"
_TABLE_SUFFIXES = frozenset({".csv", ".parquet"})


def dataset_card(board: Board, license_name: str) -> str:
    """Write the ``README.md`` that publishes a board folder as a data set.

    Args:
        board: Its board.
        license_name: License of the answers and judgments, such as ``cc-by-4.0``; only who
            publishes them knows it.

    Raises:
        UsageError: If the license is blank.
    """
    files = list(BOARD_FILES)
    answers = _answers(board)
    fields = {
        "language": [code for code in board.languages if re.fullmatch(LANGUAGE_CODE, code)],
        "license": checked_license(license_name),
        "pretty_name": f"Leaderboard of {board.summary.arena}",
        "size_categories": [size_category(answers)],
        "tags": list(TAGS),
        "configs": _configs(files),
    }
    return front_matter(fields) + "\n" + _text(board, files, answers)


def size_category(rows: int) -> str:
    """Return the hub's category of a number of rows."""
    return next((name for below, name in _SIZES if rows < below), _LARGEST)


def _answers(board: Board) -> int:
    return int(board.ratings["answers"].sum())


def _configs(files: Sequence[str]) -> list[dict[str, object]]:
    names = [name for name in files if PurePath(name).suffix in _TABLE_SUFFIXES]
    return [
        {"config_name": PurePath(name).stem, "data_files": name}
        | ({"default": True} if name == "board.csv" else {})
        for name in names
    ]


def _text(board: Board, files: Sequence[str], answers: int) -> str:
    summary = board.summary
    languages = ", ".join(markdown_text(language_name(code)) for code in board.languages)
    learned = "published ratings" if summary.is_published else "pairwise judgments"
    made = f"from {learned} of {markdown_text(summary.judge)} and {count_of(answers, 'answer')}"
    if summary.is_first:
        made = f"from {count_of(answers, 'answer')}. **Nobody has judged them**"
    sections = [
        f"# Leaderboard of {markdown_text(summary.arena)}",
        "## What it is",
        f"Ratings of {count_of(len(board.systems), 'RAG system')} in "
        f"{count_of(len(board.languages), 'language')} ({languages}), by {summary.rated_by}: "
        f"{made}.",
        "## Files",
        file_list(files),
        "Missing values are empty cells; `note` says why.",
        "## How it was made",
        _how_made(summary),
        *([] if summary.is_first else [_TAUS, tau_table(board)]),
        "## Signature",
        signature_list(board),
        "## Limits",
        bullets(limits(board)),
    ]
    return "\n\n".join(sections) + "\n"


RATED = {
    "posterior": "A rating is what the surrogate expects, corrected by the verdicts on the system "
    "(Fay and Herriot, 1979); `verdict_share` says how much of it rests on these.",
    "surrogate": "A rating is what the trained surrogate predicts, also of the systems it was "
    "trained on.",
}


FIRST = (
    "No verdict counts, and no surrogate was trained. Answers to a question are compared by how "
    "far they agree with the other systems' answers, with the reference answer, and with the "
    "relevance labels of what they cite. A rating is the share of the other systems' answers that "
    "a system's answers are above, mean over these and over questions: 0.5 on average, no logits. "
    "Made with surrogate-arena."
)


def _how_made(summary: BoardSummary) -> str:
    if summary.is_first:
        return FIRST
    languages = summary.languages.values()
    judgments = sum(item.judgments for item in languages)
    judged = sum(item.questions_judged for item in languages)
    questions = sum(item.questions for item in languages)
    ratings = (
        f"Ratings of {whole(max(item.systems_judged for item in languages))} systems were "
        f"published; their answers to {count_of(questions, 'question')} are at hand. "
        if summary.is_published
        else f"{count_of(judgments, 'judgment')} of pairs of answers to {whole(judged)} of "
        f"{count_of(questions, 'question')} were fitted by Bradley-Terry models on bootstrapped "
        "tournaments. "
    )
    return (
        f"{ratings}A surrogate learned to expect a system's rating from its answers, with "
        f"{count_of(len(summary.features), 'feature')} (after MIRAGE-Bench, Thakur et al., NAACL "
        f"2025). {RATED[summary.settings.ratings]} Beside it stand the ratings by a surrogate that "
        "had not seen the system, and by verdicts alone. "
        "Made with surrogate-arena."
    )


_TASK = {"type": "tabular-regression", "name": "Rating RAG systems by features of their answers"}
_LOADING = """```python
from arena import read_answers, read_arena
from surrogate import Board

board = Board.load("board")  # the folder of this file
arena = read_arena("my-arena")  # the arena the board was built from
answers = read_answers("answers.jsonl", arena.queries)  # answers of new systems
print(board.rank(answers, arena).new)
```"""
_SECURITY = (
    "`surrogate.zip` holds data alone: JSON, a Parquet table and plain arrays, no pickle. Their "
    "types, shapes and bounds are checked before anything is used, and a file that does not pass "
    "is refused; the surrogate is put together, or trained again, from them. Nothing in it is run. "
    "A surrogate can still be wrong on purpose: compare the digest with one you trust."
)


def model_card(board: Board, license_name: str) -> str:
    """Write the ``README.md`` that publishes a board's ``surrogate.zip`` as a model.

    Args:
        board: Its board.
        license_name: License of the model, which depends on that of what it learned from.

    Raises:
        UsageError: If the license is blank or the board was not loaded.
    """
    if board.summary.is_first:
        raise UsageError("a first board, without any verdict, has no surrogate to publish")
    if board.folder is None:
        raise UsageError("the card gives the digest of the surrogate's file; load a saved board")
    file = board.folder / SURROGATE_FILE
    digest = file_digest(file)
    fields = {
        "language": [name for name in board.languages if re.fullmatch(LANGUAGE_CODE, name)],
        "license": checked_license(license_name),
        "library_name": "sklearn",
        "pipeline_tag": _TASK["type"],
        "tags": list(TAGS),
        "metrics": ["kendall_tau"],
        "model-index": _model_index(board),
    }
    return front_matter(fields) + "\n" + _model_card_text(board, digest)


def _model_index(board: Board) -> list[object]:
    macro = board.summary.macro
    values = {
        "Kendall tau with verdicts, unseen systems": macro.tau_unseen,
        "Kendall tau with verdicts, systems trained on": macro.tau,
    }
    metrics = [
        {"type": "kendall_tau", "name": name, "value": round(value, 4)}
        for name, value in values.items()
        if value is not None
    ]
    if not metrics:
        return []
    dataset = {"type": board.summary.arena, "name": board.summary.arena}
    result = {"task": _TASK, "dataset": dataset, "metrics": metrics}
    return [{"name": _name(board), "results": [result]}]


def _name(board: Board) -> str:
    return f"Surrogate judge of {board.summary.arena}"


def _model_card_text(board: Board, digest: str) -> str:
    judge = markdown_text(board.summary.judge)
    sections = [
        f"# {markdown_text(_name(board))}",
        f"Predicts how {judge} would rate a RAG system, from features of its answers.",
        "## Intended use",
        "To place further RAG systems on this board without asking a judge, or together with some "
        "verdicts on them (`judgments`): the same questions, "
        "passages and languages, and systems like those of the field below. Not to score single "
        "answers, other questions or other languages, nor to decide between systems whose "
        "intervals overlap.",
        "## Training field",
        _field(board),
        "## Features",
        _features(board),
        "## Validation",
        f"*Unseen* is the figure to trust for new systems. {_TAUS}",
        tau_table(board),
        "## Limitations",
        bullets(limits(board)),
        "## How to load it",
        _LOADING,
        "## Security",
        _SECURITY,
        f"SHA-256 of {code(SURROGATE_FILE)}: {code(digest)}",
        "## Signature",
        signature_list(board),
    ]
    return "\n\n".join(sections) + "\n"


def _field(board: Board) -> str:
    splits = board.ratings.groupby("language")["split"].value_counts().unstack(fill_value=0)
    rows = [
        [
            f"{markdown_text(language_name(name))} ({markdown_text(name)})",
            str(splits.get("train", {}).get(name, 0)),
            str(splits.get("holdout", {}).get(name, 0)),
            f"{item.judgments:,}",
            f"{item.questions_judged:,} of {item.questions:,}",
        ]
        for name, item in board.summary.languages.items()
    ]
    trained = sorted(set(board.ratings.loc[board.ratings["split"] == "train", "system"]))
    held = sorted(set(board.ratings.loc[board.ratings["split"] == "holdout", "system"]))
    header = ["Language", "trained on", "held out", "judgments", "questions judged"]
    names = [
        f"Trained on {count_of(len(trained), 'system')}: {_names(trained)}.",
        f"Held out of training: {_names(held)}.",
    ]
    return "\n\n".join([table(header, rows), *names])


def _names(systems: list[str]) -> str:
    return ", ".join(markdown_text(name) for name in systems) or "none"


def _features(board: Board) -> str:
    shares = mean_importances(board)
    used = sorted(board.summary.features, key=lambda name: (-shares.get(name, 0.0), name))
    rows = [[markdown_text(name), percent(shares.get(name), 1)] for name in used]
    return table(["Feature", "share in its decisions, mean over languages"], rows)
