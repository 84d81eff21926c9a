import assert from "node:assert/strict";
import { test } from "node:test";
import type { Stratum } from "./plan.ts";
import { olderText, rewriteText, strategyText } from "./words.ts";

const stratum: Stratum = { relations: [], recursive: true, strategy: null, rules: [] };
const walk = { name: "walk", column: 2 };

test("rounds are not worth a word", () => {
  assert.equal(strategyText(stratum), undefined);
  assert.equal(strategyText({ ...stratum, strategy: { name: "tuples" } }), undefined);
});

test("a strategy may be used, was not needed, or was used", () => {
  assert.equal(strategyText({ ...stratum, strategy: walk }), "walk along column 2 if large");
  assert.equal(
    strategyText({ ...stratum, strategy: walk, switched: false }),
    "in rounds: walk along column 2 was not needed",
  );
  assert.equal(
    strategyText({ ...stratum, strategy: walk, switched: true, strategy_ms: 12 }),
    "walk along column 2 in 12 ms",
  );
});

test("a strategy of a later server has its own name", () => {
  assert.equal(strategyText({ ...stratum, strategy: { name: "sieve" } }), "sieve if large");
  assert.equal(strategyText({ ...stratum, strategy: { name: "constructor" } }), "constructor if large");
});

test("what the cluster has evaluated says how", () => {
  const of = (strategy: { name: string; why?: string }) =>
    strategyText({ relations: [], recursive: true, strategy, rules: [], switched: true, strategy_ms: 2 });
  assert.equal(of({ name: "plans" }), "plans in 2.0 ms");
  assert.equal(of({ name: "plans_in_parts" }), "plans in parts in 2.0 ms");
  assert.equal(of({ name: "no_plan", why: "few rows" }), "no plan (few rows) in 2.0 ms");
});

test("rewrites tell what they made, and whether they were given up", () => {
  const rewrite = { name: "magic_sets", changed: true, made: ["?path_bf"], given_up: false };
  assert.equal(rewriteText(rewrite), "makes ?path_bf");
  assert.equal(rewriteText({ ...rewrite, made: [] }), "changes rules");
  assert.equal(rewriteText({ ...rewrite, changed: false, made: [] }), "changes nothing");
  assert.match(rewriteText({ ...rewrite, given_up: true }), /given up/);
});

test("older rows tell what becomes of them", () => {
  const older = { name: "path", rows: 1, time_ms: 2 } as const;
  assert.equal(
    olderText({ ...older, fate: "forward", by: "walk" }),
    "brought forward to 1 row by a walk in 2.0 ms",
  );
  assert.equal(
    olderText({ ...older, fate: "tried" }),
    "1 row of an earlier state, to be brought forward in 2.0 ms or less",
  );
});
