"""Facts of made-up ontologies: triples with a schema of classes and properties, and a terminology to be classified."""

from __future__ import annotations

import numpy as np
from generate import SEED, Table

#: What the rules know of the vocabulary. All other names have higher numbers.
TYPE, SUB_CLASS, SUB_PROPERTY, DOMAIN, RANGE, INVERSE, TRANSITIVE, SYMMETRIC, SAME = range(9)
FIRST = 10


def _column(value: int, count: int) -> Table:
    return np.full(count, value, dtype=np.int64)


def _above(rng: np.random.Generator, count: int, power: float) -> Table:
    """(lower, higher) of a hierarchy; the first are above many, the more so the higher the power."""
    lower = np.arange(1, count, dtype=np.int64)
    return np.stack([lower, (rng.random(count - 1) ** power * lower).astype(np.int64)])


def _schema(rng: np.random.Generator, classes: int, properties: int) -> list[Table]:
    """Classes and properties in hierarchies; some properties have domain and range, some are of a special kind."""
    first = FIRST + classes
    lower, higher = _above(rng, classes, 1.3) + FIRST
    narrow, wide = _above(rng, properties, 1.0) + first
    # Nothing is below the transitive property: it would make one component of everybody.
    kept = (rng.random(properties - 1) < 0.5) & (wide != first + 2)
    typed = np.arange(first, first + properties, 2, dtype=np.int64)
    middle = len(typed)

    def of(relation: int) -> Table:
        drawn = FIRST + (rng.random(middle) * classes).astype(np.int64)
        return np.stack([typed, _column(relation, middle), drawn])

    inverse = first + np.arange(4, properties - 1, 10, dtype=np.int64)
    symmetric = first + np.arange(7, properties, 20, dtype=np.int64)
    return [
        np.stack([lower, _column(SUB_CLASS, classes - 1), higher]),
        np.stack([narrow, _column(SUB_PROPERTY, properties - 1), wide])[:, kept],
        of(DOMAIN),
        of(RANGE),
        np.stack([inverse, _column(INVERSE, len(inverse)), inverse + 1]),
        np.stack([symmetric, _column(TYPE, len(symmetric)), _column(SYMMETRIC, len(symmetric))]),
        np.array([[first + 2], [TYPE], [TRANSITIVE]], dtype=np.int64),
    ]


def triples(individuals: int) -> dict[str, Table]:
    """Individuals with a type and six properties each, a few of them with two names; one property is transitive.

    Objects of properties are drawn by a power law, those of the transitive property from a shallow hierarchy.
    """
    rng = np.random.default_rng([SEED, individuals, 15])
    classes, properties = 400, 80
    first = FIRST + classes + properties
    here = np.arange(individuals, dtype=np.int64)
    subject = np.repeat(here, 6)
    facts = len(subject)
    target = (rng.random(facts) ** 3 * individuals).astype(np.int64)
    relation = FIRST + classes + 3 + (rng.random(facts) ** 2 * (properties - 3)).astype(np.int64)
    part, whole = _above(rng, individuals // 4, 1.0)
    one = (rng.random(individuals // 100) * (individuals - 1)).astype(np.int64)
    parts = [
        *_schema(rng, classes, properties),
        np.stack([here + first, _column(TYPE, individuals), FIRST + rng.integers(0, classes, individuals)]),
        np.stack([subject + first, relation, target + first]),
        np.stack([part + first, _column(FIRST + classes + 2, len(part)), whole + first]),
        np.stack([one + first, _column(SAME, len(one)), one + first + 1]),
    ]
    return {"triple": np.unique(np.concatenate(parts, axis=1).T, axis=0)}


def terminology(concepts: int) -> dict[str, Table]:
    """A terminology in the normal form of EL: most concepts have a broader one or two and a few roles.

    A third of them is defined, by a broader concept and a role to a third one together, so others are found below it.
    Roles have a hierarchy; parts of parts are parts, and what is in a part is in the whole.
    """
    rng = np.random.default_rng([SEED, concepts, 16])
    roles = 20
    here = np.arange(1, concepts, dtype=np.int64)
    broader = (rng.random(concepts - 1) * here).astype(np.int64)
    further = rng.random(concepts - 1) < 0.2
    second = (rng.random(concepts - 1) ** 2 * here).astype(np.int64)
    holder = rng.integers(1, concepts, concepts)
    filler = (rng.random(concepts) ** 6 * holder).astype(np.int64)
    role = (rng.random(concepts) ** 2 * roles).astype(np.int64)
    defined = np.unique(rng.integers(1, concepts, concepts // 4))
    genus, marker = broader[defined - 1], concepts + np.arange(len(defined), dtype=np.int64)
    wanted_role = (rng.random(len(defined)) ** 2 * roles).astype(np.int64)
    wanted = (rng.random(len(defined)) ** 1.5 * defined).astype(np.int64)
    narrow, wide = _above(rng, roles, 1.0)
    return {
        "concept": np.arange(concepts + len(defined), dtype=np.int64).reshape(-1, 1),
        "subsumed": np.unique(
            np.concatenate([np.stack([here, broader]), np.stack([here, second])[:, further]], axis=1).T, axis=0
        ),
        "has": np.unique(
            np.concatenate([np.stack([holder, role, filler]), np.stack([defined, wanted_role, wanted])], axis=1).T,
            axis=0,
        ),
        "some": np.stack([wanted_role, wanted, marker], axis=1),
        "both": np.stack([genus, marker, defined], axis=1),
        "broader_role": np.stack([narrow, wide], axis=1)[1::2],
        "chain": np.array([[0, 0, 0], [1, 0, 1], [3, 1, 1], [5, 0, 4]], dtype=np.int64),
    }
