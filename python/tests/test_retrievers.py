"""Retrievers for LangChain and LlamaIndex, with the real libraries."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from langchain_core.embeddings import Embeddings
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import QueryBundle

import stratalog
from stratalog import langchain, llama_index

NOTES = """
+note(id: int, text: string, v: vector(2))
+note[(1, "tea is grown on hills", [1.0, 0.0]), (2, "ada drinks tea", [0.9, 0.2])]
+note(3, "the shop opens at nine", [0.0, 1.0])
+owner[(1, "all"), (2, "ada"), (3, "all")]
+may_read(Who, Id) <- owner(Id, "all"), user(Who)
+may_read(Who, Id) <- owner(Id, Who), user(Who)
+user["ada", "bob"]
.index create notes on note(v) metric cosine
.index create words on note(text) type text
"""
NEAR = (
    '?Id, Text, Score <- hnsw_nearest("notes", $vector, 2, Id, Distance), note(Id, Text, _), '
    "may_read($who, Id), Score = 1.0 - Distance"
)


def vector(text: str) -> list[float]:
    """What a model would say: whether it is about tea."""
    return [1.0, 0.0] if "tea" in text else [0.0, 1.0]


class TeaModel(Embeddings):
    """For LangChain."""

    def embed_query(self, text: str) -> list[float]:
        """Of what is asked."""
        return vector(text)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Of what is stored."""
        return [vector(text) for text in texts]


class TeaEmbedding(BaseEmbedding):
    """For LlamaIndex."""

    def _get_query_embedding(self, query: str) -> list[float]:
        return vector(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return vector(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return vector(text)


@pytest.fixture
def notes() -> Iterator[stratalog.Client]:
    """A database with notes, of which one is private."""
    with stratalog.open() as db:
        db.execute(NOTES)
        yield db


def test_langchain_finds_what_is_near_and_may_be_read(notes: stratalog.Client) -> None:
    """Rules decide together with vectors, and a chain goes on with what is found."""
    retriever = langchain.StratalogRetriever(
        client=notes, query=NEAR, embeddings=TeaModel(), params={"who": "ada"}
    )
    found = retriever.invoke("who likes tea?")
    assert [document.page_content for document in found] == ["tea is grown on hills", "ada drinks tea"]
    assert found[0].id == "1"
    assert found[0].metadata["Id"] == 1
    assert found[0].metadata["Score"] == pytest.approx(1.0)
    assert asyncio.run(retriever.ainvoke("who likes tea?")) == found
    for_bob = retriever.model_copy(update={"params": {"who": "bob"}})
    # Two are near of those that he may read.
    assert [document.metadata["Id"] for document in for_bob.invoke("who likes tea?")] == [1, 3]
    prompt = ChatPromptTemplate.from_template("{context} {question}")
    chain = {"context": retriever, "question": RunnablePassthrough()} | prompt
    assert "ada drinks tea" in chain.invoke("who likes tea?").to_string()


def test_langchain_finds_words(notes: stratalog.Client) -> None:
    """A query that reads no vector needs no model."""
    words = langchain.StratalogRetriever(
        client=notes, query='?text_search("words", $question, 5, Id, Score), note(Id, Text, _)'
    )
    assert [document.page_content for document in words.invoke("nine")] == ["the shop opens at nine"]
    assert words.invoke("nothing of that") == []


def test_langchain_is_told_what_is_missing(notes: stratalog.Client) -> None:
    """What cannot work is an error that says why."""
    with pytest.raises(ValueError, match="a model that makes vectors"):
        langchain.StratalogRetriever(client=notes, query=NEAR, params={"who": "ada"}).invoke("tea")
    with pytest.raises(ValueError, match="no column 'Body' for the text: there are id, text, v"):
        langchain.StratalogRetriever(client=notes, query="?note(Id, Text, _)", content="Body").invoke("tea")
    with pytest.raises(stratalog.UnknownRelation):
        langchain.StratalogRetriever(client=notes, query="?nowhere(Text)").invoke("tea")


def test_llama_index_finds_what_is_near_and_may_be_read(notes: stratalog.Client) -> None:
    """The same, with scores."""
    retriever = llama_index.StratalogRetriever(
        notes, NEAR, score="Score", embed_model=TeaEmbedding(), params={"who": "ada"}
    )
    found = retriever.retrieve("who likes tea?")
    assert [each.node.get_content() for each in found] == ["tea is grown on hills", "ada drinks tea"]
    assert found[0].node.node_id == "1"
    assert found[0].score == pytest.approx(1.0)
    assert found[0].node.metadata == {"Id": 1}
    again = asyncio.run(retriever.aretrieve("who likes tea?"))
    assert [each.score for each in again] == [each.score for each in found]
    # A vector that comes with the question is taken as it is.
    opening = retriever.retrieve(QueryBundle("who likes tea?", embedding=[0.0, 1.0]))
    assert opening[0].node.get_content() == "the shop opens at nine"
    engine = RetrieverQueryEngine(retriever, get_response_synthesizer(llm=MockLLM()))
    assert "ada drinks tea" in str(engine.query("who likes tea?"))


def test_llama_index_is_told_what_is_missing(notes: stratalog.Client) -> None:
    """What cannot work is an error that says why."""
    with pytest.raises(ValueError, match="no column 'Near' for the score"):
        llama_index.StratalogRetriever(notes, "?note(Id, Text, _)", score="Near").retrieve("tea")
    without = llama_index.StratalogRetriever(notes, "?note(Id, Text, _)")
    assert [each.score for each in without.retrieve("tea")] == [None, None, None]
