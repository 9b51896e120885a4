"""Templates of prompts that cannot fill the memory or run for years, whoever wrote them.

Jinja's sandbox keeps a template away from Python's objects, but bounds neither what it makes
(``{{ "x" * 10**10 }}``) nor nested loops. Here everything a template makes is charged to the budget
of its prompt before it is made, or at once where it grows by a constant factor at most.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from jinja2 import StrictUndefined, nodes
from jinja2.filters import do_indent, make_attrgetter
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from arena.data.errors import UsageError

if TYPE_CHECKING:
    from jinja2 import Template
    from jinja2.runtime import Context

MOST_STEPS = 1_000_000
"""Limit of the steps of all loops and calls of one prompt together."""
_STEPS_OF_A_CALL = 3
"""What a call counts for: it takes longer than a loop's step, and a macro may call itself. An
honest prompt of 100 passages of 2,000 words may call a macro or a method of every word."""
MOST_CHARACTERS = 20_000_000
"""Limit of the characters that one prompt and all that is made for it have together."""
_ENTRY = 20
"""What an entry of a list counts for: it takes more memory and time than a character."""
_COLLECTIONS = (list, tuple, set, frozenset, dict)
_MOST_BITS = 10_000
"""Limit of a whole number's size."""
_WIDENING_METHODS = frozenset(
    (
        *("center", "expandtabs", "format", "format_map", "join", "ljust"),
        *("replace", "rjust", "to_bytes", "translate", "zfill"),
    )
)
"""Methods of texts and numbers that make much of little."""
_FILTERS = frozenset(
    (
        *("abs", "capitalize", "count", "d", "default", "dictsort", "e", "escape", "first"),
        *("float", "groupby", "int", "items", "last", "length", "list", "lower", "map", "max"),
        *("min", "reject", "rejectattr", "reverse", "safe", "select", "selectattr", "sort"),
        *("string", "striptags", "sum", "title", "trim", "truncate", "unique", "upper"),
        "wordcount",
    )
)
"""Jinja's filters that return at most a few times what they take; others are below, or missing."""
_STEPPED = "stepped"
_CHARGED = "charged"


class _Budget:
    """Steps and characters that the prompt being filled has used up."""

    def __init__(self) -> None:
        self.steps = 0
        self.characters = 0

    def step(self, n_steps: int = 1) -> None:
        self.steps += n_steps
        if self.steps > MOST_STEPS:
            raise UsageError(f"its loops and calls take more than {MOST_STEPS:,} steps")

    def spend(self, n_characters: int) -> None:
        self.characters += n_characters
        if self.characters > MOST_CHARACTERS:
            raise UsageError(f"it makes more than {MOST_CHARACTERS:,} characters")


_BUDGET: ContextVar[_Budget | None] = ContextVar("budget of a prompt", default=None)


def _budget() -> _Budget:
    # Jinja computes constants when it compiles a template: each has a budget of its own.
    return _BUDGET.get() or _Budget()


def fill_template(text: str, variables: Mapping[str, Any]) -> str:
    """Fill a template.

    Raises:
        UsageError: If it makes too much, or its loops take too many steps.
        Exception: Whatever else the template does wrong.
    """
    token = _BUDGET.set(_Budget())
    try:
        return compiled_template(text).render(variables)
    finally:
        _BUDGET.reset(token)


@lru_cache(maxsize=256)
def compiled_template(text: str) -> Template:
    """Compile a template.

    Raises:
        jinja2.TemplateSyntaxError: If it is none.
    """
    environment = sandbox()
    tree = _Charging().visit(environment.parse(text))
    return environment.from_string(tree)


class _Charging(NodeTransformer):
    """Charge the values that a template makes, its loops' steps, and the text that loops repeat."""

    def _charged(self, node: nodes.Expr) -> nodes.Filter:
        self.generic_visit(node)
        charged = nodes.Filter(node, _CHARGED, [], [], None, None)
        charged.set_lineno(node.lineno, override=True)
        return charged

    def _charged_tuple(self, node: nodes.Tuple) -> nodes.Expr:
        # On the left of an assignment or in a loop's head a tuple names variables.
        if node.ctx == "load":
            return self._charged(node)
        return node

    visit_Concat = visit_Filter = visit_List = visit_Dict = _charged  # noqa: N815 - Jinja's names
    visit_Tuple = _charged_tuple  # noqa: N815

    def visit_For(self, node: nodes.For) -> nodes.For:  # noqa: N802
        self.generic_visit(node)
        # What the loop writes by itself, in every step.
        n_characters = sum(len(part.data) for part in node.find_all(nodes.TemplateData))
        arguments: list[nodes.Expr] = [nodes.Const(n_characters)]
        stepped = nodes.Filter(node.iter, _STEPPED, arguments, [], None, None)
        node.iter = stepped.set_lineno(node.lineno, override=True)
        return node


