"""Templates in the place of prompts: names, variables, digests."""

import pickle
import tracemalloc

import jinja2
import pytest

from arena import UsageError
from arena.llm import template_sandbox
from arena.llm.prompts import (
    NO_TEMPLATES,
    PACKAGED,
    PromptTemplate,
    ReplaceablePrompt,
    Variable,
    read_templates,
)

VARIABLES = {
    "question": Variable("the question", "samplequestion", also=("Question",)),
    "passages": Variable("texts", ("one part", "other part"), True),
}
FIRST, SECOND = (
    ReplaceablePrompt(name, "", "", VARIABLES, "arena.judging", "x") for name in ("first", "second")
)
GOOD = "{{ Question }}: {% for each in passages %}{{ each }} {% endfor %}"


@pytest.fixture
def file(tmp_path):
    def write(text, name="mine"):
        path = tmp_path / f"{name}.jinja"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_papers_names_of_variables_are_known(file):
    template = FIRST.read(file(GOOD))
    assert template.fill({"question": "Q{{ 1 }}", "passages": ["a", "b"]}) == "Q{{ 1 }}: a b "


def test_names_are_given_where_there_are_several_prompts(file):
    path = file(GOOD)
    assert read_templates([str(path)], [FIRST]).replacing(FIRST).version.startswith("mine@")
    templates = read_templates([f"second={path}"], [FIRST, SECOND])
    assert templates.replacing(FIRST) is None
    assert templates == read_templates({"second": path}, [FIRST, SECOND])
    assert not read_templates((), [FIRST, SECOND])
    with pytest.raises(UsageError, match="names no prompt; write NAME=FILE, NAME one of first, "):
        read_templates([str(path)], [FIRST, SECOND])
    with pytest.raises(UsageError, match="no prompt 'secnd' to replace; did you mean 'second'"):
        read_templates({"secnd": path}, [FIRST, SECOND])
    with pytest.raises(UsageError, match="two templates are given for first; give one"):
        read_templates([f"first={path}", f"first={path}"], [FIRST, SECOND])


def test_a_folder_holds_the_templates_of_several_commands(file):
    folder = file(GOOD, "second").parent
    file("of another command", "third")
    assert SECOND.read(folder).version.startswith("second@")
    with pytest.raises(UsageError, match=r"it may hold first\.jinja"):
        read_templates([str(folder)], [FIRST])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ passages[0] }}", r"does not show passages; write \{\{ passages \}\} where a prompt"),
        (GOOD + "{{ querstion }}", "uses querstion, .*did you mean 'question'"),
        (GOOD + "{{ passages[0].author }}", "template .*: "),
        (GOOD + "{{ passages.__class__.__mro__ }}", "template .*: "),
    ],
)
def test_a_template_is_tried_at_once(file, text, message):
    with pytest.raises(UsageError, match=message):
        read_templates({"first": file(text)}, [FIRST])


def test_what_is_stated_is_found_again_and_nothing_else(file):
    templates = read_templates({"second": file(GOOD)}, [FIRST, SECOND])
    signature = templates.signature(["first", "second"])
    assert signature == f"second@{templates.replacing(SECOND).digest}"
    assert templates.for_signature(signature) == templates
    assert templates.for_signature(PACKAGED) == NO_TEMPLATES
    other = read_templates({"second": file(GOOD + "!")}, [FIRST, SECOND])
    with pytest.raises(UsageError, match=f"and the one given has {other.templates[0][1].digest}"):
        other.for_signature(signature)
    with pytest.raises(UsageError, match="give that file by --template second=FILE"):
        NO_TEMPLATES.for_signature(signature)


def test_templates_go_to_other_processes(file):
    templates = read_templates({"first": file(GOOD)}, [FIRST])
    assert pickle.loads(pickle.dumps(templates)) == templates


def test_names_of_files_do_not_break_signatures(file):
    template = FIRST.read(file(GOOD, "my (own), prompt+1@2|x=y"))
    assert template.version == f"my-own-prompt-1-2-x-y@{template.digest}"


NESTED = "{% for a in range(99999) %}" * 3 + "{% endfor %}" * 3
MACRO = (
    "{% macro m(d) %}{% for a in range(9999) %}{{ m(0) if d else '' }}{% endfor %}{% endmacro %}"
    "{{ m(1) }}"
)
RECURSIVE = "{% macro m(n) %}{{ m(n - 1) ~ m(n - 1) if n }}{% endmacro %}{{ m(40) }}"
LOOPED = (
    "{% for a in items %}{{ loop.index }}/{{ loop.length }}{{ ',' if not loop.last }}"
    "{% else %}none{% endfor %}"
)


@pytest.fixture
def few_steps(monkeypatch):
    """A bound that is reached in hundredths of a second."""
    monkeypatch.setattr(template_sandbox, "MOST_STEPS", 20_000)


@pytest.mark.parametrize(
    "loops",
    [
        NESTED,
        MACRO,
        RECURSIVE,
        "{% for a in question * 999 %}{% for b in question * 9999 %}{% endfor %}{% endfor %}",
    ],
)
@pytest.mark.usefixtures("few_steps")
def test_loops_within_loops_end(loops):
    """They print nothing, so that no bound of the text's length ever stopped them."""
    with pytest.raises(UsageError, match="more than 20,000 steps"):
        PromptTemplate("nested@0", loops).fill({"question": "who?"})


