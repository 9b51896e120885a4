"""A Haystack pipeline as a system: `generate ARENA --system haystack_system:answer --append`.

    pip install haystack-ai
    export HAYSTACK_TELEMETRY_ENABLED=False

Run where this file is, or with its folder in PYTHONPATH. The model repeats its prompt, so that this
runs anywhere: put yours in its place.
"""

from haystack import Document, Pipeline
from haystack.components.builders import ChatPromptBuilder
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.retrievers import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore

MODEL = MockChatGenerator
PROMPT = ChatMessage.from_user(
    "{% for each in passages %}{{ each.content }}\n{% endfor %}\nAnswer: {{ question }}"
)


def answer(question: str, passages: list[dict]) -> tuple[str, list[dict]]:
    """Answer from the two passages that are best by BM25; called with one question at a time."""
    store = InMemoryDocumentStore()
    store.write_documents([Document(id=p["passage_id"], content=p["text"]) for p in passages])
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(store, top_k=2))
    pipeline.add_component(
        "prompt", ChatPromptBuilder([PROMPT], required_variables=["passages", "question"])
    )
    pipeline.add_component("model", MODEL())
    pipeline.connect("retriever.documents", "prompt.passages")
    pipeline.connect("prompt.prompt", "model.messages")
    asked = {"retriever": {"query": question}, "prompt": {"question": question}}
    said = pipeline.run(asked, include_outputs_from={"retriever"})
    found = said["retriever"]["documents"]
    return said["model"]["replies"][0].text, [
        {"passage_id": each.id, "text": each.content} for each in found
    ]
