// Where a plan was most wrong about how many rows there would be.
//
// What counts is the factor between the rows that left a step and those that were expected. A wrong number is
// handed on: each step after it is wrong by the same factor, and none of them is to blame. So the factor that
// is told of a step is by how much it has changed that of the step before it.
//
// Two things are no estimates. Of a head only rows that were new are measured, and nobody has planned with
// them. And nobody knows before how many rows the rounds of a recursion find; so what follows the new rows of
// a round is compared with these, row by row.

import type { Plan, PlanRule, StepPlace } from "./plan.ts";

export interface Misestimate {
  readonly place: StepPlace;
  /** How many times as many rows as expected of what it was given: above 1 where more, below 1 where fewer. */
  readonly factor: number;
  readonly expected: number;
  readonly measured: number;
}

/** What is wrong by less is not worth a word. */
const LEAST_FACTOR = 4;
/** Nor is what concerns fewer rows than these: a wrong order of few rows costs nothing. */
const LEAST_ROWS = 50;

const HEADS = new Set(["emit", "aggregate", "rank", "keep best"]);

/** The steps that were misestimated, the worst first. */
export function misestimates({ strata }: Plan): Misestimate[] {
  const found = strata.flatMap(({ rules }, stratum) =>
    rules.flatMap((rule, number) =>
      inRule(rule).map(({ step, ...how }) => ({ ...how, place: { stratum, rule: number, step } })),
    ),
  );
  return found.sort((a, b) => distance(b.factor) - distance(a.factor) || b.measured - a.measured);
}

function inRule({ steps, delta }: PlanRule): (Omit<Misestimate, "place"> & { step: number })[] {
  const found = [];
  /** How wrong the rows are that a step is given. */
  let given = 1;
  for (const [step, { operator, rows, measured_rows }] of steps.entries()) {
    if (measured_rows === undefined || HEADS.has(operator)) continue;
    const whole = ratio(measured_rows, rows);
    const isBegin = step === 0;
    const factor = whole / given;
    given = whole;
    if (isBegin && delta !== null) continue;
    if (distance(factor) < LEAST_FACTOR || Math.abs(measured_rows - rows) < LEAST_ROWS) continue;
    found.push({ step, factor, expected: rows, measured: measured_rows });
  }
  return found;
}

/** None counts as one: nothing is infinitely wrong. */
function ratio(measured: number, expected: number): number {
  return Math.max(1, measured) / Math.max(1, expected);
}

/** How far a factor is from 1, in either direction. */
function distance(factor: number): number {
  return Math.max(factor, 1 / factor);
}

/** `120 times more`, `4.5 times fewer`. */
export function factorText(factor: number): string {
  const times = distance(factor);
  const shown = times < 10 ? times.toFixed(1).replace(/\.0$/, "") : Math.round(times).toLocaleString("en-US");
  return `${shown} times ${factor >= 1 ? "more" : "fewer"}`;
}
