"""What RAG systems are asked: the prompts of the papers, or a template of one's own."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from arena.data.errors import UsageError
from arena.data.languages import named_language
from arena.data.seeds import generator
from arena.generation.questions import GivenQuestion
from arena.judging.pairs import ShownPassage
from arena.llm.settings import Prompt
from arena.text.prompts import PromptTemplate, packaged_prompt, read_template
from arena.text.trimming import ByteTrimmer, Trimmer

VARIABLES = MappingProxyType(
    {
        "question": "the question",
        "language": "English name of its language",
        "language_code": "code of its language",
        "passages": "its passages, each with passage_id, title, text; may be empty",
    }
)
"""Variables of a template, with their meaning."""

_SAMPLE = GivenQuestion(("en", "q"), "samplequestion", (ShownPassage("p", "samplepassage"),))


@dataclass(frozen=True)
class GenerationProtocol:
    """How a paper had answers generated.

    Attributes:
        template: Its packaged template.
        passage_tokens: Tokens of a passage that are shown; None for all.
        is_shuffled: Whether passages are shown in random order.
        temperature: Sampling temperature.
        max_tokens: Most tokens of an answer.
    """

    template: str
    passage_tokens: int | None
    is_shuffled: bool
    temperature: float
    max_tokens: int


PROTOCOLS = MappingProxyType(
    {
        # Figure 10, section 5 and appendix; the paper does not say how long an answer may be.
        "mirage": GenerationProtocol("mirage.v1", 800, True, 0.1, 2048),
        # Section 3.3 and appendix G.3.
        "memerag": GenerationProtocol("memerag.v1", None, False, 0.1, 1000),
    }
)
"""The papers' protocols by name."""

OWN_PROTOCOL = GenerationProtocol("", None, False, 0.1, 2048)
"""What goes with a template of one's own."""


@dataclass(frozen=True)
class AnswerPrompt:
    """Makes the prompts of one template.

    Attributes:
        template: The template.
        passage_tokens: Tokens of a passage that are shown; None for all.
        trimmer: What counts them.
        is_shuffled: Whether passages are shown in an order drawn for each question, the same for
            all systems, instead of the order of the table.
        seed: Seed of the draw.
    """

    template: PromptTemplate
    passage_tokens: int | None = None
    trimmer: Trimmer = field(default_factory=ByteTrimmer)
    is_shuffled: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.passage_tokens is not None and self.passage_tokens < 1:
            raise UsageError(f"a passage cannot have {self.passage_tokens} tokens; give 1 or more")

    @property
    def version(self) -> str:
        """The template's name and digest, how passages are trimmed, and their order."""
        parts = [self.template.version]
        if self.passage_tokens is not None:
            parts.append(f"passages:{self.passage_tokens}({self.trimmer.name})")
        if self.is_shuffled:
            parts.append(f"shuffled:{self.seed}")
        return "|".join(parts)

    def ask(self, given: GivenQuestion) -> Prompt:
        """Make the prompt for a question.

        Raises:
            UsageError: If the template cannot be filled.
        """
        language, _ = given.key
        text = self.template.fill(
            {
                "question": given.question,
                "language": named_language(language),
                "language_code": language,
                "passages": self._shown(given),
            }
        )
        return Prompt.of(text, version=self.version)

    def _shown(self, given: GivenQuestion) -> list[ShownPassage]:
        passages = list(given.passages)
        if self.is_shuffled:
            order = generator(self.seed, "generation", "passages", *given.key)
            # Sorted first: the order drawn does not tell the order of the table.
            passages.sort(key=lambda passage: passage.passage_id)
            passages = [passages[place] for place in order.permutation(len(passages))]
        if self.passage_tokens is None:
            return passages
        return [
            replace(passage, text=self.trimmer.trim(passage.text, self.passage_tokens))
            for passage in passages
        ]


def protocol_of(prompt: str | Path) -> GenerationProtocol:
    """Return a paper's protocol by name; for anything else, what goes with one's own template."""
    return PROTOCOLS.get(str(prompt), OWN_PROTOCOL)


def answer_prompt(
    prompt: str | Path = "mirage",
    *,
    passage_tokens: int | None = None,
    trimmer: Trimmer | None = None,
    is_shuffled: bool | None = None,
    seed: int = 0,
) -> AnswerPrompt:
    """Choose the prompt.

    Args:
        prompt: ``mirage`` (MIRAGE-Bench, figure 10), ``memerag`` (MEMERAG, appendix G.3), or the
            file of a Jinja template with the variables of ``VARIABLES``.
        passage_tokens: Tokens of a passage to show; None takes the protocol's: 800 for
            ``mirage``, all for the others.
        trimmer: Counts tokens; None counts four bytes of UTF-8 as one. See ``read_tokenizer``.
        is_shuffled: Whether passages are shown in random order; None takes the protocol's.
        seed: Seed of the order.

    Raises:
        UsageError: If there is no such prompt, or the template is unusable.
    """
    protocol = protocol_of(prompt)
    return AnswerPrompt(
        _own_template(prompt) if protocol is OWN_PROTOCOL else _packaged(protocol.template),
        protocol.passage_tokens if passage_tokens is None else passage_tokens,
        ByteTrimmer() if trimmer is None else trimmer,
        protocol.is_shuffled if is_shuffled is None else is_shuffled,
        seed,
    )


def _packaged(name: str) -> PromptTemplate:
    return packaged_prompt("arena.generation", name, tuple(VARIABLES))


def _own_template(path: str | Path) -> PromptTemplate:
    if not Path(path).is_file():
        names = ", ".join(PROTOCOLS)
        raise UsageError(f"there is no prompt {str(path)!r}; use {names}, or a template's file")
    template = read_template(path, VARIABLES)
    if "samplequestion" not in AnswerPrompt(template).ask(_SAMPLE).messages[0].content:
        raise UsageError(f"the template {template.version} does not show the question")
    return template
