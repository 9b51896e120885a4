"""Lines of TREC: topics, grades of documents (qrels), and trec_eval's leaderboards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from arena.data.errors import DataError, Problem
from arena.data.types import Record
from surrogate_arena.importers.tables import text_of_file
from surrogate_arena.importers.values import truth_of

LINE_FORMS = "a topic (an id, a tab and a text), a grade or a measure"
"""What a line may be, for messages."""
_ITERATIONS = ("0", "Q0")
"""Second cells of grades, which nobody reads."""
_TOPIC_IDS = ("id", "qid", "topic_id", "query_id")
"""First cells of a header of topics."""


def holds_json(path: Path, source: str) -> bool:
    """Return whether a text file begins as JSON does."""
    with text_of_file(path, source) as stream:
        return stream.read(1) in ("{", "[")


def read_lines(path: Path, source: str) -> Iterator[tuple[int, Record]]:
    """Yield a record for each line, below a header or none.

    Other files yield nothing. Measures without a run are of the file's name.

    Raises:
        DataError: For a line below others that is none of these.
    """
    is_begun = False
    with text_of_file(path, source) as stream:
        for number, line in enumerate(stream, start=1):
            record = _record_of(line.rstrip("\r\n"))
            if record is not None:
                is_begun = True
                yield number, record
            elif is_begun and line.strip():
                fault = f"is not {LINE_FORMS}"
                hint = "write it as the lines above it"
                raise DataError([Problem(source, number, None, line, fault, hint)])
            elif number > 1:
                return


def _record_of(line: str) -> Record | None:
    cells = [cell.strip() for cell in line.split("\t")] if "\t" in line else line.split()
    if len(cells) in (3, 4) and truth_of(cells[-1]) is not None:
        if len(cells) == 3:
            return {"measure": cells[0], "topic_id": cells[1], "value": cells[2]}
        if cells[1] in _ITERATIONS:
            return {"topic_id": cells[0], "docid": cells[2], "grade": cells[3]}
        return {"run_id": cells[0], "topic_id": cells[1], "measure": cells[2], "value": cells[3]}
    topic_id, _, text = line.partition("\t")
    if not text.strip() or topic_id.strip().casefold() in _TOPIC_IDS:
        return None
    return {"topic_id": topic_id.strip(), "topic": text.strip()}
