"""What RAG systems are asked: the prompts of the papers, or a template of one's own."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType

from arena.data.errors import UsageError
from arena.data.languages import named_language
from arena.data.seeds import generator
from arena.generation.questions import GivenQuestion
from arena.judging.pairs import ShownPassage
from arena.llm.settings import Prompt
from arena.text.prompts import PromptTemplate, ReplaceablePrompt, Trimmer, Variable

VARIABLES = MappingProxyType(
    {
        "question": Variable("the question", "samplequestion", True),
        "language": Variable("English name of its language", "English"),
        "language_code": Variable("code of its language", "en"),
        "passages": Variable(
            "its passages, each with passage_id, title, text; may be empty",
            (ShownPassage("samplepart#1", "samplepart", "sampletitle"),),
        ),
    }
)
"""Variables of a template."""


_MIRAGE = ReplaceablePrompt(
    "answer",
    "An answer with reason and citations (MIRAGE-Bench, figure 10): generate --prompt mirage",
    "all of it; features and judges read ##Reason: … ##Answer: …",
    VARIABLES,
    "arena.generation",
    "mirage.v1",
)
_MEMERAG = replace(
    _MIRAGE,
    asks="The answer alone (MEMERAG, appendix G.3): generate --prompt memerag",
    reply="all of it",
    packaged_name="memerag.v1",
)


@dataclass(frozen=True)
class GenerationProtocol:
    """How a paper had answers generated.

    Attributes:
        prompt: What is asked.
        passage_tokens: Tokens of a passage that are shown; None for all.
        is_shuffled: Whether passages are shown in random order.
        temperature: Sampling temperature.
        max_tokens: Most tokens of an answer.
        context_tokens: Tokens that a prompt may have; None for any number.
    """

    prompt: ReplaceablePrompt
    passage_tokens: int | None
    is_shuffled: bool
    temperature: float
    max_tokens: int
    context_tokens: int | None = None


PROTOCOLS = MappingProxyType(
    {
        # Figure 10, section 5 and appendix; the paper does not say how long an answer may be.
        "mirage": GenerationProtocol(_MIRAGE, 800, True, 0.1, 2048, 8192),
        # Section 3.3 and appendix G.3.
        "memerag": GenerationProtocol(_MEMERAG, None, False, 0.1, 1000),
    }
)
"""The papers' protocols by name."""


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
        context_tokens: Tokens that the prompt may have; passages of a longer one are trimmed
            further, all to the same number of tokens. None for any number.
        only_relevant: Whether passages that are not known to be relevant are left out.
    """

    template: PromptTemplate
    passage_tokens: int | None = None
    trimmer: Trimmer = field(default_factory=Trimmer)
    is_shuffled: bool = False
    seed: int = 0
    context_tokens: int | None = None
    only_relevant: bool = False

    def __post_init__(self) -> None:
        if self.passage_tokens is not None and self.passage_tokens < 1:
            raise UsageError(f"a passage cannot have {self.passage_tokens} tokens; give 1 or more")
        if self.context_tokens is not None and self.context_tokens < 1:
            raise UsageError(f"a prompt cannot have {self.context_tokens} tokens; give 1 or more")

    @property
    def version(self) -> str:
        """The template's name and digest, how passages are trimmed, and their order."""
        parts = [self.template.version]
        if self.passage_tokens is not None:
            parts.append(f"passages:{self.passage_tokens}({self.trimmer.name})")
        if self.is_shuffled:
            parts.append(f"shuffled:{self.seed}")
        if self.context_tokens is not None:
            parts.append(f"context:{self.context_tokens}({self.trimmer.name})")
        if self.only_relevant:
            parts.append("relevant")
        return "|".join(parts)

    def ask(self, given: GivenQuestion) -> Prompt:
        """Make the prompt for a question.

        Raises:
            UsageError: If the template cannot be filled.
        """
        return self.fit(given)[0]

    def fit(self, given: GivenQuestion) -> tuple[Prompt, bool]:
        """Make the prompt, and tell whether passages were trimmed to fit the context.

        A prompt that is too long without any passage text is sent as it is: what the endpoint
        says of it is a counted failure.
        """
        passages = self._in_order(given)
        tokens = self.passage_tokens
        text = self._text(given, passages, tokens)
        excess = self._excess(text)
        if excess <= 0 or not passages:
            return Prompt.of(text, version=self.version), False
        longest = max(self.trimmer.count(passage.text) for passage in passages)
        tokens = longest if tokens is None else min(tokens, longest)
        while excess > 0 and tokens > 0:
            tokens = max(0, tokens - -(-excess // len(passages)))
            text = self._text(given, passages, tokens)
            excess = self._excess(text)
        return Prompt.of(text, version=self.version), True

    def _excess(self, text: str) -> int:
        return 0 if self.context_tokens is None else self.trimmer.count(text) - self.context_tokens

    def _text(self, given: GivenQuestion, passages: list[ShownPassage], tokens: int | None) -> str:
        language, _ = given.key
        shown = passages
        if tokens is not None:
            shown = [
                replace(passage, text=self.trimmer.trim(passage.text, tokens) if tokens else "")
                for passage in passages
            ]
        return self.template.fill(
            {
                "question": given.question,
                "language": named_language(language),
                "language_code": language,
                "passages": shown,
            }
        )

    def _in_order(self, given: GivenQuestion) -> list[ShownPassage]:
        passages = list(given.passages)
        if self.is_shuffled:
            order = generator(self.seed, "generation", "passages", *given.key)
            # Sorted first: the order drawn does not tell the order of the table.
            passages.sort(key=lambda passage: passage.passage_id)
            passages = [passages[place] for place in order.permutation(len(passages))]
        return passages


def protocol_of(prompt: str) -> GenerationProtocol:
    """Return a paper's protocol by its name.

    Raises:
        UsageError: If there is none of that name.
    """
    protocol = PROTOCOLS.get(prompt)
    if protocol is None:
        names = ", ".join(PROTOCOLS)
        raise UsageError(
            f"there is no prompt {prompt!r}; use {names}, and --template answer=FILE to put a "
            "template of your own in its place"
        )
    return protocol


def answer_prompt(
    prompt: str = "mirage",
    *,
    template: PromptTemplate | None = None,
    passage_tokens: int | None = None,
    trimmer: Trimmer | None = None,
    is_shuffled: bool | None = None,
    seed: int = 0,
    context_tokens: int | None = None,
    only_relevant: bool = False,
) -> AnswerPrompt:
    """Choose the prompt.

    Args:
        prompt: ``mirage`` (MIRAGE-Bench, figure 10) or ``memerag`` (MEMERAG, appendix G.3).
        template: What is sent in place of the packaged template, all else as the paper has it;
            ``protocol_of(prompt).prompt.read(file)`` reads one.
        passage_tokens: Tokens of a passage to show; None takes the protocol's: 800 for
            ``mirage``, all for the others.
        trimmer: Counts tokens; None counts four bytes of UTF-8 as one. See ``read_tokenizer``.
        is_shuffled: Whether passages are shown in random order; None takes the protocol's.
        seed: Seed of the order.
        context_tokens: Tokens that a prompt may have; None takes the protocol's: 8,192 for
            ``mirage``, any number for the others.
        only_relevant: Show relevant passages alone, as to the teachers of MIRAGE-Bench's training
            set (section 3.3).

    Raises:
        UsageError: If there is no such prompt.
    """
    protocol = protocol_of(prompt)
    return AnswerPrompt(
        template or protocol.prompt.packaged(),
        protocol.passage_tokens if passage_tokens is None else passage_tokens,
        Trimmer() if trimmer is None else trimmer,
        protocol.is_shuffled if is_shuffled is None else is_shuffled,
        seed,
        protocol.context_tokens if context_tokens is None else context_tokens,
        only_relevant,
    )
