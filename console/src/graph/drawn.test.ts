import assert from "node:assert/strict";
import { test } from "node:test";
import type { Catalog, Relation } from "../session/catalog.ts";
import type { Dependencies } from "./dependencies.ts";
import type { KeptView } from "./details.ts";
import { chosenOf, namesIn, relationsToDraw } from "./drawn.ts";

function relation(name: string, rows: number | undefined, clauses: number): [string, Relation] {
  return [name, { name, rows, isAttached: false, columns: [], isDerived: clauses > 0, clauses }];
}

const catalog: Catalog = {
  isKnown: true,
  relations: new Map([
    relation("edge", 1200, 0),
    relation("alone", 1, 0),
    relation("path", undefined, 2),
    relation("both", 1, 1),
    relation("cleared", undefined, 0),
  ]),
};

const dependencies: Dependencies = {
  strata: new Map([
    ["path", 0],
    ["both", 1],
  ]),
  readings: [
    { relation: "path", reads: "edge", hows: ["positive"], isRecursive: false },
    { relation: "both", reads: "path", hows: ["positive"], isRecursive: false },
    { relation: "both", reads: "gone", hows: ["negated"], isRecursive: false },
  ],
};

test("what no rule reads is not in the picture", () => {
  assert.deepEqual(namesIn(catalog, dependencies), ["both", "edge", "gone", "path"]);
});

test("one relation can be chosen with what it depends on", () => {
  const names = namesIn(catalog, dependencies);
  assert.deepEqual(chosenOf(names, dependencies, { of: "path", way: "below" }), ["edge", "path"]);
  assert.deepEqual(chosenOf(names, dependencies, { of: "path", way: "above" }), ["both", "path"]);
  assert.deepEqual(chosenOf(names, dependencies, { of: undefined, way: "both" }), names);
});

test("rows and clauses stand beside a relation, and stored ones have no stratum", () => {
  const views = new Map([["path", { rows: 5 } as KeptView]]);
  assert.deepEqual(relationsToDraw(["both", "edge", "gone", "path"], catalog, dependencies, views), [
    { name: "both", about: "1 row · 1 clause", stratum: 1 },
    { name: "edge", about: "1,200 rows", stratum: undefined },
    { name: "gone", about: "not there", stratum: undefined },
    { name: "path", about: "2 clauses · 5 kept", stratum: 0 },
  ]);
});
