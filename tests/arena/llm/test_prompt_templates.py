"""Templates in the place of prompts: names, variables, digests."""

import pickle

import pytest

from arena import UsageError
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
