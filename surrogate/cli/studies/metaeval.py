"""``surrogate-arena metaeval``: judges held against people, and people against each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surrogate.board.settings import MOST_DRAWS
from surrogate.cli.group import new_group
from surrogate.cli.options import (
    FILE,
    FOLDER,
    JsonOption,
    LanguagesOption,
    SeedOption,
    TemplateOption,
    TemplatesOption,
    checked_option,
    split_names,
    with_settings,
)
from surrogate.cli.studies.sheet import sheet
from surrogate.cli.targets import OUT_FILE
from surrogate.metaevaluation.options import LOCAL_MODEL_FIELDS, OF_PROMPTS, JudgeOptions

if TYPE_CHECKING:
    from surrogate.metaevaluation.report import Report
    from surrogate.metaevaluation.runner import Benchmark, Evaluation

metaeval = new_group(
    help="Hold judges against human labels, and human labels against each other.",
)

metaeval.command()(sheet)

NotedInOption = Annotated[
    Path | None,
    typer.Option("--arena", help="Arena folder whose metaevaluation.json notes the result."),
]
ReplicatesOption = Annotated[
    int,
    typer.Option(
        "--replicates", min=2, max=MOST_DRAWS, help="Bootstrap replicates of intervals and errors."
    ),
]
PermutationsOption = Annotated[
    int,
    typer.Option(
        "--permutations", min=1, max=MOST_DRAWS, help="Random swaps of each significance test."
    ),
]
TestsArgument = Annotated[
    Path | None, typer.Argument(help="Unit tests in GroUSE's format; this project's by default.")
]
TypesOption = Annotated[
    str | None,
    typer.Option("--types", help="Comma-separated test types, by name or number from 1 to 16."),
]


def _evaluate(
    benchmark: Benchmark[Any], judges: Sequence[str], options: JudgeOptions
) -> Evaluation:
    from surrogate.cli.printing import progress_bar
    from surrogate.metaevaluation.runner import evaluate_judges

    with progress_bar() as progress:
        return evaluate_judges(benchmark, judges, options, progress)


def _present(report: Report, as_json: bool, arena: Path | None = None) -> None:
    """Note the results in an arena's folder, if one is given, and print them."""
    from surrogate.board.judge.metaevaluations import add_metaevaluations
    from surrogate.cli.printing import print_json, print_table

    if arena is not None:
        add_metaevaluations(arena, report.metaevaluations)
    if as_json:
        print_json(report.as_json())
        return
    for table in report.tables:
        print_table(table.title, table.header, table.rows)
        for note in table.notes:
            print(note)
    for usage in report.usages or ():
        print(usage)


