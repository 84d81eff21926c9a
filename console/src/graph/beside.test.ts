import assert from "node:assert/strict";
import { test } from "node:test";
import { bandsOf } from "./bands.ts";
import { beside } from "./beside.ts";
import type { Dependencies } from "./dependencies.ts";
import { type Picture, pictureOf } from "./picture.ts";

const relations = Array.from({ length: 30 }, (_, number) => ({
  name: `r${String(number).padStart(2, "0")}`,
  about: "",
  stratum: number < 8 ? undefined : Math.floor(number / 8),
}));

const dependencies: Dependencies = {
  strata: new Map(),
  readings: relations.slice(8).map(({ name }, number) => ({
    relation: name,
    reads: `r${String((number * 5) % (8 + number)).padStart(2, "0")}`,
    hows: ["positive"],
    isRecursive: false,
  })),
};

function reached(picture: Picture, from: number): Set<number> {
  const found = new Set([from]);
  for (const at of found) {
    for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]) {
      const next = beside(picture, at, key);
      if (next !== undefined) found.add(next);
    }
  }
  return found;
}

test("arrows lead from every relation to every other one", () => {
  for (const picture of [pictureOf(relations, dependencies), bandsOf(relations, dependencies, 400)]) {
    for (const number of picture.nodes.keys()) assert.equal(reached(picture, number).size, 30);
  }
});

test("an arrow leads to the next one on its side, and nowhere where there is none", () => {
  const few = [
    { name: "edge", about: "", stratum: undefined },
    { name: "far", about: "", stratum: 0 },
    { name: "path", about: "", stratum: 0 },
  ];
  const rows = bandsOf(few, { strata: new Map(), readings: [] }, 800);
  assert.equal(beside(rows, 0, "ArrowDown"), 1);
  assert.equal(beside(rows, 1, "ArrowRight"), 2);
  assert.equal(beside(rows, 2, "ArrowUp"), 0);
  assert.equal(beside(rows, 0, "ArrowRight"), undefined);
  assert.equal(beside(rows, 2, "ArrowDown"), undefined);
  assert.equal(beside(rows, 0, "Enter"), undefined);
});
