"""Arena folders: ``init``, ``check``, ``add``, ``withdraw``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from arena.data.errors import DataError, UsageError
from arena.data.judges import PEOPLE, is_person
from arena.data.wording import Remark, count_of, first_of, split_names
from surrogate_arena.cli import options as opt
from surrogate_arena.cli.counts import arena_counts, contract_remarks, counts_line
from surrogate_arena.cli.folders import has_folder
from surrogate_arena.cli.options import FILE, FOLDER, given_answers
from surrogate_arena.cli.printing import command, print_notes, print_remarks, show, wrapped

if TYPE_CHECKING:
    from arena import Arena


def init(
    folder: Annotated[Path, Argument(help="Arena folder to write.")],
    replace_there: opt.Replace = False,
) -> None:
    """Write a small arena folder to put your own questions, answers and judgments into."""
    from arena.data.folder import write_arena
    from arena.data.writing import replaced_folder
    from surrogate_arena.cli.replaced_arenas import check_arena_target

    check_arena_target(folder, replace_there)
    with replaced_folder(folder) as writing:
        write_arena(_template(folder.resolve().name), writing, ".jsonl")
    print(f"Template written to {folder}: arena.json, queries, answers and judgments (.jsonl)")
    print(command("check", folder))


def _template(name: str) -> Arena:
    from arena.judging.choosing.drawn_questions import choose_questions, with_questions
    from arena.simulation import simulated_arena

    simulated = simulated_arena()
    part = simulated.select(["en"], list(simulated.info.systems[:3]))
    part = with_questions(part, choose_questions(part.queries, questions=4))
    info = part.info.model_copy(
        update={
            "name": name,
            "note": "A template: all that it holds is made up; replace it with your own.",
            "reference_system": None,
        }
    )
    return replace(part, info=info)


def check(
    arena: opt.Arena,
    systems: Annotated[str | None, Option(help="Comma-separated systems. Default: all")] = None,
    tokenizer: Annotated[
        Path | None,
        Option(
            help="A model's tokenizer.json, to count tokens instead of words between spaces.",
            **FILE,
        ),
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """Report every problem in an arena, and what it lacks and holds in each language.

    The status is 1 if there are problems.
    """
    from arena.llm.trimming import read_tokenizer
    from surrogate_arena.cli.unanswered_arenas import read_arena_to_answer
    from surrogate_arena.commands.contents import arena_contents, white_space_words

    try:
        read = read_arena_to_answer(arena)
    except (DataError, UsageError) as error:
        problems = list(map(str, getattr(error, "problems", [error])))
        if as_json:
            show({"problems": problems}, as_json)
        else:
            print("\n".join([*problems, f"{count_of(len(problems), 'problem')} in {arena}"]))
        raise SystemExit(1) from None
    unit = "words"
    length = white_space_words
    if tokenizer is not None:
        token_counter = read_tokenizer(tokenizer)
        unit = f"tokens of {token_counter.name}"
        length = token_counter.count
    contents = arena_contents(read, length, split_names(systems))
    remarks = [*arena_remarks(read), *_unlisted_remarks(arena)]
    if as_json:
        show({"problems": [], "unit": unit, "languages": contents, "remarks": remarks}, as_json)
        return
    print_checked(read, remarks, arena)


def _unlisted_remarks(folder: Path) -> Iterator[Remark]:
    from arena.data.folder import read_unlisted

    for system, state in read_unlisted(folder).items():
        yield Remark(state, "info", f"{system} is {state}: boards leave it out", systems=(system,))


def print_checked(arena: Arena, remarks: Sequence[Remark], folder: Path) -> None:
    """Print what a valid arena holds and lacks, and the next command."""
    print(f"Arena {arena.info.name}: its files are valid")
    print(counts_line(arena_counts(arena)))
    people = [name for name in arena.judges if is_person(name)]
    judges = list(arena.judges)
    # Hundreds of voters are one judge to a board, and would fill the screen here.
    if len(people) > 1:
        voters = f"{PEOPLE} ({len(people):,} voters)"
        judges = [voters, *(name for name in judges if name not in people)]
    print_notes([first_of(judges) or "none"], "Judges")
    print_remarks(remarks)
    # The remark says what to fix first.
    if any(remark.severity == "error" for remark in remarks):
        return
    if arena.answers.empty and arena.judges:
        print(command("fit", folder))
        return
    if len(arena.info.systems) == 2 and has_folder("gating"):
        print(command("gate", "--arena", folder))
        return
    if not arena.judges or len(arena.outdated):
        print(command("judge", folder, "--model", "MODEL", "--dry-run"))
        return
    # Where people judged, a board takes all judges: machines help to predict people.
    must_choose = len(arena.judges) > 1 and not people
    choice = ("--judge", arena.judges[0]) if must_choose else ()
    print(command("board", folder, *choice, "--out", "out/board"))


def arena_remarks(arena: Arena) -> Iterator[Remark]:
    """Say what is odd about an arena's names and answers, and what it lacks."""
    from arena.data.answer_digests import outdated_remark
    from arena.data.names import look_alike_remarks
    from arena.data.schema import ANSWER_KEY, QUESTION_KEY
    from arena.rating.judgments import copies_of_others
    from arena.rating.ratings import copies_remark
    from surrogate.checks.copies import same_answer_remarks
    from surrogate.checks.languages import language_remarks

    yield from language_remarks(arena)
    yield from contract_remarks(arena)
    yield from look_alike_remarks([*arena.info.systems, *arena.judges])
    if len(arena.outdated):
        yield outdated_remark(len(arena.outdated))
    answer_keys = arena.answers.set_index(ANSWER_KEY).index
    has_a = arena.judgments.set_index([*QUESTION_KEY, "system_a"]).index.isin(answer_keys)
    has_b = arena.judgments.set_index([*QUESTION_KEY, "system_b"]).index.isin(answer_keys)
    n_absent = int((~(has_a & has_b)).sum())
    if n_absent:
        sentence = f"{count_of(n_absent, 'judgment')} of answers that are not in the arena"
        yield Remark("answers", "warning", sentence, statistic=n_absent)
    n_copies = int(copies_of_others(arena.judgments).sum())
    if n_copies:
        yield copies_remark(n_copies)
    yield from same_answer_remarks(arena)
    yield from _gap_remarks(arena)


