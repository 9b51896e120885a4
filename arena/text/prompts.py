"""Prompts: templates that files can replace, what fills them, and texts cut to so many tokens."""

from __future__ import annotations

import hashlib
import re
import traceback
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.data.errors import UsageError
from arena.data.files import small_file
from arena.data.wording import did_you_mean

if TYPE_CHECKING:
    from jinja2 import Environment, Template

DIGEST_DIGITS = 12
PACKAGED = "packaged"
"""Stands for prompts that come with the package."""

_SUFFIX = ".jinja"
_UNCLEAR = re.compile(r"[\s@+|,()=]+")
"""What in the name of a file would be mistaken for parts of a signature."""


@dataclass(frozen=True)
class PromptTemplate:
    """A template, ready to be filled.

    Attributes:
        version: Its name and a digest of its text, such as ``pairwise.v1@0f3c5a7b9d1e``.
        text: The text.
        also: Further names of variables, each with the variable's own.
    """

    version: str
    text: str = field(repr=False)
    also: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def digest(self) -> str:
        """Digest of the text: twelve hexadecimal digits."""
        return self.version.rpartition("@")[2]

    def fill(self, values: Mapping[str, Any]) -> str:
        """Put values into the template, in one pass: what looks like a template in them stays.

        Raises:
            UsageError: If the template fails, such as on an attribute that a value has not.
        """
        further = {name: values[own] for name, own in self.also if own in values}
        with _said_of(self.version):
            counted = _LOOP_STEPS.set([0])
            try:
                return _compiled(self.text).render({**values, **further})
            finally:
                _LOOP_STEPS.reset(counted)


@dataclass(frozen=True)
class Variable:
    """What a template is filled with.

    Attributes:
        meaning: What it holds.
        sample: A value to try templates with.
        is_required: Whether a template must show it: as text, what the sample says.
        also: Further names, such as a paper's.
    """

    meaning: str
    sample: Any
    is_required: bool = False
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReplaceablePrompt:
    """A prompt that is sent unless the user's file takes its place.

    Attributes:
        name: What it is called where a file is given for it: ``--template fluency=FILE``.
        asks: What it asks for, in one line.
        reply: What of a reply is read.
        variables: What templates are filled with, by name.
        package: The package whose folder ``prompts`` holds what is sent otherwise.
        packaged_name: The name of that file.
    """

    name: str
    asks: str
    reply: str
    variables: Mapping[str, Variable] = field(repr=False, compare=False)
    package: str = field(repr=False)
    packaged_name: str

    @property
    def known(self) -> tuple[str, ...]:
        """Names of all variables, each followed by its further names."""
        return tuple(
            each for name, variable in self.variables.items() for each in (name, *variable.also)
        )

    def packaged(self) -> PromptTemplate:
        """Return the template that comes with the package."""
        return packaged_prompt(self.package, self.packaged_name, self.known)

    def packaged_text(self) -> str:
        """Return the text of the file that comes with the package."""
        return _packaged_text(self.package, self.packaged_name)

    def read(self, path: Path | str) -> PromptTemplate:
        """Read a user's template, or the one of this prompt's name in a folder, and try it.

        Raises:
            UsageError: If there is no such file, it is no template, it uses another variable,
                cannot be filled, or does not show what it must.
        """
        path = Path(path)
        path = path / f"{self.name}{_SUFFIX}" if path.is_dir() else path
        try:
            text = small_file(path).decode()
        except UnicodeDecodeError as error:
            raise UsageError(f"the template {path.name} is not UTF-8 text") from error
        also = tuple((name, own) for own, it in self.variables.items() for name in it.also)
        template = _checked(path.name.removesuffix(_SUFFIX), text, self.known, also)
        hidden = [
            name
            for name, variable in self.variables.items()
            if not self.shows(template, name) and variable.is_required
        ]
        if hidden:
            needed = ", ".join(f"{{{{ {name} }}}}" for name in hidden)
            raise UsageError(
                f"the template {template.version} does not show {' and '.join(hidden)}; "
                f"write {needed} where a prompt for {self.name} is to show it"
            )
        return template

    def shows(self, template: PromptTemplate, name: str) -> bool:
        """Tell whether a template shows a variable, by filling it with samples.

        Raises:
            UsageError: If it cannot be filled.
        """
        samples = {name: variable.sample for name, variable in self.variables.items()}
        shown = template.fill(samples)
        return all(part in shown for part in _texts(samples[name]))