@pytest.mark.slow
def test_a_long_prompt_may_call_a_macro_for_every_word():
    text = "{% macro m(w) %}{{ w }} {% endmacro %}{% for p in items %}{% for w in p %}{{ m(w) }}"
    template = PromptTemplate("words@0", text + "{% endfor %}{% endfor %}")
    passages = [["word"] * 2_000] * 100
    assert template.fill({"items": passages}).count("word") == 200_000


def test_loops_that_end_know_where_they_are():
    template = PromptTemplate("loops@0", LOOPED)
    assert template.fill({"items": ["x", "y"]}) == "1/2,2/2"
    assert template.fill({"items": []}) == "none"


@pytest.mark.usefixtures("few_steps")
def test_every_prompt_has_steps_of_its_own():
    counted = "{% for a in items %}{% if loop.last %}{{ loop.index }}{% endif %}{% endfor %}"
    template = PromptTemplate("counted@0", counted)
    assert [template.fill({"items": range(12_000)}) for _ in range(2)] == ["12000"] * 2


BILLION_LAUGHS = "{% set a = 'x' * 1000000 %}" + "".join(
    f"{{% set {name} = [{', '.join(former * 9)}] %}}" for former, name in ["ab", "bc", "cd"]
)
DOUBLED = "{% set n = namespace(x='ab') %}{% for i in range(99) %}{% set n.x = GROWN %}{% endfor %}"


@pytest.mark.parametrize(
    "text",
    [
        "{{ 'x' * 10**10 }}",
        "{{ 10**10 * 'x' }}",
        "{{ [1] * 10**10 }}",
        "{{ 'x'.ljust(10**10) }}",
        "{{ 'x'['center'](10**10) }}",
        "{{ ['x'] | map(attribute='zfill') | first }}",
        "{{ '{:>9999999999}'.format('x') }}",
        "{{ '%09999999999d' % 1 }}",
        "{{ 'x' | center(10**10) }}",
        "{{ range(99999) | join('x' * 10000) }}",
        "{{ range(99999) | map('replace', '1', 'x' * 1000000) | list | length }}",
        "{{ ('x\n' * 100000) | indent(100000) }}",
        "{{ (9 ** 9) ** (9 ** 9) }}",
        BILLION_LAUGHS + "{{ d }}",
        DOUBLED.replace("GROWN", "n.x ~ n.x"),
        DOUBLED.replace("GROWN", "n.x + n.x"),
        DOUBLED.replace("GROWN", "n.x | replace('a', n.x)"),
        DOUBLED.replace("GROWN", "(n.x, n.x)"),
        "{% for i in range(99999) %}" + "x" * 10000 + "{% endfor %}",
        "{% set q %}{% for i in range(99999) %}" + "x" * 10000 + "{% endfor %}{% endset %}",
        "{% macro f(d) %}"
        + "x" * 10000
        + "{{ f(d - 1) ~ f(d - 1) if d }}{% endmacro %}{{ f(60) }}",
    ],
)
def test_no_template_fills_the_memory(text):
    """Each of these asks for a gigabyte at least."""
    tracemalloc.start()
    try:
        with pytest.raises(UsageError, match=r"template large@0(, line \d+)?: "):
            PromptTemplate("large@0", text).fill({"question": "who?"})
        assert tracemalloc.get_traced_memory()[1] < 300_000_000
    finally:
        tracemalloc.stop()


def test_what_prompts_are_made_of_works():
    text = (
        "{% for name, n in [('a', 1), ('b', 2)] %}{{ name ~ n * 2 }} {% endfor %}"
        "{% set first, second = 'x,y'.split(',') %}{{ first | upper }}{{ [second] | join('-') }}"
        "{{ 'a\nb' | indent(2) }}{{ 'aa' | replace('a', 'b') }}{{ {'é': ['<']} | tojson }}"
        "{% filter lower %}HI{% endfilter %}{{ records | join('+', attribute='name') }}{{ 7 % 4 }}"
    )
    values = {"records": [{"name": "one"}, {"name": "two"}]}
    filled = PromptTemplate("usual@0", text).fill(values)
    assert filled == 'a2 b4 Xya\n  bbb{"é": ["<"]}hione+two3'


@pytest.mark.parametrize(
    "text",
    [
        "{{ 'a\n\nb' | indent }}",
        "{{ 'a\nb\n' | indent(2, true) }}",
        "{{ 'a\n\nb' | indent(2, blank=true) }}",
        "{{ 'aaa' | replace('a', 'bc', 2) }}",
        "{{ [{'a': {'b': 1}}, {'a': {'b': 2}}] | join(', ', attribute='a.b') }}",
        "{{ ['xy', 'z'] | join('+', attribute=0) }}",
    ],
)
def test_filters_do_what_those_of_jinja_do(text):
    expected = jinja2.Environment(autoescape=False).from_string(text).render()
    assert PromptTemplate("filters@0", text).fill({}) == expected


def test_a_long_prompt_is_filled():
    passages = ["word " * 200_000] * 2
    text = "{% for text in passages %}{{ text.split() | join(' ') }}\n{% endfor %}"
    assert len(PromptTemplate("long@0", text).fill({"passages": passages})) == 2_000_000
