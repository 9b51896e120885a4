"""``surrogate-arena trainset``: training sets of an arena, as chats."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.data.wording import count_of
from surrogate.cli.group import new_group
from surrogate.cli.options import (
    ArenaArgument,
    ContextTokensOption,
    JsonOption,
    LanguagesOption,
    PassageTokensOption,
    SeedOption,
    TemplateOption,
    TemplatesOption,
    TokenizerOption,
    checked_option,
    split_names,
    with_settings,
)
from surrogate.cli.targets import OUT_FILE
from surrogate.metaevaluation.options import LOCAL_MODEL_FIELDS, OF_PROMPTS, JudgeOptions

if TYPE_CHECKING:
    import pandas as pd

    from arena.generation.prompt import AnswerPrompt
    from surrogate.training.rows import TrainSet

trainset = new_group(help="Make training sets of an arena: chats that finetune and trl read.")

SetOption = Annotated[
    Path, typer.Option("--out", help="File of chats to write, such as train.jsonl.", **OUT_FILE)
]
UnseenOption = Annotated[
    Path | None,
    typer.Option(
        "--unseen", help="File for the chats of the other questions, to measure with.", **OUT_FILE
    ),
]
TrainQuestionsOption = Annotated[
    int | None,
    typer.Option(
        "--questions",
        min=1,
        help="Questions of each language to train on, those that 'select --questions' draws; all.",
    ),
]


@trainset.command("mirage")
def trainset_mirage(
    arena: ArenaArgument,
    teacher: Annotated[
        str,
        typer.Option(
            "--teacher",
            help="System whose answers are taught; 'generate --relevant-passages --append' adds "
            "them.",
        ),
    ],
    out: SetOption,
    languages: LanguagesOption = None,
    questions: TrainQuestionsOption = None,
    unseen: UnseenOption = None,
    passage_tokens: PassageTokensOption = None,
    context_tokens: ContextTokensOption = None,
    tokenizer: TokenizerOption = None,
    templates: TemplatesOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Chats that teach to answer as a teacher does, from noisy passages (MIRAGE-Bench, 3.3)."""
    from arena.data.folder import read_arena
    from surrogate.training.mirage_set import mirage_examples
    from surrogate.training.rows import check_unseen, make_train_set

    asked = _answer_prompt(templates, passage_tokens, context_tokens, tokenizer, seed)
    read = read_arena(arena)
    if unseen is not None:
        check_unseen(read.queries, questions, seed)
    sieve = mirage_examples(read, teacher, asked, split_names(languages))
    made = make_train_set(sieve, read.queries, questions, seed, asked.trimmer)
    _present(made, out, unseen, as_json)


