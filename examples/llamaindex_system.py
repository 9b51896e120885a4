"""A LlamaIndex engine as a system: `generate ARENA --system llamaindex_system:answer --append`.

    pip install llama-index-core

Run where this file is, or with its folder in PYTHONPATH. The model repeats its prompt and the
embedding is a fake, so that this runs anywhere: put yours in their places.
"""

from llama_index.core import VectorStoreIndex
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.schema import TextNode

MODEL = MockLLM()
EMBEDDING = MockEmbedding(embed_dim=64)


def answer(question: str, passages: list[dict]) -> tuple[str, list[dict]]:
    """Answer from the two passages that are nearest; called with one question at a time."""
    nodes = [TextNode(text=each["text"], id_=each["passage_id"]) for each in passages]
    index = VectorStoreIndex(nodes, embed_model=EMBEDDING)
    response = index.as_query_engine(llm=MODEL, similarity_top_k=2).query(question)
    found = [each.node for each in response.source_nodes]
    return str(response), [{"passage_id": node.node_id, "text": node.text} for node in found]