@dataclass(frozen=True)
class Templates:
    """A user's templates by names of prompts; those ``of_folder`` may be of other commands."""

    own: tuple[tuple[str, PromptTemplate], ...] = ()
    of_folder: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.own)

    def of(self, prompt: ReplaceablePrompt) -> PromptTemplate:
        """Return the user's template for a prompt, or the packaged one."""
        return self.replacing(prompt) or prompt.packaged()

    def replacing(self, prompt: ReplaceablePrompt) -> PromptTemplate | None:
        """Return the user's template for a prompt, if there is one."""
        return dict(self.own).get(prompt.name)

    def stated(self, names: Iterable[str]) -> str:
        """Say which of some prompts are replaced: ``name@digest``, joined by ``+``; or packaged."""
        own = dict(self.own)
        return "+".join(f"{name}@{own[name].digest}" for name in names if name in own) or PACKAGED

    def stating(self, text: str) -> Templates:
        """Return the templates that a text of ``stated`` names.

        Raises:
            UsageError: If one of them was not given, or another one was.
        """
        if text == PACKAGED:
            return NO_TEMPLATES
        own, found = dict(self.own), []
        for name, _, digest in (part.partition("@") for part in text.split("+")):
            given = own.get(name)
            if given is None or given.digest != digest:
                instead = "" if given is None else f", and the one given has {given.digest}"
                raise UsageError(
                    f"this needs the template for {name} with the digest {digest}{instead}; "
                    f"give that file by --template {name}=FILE, or ModelOptions(templates=...)"
                )
            found.append((name, given))
        return Templates(tuple(found))


NO_TEMPLATES = Templates()
MOST_LOOP_STEPS = 1_000_000
"""Of all loops of one prompt together: nested ones could run for years."""
_LOOP_STEPS: ContextVar[list[int]] = ContextVar("loop steps")
"""Steps that the loops of the prompt being filled have taken."""


def read_templates(
    given: Mapping[str, Path | str] | Sequence[str], prompts: Sequence[ReplaceablePrompt]
) -> Templates:
    """Read a user's templates, and try each.

    Args:
        given: File of each prompt by its name; or texts ``NAME=FILE``, of which ``NAME=`` may be
            left out where there is one prompt; or folders of files ``NAME.jinja``, of which those
            of these prompts are read.
        prompts: What can be replaced.

    Raises:
        UsageError: If there is no such prompt or file, two files are given for one prompt, or a
            file cannot be used, see ``ReplaceablePrompt.read``.
    """
    known = {prompt.name: prompt for prompt in prompts}
    named: list[tuple[str, Path | str]] = list(given.items()) if isinstance(given, Mapping) else []
    for text in () if isinstance(given, Mapping) else given:
        name, equals, path = text.partition("=")
        if equals and (len(prompts) > 1 or name in known):
            named.append((name.strip(), path.strip()))
        elif Path(text).is_dir():
            there = [name for name in known if (Path(text) / f"{name}{_SUFFIX}").is_file()]
            if not there:
                files = ", ".join(f"{name}{_SUFFIX}" for name in known)
                raise UsageError(f"there is no template in {text}; it may hold {files}")
            named += [(name, text) for name in there]
        elif len(prompts) == 1:
            named.append((prompts[0].name, text))
        else:
            raise UsageError(
                f"{text!r} names no prompt; write NAME=FILE, NAME one of {', '.join(known)}"
            )
    read: dict[str, PromptTemplate] = {}
    for name, file in named:
        if name not in known:
            raise UsageError(f"there is no prompt {name!r} to replace; {_offered(name, known)}")
        if name in read:
            raise UsageError(f"two templates are given for {name}; give one")
        read[name] = known[name].read(file)
    return Templates(tuple(read.items()), frozenset(n for n, file in named if Path(file).is_dir()))


