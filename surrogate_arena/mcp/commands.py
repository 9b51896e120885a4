"""Commands for assistants: ``mcp``."""

from __future__ import annotations

from pathlib import Path

from arena.data.errors import MissingDependencyError


def mcp() -> None:
    """Serve check, board, rank and gate as tools over stdio (MCP).

    The tools read and write only inside the working directory, and ask no LLM.
    """
    try:
        from surrogate_arena.mcp.tools import tool_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        raise MissingDependencyError("the MCP server", "mcp", "mcp") from error
    tool_server(Path.cwd()).run("stdio")
