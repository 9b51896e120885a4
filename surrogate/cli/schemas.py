"""JSON schemas for editors: ``schema``."""

from __future__ import annotations

import json
from typing import Annotated

from typer import Argument


def schema(
    kind: Annotated[
        str, Argument(metavar="config|arena", help="A configuration of run, or arena.json.")
    ],
) -> None:
    """Print the JSON schema of a file, by which an editor checks and completes it."""
    from arena.data.errors import checked_choice
    from surrogate.runs.schemas import SCHEMAS

    content = SCHEMAS[checked_choice(kind, SCHEMAS, "schema")]()
    print(json.dumps(content, indent=2, ensure_ascii=False))
