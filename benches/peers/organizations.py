"""Facts of made-up organizations: who may do what, timetables, and what things are made of."""

from __future__ import annotations

import numpy as np
from generate import SEED, Table


def _rows(*columns: Table) -> Table:
    """Distinct rows of these columns."""
    return np.unique(np.stack(columns, axis=1), axis=0)


def permissions(users: int, documents: int) -> dict[str, Table]:
    """People in groups within groups, documents in folders within folders, grants that ask for a level, and denials.

    Levels go from 0 to 9, and most people have a low one. The first folders and groups hold most of the others.
    """
    rng = np.random.default_rng([SEED, users, documents, 17])
    groups, grants, denials = users // 10, documents // 20, documents // 100
    group, document = np.arange(1, groups, dtype=np.int64), np.arange(1, documents, dtype=np.int64)

    def early(count: int, below: int, power: float) -> Table:
        return (rng.random(count) ** power * below).astype(np.int64)

    # Each group is within one before it, a quarter within another one too.
    inner = np.concatenate([group, early(groups // 4, groups - 1, 1.0) + 1])
    return {
        "member": _rows(early(3 * users, users, 1.0), early(3 * users, groups, 1.5)),
        "within": _rows(inner, (rng.random(len(inner)) * inner).astype(np.int64)),
        "inside": _rows(document, (rng.random(documents - 1) ** 1.5 * document).astype(np.int64)),
        "granted": _rows(
            early(grants, groups, 1.0),
            early(grants, documents, 1.2),
            rng.integers(0, 4, grants),
            early(grants, 10, 2.0),
        ),
        "denied": _rows(early(denials, groups, 1.0), early(denials, documents, 1.0), rng.integers(0, 4, denials)),
        "clearance": _rows(np.arange(users, dtype=np.int64), early(users, 10, 2.0)),
        "classified": _rows(np.arange(documents, dtype=np.int64), early(documents, 10, 3.0)),
    }


def timetable(stations: int, lines: int, origins: int) -> dict[str, Table]:
    """Connections of a day in minutes, (from, to, departure, arrival), and the stations that journeys begin at.

    A line calls at about twelve stations, both ways and every ten minutes to two hours. Stations with a low number are
    on many lines. Journeys begin at every hour from six.
    """
    rng = np.random.default_rng([SEED, stations, lines, 18])
    found = []
    for _ in range(lines):
        stops = rng.permutation(np.unique((rng.random(12) ** 1.7 * stations).astype(np.int64)))
        steps = np.concatenate([[0], np.cumsum(rng.integers(3, 25, len(stops) - 1))])
        for way in (stops, stops[::-1]):
            for first in range(int(rng.integers(300, 360)), 1_380, int(rng.choice([10, 20, 30, 60, 120]))):
                times = first + steps
                found.append(np.stack([way[:-1], way[1:], times[:-1], times[1:]], axis=1))
    start = rng.permutation(stations)[:origins].astype(np.int64)
    return {
        "connection": np.unique(np.concatenate(found), axis=0),
        "origin": np.stack([start, 360 + 60 * (np.arange(origins, dtype=np.int64) % 12)], axis=1),
    }


#: How many times parts are put together; the programs have a rule for each.
LEVELS = 4


def parts(assemblies: int, bought: int) -> dict[str, Table]:
    """(assembly, part, quantity): each level is made of what is on the one below, the lowest of what is bought.

    Levels get smaller by a third. Some parts are in very many assemblies, and some assemblies have very many parts.
    """
    rng = np.random.default_rng([SEED, assemblies, bought, 19])
    found, first, size, above = [], 0, bought, assemblies
    for _ in range(LEVELS):
        count = 2 + np.minimum(rng.pareto(1.5, above) * 3, 60).astype(np.int64)
        assembly = np.repeat(np.arange(above, dtype=np.int64), count) + first + size
        part = first + (rng.random(len(assembly)) ** 2 * size).astype(np.int64)
        pairs = np.unique(np.stack([assembly, part], axis=1), axis=0)
        quantity = np.minimum(rng.geometric(0.6, len(pairs)), 8).astype(np.int64)
        found.append(np.concatenate([pairs, quantity[:, None]], axis=1))
        first, size, above = first + size, above, above * 2 // 3
    return {
        "bought": np.arange(bought, dtype=np.int64).reshape(-1, 1),
        "uses": np.concatenate(found),
    }
