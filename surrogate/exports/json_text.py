"""A board as strict JSON."""

from __future__ import annotations

import json

from surrogate.exports.board_rows import ExportedBoard


def json_text(board: ExportedBoard) -> str:
    """Return a board as JSON: what it is, and its rows; missing values are null."""
    plain = board.table.astype(object).where(board.table.notna(), None)
    content = {
        "arena": board.arena,
        "judge": board.judge,
        "language": board.language,
        "signature": board.signature,
        "rows": plain.to_dict(orient="records"),
    }
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