@metaeval.command()
@with_settings(JudgeOptions, (*OF_PROMPTS, *LOCAL_MODEL_FIELDS))
def grouse(
    judges: Annotated[
        list[str],
        typer.Option(
            "--judge",
            help="llm:MODEL, labels:FILE[#ANNOTATOR], lexical or python:MODULE:FUNCTION; "
            "repeatable.",
        ),
    ],
    settings: JudgeOptions,
    file: TestsArgument = None,
    languages: LanguagesOption = None,
    types: TypesOption = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, help="First so many tests of each language and type."),
    ] = None,
    arena: NotedInOption = None,
    replies: Annotated[
        str,
        typer.Option(
            "--replies",
            help="What the server holds a model to: json_schema, json_object or text (nothing).",
        ),
    ] = "json_schema",
    ablate: Annotated[
        list[str] | None,
        typer.Option(
            "--ablate",
            help="Comma-separated, what replies are to leave out: ground-truth, justification, "
            "chain-of-thought; or none. Repeatable; by default justification.",
        ),
    ] = None,
    one_prompt: Annotated[
        bool,
        typer.Option(
            "--one-prompt", help="Ask for all four metrics in one prompt: one call an answer."
        ),
    ] = False,
    templates: TemplatesOption = None,
    acceptance: Annotated[
        str,
        typer.Option(
            "--acceptance",
            help="Where positive acceptance is defined: refusals, as in the paper, or answerable "
            "(questions).",
        ),
    ] = "refusals",
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference", help="Judge whose scores the others are compared with, named as theirs."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="File for the scores, such as run.json.", **OUT_FILE),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Let judges score answers whose right scores are known: 16 types of unit tests (GroUSE)."""
    from arena.text.prompts import read_templates
    from surrogate.metaevaluation.grouse.evaluation import Grouse
    from surrogate.metaevaluation.grouse.judges import GROUSE_PROMPTS, JOINT_PROMPT, GrousePrompts
    from surrogate.metaevaluation.grouse.replies import BEST, ReplyFields
    from surrogate.metaevaluation.grouse.score_files import GROUSE_RUN
    from surrogate.metaevaluation.grouse.unit_tests import ACCEPTANCES

    chosen = checked_option("--acceptance", acceptance, ACCEPTANCES)
    names, kinds = split_names(languages), split_names(types)
    own = read_templates(templates or (), [*GROUSE_PROMPTS.values(), JOINT_PROMPT])
    prompts = [
        GrousePrompts(replies, ReplyFields.named(each), own, one_prompt) for each in ablate or BEST
    ]
    asked = list(dict.fromkeys([*judges, *([] if reference is None else [reference])]))
    benchmark = Grouse.choose(file, names, kinds, limit, prompts, chosen, reference)
    evaluation = _evaluate(benchmark, asked, settings)
    if out is not None:
        GROUSE_RUN.write(evaluation.verdicts, out)
    _present(benchmark.report(evaluation), as_json, arena)


@metaeval.command("grouse-features")
@with_settings(JudgeOptions, OF_PROMPTS)
def grouse_features(
    settings: JudgeOptions,
    file: TestsArgument = None,
    faithfulness: Annotated[
        str,
        typer.Option(
            "--faithfulness",
            help="Comma-separated features held against the share of faithful facts, such as "
            "'ragas_faithfulness(model=LLM)' or statement_support.",
        ),
    ] = "",
    relevancy: Annotated[
        str,
        typer.Option(
            "--relevancy",
            help="Comma-separated features held against the share of relevant facts, such as "
            "'ragas_answer_relevance(model=LLM with EMBEDDER)'.",
        ),
    ] = "",
    proportions: Annotated[
        Path | None,
        typer.Option(
            "--proportions",
            help="What people found: test_id, answer_relevancy, faithfulness (0 to 1), a row an "
            "annotator; by default what the tests' conditions imply.",
        ),
    ] = None,
    languages: LanguagesOption = None,
    types: TypesOption = None,
    within: Annotated[
        float, typer.Option("--within", min=0, help="A success differs by less than this.")
    ] = 0.2,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="File for the scores, such as run.json.", **OUT_FILE),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Put features to GroUSE's tests: is a measured share near the one that people found?"""
    from surrogate.metaevaluation.grouse.evaluation import Grouse
    from surrogate.metaevaluation.grouse.features import (
        expected_proportions,
        features_report,
        score_features,
    )
    from surrogate.metaevaluation.grouse.score_files import GROUSE_RUN, read_proportions

    tests = Grouse.choose(file, split_names(languages), split_names(types)).tests
    expected = (
        expected_proportions(tests) if proportions is None else read_proportions(proportions, tests)
    )
    features = {"answer_relevancy": relevancy, "faithfulness": faithfulness}
    scores = score_features(tests, features, expected, within, settings.models)
    if out is not None:
        GROUSE_RUN.write(scores, out)
    _present(features_report(scores, tests, within), as_json)


