import assert from "node:assert/strict";
import { test } from "node:test";
import { dependenciesOf, howText, reachable } from "./dependencies.ts";

const row = (
  relation: string,
  reads: string | null,
  how: string | null,
  stratum: number,
  recursive = false,
) => ({
  relation,
  reads,
  how,
  stratum,
  recursive,
});

const found = dependenciesOf([
  row("path", "edge", "positive", 0),
  row("path", "path", "positive", 0, true),
  row("far", "path", "aggregated", 1),
  row("lonely", "node", "positive", 1),
  row("lonely", "path", "negated", 1),
  row("lonely", "path", "positive", 1),
  row("always", null, null, 0),
]);

test("several ways between two relations are one reading", () => {
  assert.deepEqual(
    found.readings.filter(({ relation }) => relation === "lonely"),
    [
      { relation: "lonely", reads: "node", hows: ["positive"], isRecursive: false },
      { relation: "lonely", reads: "path", hows: ["positive", "negated"], isRecursive: false },
    ],
  );
});

test("a relation that reads nothing has a stratum and no reading", () => {
  assert.equal(found.strata.get("always"), 0);
  assert.ok(found.readings.every(({ relation }) => relation !== "always"));
});

test("a relation that reads itself is recursive", () => {
  const itself = found.readings.find(({ relation, reads }) => relation === "path" && reads === "path");
  assert.equal(itself?.isRecursive, true);
});

test("below is what a relation follows from, above what follows from it", () => {
  assert.deepEqual([...reachable(found, "lonely", "below")].sort(), ["edge", "lonely", "node", "path"]);
  assert.deepEqual([...reachable(found, "edge", "above")].sort(), ["edge", "far", "lonely", "path"]);
});

test("both ways do not lead up again from what is below", () => {
  assert.deepEqual([...reachable(found, "far", "both")].sort(), ["edge", "far", "path"]);
});

test("names of what every object has are names like others", () => {
  const odd = dependenciesOf([row("__proto__", "constructor", "positive", 0)]);
  assert.deepEqual([...reachable(odd, "__proto__", "below")].sort(), ["__proto__", "constructor"]);
});

test("only what is not positive is told", () => {
  assert.equal(howText(["positive"]), "");
  assert.equal(howText(["negated"]), "not");
  assert.equal(howText(["positive", "aggregated"]), "also aggregate");
});