def _gap_remarks(arena: Arena) -> Iterator[Remark]:
    """Say which answers, judgments and passages an arena lacks."""
    from arena.data.schema import QUESTION_KEY

    rated = set(arena.rated_systems)
    n_questions = len(arena.queries)
    questions = count_of(n_questions, "question")
    counts = arena.answers["system"].value_counts()
    for system in arena.info.systems:
        n_answers = int(counts.get(system, 0))
        if n_answers == 0 and system in rated:
            sentence = f"{system} is judged and has no answer: were its answers lost?"
            yield Remark("answers", "warning", sentence)
        elif n_answers < n_questions:
            yield Remark("answers", "info", f"{system} has answers to {n_answers} of {questions}")
        if arena.judges and system not in rated:
            yield Remark("judgments", "info", f"{system} has no judgment")
    n_without = sum(not passages for passages in arena.queries["passages"])
    if n_without:
        sentence = f"{n_without} of {questions} without passages of their own"
        yield Remark("passages", "info", sentence)
    if not arena.judges:
        yield Remark("judgments", "info", "nobody has judged")
    n_judged = len(arena.judgments.drop_duplicates(QUESTION_KEY))
    if 0 < n_judged < n_questions:
        yield Remark("judgments", "info", f"{n_judged} of {questions} with judgments")


def add(
    arena: opt.Arena,
    answers: opt.Answers,
    columns: opt.Columns = None,
    board: Annotated[
        Path | None, Option(help="Board folder, to predict the place.", **FOLDER)
    ] = None,
    hold: Annotated[
        bool, Option("--hold", help="Hide them from boards and judges until withdraw --undo.")
    ] = False,
) -> None:
    """Add new systems' answers to an arena, and report on them.

    The report shows what the checks find, unanswered questions, lengths and, with --board, the
    predicted place. 'judge' then asks only about the new pairs.
    """
    from arena.data.folder import read_arena, read_unlisted
    from arena.judging.appending import add_answers
    from surrogate.board.board import Board
    from surrogate.ranking.rank import rank_systems
    from surrogate_arena.commands.ranking import place_sentences

    before = read_arena(arena, is_judged=False)
    new = given_answers(answers, before.queries, columns)
    systems = list(dict.fromkeys(new["system"]))
    sentences: Iterable[str] = ()
    if board is not None:
        sentences = place_sentences(rank_systems(Board.load(board), new, before))
    file, n_added, n_present = add_answers(arena, new, is_held=hold)
    added = f"{count_of(n_added, 'answer')} of {', '.join(systems)}"
    unlisted = read_unlisted(arena)
    left_out = [system for system in systems if system in unlisted]
    states = "".join(f"; {system} is {unlisted[system]}" for system in left_out)
    print(f"{added} added to {file} ({n_present} were there){states}")
    _print_submission(read_arena(arena, is_judged=False, has_unlisted=True), systems)
    for text in sentences:
        print("\n".join(wrapped(f"  {text}")))
    if left_out:
        print(command("withdraw", arena, left_out[0], "--undo"))
    else:
        print(command("judge", arena, "--model", "MODEL", "--dry-run"))


def _print_submission(arena: Arena, systems: Sequence[str]) -> None:
    """Print what checks find in the answers of systems, and how long and how many they are."""
    from surrogate.checks.faults import find_faults

    new = arena.answers[arena.answers["system"].isin(systems)]
    faults = find_faults(arena, new)
    for system, rows in new.groupby("system", sort=False):
        lengths = rows["answer"].str.len()
        print(
            f"  {system}: answers to {len(rows)} of {count_of(len(arena.queries), 'question')}, of "
            f"{lengths.min():,} to {lengths.max():,} characters, half below {lengths.median():,.0f}"
        )
        print_notes(faults.of(str(system)).summary or ["no fault was found"], f"  {system}")


def withdraw(
    arena: opt.Arena,
    system: Annotated[str, Argument(metavar="SYSTEM", help="Name of the system.")],
    undo: Annotated[
        bool, Option("--undo", help="List it again, or a system held by 'add --hold'.")
    ] = False,
) -> None:
    """Take a system off all of an arena's boards; its answers and verdicts stay in the folder.

    Boards built from now on leave it out, and the pages on their history do not name it.
    """
    from arena.data.systems import LISTED, WITHDRAWN
    from arena.judging.appending import set_state

    state = LISTED if undo else WITHDRAWN
    file = set_state(arena, [system], state)
    print(f"{system} is {state} ({file}): boards made from now on {'have' if undo else 'lack'} it")
    print(command(*(["check", arena] if undo else ["withdraw", arena, system, "--undo"])))
