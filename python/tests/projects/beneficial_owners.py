"""Who owns a company in the end: shares along chains, multiplied, and summed over all ways.

A small project as somebody new to Stratalog would write it; the tests run it as a script, and its functions.
"""

from __future__ import annotations

import random

import pandas as pd

import stratalog

#: From how much on somebody is a beneficial owner is the second rule's matter, so that it can be edited.
#: A way goes through no company twice: circles of cross-holdings end where they close.
RULES = """
+way(Owner, Company, Share, Path) <-
    holding(Owner, Company, Share), Path = concat("/", Owner, "/", Company, "/")
+way(Owner, Company, Share, Path) <-
    way(Owner, Between, First, Start), holding(Between, Company, Second),
    contains(Start, concat("/", Company, "/")) = false,
    Share = First * Second, Path = concat(Start, Company, "/")

// Two ways with the same share are two: the path tells them apart.
+stake(Owner, Company, sum<Share>) <- way(Owner, Company, Share, _)

+beneficial_owner(Person, Company, Share) <-
    stake(Person, Company, Share), person(Person, _), Share >= THRESHOLD
"""


def register(companies: int = 40, people: int = 12, seed: int = 7) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Made-up people, and who holds how much of what: layers of companies, and two circles."""
    chance = random.Random(seed)
    names = [f"person {n}" for n in range(people)]
    person = pd.DataFrame({"name": names, "country": [chance.choice(["NO", "IT", "CY"]) for _ in names]})
    rows = []
    for number in range(companies):
        above = [f"company {n}" for n in range(max(0, number - 5), number)] + names
        owners = chance.sample(above, k=3)
        # Eighths and the like are exact, so that two programs that add in another order agree.
        for owner, share in zip(
            owners, chance.choice([(0.5, 0.25, 0.25), (0.75, 0.125, 0.0625)]), strict=True
        ):
            rows.append((owner, f"company {number}", share))
    rows += [("company 9", "company 7", 0.125), ("company 3", "company 3", 0.0625)]
    holding = pd.DataFrame(rows, columns=["owner", "company", "share"])
    return person, holding.drop_duplicates(["owner", "company"])


def load(db: stratalog.Client, person: pd.DataFrame, holding: pd.DataFrame) -> None:
    """The frames' columns are the relations' columns."""
    db.insert("person", person)
    db.insert("holding", holding)


def define(db: stratalog.Client, threshold: float) -> None:
    """Keeps the rules, in place of those of an earlier run."""
    db.execute(RULES.replace("THRESHOLD", str(threshold)), replace_rules=True)


def beneficial_owners(db: stratalog.Client) -> pd.DataFrame:
    """The answer as a frame."""
    return db.query("?beneficial_owner(Person:asc, Company:asc, Share)").to_pandas()


if __name__ == "__main__":
    db = stratalog.connect()
    db.graphs.create("ownership")
    load(db, *register())
    define(db, 0.25)
    print(beneficial_owners(db).to_csv(index=False), end="")
