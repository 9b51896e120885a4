"""Names of judges: what they say a judge is, and how a user chooses judges by them."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
_PEOPLE = "human|crowd|people|person|annotator|arena[ _-]?user"
_VOTERS = "user|voter|worker|rater|expert|author|participant|evaluator|reviewer|labeler|labeller"
_PERSON_NAME = (
    rf"(?:{_PEOPLE})s?(?![a-z]).*|(?:{_VOTERS})s?|(?:{_VOTERS})[\s_#:.-]*\d+"
    rf"|(?:{_VOTERS})[\s_#:.-]+(?:[0-9a-f]{{6,}}|[0-9a-f-]{{32,}})"
)
_NOBODY = (
    r"unknown|unnamed|undefined|unspecified|not[ _-]given|anonymous|anonym|anon|guest|visitor"
    r"|nobody|somebody|default|none|null|nan|n/?a|[-?]+"
)
_UNNAMED = rf"(?:person:)?(?:(?:{_NOBODY})?[ _-]?(?:{_PEOPLE}|{_VOTERS})s?|{_NOBODY}|judge)?"


def is_person(judge: str) -> bool:
    """Return whether a judge is a person or people by its name."""
    return re.fullmatch(_PERSON_NAME, judge.strip(), re.IGNORECASE) is not None


def names_one_judge(judge: str) -> bool:
    """Return whether a name is one judge's, not people's or no one's."""
    return re.fullmatch(_UNNAMED, judge.strip(), re.IGNORECASE) is None


def is_derived(judge: str) -> bool:
    """Return whether a judge's verdicts follow from others'."""
    return judge.startswith(PANEL)


def chosen_judges(names: Sequence[str], chosen: str | None = None) -> tuple[str, ...]:
    """Return the reference judge (people, or the first named), then the others.

    ``chosen`` has commas, or is ``all`` but panels; by default people, or the only one.
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
    """Return a name's judges: one, all ``people``, or several with ``+`` or commas."""
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