class _BoundedEnvironment(ImmutableSandboxedEnvironment):
    """Jinja's sandbox, whose operators, calls and filters are charged to the prompt's budget."""

    intercepted_binops = frozenset(("+", "*", "**", "%"))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:  # noqa: ANN401
        _budget().spend(_size_of_operation(operator, left, right))
        return super().call_binop(context, operator, left, right)

    def call(self, context: Context, obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        # A macro may call itself twice.
        _budget().step(_STEPS_OF_A_CALL)
        return _charge(super().call(context, obj, *args, **kwargs))

    def getattr(self, obj: Any, attribute: str) -> Any:  # noqa: ANN401
        if _is_widening(obj, attribute):
            return self.unsafe_undefined(obj, attribute)
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:  # noqa: ANN401
        if _is_widening(obj, argument):
            return self.unsafe_undefined(obj, argument)
        return super().getitem(obj, argument)


def _is_widening(value: object, attribute: object) -> bool:
    return isinstance(value, str | bytes | int) and attribute in _WIDENING_METHODS


def _size_of_operation(operator: str, left: Any, right: Any) -> int:  # noqa: ANN401
    """Return how many characters an operator's result has at most; check numbers.

    Raises:
        UsageError: If the result is too large a number, or ``%`` formats a text.
    """
    if operator == "%" and isinstance(left, str | bytes):
        raise UsageError("write values by {{ name }}; % does not format texts here")
    if isinstance(left, int) and isinstance(right, int):
        n_bits = left.bit_length() + right.bit_length()
        if operator == "**":
            n_bits = left.bit_length() * abs(right)
        if n_bits > _MOST_BITS:
            raise UsageError("it computes a number that is too large")
        return 1
    if operator != "*":
        return _size(left) + _size(right)
    times = left if isinstance(left, int) else right
    repeated = right if isinstance(left, int) else left
    return _size(repeated) * max(times, 0) if isinstance(times, int) else 1


def _size(value: object) -> int:
    """Count the characters of a text, or of a collection's texts, and its entries."""
    if isinstance(value, str | bytes):
        return len(value)
    if not isinstance(value, _COLLECTIONS):
        return 1
    if isinstance(value, dict):
        return _size([*value.keys(), *value.values()])
    size = 0
    for part in value:
        size += _ENTRY + _size(part)
        # A list may hold another one many times, which holds a third one many times.
        if size > MOST_CHARACTERS:
            break
    return size


def _charge(value: Any) -> Any:  # noqa: ANN401
    """Charge a value that was just made."""
    _budget().spend(_size(value))
    return value


def _step(values: Iterable[Any], n_characters: int) -> Iterator[Any]:
    """Yield the values of a loop, and charge each step with the text that it writes."""
    budget = _budget()
    for value in values:
        budget.step()
        budget.spend(n_characters)
        yield value


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    """Replace every occurrence of a text, or the first ones."""
    text = str(text)
    _budget().spend(len(text) + text.count(old) * len(new))
    return text.replace(old, new, count)


def _join(values: Iterable[Any], separator: str = "", attribute: str | None = None) -> str:
    """Join texts, or an attribute of records."""
    if attribute is not None:
        values = map(make_attrgetter(sandbox(), attribute), values)
    texts = [str(_charge(value)) for value in values]
    _budget().spend(len(texts) * len(separator))
    return separator.join(texts)


def _indent(text: str, width: int = 4, first: bool = False, blank: bool = False) -> str:
    """Indent lines as Jinja does: by default neither the first nor blank ones."""
    text = str(text)
    # Jinja makes one indentation more than there are lines.
    _budget().spend((len(text.splitlines()) + 1) * max(width, 1))
    return do_indent(text, width, first, blank)


def _to_json(value: Any) -> str:  # noqa: ANN401
    """Write a value as JSON, as it is, with no mark of HTML escaped."""
    return json.dumps(value, ensure_ascii=False)


@cache
def sandbox() -> ImmutableSandboxedEnvironment:
    """Return the environment of all prompts' templates."""
    environment = _BoundedEnvironment(
        autoescape=False,  # a prompt is no HTML
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_charge,
    )
    own: dict[str, Callable[..., Any]] = {
        "indent": _indent,
        "join": _join,
        "replace": _replace,
        "tojson": _to_json,
        _CHARGED: _charge,
        _STEPPED: _step,
    }
    kept = {name: environment.filters[name] for name in sorted(_FILTERS)}
    environment.filters = {**kept, **own}
    environment.globals.pop("lipsum")  # pages of text that no prompt needs
    return environment
