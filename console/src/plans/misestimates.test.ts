import assert from "node:assert/strict";
import { test } from "node:test";
import { factorText, misestimates } from "./misestimates.ts";
import type { Plan, PlanRule, Step } from "./plan.ts";

function step(operator: string, rows: number, measured?: number): Step {
  const it = { operator, detail: "", rows, estimated: false };
  return measured === undefined ? it : { ...it, measured_rows: measured, time_ms: 1 };
}

function plan(...rules: PlanRule[]): Plan {
  const strata = [{ relations: [], recursive: false, strategy: null, rules }];
  return { kept: [], older: [], rewrites: [], strata };
}

const rule = (...steps: Step[]): PlanRule => ({ rule: "", delta: null, steps });
const round = (...steps: Step[]): PlanRule => ({ rule: "", delta: "path", steps });

test("a plan that was not run has none", () => {
  assert.deepEqual(misestimates(plan(rule(step("scan", 10), step("emit", 1000)))), []);
});

test("the factor is that between what left a step and what was expected", () => {
  assert.deepEqual(misestimates(plan(rule(step("scan", 100, 100), step("probe", 100, 5000)))), [
    { place: { stratum: 0, rule: 0, step: 1 }, factor: 50, expected: 100, measured: 5000 },
  ]);
});

test("a step is not to blame for what it was given", () => {
  const found = misestimates(
    plan(rule(step("scan", 10, 10), step("probe", 10, 1000), step("filter", 5, 500))),
  );
  assert.deepEqual(
    found.map(({ place }) => place.step),
    [1],
  );
});

test("a step that takes back what another one has made worse is misestimated, too", () => {
  const found = misestimates(
    plan(rule(step("scan", 10, 10), step("probe", 100, 10_000), step("filter", 90, 190))),
  );
  assert.deepEqual(
    found.map(({ place, factor }) => [place.step, Number(factor.toFixed(4))]),
    [
      [1, 100],
      [2, 0.0211],
    ],
  );
});

test("the worst comes first, whichever its direction", () => {
  const found = misestimates(
    plan(
      rule(step("scan", 100, 100), step("probe", 100, 1000)),
      rule(step("scan", 100_000, 100_000), step("probe", 100_000, 100)),
    ),
  );
  assert.deepEqual(
    found.map(({ place }) => place.rule),
    [1, 0],
  );
});

test("heads are not compared: only new rows are measured of them", () => {
  assert.deepEqual(misestimates(plan(rule(step("scan", 1000, 1000), step("emit", 1000, 1)))), []);
});

test("what the rounds of a recursion find was never expected, but what follows from each row was", () => {
  const steps = [step("scan", 5, 1000), step("probe", 10, 2000), step("probe", 10, 60_000)];
  assert.deepEqual(
    misestimates(plan(round(...steps))).map(({ place, factor }) => [place.step, factor]),
    [[2, 30]],
  );
});

test("few rows are not worth a word", () => {
  assert.deepEqual(misestimates(plan(rule(step("scan", 1, 40)))), []);
});

test("nothing is infinitely wrong", () => {
  const [found] = misestimates(plan(rule(step("scan", 1000, 0))));
  assert.equal(found?.factor, 0.001);
});

test("factors are told as people would", () => {
  assert.equal(factorText(50), "50 times more");
  assert.equal(factorText(0.25), "4 times fewer");
  assert.equal(factorText(4.52), "4.5 times more");
  assert.equal(factorText(12_345.6), "12,346 times more");
});
