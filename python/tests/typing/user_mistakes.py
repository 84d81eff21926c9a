"""Mistakes that type checkers must find, for `test_typing.py`: each line marked `# wrong` and no other."""

from __future__ import annotations

import stratalog
from stratalog import Relation, count, functions, rule, select, variables


class Owns(Relation):
    owner: str
    share: float = 1.0


class Rich(Relation):
    name: str


def mistakes(db: stratalog.Client) -> None:
    Owns(1)  # wrong
    Owns("ada", share="much")  # wrong
    Owns.prize  # wrong
    Owns("ada").owner = "bob"  # wrong
    select(Owns).where(Owns.share > "much")  # wrong
    select(Owns).where(Owns.share + 1)  # wrong
    functions.upper(Owns.share)  # wrong
    select(Owns).top_k("three", Owns.share)  # wrong
    stratalog.hnsw_nearest("near", "vector", 10, Owns.owner)  # wrong
    x, y = variables(str, int)
    rule(Rich(y), Owns(x))  # wrong
    rule(Rich(Owns.owner), Owns.share)  # wrong
    db.query(select(Owns), {"x": 1})  # wrong
    db.query(select(Owns)).one().prize  # wrong
    number: str = db.query(select(count(Owns))).one()[0]  # wrong
    db.users.create("ada", "password", "king")  # wrong
    db.insert(Owns)  # wrong
    print(number)
