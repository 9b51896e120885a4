"""Languages, systems and judges that a user chooses by their names; names of people and panels."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from arena.data.errors import UsageError, argument
from arena.data.schema import ALL
from arena.data.wording import did_you_mean, first_of

PERSON = "person:"
"""Start of the name of a person as a judge."""
PEOPLE = "people"
"""Name for all people who judged."""
UNKNOWN_JUDGE = "unknown"
"""Name of the judge where a file does not name one."""
PANEL = "panel("
"""Start of the names of panels, whose verdicts follow from those of other judges."""
PANEL_OF = "panel of "
"""Start of the prompt of a panel's verdicts, before the names of its members."""

_PEOPLE = "human|crowd|people|person|annotator|arena[ _-]?user"
_VOTERS = "user|voter|worker|rater|expert|author|participant|evaluator|reviewer|labeler|labeller"
_PERSON_NAME = re.compile(
    rf"(?:{_PEOPLE})s?(?![a-z]).*|(?:{_VOTERS})s?|(?:{_VOTERS})[\s_#:.-]*\d+"
    rf"|(?:{_VOTERS})[\s_#:.-]+(?:[0-9a-f]{{6,}}|[0-9a-f-]{{32,}})",
    re.IGNORECASE,
)
_NOBODY = (
    r"unknown|unnamed|undefined|unspecified|not[ _-]given|anonymous|anonym|anon|guest|visitor"
    r"|nobody|somebody|default|none|null|nan|n/?a|[-?]+"
)
_UNNAMED = re.compile(
    rf"(?:person:)?(?:(?:{_NOBODY})?[ _-]?(?:{_PEOPLE}|{_VOTERS})s?|{_NOBODY}|judge)?",
    re.IGNORECASE,
)


def is_person(judge: str) -> bool:
    """Tell by its name whether a judge is a person, or people, and not a machine.

    A name is a person's if it is or begins with ``people``, ``human`` or ``crowd``, or if it is a
    role with a number or a hash: ``arena_user_17``, ``expert_0``, ``voter-3``.
    """
    return _PERSON_NAME.fullmatch(judge.strip()) is not None


def names_one_judge(judge: str) -> bool:
    """Return whether a judge's name is that of one judge, rather than of people, or of no one."""
    return _UNNAMED.fullmatch(judge.strip()) is None


def is_derived(judge: str) -> bool:
    """Return whether a judge's verdicts follow from those of others: no further evidence."""
    return judge.startswith(PANEL)


def chosen_judges(names: Sequence[str], chosen: str | None = None) -> tuple[str, ...]:
    """Return the reference judge, in a form that ``judges_named`` reads, then the other judges.

    The reference is people, all chosen ones as one, or else the judge that is named first.

    Args:
        names: Of all judges.
        chosen: Some of them with commas between, or ``all`` that are no panels; by default all if
            there are people among them, or the only one.

    Raises:
        UsageError: If there is no such judge, or a choice to be made.
    """
    independent = [name for name in names if not is_derived(name)]
    people = {name for name in independent if is_person(name)}
    if chosen is None and len(names) > 1 and not people:
        raise UsageError(
            f"several judges; choose one with {argument('judge')}, or several with "
            f"commas between, or all: {first_of(names)}"
        )
    if chosen is None or (chosen == ALL and ALL not in names):
        listed = independent or list(names)
    elif chosen in names:
        listed = [chosen]
    else:
        listed = [name.strip() for name in chosen.split(",")]
    known = set(names)
    voters: set[str] = set()
    for name in listed:
        members = (name,) if name in known else judges_named(names, name)
        if is_person(name):
            voters.update(members)
    first = listed[0]
    if len(voters) > 1 and voters == people and PEOPLE not in names:
        first = PEOPLE
    elif voters:
        first = "+".join(sorted(voters))
    machines = [name for name in dict.fromkeys(listed) if not is_person(name)]
    return (first, *(name for name in machines if name != first))


def judges_named(names: Sequence[str], judge: str) -> tuple[str, ...]:
    """Return the judges that a name stands for, several of which count as one.

    Args:
        names: Of all judges.
        judge: One of them; ``people``, for all people; or several with ``+`` or commas between.

    Raises:
        UsageError: If there is no such judge.
    """
    if judge in names:
        return (judge,)
    people = tuple(name for name in names if is_person(name))
    if judge == PEOPLE and people:
        return people
    parts = [part.strip() for part in judge.replace(",", "+").split("+")]
    for name in parts:
        if name not in names:
            hint = f"{did_you_mean(name, names)} the judges are {first_of(names) or 'none'}"
            raise UsageError(f"no judge {name!r} here; {hint.lstrip()}")
    return tuple(parts)


def dropped_names(
    noun: str, chosen: Collection[str] | None, names: Collection[str]
) -> frozenset[str]:
    """Return the names to drop: those that are not chosen, or none if nothing is chosen.

    Raises:
        UsageError: If a chosen name is none of them.
    """
    if chosen is None:
        return frozenset()
    if isinstance(chosen, str):
        chosen = [chosen]
    for name in chosen:
        if name not in names:
            available = f"available: {first_of(tuple(names)) or 'none'}"
            hint = f"{did_you_mean(name, names)} {available}".lstrip()
            raise UsageError(f"no {noun} {name!r} here ({argument(f'{noun}s')}); {hint}")
    return frozenset(names) - frozenset(chosen)


def without_names(names: tuple[str, ...], dropped: Collection[str]) -> tuple[str, ...]:
    """Return the names that are not dropped, in their order."""
    return tuple(name for name in names if name not in dropped)
