"""A retriever for LlamaIndex: `pip install 'stratalog[llama-index]'`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from .client import Client
from .extras import extra
from .retrieval import Passages, column_of

with extra("llama-index"):
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode


class StratalogRetriever(BaseRetriever):
    """Finds nodes by a query: rules say what may be found, an index what is near, or words.

    Each row is a node. `content` names the column with its text and `score` one that says how well it fits,
    the more the better; the other columns are its metadata, and a column `Id` is its id, too. In the query,
    `$question` stands for what is asked and `$vector` for the vector that `embed_model` makes of that;
    `params` has its other parameters, such as who asks.
    """

    def __init__(
        self,
        client: Client,
        query: str,
        *,
        content: str = "Text",
        score: str | None = None,
        embed_model: BaseEmbedding | None = None,
        params: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._client = client
        self._asked = Passages(query, content, params or {})
        self._score = score
        self._embed_model = embed_model

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        result = self._client.query(self._asked.program, self._parameters(query_bundle))
        score_column = None if self._score is None else column_of(result, self._score, "score")
        found = []
        for passage in self._asked.read(result):
            values = passage.values
            score = None if score_column is None else values.pop(score_column)
            named = {} if passage.id is None else {"id_": passage.id}
            node = TextNode(text=passage.text, metadata=values, **named)
            found.append(NodeWithScore(node=node, score=score))
        return found

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)

    def _parameters(self, asked: QueryBundle) -> dict[str, Any]:
        # A vector may have been made of something else than the text.
        if asked.embedding is not None:
            return self._asked.parameters(asked.query_str, lambda _: asked.embedding or [])
        embed = self._embed_model.get_query_embedding if self._embed_model else None
        return self._asked.parameters(asked.query_str, embed)
