"""Prompts: templates, which a user's files can replace, and their variables."""

from __future__ import annotations

import hashlib
import json
import re
import traceback
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from importlib.resources import files
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.data.errors import UsageError
from arena.data.files import small_file
from arena.data.wording import did_you_mean

if TYPE_CHECKING:
    from jinja2 import Template
    from jinja2.sandbox import ImmutableSandboxedEnvironment

DIGEST_DIGITS = 12
PACKAGED = "packaged"
"""Name for prompts that come with the package."""

_SUFFIX = ".jinja"
_UNCLEAR = re.compile(r"[\s@+|,()=]+")
"""Characters in the name of a file that a signature would mistake for its own."""


@dataclass(frozen=True)
class PromptTemplate:
    """A template, with a version such as ``pairwise.v1@0f3c5a7b9d1e``."""

    version: str
    text: str = field(repr=False)
    also: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def digest(self) -> str:
        """Return twelve hexadecimal digits of the text's digest."""
        return self.version.rpartition("@")[2]

    def fill(self, values: Mapping[str, Any]) -> str:
        """Fill in values in one pass: template marks inside stay."""
        variables = dict(values)
        for further_name, name in self.also:
            if name in values:
                variables[further_name] = values[name]
        with _usage_errors(self.version):
            return _compiled(self.text).render(variables)


@dataclass(frozen=True)
class Variable:
    """A variable of a template, with a sample to try it.

    A required one must be shown.
    """

    meaning: str
    sample: Any
    is_required: bool = False
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReplaceablePrompt:
    """A prompt that a user's file (``--template fluency=FILE``) may replace."""

    name: str
    asks: str
    reply: str
    variables: Mapping[str, Variable] = field(repr=False, compare=False)
    package: str = field(repr=False)
    packaged_name: str

    @property
    def variable_names(self) -> tuple[str, ...]:
        """Return all variables' names, each followed by its further names."""
        names: list[str] = []
        for name, variable in self.variables.items():
            names += [name, *variable.also]
        return tuple(names)

    def packaged(self) -> PromptTemplate:
        """Return the template that comes with the package."""
        return packaged_prompt(self.package, self.packaged_name, self.variable_names)

    def packaged_text(self) -> str:
        """Return the text of the file that comes with the package."""
        return _packaged_text(self.package, self.packaged_name)

    def template(self, path: Path | str | None) -> PromptTemplate:
        """Return the user's template, or the packaged one without a path."""
        return self.packaged() if path is None else self.read(path)

    def read(self, path: Path | str) -> PromptTemplate:
        """Read and try a user's template, or this prompt's in a folder."""
        path = Path(path)
        path = path / f"{self.name}{_SUFFIX}" if path.is_dir() else path
        try:
            text = small_file(path).decode()
        except UnicodeDecodeError as error:
            raise UsageError(f"the template {path.name} is not UTF-8 text") from error
        also = []
        for name, variable in self.variables.items():
            also += [(further_name, name) for further_name in variable.also]
        template_name = path.name.removesuffix(_SUFFIX)
        template = _checked(template_name, text, self.variable_names, tuple(also))
        # Each is shown, even if it is not required: that tries the template with the samples.
        hidden = [
            name
            for name, variable in self.variables.items()
            if not self.shows(template, name) and variable.is_required
        ]
        if hidden:
            needed = ", ".join(f"{{{{ {name} }}}}" for name in hidden)
            raise UsageError(
                f"the template {template.version} does not show {' and '.join(hidden)}; "
                f"write {needed} where a prompt for {self.name} should show it"
            )
        return template

    def shows(self, template: PromptTemplate, name: str) -> bool:
        """Return whether a template shows a variable's samples."""
        samples = {name: variable.sample for name, variable in self.variables.items()}
        prompt = template.fill(samples)
        return all(text in prompt for text in _texts(samples[name]))


@dataclass(frozen=True)
class Templates:
    """A user's templates by names of prompts."""

    templates: tuple[tuple[str, PromptTemplate], ...] = ()
    from_folder: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.templates)

    def of(self, prompt: ReplaceablePrompt) -> PromptTemplate:
        """Return the user's template for a prompt, or the packaged one."""
        return self.replacing(prompt) or prompt.packaged()

    def replacing(self, prompt: ReplaceablePrompt) -> PromptTemplate | None:
        """Return the user's template for a prompt, if any."""
        return dict(self.templates).get(prompt.name)

    def signature(self, names: Iterable[str]) -> str:
        """Return which prompts are replaced: ``name@digest+...``, or ``packaged``."""
        templates = dict(self.templates)
        parts = [f"{name}@{templates[name].digest}" for name in names if name in templates]
        return "+".join(parts) or PACKAGED

    def for_signature(self, signature: str) -> Templates:
        """Return the templates of a signature."""
        if signature == PACKAGED:
            return NO_TEMPLATES
        templates = dict(self.templates)
        chosen = []
        for part in signature.split("+"):
            name, _, digest = part.partition("@")
            template = templates.get(name)
            if template is None or template.digest != digest:
                instead = "" if template is None else f", and the one given has {template.digest}"
                raise UsageError(
                    f"this needs the template for {name} with the digest {digest}{instead}; "
                    f"give that file by --template {name}=FILE, or ModelOptions(templates=...)"
                )
            chosen.append((name, template))
        return Templates(tuple(chosen))