def _offered(name: str, known: Collection[str]) -> str:
    return f"{did_you_mean(name, known)} available: {', '.join(known)}".lstrip()


def _texts(sample: object) -> Iterator[str]:
    """Yield the texts that a sample is made of."""
    if isinstance(sample, str):
        yield sample
    elif isinstance(sample, Mapping):
        yield from _texts(sample["text"])
    elif isinstance(sample, Sequence):
        for part in sample:
            yield from _texts(getattr(part, "text", part))


@cache
def packaged_prompt(package: str, name: str, variables: tuple[str, ...]) -> PromptTemplate:
    """Load a template from the folder ``prompts`` of a package, such as ``pairwise.v1``."""
    return _checked(name, _packaged_text(package, name), variables)


def _packaged_text(package: str, name: str) -> str:
    return files(package).joinpath("prompts", name + _SUFFIX).read_text(encoding="utf-8")


def _checked(
    name: str, text: str, variables: Collection[str], also: tuple[tuple[str, str], ...] = ()
) -> PromptTemplate:
    from jinja2 import meta

    digest = hashlib.sha256(text.encode()).hexdigest()[:DIGEST_DIGITS]
    with _said_of(name):
        used = meta.find_undeclared_variables(_environment().parse(text))
        _compiled(text)
    unknown = sorted(used - set(variables))
    if unknown:
        raise UsageError(
            f"the template {name} uses {', '.join(unknown)}, which do not exist; "
            f"{_offered(unknown[0], variables)}"
        )
    return PromptTemplate(f"{_UNCLEAR.sub('-', name)}@{digest}", text, also)


@contextmanager
def _said_of(name: str) -> Iterator[None]:
    """Turn whatever a template raises into a sentence with its line."""
    try:
        yield
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == "<template>"]
        line = getattr(error, "lineno", None) or next(iter(lines[-1:]), None)
        place = f"template {name}" + (f", line {line}" if line else "")
        raise UsageError(f"{place}: {error or type(error).__name__}") from error


@lru_cache(maxsize=256)
def _compiled(text: str) -> Template:
    from jinja2 import nodes

    environment = _environment()
    tree = environment.parse(text)
    for loop in tree.find_all(nodes.For):
        counted = nodes.Filter(loop.iter, "count_steps", [], [], None, None)
        loop.iter = counted.set_lineno(loop.lineno, override=True)
    return environment.from_string(tree)


def _count_steps(items: Iterable[Any]) -> Iterator[Any]:
    """Yield what a loop runs over; all loops of a prompt together have so many steps at most."""
    steps = _LOOP_STEPS.get()
    for item in items:
        steps[0] += 1
        if steps[0] > MOST_LOOP_STEPS:
            raise UsageError(f"its loops take more than {MOST_LOOP_STEPS:,} steps")
        yield item


@cache
def _environment() -> Environment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        autoescape=False,  # a prompt is no HTML
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["count_steps"] = _count_steps
    environment.globals.pop("lipsum")  # pages of text that no prompt needs
    return environment


def delimiter_code(*texts: str) -> str:
    """Choose a code of twelve hexadecimal digits that found in none of the texts.

    It is a digest of all of them, so whoever writes one of them cannot foresee it, and equal
    texts give equal prompts.
    """
    whole = "\x1f".join(texts)
    codes = (hashlib.sha256(f"{salt}\x1f{whole}".encode()).hexdigest() for salt in count())
    return next(code[:DIGEST_DIGITS] for code in codes if code[:DIGEST_DIGITS] not in whole)
