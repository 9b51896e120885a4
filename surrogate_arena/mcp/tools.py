"""Tools of the MCP server: what they take and return, and where they may read and write."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import redirect_stdout
from functools import wraps
from io import StringIO
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, Field

from arena.data import __version__
from arena.data.errors import ArenaError, DataError, UsageError, argument
from surrogate_arena.cli.file_settings import path_below
from surrogate_arena.cli.folders import has_folder
from surrogate_arena.cli.options import given_answers, given_judgments
from surrogate_arena.cli.printing import plain
from surrogate_arena.commands import arenas, boards, ranking

if TYPE_CHECKING:
    from surrogate.board.board import Board
    from surrogate.ranking.ranked_systems import RankedSystems

Rows = list[dict[str, Any]]
ArenaPath = Annotated[str, Field(description="Arena folder.")]
BoardPath = Annotated[str, Field(description="Board folder.")]
MovedArena = Annotated[
    str | None, Field(description="Arena folder, if it moved since the board was made.")
]
AnswersPath = Annotated[
    str, Field(description="File of the new systems' answers (JSONL, CSV, Parquet).")
]
JudgmentsPath = Annotated[
    str | None, Field(description="File of judgments that involve the new systems.")
]
Tool = TypeVar("Tool", bound=Callable[..., object])

INSTRUCTIONS = (
    "Ranks RAG systems from pairwise judgments and from what their answers look like. An arena is "
    "a folder of questions, answers and judgments; a board is a folder of ratings built from one. "
    "Paths are relative to the folder that the server was started in. No tool asks an LLM."
)
_ONE_AT_A_TIME = Lock()  # what tools print is captured from the one standard output


class ArenaReport(BaseModel):
    """Contents of an arena, and its faults."""

    is_valid: bool
    problems: list[str] = Field(description="Faults: file, line, field, value, hint.")
    remarks: Rows = Field(description="What is odd or lacking in a valid arena.")
    languages: Rows = Field(description="Questions, answers and judgments by language.")


class BoardResult(BaseModel):
    """A board that was built."""

    folder: str
    overall: Rows = Field(description="Ranks over all languages; empty if there is only one.")
    ratings: Rows = Field(description="Rating, interval and rank of each system, by language.")


class RankResult(BaseModel):
    """Places of new systems on a board."""

    new: Rows = Field(description="Rank and rating of each new system by language, with reasons.")
    overall: Rows = Field(description="Ranks over all languages, new systems included.")
    remarks: Rows = Field(description="What limits these ranks: name, severity, sentence.")
    faults: Rows = Field(description="Faults of new answers: language, query_id, system, check.")


class GateResult(BaseModel):
    """Whether a candidate is broken, better than its baseline, the same, or worse."""

    verdict: str = Field(
        description="broken, better, same, worse, cheaper, not cheaper or cannot say."
    )
    candidate: str
    baseline: str
    sentences: list[str]
    status: int = Field(description="0 passed, 3 failed, 4 cannot say; reasons say why.")
    reasons: list[str]
    faults: Rows = Field(
        description="Every fault of the candidate's answers: check, certainty, language, "
        "query_id, question, answer, and is_new: whether the baseline's answer "
        "lacks it."
    )
    evidence: dict[str, Any] = Field(description="Counts, verdicts and ratings behind it.")


class Tools:
    """The tools, over the files below one folder.

    Args:
        root: The folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()

    def check(self, arena: ArenaPath) -> Annotated[CallToolResult, ArenaReport]:
        """Report every problem in an arena, and what it lacks and holds in each language."""
        from surrogate_arena.cli.unanswered_arenas import read_arena_to_answer
        from surrogate_arena.commands.contents import arena_contents, white_space_words

        folder = self.existing(arena)
        try:
            read = read_arena_to_answer(folder)
        except DataError as error:
            problems = list(map(str, error.problems))
            return _result(
                ArenaReport(is_valid=False, problems=problems, remarks=[], languages=[]),
                str(error),
            )
        remarks = list(arenas.arena_remarks(read))
        contents = plain(arena_contents(read, white_space_words, []))
        return _result(
            ArenaReport(is_valid=True, problems=[], remarks=plain(remarks), languages=contents),
            _printed(arenas.print_checked, read, remarks, folder),
        )

    def board(
        self,
        arena: ArenaPath,
        out: Annotated[str, Field(description="Folder to write the board to.")],
        judge: Annotated[
            str | None, Field(description="Judge to use, where there are several.")
        ] = None,
    ) -> Annotated[CallToolResult, BoardResult]:
        """Rate every system in an arena by verdicts and surrogate; writes a board with its pages.

        An arena without judgments gets a board without verdicts. A board in the same folder is
        replaced.
        """
        from surrogate.board.board import Board

        folder = self.existing(arena)
        target = path_below(self.root, out)
        text = _printed(boards.board, folder, target, judge=judge)
        built = Board.load(target)
        overall = plain(built.overall) if len(built.languages) > 1 else []
        return _result(
            BoardResult(folder=str(target), overall=overall, ratings=plain(built.ratings)), text
        )

    def rank(
        self,
        answers: AnswersPath,
        board: BoardPath,
        arena: MovedArena = None,
        judgments: JudgmentsPath = None,
    ) -> Annotated[CallToolResult, RankResult]:
        """Place new systems on a board by their answers, and by judgments if there are any.

        The board stays as it is.
        """
        _, placed = self.place(answers, board, arena, judgments)
        content = plain(ranking.ranked_content(placed))
        return _result(
            RankResult(
                new=content["new"],
                overall=content["overall"],
                remarks=content["remarks"],
                faults=content["faults"],
            ),
            _printed(ranking.print_ranked, placed),
        )

    def gate(
        self,
        candidate: Annotated[
            str | None,
            Field(description="Answers by the new version (a file), or its name in the arena."),
        ] = None,
        baseline: Annotated[
            str | None,
            Field(description="System to compare with. Default: the best, or the latest."),
        ] = None,
        arena: Annotated[str | None, Field(description="Arena folder, without a board.")] = None,
        board: Annotated[str | None, Field(description="Board folder.")] = None,
        cheaper: Annotated[
            bool,
            Field(description="Pass a candidate that costs less and is at most 5 points worse."),
        ] = False,
        allow: Annotated[
            list[str] | None,
            Field(
                description="Faults allowed where the baseline has none, such as "
                "other-language=2 or dead-citation=all. Default: 0 of each certain fault."
            ),
        ] = None,
    ) -> Annotated[CallToolResult, GateResult]:
        """Decide whether a new version is broken, better than a baseline, the same, or worse.

        Faults of its answers are listed question by question, which takes an arena alone; a board
        adds what its surrogate predicts.
        """
        from arena.data.folder import read_arena
        from surrogate.board.board import Board
        from surrogate_arena.gating.commands import candidate_answers, print_gate
        from surrogate_arena.gating.fault_comparison import given_limits
        from surrogate_arena.gating.gate import gate
        from surrogate_arena.gating.rating_difference import GateRates

        published = None if board is None else Board.load(self.existing(board))
        if published is None and arena is None:
            raise UsageError(f"name a {argument('board')} or an {argument('arena')}")
        folder = self.arena_of(published, arena)
        read = read_arena(folder)
        if candidate is not None and candidate not in read.info.systems:
            candidate = str(self.existing(candidate))
        decision = gate(
            published,
            candidate_answers(candidate, read, None),
            folder,
            baseline,
            rates=GateRates(cheaper=cheaper, allow=given_limits(allow or ())),
        )
        evidence = {
            name: value
            for name, value in plain(decision).items()
            if name not in GateResult.model_fields
        }
        evidence["counts"] = plain(decision.faults.counts)
        result = GateResult(
            verdict=decision.verdict,
            candidate=decision.candidate,
            baseline=decision.baseline,
            sentences=list(decision.sentences),
            status=decision.status,
            reasons=list(decision.reasons),
            faults=plain(list(decision.faults.faults)),
            evidence=evidence,
        )
        return _result(result, _printed(print_gate, decision))

    def place(
        self, answers: str, board: str, arena: str | None, judgments: str | None
    ) -> tuple[Board, RankedSystems]:
        """Return a board, and new systems on it."""
        from arena.data.folder import read_arena
        from surrogate.board.board import Board
        from surrogate.ranking.rank import rank_systems

        published = Board.load(self.existing(board))
        read = read_arena(self.arena_of(published, arena), is_judged=False)
        new = given_answers(self.existing(answers), read.queries, None)
        path = None if judgments is None else self.existing(judgments)
        verdicts = given_judgments(path, read)
        return published, rank_systems(published, new, read, judgments=verdicts)

    def arena_of(self, board: Board | None, arena: str | None) -> Path:
        """Return the arena folder that is named, or else the board's."""
        if arena is None and board is not None:
            # A board notes where its arena was, which may be anywhere.
            return self.existing(board.arena_folder())
        return self.existing(arena or "")

    def existing(self, name: str | Path) -> Path:
        """Return the path of a file or folder, all of which is below the root."""
        path = path_below(self.root, name)
        if not path.exists():
            raise UsageError(f"there is no {str(name)!r} in {self.root}")
        return path


def tool_server(root: Path) -> MCPServer:
    """Return a server of the tools."""
    tools = Tools(root)
    server = MCPServer(
        name="surrogate-arena",
        instructions=INSTRUCTIONS,
        version=__version__,
        log_level="WARNING",
    )
    reading = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    reading_tools: list[Callable[..., object]] = [tools.check, tools.rank]
    if has_folder("gating"):
        reading_tools.append(tools.gate)
    for tool in reading_tools:
        server.tool(annotations=reading)(_guarded(tool))
    writing = ToolAnnotations(read_only_hint=False, idempotent_hint=True, open_world_hint=False)
    server.tool(annotations=writing)(_guarded(tools.board))
    return server


def _guarded(tool: Tool) -> Tool:
    @wraps(tool)
    def run(*args: object, **options: object) -> object:
        with _ONE_AT_A_TIME:
            try:
                return tool(*args, **options)
            except (ArenaError, OSError) as error:
                raise ToolError(str(error)) from error

    return cast(Tool, run)


def _result(result: BaseModel, text: str) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=result.model_dump()
    )


def _printed(function: Callable[..., None], *args: object, **options: object) -> str:
    with redirect_stdout(StringIO()) as printed:
        function(*args, **options)
    return printed.getvalue().strip()