NO_TEMPLATES = Templates()


def read_templates(
    sources: Mapping[str, Path | str] | Sequence[str], prompts: Sequence[ReplaceablePrompt]
) -> Templates:
    """Read and try templates: files by prompt, ``NAME=FILE``, or folders."""
    by_name = {prompt.name: prompt for prompt in prompts}
    paths: list[tuple[str, Path | str]] = []
    if isinstance(sources, Mapping):
        paths = list(sources.items())
    else:
        for text in sources:
            paths += _named_paths(text, list(by_name))
    templates: dict[str, PromptTemplate] = {}
    for name, path in paths:
        if name not in by_name:
            raise UsageError(f"there is no prompt {name!r} to replace; {_offered(name, by_name)}")
        if name in templates:
            raise UsageError(f"two templates are given for {name}; give one")
        templates[name] = by_name[name].read(path)
    from_folder = frozenset(name for name, path in paths if Path(path).is_dir())
    return Templates(tuple(templates.items()), from_folder)


def _named_paths(text: str, names: Sequence[str]) -> list[tuple[str, str]]:
    name, equals, path = text.partition("=")
    # With one prompt an unknown name before "=" is part of the file's name.
    if equals and (len(names) > 1 or name in names):
        return [(name.strip(), path.strip())]
    if Path(text).is_dir():
        held = [name for name in names if (Path(text) / f"{name}{_SUFFIX}").is_file()]
        if not held:
            files = ", ".join(f"{name}{_SUFFIX}" for name in names)
            raise UsageError(f"there is no template in {text}; it may hold {files}")
        return [(name, text) for name in held]
    if len(names) == 1:
        return [(names[0], text)]
    raise UsageError(f"{text!r} names no prompt; write NAME=FILE, NAME one of {', '.join(names)}")


def _offered(name: str, names: Collection[str]) -> str:
    return f"{did_you_mean(name, names)} available: {', '.join(names)}".lstrip()


def _texts(sample: object) -> Iterator[str]:
    if isinstance(sample, str):
        yield sample
    elif isinstance(sample, Mapping):
        yield from _texts(sample["text"])
    elif isinstance(sample, Sequence):
        for part in sample:
            yield from _texts(getattr(part, "text", part))


@cache
def packaged_prompt(package: str, name: str, variables: tuple[str, ...]) -> PromptTemplate:
    """Load a packaged template, such as ``pairwise.v1``."""
    return _checked(name, _packaged_text(package, name), variables)


def _packaged_text(package: str, name: str) -> str:
    return files(package).joinpath("prompts", name + _SUFFIX).read_text(encoding="utf-8")


def _checked(
    name: str, text: str, variables: Collection[str], also: tuple[tuple[str, str], ...] = ()
) -> PromptTemplate:
    from jinja2 import meta

    digest = hashlib.sha256(text.encode()).hexdigest()[:DIGEST_DIGITS]
    with _usage_errors(name):
        used = meta.find_undeclared_variables(_environment().parse(text))
        _compiled(text)
    unknown = sorted(used - set(variables))
    if unknown:
        raise UsageError(
            f"the template {name} uses {', '.join(unknown)}, which do not exist; "
            f"{_offered(unknown[0], variables)}"
        )
    return PromptTemplate(f"{_UNCLEAR.sub('-', name)}@{digest}", text, also)


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        autoescape=False,  # a prompt is no HTML
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["tojson"] = partial(json.dumps, ensure_ascii=False)
    return environment


@lru_cache(maxsize=256)
def _compiled(text: str) -> Template:
    return _environment().from_string(text)


@contextmanager
def _usage_errors(name: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == "<template>"]
        line = getattr(error, "lineno", None) or next(iter(lines[-1:]), None)
        place = f"template {name}" + (f", line {line}" if line else "")
        raise UsageError(f"{place}: {str(error) or type(error).__name__}") from error


def delimiter_code(*texts: str) -> str:
    """Choose twelve hexadecimal digits that are in none of the texts.

    As a digest of all, no writer of one can foresee it.
    """
    joined = "\x1f".join(texts)
    for salt in count():
        code = hashlib.sha256(f"{salt}\x1f{joined}".encode()).hexdigest()[:DIGEST_DIGITS]
        if code not in joined:
            break
    return code
