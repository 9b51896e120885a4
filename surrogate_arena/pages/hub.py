"""Arenas and boards on the Hugging Face hub: data sets with cards, and pages as a Space."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, Literal

from arena.data import __version__
from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.folder import write_arena
from arena.data.languages import UNDETERMINED
from arena.data.wording import count_of
from arena.llm.replies import shown_detail
from features.models.hub import hub
from surrogate.board.board import Board
from surrogate_arena.pages.site import write_site
from surrogate_arena.pages.site_settings import SiteSettings

RepositoryKind = Literal["dataset", "space"]

TOKEN = "HF_TOKEN"  # noqa: S105 - the name of a variable
TAG = "surrogate-arena"
"""Tag of our repositories: others are not replaced."""
_REPOSITORY = re.compile(r"[\w][\w.-]{0,95}/[\w][\w.-]{0,95}", re.ASCII)
_TABLE = re.compile(r"(?P<name>\w+)\.(csv|jsonl|jsonl\.gz|parquet)")
_WHITE_SPACE = re.compile(r"\s+")


def _check_repository(name: str) -> None:
    if not _REPOSITORY.fullmatch(name):
        raise UsageError(f"{name!r} is no repository of the hub; write OWNER/NAME")


def _write_token() -> str:
    token = os.environ.get(TOKEN, "").strip()
    if not token:
        raise UsageError(
            f"there is no token: set the environment variable {TOKEN} to one with write access"
        )
    return token


def upload_arena(arena: Arena, repository: str, settings: SiteSettings) -> str:
    """Publish an arena as a data set that can be read as an arena folder; return its address.

    Raises:
        UsageError: If questions and answers are not to be shown, there is no token, the hub
            refuses, or the repository holds something else.
        MissingDependencyError: If the extra ``hub`` is not installed.
    """
    _check_repository(repository)
    if settings.questions == 0:
        raise UsageError(
            "an arena is its questions and answers, which are not to be shown (questions = 0); "
            "publish the board"
        )
    token = _write_token()
    title = settings.title or arena.info.name
    counts = [
        count_of(len(arena.queries), "question"),
        count_of(len(arena.answers), "answer"),
        count_of(len(arena.judgments), "judgment"),
        count_of(len(arena.info.systems), "system"),
    ]
    text = f"An arena: {', '.join(counts)}.\n\n{_one_line(arena.info.source)}\n\n"
    text += f"{_one_line(arena.info.note)}\n\n{_reading(repository, 'my-arena')}"
    text += "surrogate-arena board my-arena --out out/my-board\n```\n"
    with TemporaryDirectory() as folder:
        write_arena(arena, folder)
        fields = _card_fields(Path(folder), title, list(arena.info.languages), settings)
        _write_card("dataset", Path(folder), title, settings, fields, text)
        return _upload(Path(folder), repository, "dataset", f"Arena {_one_line(title)}", token)


def upload_board(
    board: Board, repository: str, settings: SiteSettings, arena: Path | None
) -> tuple[str, str]:
    """Publish a board as a data set, and its pages as a Space; return the addresses of both.

    Without questions the data set has the tables alone, because a surrogate may hold texts.

    Raises:
        UsageError: As ``upload_arena`` does.
        MissingDependencyError: If the extra ``hub`` is not installed.
    """
    _check_repository(repository)
    token = _write_token()
    title = settings.title or board.summary.arena
    languages = list(board.languages)
    systems = count_of(len(board.systems), "system")
    text = f"A leaderboard of {systems}. Its pages are the Space of the same name.\n\n"
    text += f"Signature: `{board.summary.signature}`\n\n"
    has_texts = settings.questions > 0
    if has_texts:
        text += _reading(repository, "my-board")
        text += "surrogate-arena rank answers.jsonl --board my-board --arena my-arena\n```\n"
    # First the pages: they check the arena and the settings before anything is sent.
    with TemporaryDirectory() as folder:
        pages = Path(folder) / "pages"
        write_site(board, pages, arena, settings)
        fields: dict[str, Any] = {"sdk": "static", "title": _one_line(title), "tags": [TAG]}
        fields["datasets"] = [repository]
        fields.update(_license(settings))
        _write_card("space", pages, title, settings, fields, "The pages of a leaderboard.\n")
        tables = Path(folder) / "tables"
        # Where the arena is on this machine is nobody's business.
        replace(board, folder=None).save(tables)
        if not has_texts:
            for path in tables.iterdir():
                if path.suffix != ".csv":
                    path.unlink()
        card = _card_fields(tables, title, languages, settings)
        _write_card("dataset", tables, title, settings, card, text)
        message = f"Board {_one_line(title)}"
        data_set = _upload(tables, repository, "dataset", message, token)
        return data_set, _upload(pages, repository, "space", message, token)


def _card_fields(
    folder: Path, title: str, languages: list[str], settings: SiteSettings
) -> dict[str, Any]:
    configs = []
    for path in sorted(folder.iterdir()):
        table = _TABLE.fullmatch(path.name)
        if table is not None:
            configs.append({"config_name": table["name"], "data_files": path.name})
    known = [code for code in languages if code != UNDETERMINED and len(code) in (2, 3)]
    return {
        "pretty_name": _one_line(title),
        "language": known or None,
        "tags": [TAG, "llm-as-a-judge", "rag"],
        "configs": configs,
        **_license(settings),
    }


def _license(settings: SiteSettings) -> dict[str, str]:
    name = _WHITE_SPACE.sub("-", settings.license.strip().lower())
    return {"license": name} if name else {}


def _reading(repository: str, folder: str) -> str:
    command = f"hf download {repository} --repo-type dataset --local-dir {folder}"
    return f"```sh\npip install huggingface_hub\n{command}\n"


def _one_line(text: str) -> str:
    return _WHITE_SPACE.sub(" ", text).strip()


def _write_card(
    kind: RepositoryKind,
    folder: Path,
    title: str,
    settings: SiteSettings,
    fields: dict[str, Any],
    text: str,
) -> None:
    library = _library()
    make = library.DatasetCardData if kind == "dataset" else library.SpaceCardData
    parts = [f"# {_one_line(title)}", settings.description.strip(), text.strip()]
    if settings.home:
        parts.append(f"[{settings.home}]({settings.home})")
    parts.append("Made with surrogate-arena.")
    body = "\n\n".join(part for part in parts if part)
    content = f"---\n{make(**fields).to_yaml()}\n---\n\n{body}\n"
    (folder / "README.md").write_text(content, encoding="utf-8")


def _library() -> ModuleType:
    return hub("publishing on the Hugging Face hub", "hub")


def _upload(folder: Path, repository: str, kind: RepositoryKind, message: str, token: str) -> str:
    library = _library()
    api = library.HfApi(token=token, library_name=TAG, library_version=__version__)
    options: dict[str, Any] = {"repo_id": repository, "repo_type": kind}
    with _refusals(library, token, f"{kind} {repository}"):
        if api.repo_exists(**options):
            info = api.repo_info(**options)
            names = {sibling.rfilename for sibling in info.siblings or ()}
            if TAG not in (info.tags or ()) and names - {".gitattributes"}:
                raise UsageError(
                    f"the {kind} {repository} holds something else (its card has no tag {TAG}), "
                    "which would be replaced; name another repository"
                )
        else:
            sdk = {"space_sdk": "static"} if kind == "space" else {}
            api.create_repo(**options, private=True, **sdk)
        library.utils.disable_progress_bars()
        api.upload_folder(
            **options, folder_path=folder, commit_message=message, delete_patterns="*"
        )
    path = repository if kind == "space" else f"datasets/{repository}"
    return f"{api.endpoint}/{'spaces/' if kind == 'space' else ''}{path}"


@contextmanager
def _refusals(library: ModuleType, token: str, name: str) -> Iterator[None]:
    """Turn what the hub and the network refuse into an error, without the token."""
    try:
        yield
    except (library.errors.HfHubHTTPError, OSError, ValueError) as error:
        if isinstance(error, UsageError):
            raise
        detail = shown_detail(str(error), token)
        raise UsageError(f"the {name} cannot be written: {detail}") from None
    except Exception as error:
        # The library's client of the network has errors of its own, by version.
        if "httpx" not in type(error).__module__:
            raise
        detail = shown_detail(f"{type(error).__name__}: {error}", token)
        raise UsageError(f"the hub cannot be reached: {detail}") from None
