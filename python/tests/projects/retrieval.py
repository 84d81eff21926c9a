"""What an agent may read of what is nearest to a question: vectors and a graph in one query.

A small project as somebody new to Stratalog would write it; the tests run it as a script, and its functions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

import stratalog

Vectors = np.ndarray[tuple[int, int], np.dtype[np.float32]]

#: Chunks of documents that an agent may read, and what else a mentioned entity leads to.
RULES = """
+readable(Agent, Chunk) <- clearance(Agent, Collection), document(Doc, _, Collection), chunk(Chunk, Doc, _, _)
+about(Chunk, Entity) <- mentions(Chunk, Entity)
+about(Chunk, Whole) <- about(Chunk, Part), part_of(Part, Whole)
"""

NEAREST = """
?hnsw_nearest("chunk_vectors", $question, 10, Chunk, Distance),
    readable($agent, Chunk), about(Chunk, $entity), chunk(Chunk, Doc, Text, _), document(Doc, Title, _)
"""


@dataclass
class Library:
    """Documents in collections, their chunks with vectors, and the entities that those mention."""

    document: pl.DataFrame
    chunk: pl.DataFrame
    vectors: Vectors
    mentions: pl.DataFrame
    part_of: pl.DataFrame
    clearance: pl.DataFrame


def library(documents: int = 200, dimensions: int = 32, seed: int = 3) -> Library:
    """A made-up library, each document of five chunks."""
    chance = np.random.default_rng(seed)
    count = documents * 5
    vectors = chance.normal(size=(count, dimensions)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    chunks = np.arange(count)
    return Library(
        document=pl.DataFrame(
            {
                "id": np.arange(documents),
                "title": [f"document {n}" for n in range(documents)],
                "collection": chance.choice(["public", "legal", "board"], documents),
            }
        ),
        chunk=pl.DataFrame(
            {"id": chunks, "document": chunks // 5, "text": [f"chunk {n}" for n in chunks], "vector": vectors}
        ),
        vectors=vectors,
        mentions=pl.DataFrame(
            {
                "chunk": np.repeat(chunks, 2),
                "entity": [f"entity {n}" for n in chance.integers(0, 40, count * 2)],
            }
        ).unique(),
        # Four entities are part of each of the first ten, and those all of the first.
        part_of=pl.DataFrame(
            {
                "part": [f"entity {n}" for n in range(1, 40)],
                "whole": [f"entity {n // 4}" for n in range(1, 40)],
            }
        ),
        clearance=pl.DataFrame(
            {"agent": ["clerk", "counsel", "counsel"], "collection": ["public", "public", "legal"]}
        ),
    )


def load(db: stratalog.Client, books: Library) -> None:
    """Relations from frames, an index over the vectors, and the rules."""
    db.insert("document", books.document)
    db.insert("chunk", books.chunk)
    db.insert("mentions", books.mentions)
    db.insert("part_of", books.part_of)
    db.insert("clearance", books.clearance)
    db.indexes.create("chunk_vectors", "chunk", "vector", metric="cosine")
    db.execute(RULES)


def nearest(db: stratalog.Client, agent: str, question: Vectors, entity: str) -> pl.DataFrame:
    """The ten nearest chunks about an entity that the agent may read."""
    values = {"agent": agent, "question": question, "entity": entity}
    return db.query(NEAREST, values).to_polars()


if __name__ == "__main__":
    db = stratalog.connect()
    db.graphs.create("library")
    books = library()
    load(db, books)
    for agent in ("clerk", "counsel", "visitor"):
        found = nearest(db, agent, books.vectors[0], "entity 1")
        print(agent, *found["Chunk"])
