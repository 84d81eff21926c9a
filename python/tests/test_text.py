"""Searches of texts, and ranks of searches put together: against BM25 and rank fusion in plain Python."""

from __future__ import annotations

import math
import re
from typing import Annotated

import pytest

import stratalog
from stratalog import (
    ANY,
    Relation,
    Vector,
    desc,
    hnsw_nearest,
    rrf,
    rule,
    select,
    text_search,
    variable,
    variables,
)


class Page(Relation):
    id: int
    body: str | None
    v: Annotated[list[float], Vector(2)]


class Allowed(Relation):
    user: str
    id: int


class Found(Relation):
    by: str
    id: int
    rank: int


TEXTS = [
    "Graphs of knowledge answer questions",
    "A vector stands for what a text means",
    "Knowledge graphs, and graphs again: graphs of facts",
    "Facts are rows of relations",
    "The text of a question is a vector too",
    None,
    "Questions",
]
PAGES = [Page(i, text, [math.cos(i), math.sin(i)]) for i, text in enumerate(TEXTS)]
ALLOWED = [Allowed("ann", 0), Allowed("ann", 4), Allowed("bob", 2), Allowed("bob", 3), Allowed("bob", 4)]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def bm25(query: str) -> dict[int, float]:
    """The score of each page that has a word of the query."""
    texts = {page.id: words(page.body) for page in PAGES if page.body is not None}
    average = sum(map(len, texts.values())) / len(texts)
    scores: dict[int, float] = {}
    for word in sorted(set(words(query))):
        holding = sum(word in text for text in texts.values())
        idf = math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
        for id_, text in texts.items():
            if f := text.count(word):
                norm = f + 1.2 * (1 - 0.75 + 0.75 * len(text) / average)
                scores[id_] = scores.get(id_, 0) + idf * f * 2.2 / norm
    return scores


def ranked(scores: dict[int, float]) -> list[int]:
    return sorted(scores, key=lambda id_: (-scores[id_], id_))


@pytest.fixture
def pages(db: stratalog.Client) -> stratalog.Client:
    db.declare(Page, Allowed, Found)
    db.insert(Page, PAGES)
    db.insert(Allowed, ALLOWED)
    db.indexes.create("about", "page", "body", type="text")
    db.indexes.create("stems", "page", "body", type="text", language="english")
    db.indexes.create("near", "page", "v", metric="l2")
    return db


@pytest.mark.parametrize("query", ["graphs of facts", "vector", "the text of a QUESTION", "nothing of this"])
def test_scores_are_those_of_bm25(pages: stratalog.Client, query: str) -> None:
    score, rank = variables(float, int)
    rows = list(
        pages.query(
            select(Page.id, score, rank).where(text_search("about", query, 5, Page.id, score, rank=rank))
        )
    )
    expected = bm25(query)
    best = ranked(expected)[:5]
    assert [row[0] for row in sorted(rows, key=lambda row: row[2])] == best
    assert {row[0]: row[1] for row in rows} == pytest.approx({id_: expected[id_] for id_ in best})
    assert sorted(row[2] for row in rows) == list(range(1, len(best) + 1))


def test_conditions_count_before_the_best_are_chosen(pages: stratalog.Client) -> None:
    allowed = {fact.id for fact in ALLOWED if fact.user == "bob"}
    best = [id_ for id_ in ranked(bm25("graphs text")) if id_ in allowed][:2]
    rank = variable(int)
    search = text_search("about", "graphs text", 2, Page.id, rank=rank)
    query = select(Page.id, rank).where(search, Allowed("bob", Page.id)).order_by(rank)
    assert list(pages.query(query)) == [(id_, place) for place, id_ in enumerate(best, 1)]
    each = select(Allowed.user, Page.id).where(
        text_search("about", "text graphs", 1, Page.id, per=Allowed.user), Allowed.id == Page.id
    )
    firsts = {
        user: next(i for i in ranked(bm25("text graphs")) if Allowed(user, i) in ALLOWED)
        for user in ("ann", "bob")
    }
    assert dict(pages.query(each)) == firsts


def test_words_have_stems_in_a_language(pages: stratalog.Client) -> None:
    assert sorted(pages.query(select(Page.id).where(text_search("stems", "question", 9, Page.id)))) == [
        (0,),
        (4,),
        (6,),
    ]
    assert list(
        pages.query(select(Page.id).where(text_search("stems", '+facts -"of facts"', 9, Page.id)))
    ) == [(3,)]
    assert pages.indexes.state("stems").language == "english"
    assert pages.indexes.state("near").language is None
    with pytest.raises(stratalog.ParseError, match="one of `none`"):
        pages.indexes.create("other", "page", "body", type="text", language="klingon")


def test_ranks_of_searches_are_put_together(pages: stratalog.Client) -> None:
    id_, rank = variables(int, int)
    asked, near = "knowledge of graphs", [1.0, 0.2]
    pages.define(rule(Found("words", id_, rank), text_search("about", asked, 4, id_, rank=rank)))
    pages.define(rule(Found("vectors", id_, rank), hnsw_nearest("near", near, 4, id_, ANY, rank=rank)))
    by_words = ranked(bm25(asked))[:4]
    by_vectors = sorted(range(len(PAGES)), key=lambda i: math.dist(PAGES[i].v, near))[:4]
    expected: dict[int, list[float]] = {}
    for found in (by_words, by_vectors):
        for place, page in enumerate(found, 1):
            expected.setdefault(page, []).append(1 / (60 + place))
    fused = select(Found.id, rrf(Found.rank)).order_by(desc(rrf(Found.rank)))
    rows = list(pages.query(fused))
    # Sums are exact, and rounded once.
    assert dict(rows) == {page: math.fsum(parts) for page, parts in expected.items()}
    assert [score for _, score in rows] == sorted((score for _, score in rows), reverse=True)
    flat = dict(pages.query(select(Found.id, rrf(Found.rank, 0))))
    assert flat[by_words[0]] >= 1
    with pytest.raises(ValueError, match="from 0"):
        rrf(Found.rank, -1)