@metaeval.command()
@with_settings(JudgeOptions, OF_PROMPTS)
def wikieval(
    path: Annotated[
        Path,
        typer.Argument(
            help="WikiEval's rows as published (a file, or the folder of a clone), or the folder "
            "with ff.csv, ar.csv, cr.csv of its recast."
        ),
    ],
    judges: Annotated[
        list[str],
        typer.Option(
            "--judge",
            help="ragas:LLM, 'ragas:LLM with EMBEDDER', gpt-score:LLM, gpt-ranking:LLM, "
            "embedder:MODEL_OR_FOLDER, reranker:MODEL_OR_FOLDER, lexical or "
            "python:MODULE:FUNCTION; repeatable.",
        ),
    ],
    settings: JudgeOptions,
    criteria: Annotated[
        str | None,
        typer.Option(
            "--criteria",
            help="Comma-separated: faithfulness, answer_relevance, context_relevance; all by "
            "default.",
        ),
    ] = None,
    better: Annotated[
        str,
        typer.Option(
            "--better",
            help="How the better text is known: provenance, or label where label 1 says so.",
        ),
    ] = "provenance",
    ties: Annotated[
        str, typer.Option("--ties", help="random (broken by a draw) or half (half right).")
    ] = "random",
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, help="Judge the first so many pairs of a criterion."),
    ] = None,
    templates: TemplatesOption = None,
    arena: NotedInOption = None,
    replicates: Annotated[
        int,
        typer.Option(
            "--replicates", min=2, max=MOST_DRAWS, help="Bootstrap replicates of standard errors."
        ),
    ] = 1000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Hold judges of faithfulness and relevance against WikiEval's pairs."""
    from arena.text.prompts import read_templates
    from surrogate.metaevaluation.wikieval.evaluation import WIKIEVAL_PROMPTS, Wikieval
    from surrogate.metaevaluation.wikieval.reading import read_wikieval

    own = read_templates(templates or (), WIKIEVAL_PROMPTS)
    pairs = read_wikieval(path, split_names(criteria), better)
    benchmark = Wikieval(pairs, limit, seed, own)
    evaluation = _evaluate(benchmark, judges, settings)
    _present(benchmark.report(evaluation, ties, replicates, seed), as_json, arena)


