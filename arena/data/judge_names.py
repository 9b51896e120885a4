"""Names of judges: people and panels, and the judges that a user's choice names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


from arena.data.errors import UsageError, argument
from arena.data.schema import ALL
from arena.data.wording import did_you_mean, first_of

PERSON, PEOPLE = "person:", "people"
"""How the name of a person begins as a judge, and what stands for all people who judged."""
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

UNKNOWN_JUDGE = "unknown"
"""Name of the judge where a file does not say who judged."""
PANEL = "panel("
"""How the names of judges begin who say what others said."""


def is_person(judge: str) -> bool:
    """Tell by its name whether a judge is a person, or people, and no machine.

    So are called ``people``, ``human``, ``crowd`` and what begins with one of them, and people by
    what they do with a number or a hash: ``arena_user_17``, ``expert_0``, ``voter-3``.
    """
    return _PERSON_NAME.fullmatch(judge.strip()) is not None


def names_one_judge(judge: str) -> bool:
    """Tell whether a judge's name is that of one judge, rather than of people, or of nobody."""
    return _UNNAMED.fullmatch(judge.strip()) is None


def is_derived(judge: str) -> bool:
    """Tell whether a judge's verdicts are made of those of others: no witness beside them."""
    return judge.startswith(PANEL)


def chosen_judges(names: Sequence[str], chosen: str | None = None) -> tuple[str, ...]:
    """Return whose verdicts are the reference, as ``judges_named`` takes it, then the other judges.

    The reference is people, all who are chosen as one, or else the judge that is named first.

    Args:
        names: Of all judges.
        chosen: Some of them with commas between, or ``all`` whose verdicts are their own; by
            default all where people are among them, or the only one.

    Raises:
        UsageError: If there is no such judge, or a choice to be made.
    """
    own = [name for name in names if not is_derived(name)]
    people = [name for name in own if is_person(name)]
    if chosen is None and len(names) > 1 and not people:
        raise UsageError(
            f"several judges; choose one with {argument('judge')}, or several with "
            "commas between, or all: "
            f"{first_of(names)}"
        )
    if chosen is None or (chosen == ALL and ALL not in names):
        listed = own or list(names)
    else:
        listed = [chosen] if chosen in names else [name.strip() for name in chosen.split(",")]
    known = set(names)
    found = {name: (name,) if name in known else judges_named(names, name) for name in listed}
    voters = {person for name in found if is_person(name) for person in found[name]}
    first = next(iter(found))
    if voters:
        everyone = len(voters) > 1 and voters == set(people) and PEOPLE not in names
        first = PEOPLE if everyone else "+".join(sorted(voters))
    return (first, *(name for name in found if name != first and not is_person(name)))


def judges_named(names: Sequence[str], judge: str) -> tuple[str, ...]:
    """Return the judges that a name stands for, several of which count as one.

    Args:
        names: Of all judges.
        judge: One of them; ``people``, for all people; or several with ``+`` or commas between.

    Raises:
        UsageError: If there is no such judge.
    """
    people = tuple(name for name in names if is_person(name))
    if judge in names or (judge == PEOPLE and people):
        return (judge,) if judge in names else people
    parts = [part.strip() for part in judge.replace(",", "+").split("+")]
    for name in parts:
        if name not in names:
            hint = f"{did_you_mean(name, names)} the judges are {first_of(names) or 'none'}"
            raise UsageError(f"no judge {name!r} here; {hint.lstrip()}")
    return tuple(parts)