@trainset.command("grouse")
@with_settings(JudgeOptions, (*OF_PROMPTS, *LOCAL_MODEL_FIELDS))
def trainset_grouse(
    source: Annotated[
        Path, typer.Argument(help="Arena folder, or answers in GroUSE's format.", exists=True)
    ],
    teacher: Annotated[
        str,
        typer.Option(
            "--teacher",
            help="Judge whose scores are taught: llm:MODEL, labels:FILE[#ANNOTATOR], lexical or "
            "python:MODULE:FUNCTION.",
        ),
    ],
    out: SetOption,
    settings: JudgeOptions,
    expected: Annotated[
        str | None,
        typer.Option(
            "--expected", help="System whose answers are expected; the arena's reference system."
        ),
    ] = None,
    systems: Annotated[
        str | None,
        typer.Option("--systems", help="Comma-separated systems whose answers are scored; all."),
    ] = None,
    languages: LanguagesOption = None,
    questions: TrainQuestionsOption = None,
    unseen: UnseenOption = None,
    balance: Annotated[
        int | None,
        typer.Option(
            "--balance", min=1, help="Keep so many rows, scores as evenly spread as can be."
        ),
    ] = None,
    ablate: Annotated[
        str,
        typer.Option(
            "--ablate",
            help="Comma-separated, what replies are to leave out: ground-truth, justification, "
            "chain-of-thought; or none, as by default. Teachers without reasons leave all out.",
        ),
    ] = "none",
    templates: TemplatesOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Chats that teach to score an answer by all metrics in one reply (GroUSE, section 5)."""
    from arena.data.folder import read_arena
    from arena.generation.questions import choose_questions, question_keys
    from arena.text.prompts import read_templates
    from surrogate.cli import printing
    from surrogate.metaevaluation.grouse.judges import JOINT_PROMPT, GrousePrompts
    from surrogate.metaevaluation.grouse.replies import ReplyFields
    from surrogate.training.grouse_set import (
        NOT_BALANCED,
        answers_of_arena,
        answers_of_file,
        balanced_places,
        grouse_examples,
        questions_of,
        taught_scores,
    )
    from surrogate.training.rows import Sieve, check_unseen, make_train_set

    fields = ReplyFields.named(ablate)
    own = read_templates(templates or (), [JOINT_PROMPT])
    prompts = GrousePrompts("text", fields, own, is_joint=True)
    sieve, names = Sieve(), split_names(systems)
    arena = read_arena(source) if source.is_dir() else None
    graded = [] if arena is not None else answers_of_file(source)
    asked = questions_of(graded) if arena is None else arena.queries
    asked = choose_questions(asked, split_names(languages))
    if unseen is not None:
        check_unseen(asked, questions, seed)
    # What no row is written of need not be scored.
    scored = asked if unseen is not None else choose_questions(asked, None, questions, seed)
    if arena is not None:
        graded = answers_of_arena(replace(arena, queries=scored), expected, names, sieve)
    else:
        drawn = set(question_keys(scored))
        graded = [each for each in graded if each.key in drawn]
    with printing.progress_bar() as progress:
        grouse_examples(graded, teacher, prompts, sieve, settings, progress)
    if balance is not None:
        sieve.keep_only(lambda kept: balanced_places(kept, balance, seed), NOT_BALANCED)
    made = make_train_set(sieve, asked, questions, seed)
    _present(made, out, unseen, as_json, taught_scores(sieve.kept))


@trainset.command("judge")
def judge_set(
    arena: ArenaArgument,
    out: SetOption,
    judge: Annotated[
        str | None,
        typer.Option("--judge", help="Judge whose verdicts are taught; the only one there is."),
    ] = None,
    form: Annotated[
        str,
        typer.Option(
            "--form",
            help="verdict (chats that ask as 'judge' does) or preference (prompt, chosen, "
            "rejected: what DPO and reward models learn from).",
        ),
    ] = "verdict",
    verdict: Annotated[
        str,
        typer.Option(
            "--verdict", help="logprobs (the letter alone) or text ([[A]], [[B]] or [[C]])."
        ),
    ] = "logprobs",
    sides: Annotated[
        str,
        typer.Option(
            "--sides",
            help="drawn (each pair once), both (in both orders) or given (as it was judged).",
        ),
    ] = "drawn",
    pairs: Annotated[
        int | None, typer.Option("--pairs", min=1, help="Most pairs of a question, drawn; all.")
    ] = None,
    languages: LanguagesOption = None,
    questions: TrainQuestionsOption = None,
    unseen: UnseenOption = None,
    show: Annotated[
        str, typer.Option("--show", help="output (all that a system wrote) or answer.")
    ] = "output",
    longest_answer: Annotated[
        int | None, typer.Option("--longest-answer", min=1, help="Characters of an answer; all.")
    ] = None,
    longest_passage: Annotated[
        int | None, typer.Option("--longest-passage", min=1, help="Characters of a passage; all.")
    ] = None,
    template: TemplateOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Chats that teach a judge to decide as another one did, or pairs of which one is better."""
    from arena.data.errors import UsageError
    from arena.data.folder import read_arena
    from arena.judging.pairs import SHOWS
    from arena.judging.prompt import VERDICT_FORMS, pairwise_prompt
    from surrogate.training.judge_set import (
        SIDES,
        VerdictRules,
        judge_examples,
        preference_examples,
    )
    from surrogate.training.rows import check_unseen, make_train_set

    kind = checked_option("--form", form, ("verdict", "preference"))
    asked = checked_option("--verdict", verdict, VERDICT_FORMS)
    shown = checked_option("--show", show, SHOWS)
    order = checked_option("--sides", sides, SIDES)
    rules = VerdictRules(judge, pairs, order, split_names(languages), seed)
    read = read_arena(arena)
    if unseen is not None:
        check_unseen(read.queries, questions, seed)
    if kind == "preference":
        of_judges = (template, longest_answer, longest_passage)
        if any(each is not None for each in of_judges):
            raise UsageError(
                "--template, --longest-answer and --longest-passage are of what a judge is asked; "
                "--form preference holds what systems are asked"
            )
        prompt = _answer_prompt(None, None, None, None, seed)
        sieve = preference_examples(read, rules, prompt)
    else:
        prompt_of_pairs = pairwise_prompt(template, asked, longest_answer, longest_passage, shown)
        sieve = judge_examples(read, rules, prompt_of_pairs, asked)
    _present(make_train_set(sieve, read.queries, questions, seed), out, unseen, as_json)


def _answer_prompt(
    templates: list[str] | None,
    passage_tokens: int | None,
    context_tokens: int | None,
    tokenizer: Path | None,
    seed: int,
) -> AnswerPrompt:
    from arena.generation import answer_prompt, protocol_of
    from arena.text.prompts import read_templates
    from arena.text.trimming import read_tokenizer

    asked = protocol_of("mirage").prompt
    return answer_prompt(
        template=read_templates(templates or (), [asked]).replacing(asked),
        passage_tokens=passage_tokens,
        trimmer=None if tokenizer is None else read_tokenizer(tokenizer),
        seed=seed,
        context_tokens=context_tokens,
    )


def _present(
    made: TrainSet,
    out: Path,
    unseen: Path | None,
    as_json: bool,
    scores: pd.DataFrame | None = None,
) -> None:
    """Write a training set, and print what it holds and what was left out."""
    from surrogate.cli import printing
    from surrogate.training.rows import write_train_set

    write_train_set(made, out, unseen)
    if as_json:
        printing.print_json(
            {
                "rows": len(made.rows),
                "unseen": len(made.unseen),
                "languages": made.counts,
                "left_out": made.left_out,
                "scores": scores,
                "file": str(out),
            }
        )
        return
    title = "Rows by language; tokens are means"
    printing.print_columns(title, made.counts, list(made.counts))
    if len(made.left_out):
        printing.print_columns("Left out", made.left_out, list(made.left_out))
    if scores is not None:
        printing.print_columns("Scores that are taught", scores, list(scores))
    print(f"{count_of(len(made.rows), 'row')} written to {out}")
    if unseen is not None:
        print(f"{count_of(len(made.unseen), 'row')} of unseen questions written to {unseen}")
