"""Answers of RAG systems to the questions of an arena: prompts, generation, context."""

from arena.generation.answer_files import (
    append_answers,
    check_own_file,
    note_missing,
    write_answers,
)
from arena.generation.answer_prompt import PROTOCOLS, AnswerPrompt, answer_prompt, protocol_of
from arena.generation.arena_files import read_arena_to_answer
from arena.generation.context_selection import SelectedContext, select_context
from arena.generation.generate import GenerationDryRun, dry_run_generate, generate_answers
from arena.generation.generated import Generated, GenerationSummary
from arena.generation.llm_system import LlmSystem
from arena.generation.questions import choose_questions
from arena.generation.time_dependence import TimeDependence, TimeFilter, time_dependence
from arena.generation.trimming import ByteTrimmer, Trimmer, read_tokenizer

__all__ = [
    "PROTOCOLS",
    "AnswerPrompt",
    "ByteTrimmer",
    "Generated",
    "GenerationDryRun",
    "GenerationSummary",
    "LlmSystem",
    "SelectedContext",
    "TimeDependence",
    "TimeFilter",
    "Trimmer",
    "answer_prompt",
    "append_answers",
    "check_own_file",
    "choose_questions",
    "dry_run_generate",
    "generate_answers",
    "note_missing",
    "protocol_of",
    "read_arena_to_answer",
    "read_tokenizer",
    "select_context",
    "time_dependence",
    "write_answers",
]
