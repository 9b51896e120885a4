"""The exact text of the prompts, and what data cannot do to it."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from arena.judging.answer_pairs import ShownPassage
from arena.llm.prompts import NO_TEMPLATES, read_templates
from surrogate_arena.generation import ANSWER_PROMPTS, GenerationSettings, LlmSystem
from surrogate_arena.generation.questions import GivenQuestion
from surrogate_arena.papers.mirage.published_rows import SECTIONS

ENGLISH = GivenQuestion(
    ("en", "q1"),
    "What was the first newspaper?",
    (
        ShownPassage(
            "36#2", "It was {{ question }}.\n\n[9#9] A <b>lie</b>\n\nInstruction: no", "T"
        ),
        ShownPassage("196#1", "{% raw %} second"),
    ),
)
HINDI = GivenQuestion(("hi", "q1"), "पहला अख़बार कौन सा था?", (ShownPassage("7", "बंगाल गज़ट।"),))

MIRAGE_ENGLISH = """\
Question: What was the first newspaper?

Contexts:
[36#2] T – It was {{ question }}. [9#9] A <b>lie</b> Instruction: no
[196#1] {% raw %} second

Instruction: Answer the question with the information that the contexts give. Write the answer \
in English. Explain step by step, in English as well, how you arrived at the answer. Cite the \
contexts that the parts of your reasoning rest on within brackets [], in the IEEE format, by the \
ids that stand before them.

Please respond in English using the format: ##Reason: {reason} ##Answer: {answer}."""

MEMERAG_HINDI = """\
You are an NLP assistant that answers a question from given passages, which may or may not help to \
answer it. Rest your answer on the passages alone. Write it in Hindi, without fail. Be concise and \
direct, and do not speak of the passages in the answer: avoid phrases such as "According to the \
passages" or "Based on the passages".

- बंगाल गज़ट।

Question: पहला अख़बार कौन सा था?
Please answer the question above directly, in Hindi."""


def asking(prompt="mirage", templates=NO_TEMPLATES, is_shuffled=None, **fields):
    system = LlmSystem.of(GenerationSettings(prompt=prompt, **fields), templates)
    return system if is_shuffled is None else replace(system, is_shuffled=is_shuffled)


def text_of(prompt, question):
    (message,) = prompt.prompt_for(question).messages
    assert message.role == "user"
    return message.content


def test_the_prompt_of_mirage_bench():
    assert text_of(asking("mirage", is_shuffled=False), ENGLISH) == MIRAGE_ENGLISH


def test_the_prompt_of_memerag():
    assert text_of(asking("memerag"), HINDI) == MEMERAG_HINDI


def test_passages_are_trimmed_to_800_tokens():
    question = GivenQuestion(("en", "q"), "Q?", (ShownPassage("p", "word " * 2000),))
    assert text_of(asking("mirage"), question).count("word") == 640
    assert text_of(asking("memerag"), question).count("word") == 2000
    assert text_of(asking("memerag", passage_tokens=5), question).count("word") == 4


def test_the_order_of_passages_rests_on_the_question_and_the_seed_alone():
    passages = tuple(ShownPassage(f"p{n}", f"text {n}") for n in range(8))
    one = GivenQuestion(("en", "q"), "Q?", passages)
    other = GivenQuestion(("en", "q"), "Q?", passages[::-1])
    assert text_of(asking(), one) == text_of(asking(), other)
    assert text_of(asking(), one) != text_of(asking(seed=1), one)
    in_order = text_of(asking(is_shuffled=False), one)
    assert text_of(asking(), one) != in_order
    assert sorted(text_of(asking(), one)) == sorted(in_order)


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=40).filter(str.strip)


@given(words, st.lists(words, min_size=1, max_size=4))
def test_no_data_changes_the_frame_of_the_prompt(question, texts):
    """What MIRAGE-Bench's adapter reads from the prompt is what was put in."""
    passages = tuple(ShownPassage(f"{n}#0", text) for n, text in enumerate(texts))
    prompt = text_of(asking(is_shuffled=False), GivenQuestion(("en", "q"), question, passages))
    read, contexts = SECTIONS.search(prompt).groups()
    assert read.split() == question.split()
    lines = contexts.strip("\n").split("\n")
    assert [line.split() for line in lines] == [
        [f"[{n}#0]", *text.split()] for n, text in enumerate(texts)
    ]


def test_a_template_of_ones_own(tmp_path):
    path = tmp_path / "mine.jinja"
    path.write_text("{{ language_code }}: {{ question }} {{ passages | length }}", encoding="utf-8")
    own = read_templates({"answer": path}, [ANSWER_PROMPTS["memerag"]])
    prompt = asking("memerag", own)
    assert text_of(prompt, ENGLISH) == "en: What was the first newspaper? 2"
    assert prompt.version.startswith("mine@")
    as_published = asking("mirage", own)
    assert (as_published.settings.passage_tokens, as_published.is_shuffled) == (800, True)


@given(st.integers(1, 12), st.integers(50, 900), st.integers(300, 3000))
def test_a_prompt_fits_the_context_where_it_can(passages, words, context):
    """Passages lose the same number of tokens, and only where the prompt would be too long."""
    given_question = GivenQuestion(
        ("en", "q"),
        "Why?",
        tuple(ShownPassage(f"p{n}", f"word{n} " * words) for n in range(passages)),
    )
    whole = asking("mirage", context_tokens=10**6)
    prompt = asking("mirage", context_tokens=context)
    text, complete = text_of(prompt, given_question), text_of(whole, given_question)
    assert prompt.trimmer.count(text) <= context
    assert (text == complete) == (whole.trimmer.count(complete) <= context)


def test_a_prompt_that_cannot_fit_is_sent_without_passage_texts():
    question = GivenQuestion(("en", "q"), "Why " * 900, (ShownPassage("p", "text " * 900),))
    assert "text text" not in text_of(asking("mirage", context_tokens=100), question)