@metaeval.command("agreement")
def rater_agreement(
    files: Annotated[
        list[Path],
        typer.Argument(help="Files in MEMERAG's format; a field holds one label or a list."),
    ],
    field: Annotated[
        str,
        typer.Option(
            "--field",
            help="factuality, fine_grained_factuality or relevance of the sentences; or all, "
            "faithfulness and relevance side by side, coarse and fine.",
        ),
    ] = "factuality",
    coarse: Annotated[
        bool, typer.Option("--coarse", help="Put fine-grained labels together to coarse ones.")
    ] = False,
    replicates: ReplicatesOption = 1000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Measure how far annotators agree: AC1, Fleiss' kappa, Krippendorff's alpha."""
    from arena.data.errors import UsageError
    from arena.statistics.raters import Resampling
    from surrogate.metaevaluation.memerag.rating_files import (
        FIELDS,
        qualities_report,
        ratings_report,
    )

    resampling = Resampling(replicates, seed=seed)
    if field == "all":
        if coarse:
            raise UsageError("--field all shows coarse and fine labels; leave --coarse out")
        _present(qualities_report(files, resampling), as_json)
        return
    chosen = checked_option("--field", field, FIELDS)
    _present(ratings_report(files, chosen, coarse, resampling), as_json)


@metaeval.command()
@with_settings(JudgeOptions, OF_PROMPTS)
def memerag(
    folder: Annotated[
        Path, typer.Argument(help="Folder with MEMERAG's en.jsonl, de.jsonl, …", **FOLDER)
    ],
    settings: JudgeOptions,
    judges: Annotated[
        list[str] | None,
        typer.Option(
            "--judge",
            help="llm:MODEL, nli:MODEL_OR_FOLDER, lexical, grounding or "
            "python:MODULE:FUNCTION; repeatable.",
        ),
    ] = None,
    prompt: Annotated[
        str,
        typer.Option(
            "--prompt",
            help="For LLMs: zero_shot, cot, ag or ag_cot; several, separated by commas; or all.",
        ),
    ] = "ag_cot",
    template: TemplateOption = None,
    task: Annotated[
        str,
        typer.Option("--task", help="What is judged of a sentence: faithfulness or relevance."),
    ] = "faithfulness",
    statistics: Annotated[
        bool,
        typer.Option(
            "--statistics", help="Ask no judge; print how sentences and labels are spread."
        ),
    ] = False,
    fine_grained: Annotated[
        bool, typer.Option("--fine-grained", help="Print the accuracy by fine-grained label, too.")
    ] = False,
    languages: LanguagesOption = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, help="Judge the first so many sentences of a language."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="File for the verdicts, such as run.json.", **OUT_FILE),
    ] = None,
    arena: NotedInOption = None,
    replicates: ReplicatesOption = 1000,
    permutations: PermutationsOption = 10_000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Hold judges of faithfulness, or of relevance, against MEMERAG's human labels."""
    from arena.data.errors import UsageError
    from surrogate.metaevaluation.memerag.evaluation import Memerag
    from surrogate.metaevaluation.memerag.judges import (
        FAITHFULNESS_PROMPT,
        PROMPTS,
        FaithfulnessPrompts,
    )
    from surrogate.metaevaluation.memerag.reading import read_memerag
    from surrogate.metaevaluation.memerag.relevance import (
        RELEVANCE_PROMPT,
        TASKS,
        MemeragRelevance,
        RelevancePrompts,
    )
    from surrogate.metaevaluation.memerag.run_file import MEMERAG_RUN
    from surrogate.metaevaluation.memerag.statistics import statistics_report

    if statistics == bool(judges):
        raise UsageError("give a --judge, or --statistics, and not both")
    checked_option("--task", task, TASKS)
    if task == "relevance" and not statistics:
        if out is not None or fine_grained:
            raise UsageError("--out and --fine-grained are of faithfulness; --json holds all else")
        asked = None if template is None else RELEVANCE_PROMPT.read(template)
        labeled = read_memerag(folder, split_names(languages))
        relevance = MemeragRelevance(labeled, limit, RelevancePrompts(asked))
        judged = _evaluate(relevance, judges or (), settings)
        _present(relevance.report(judged, replicates, permutations, seed), as_json, arena)
        return
    names = PROMPTS if prompt == "all" else dict.fromkeys(split_names(prompt))
    prompts = [FaithfulnessPrompts(name) for name in names]
    if template is not None:
        prompts = [FaithfulnessPrompts(template=FAITHFULNESS_PROMPT.read(template))]
    sentences = read_memerag(folder, split_names(languages))
    if statistics:
        _present(statistics_report(sentences), as_json)
        return
    benchmark = Memerag(sentences, limit, prompts)
    evaluation = _evaluate(benchmark, judges or (), settings)
    if out is not None:
        MEMERAG_RUN.write(evaluation.verdicts, out)
    report = benchmark.report(evaluation, replicates, permutations, seed, fine_grained)
    _present(report, as_json, arena)


@metaeval.command()
def compare(
    run_a: Annotated[
        Path, typer.Argument(help="Verdicts as metaeval memerag --out wrote them.", **FILE)
    ],
    run_b: Annotated[
        Path, typer.Argument(help="Verdicts to compare with, on the same data.", **FILE)
    ],
    permutations: PermutationsOption = 10_000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Test whether the judges, or prompts, of two runs differ (paired permutation tests)."""
    from surrogate.metaevaluation.memerag.comparison import compare_judges
    from surrogate.metaevaluation.memerag.evaluation import comparison_report
    from surrogate.metaevaluation.memerag.run_file import MEMERAG_RUN
    from surrogate.metaevaluation.report import judges_of

    of_a, of_b = judges_of(MEMERAG_RUN.read(run_a)), judges_of(MEMERAG_RUN.read(run_b))
    comparisons = [
        compare_judges(first, second, permutations, seed)
        for first in of_a.values()
        for second in of_b.values()
    ]
    _present(comparison_report(comparisons), as_json)
