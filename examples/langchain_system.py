"""A LangChain pipeline as a system: `generate ARENA --system langchain_system:answer --append`.

    pip install langchain-core

Run where this file is, or with its folder in PYTHONPATH. The model repeats its prompt and the
embedding is a fake, so that this runs anywhere: put yours in their places.
"""

from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models.fake_chat_models import ParrotFakeChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.vectorstores import InMemoryVectorStore

MODEL = ParrotFakeChatModel()
EMBEDDING = DeterministicFakeEmbedding(size=64)
PROMPT = ChatPromptTemplate.from_template("{passages}\n\nAnswer in {language}: {question}")
CHAIN = PROMPT | MODEL | StrOutputParser()


async def answer(question: str, language: str, passages: list[dict]) -> tuple[str, list[dict]]:
    """Answer from the two passages that are nearest; as it is async, several at the same time."""
    documents = [Document(each["text"], id=each["passage_id"]) for each in passages]
    index = await InMemoryVectorStore.afrom_documents(documents, EMBEDDING)
    found = await index.asimilarity_search(question, k=2)
    shown = "\n".join(each.page_content for each in found)
    told = {"passages": shown, "language": language, "question": question}
    kept = [{"passage_id": each.id, "text": each.page_content} for each in found]
    return await CHAIN.ainvoke(told), kept
