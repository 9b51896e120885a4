"""Answers of RAG systems to the questions of an arena: prompts, generation, context."""

from arena.generation.context import SelectedContext, select_context
from arena.generation.files import (
    check_own_file,
    list_unanswered,
    read_arena_to_answer,
    write_answers,
)
from arena.generation.generate import GenerationDryRun, dry_run_generate, generate_answers
from arena.generation.prompt import (
    PROTOCOLS,
    AnswerPrompt,
    ByteTrimmer,
    Trimmer,
    answer_prompt,
    protocol_of,
    read_tokenizer,
)
from arena.generation.questions import TimeDependence, TimeFilter, choose_questions, time_dependence
from arena.generation.summary import Generated, GenerationSummary, LlmSystem

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
    "check_own_file",
    "choose_questions",
    "dry_run_generate",
    "generate_answers",
    "list_unanswered",
    "protocol_of",
    "read_arena_to_answer",
    "read_tokenizer",
    "select_context",
    "time_dependence",
    "write_answers",
]
