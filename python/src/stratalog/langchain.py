"""A retriever for LangChain: `pip install 'stratalog[langchain]'`."""

from __future__ import annotations

from typing import Any

from .client import Client
from .extras import extra
from .retrieval import Passages

with extra("langchain"):
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.retrievers import BaseRetriever
    from pydantic import Field


class StratalogRetriever(BaseRetriever):
    """Finds documents by a query: rules say what may be found, an index what is near, or words.

    Each row is a document. `content` names the column with its text; the other columns are its metadata, and
    a column `Id` is its id, too. In the query, `$question` stands for what is asked and `$vector` for the
    vector that `embeddings` makes of that; `params` has its other parameters, such as who asks.
    """

    client: Client
    query: str
    content: str = "Text"
    embeddings: Embeddings | None = None
    params: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        asked = Passages(self.query, self.content, self.params)
        embed = self.embeddings.embed_query if self.embeddings else None
        result = self.client.query(self.query, asked.parameters(query, embed))
        return [
            Document(page_content=passage.text, metadata=passage.values, id=passage.id)
            for passage in asked.read(result)
        ]
