import assert from "node:assert/strict";
import { test } from "node:test";
import { namesOf, rowsOf } from "../testing.ts";
import { guess, planOf, roleOf } from "./plan.ts";

const owners = rowsOf({
  owner: ["string", ["ada", "bob", "cleo"]],
  share: ["float", [0.5, 0.25, 0.25]],
});

test("names and numbers are bars", () => {
  assert.deepEqual(guess(owners), { kind: "bars", x: 0, y: 1, series: undefined });
});

test("of several numbers the one behind the name is drawn", () => {
  const people = rowsOf({
    id: ["int", [1n, 2n, 3n]],
    name: ["string", ["ada", "bob", "cleo"]],
    score: ["float", [1.5, 2.5, 3.5]],
  });
  assert.deepEqual(guess(people), { kind: "bars", x: 1, y: 2, series: undefined });
});

test("numbers that ascend are a line, others are points", () => {
  const line = rowsOf({ x: ["int", [1n, 2n, 3n]], y: ["float", [3, 1, 2]] });
  assert.deepEqual(guess(line), { kind: "line", x: 0, y: 1, series: undefined });
  const points = rowsOf({ x: ["int", [2n, 1n, 3n]], y: ["float", [3, 1, 2]] });
  assert.deepEqual(guess(points), { kind: "points", x: 0, y: 1, series: undefined });
});

test("times are a line, with a series for each of few names", () => {
  const measured = rowsOf({
    sensor: ["string", ["a", "b", "a", "b"]],
    at: ["timestamp", [1000, 1000, 2000, 2000]],
    value: ["float", [1, 2, 3, 4]],
  });
  assert.deepEqual(guess(measured), { kind: "line", x: 1, y: 2, series: 0 });
});

test("of two columns of names the one that repeats is the series", () => {
  const sales = rowsOf({
    region: ["string", ["n", "n", "n", "s", "s", "s"]],
    product: ["string", ["p1", "p2", "p3", "p1", "p2", "p3"]],
    amount: ["int", [1n, 2n, 3n, 4n, 5n, 6n]],
  });
  assert.deepEqual(guess(sales), { kind: "bars", x: 1, y: 2, series: 0 });
});

test("there is no chart without a number, or without anything beside it", () => {
  assert.equal(guess(namesOf({ a: ["x"], b: ["y"] })), undefined);
  assert.equal(guess(rowsOf({ n: ["int", [1n]] })), undefined);
  assert.equal(guess(rowsOf({})), undefined);
});

test("a column of several types is numbers if it holds nothing else", () => {
  const rows = rowsOf({ a: ["any", ["1", "2.5", null]], b: ["any", ["1", '"x"', null]], c: ["any", [null]] });
  assert.deepEqual(rows.columns.map(roleOf), ["number", "name", "name"]);
});

test("choices stand before guesses, and those that make no sense are passed over", () => {
  const sales = rowsOf({
    region: ["string", ["n", "s"]],
    amount: ["int", [1n, 2n]],
    year: ["int", [2025n, 2024n]],
  });
  assert.deepEqual(planOf(sales, { y: "year" }), { kind: "bars", x: 0, y: 2, series: undefined });
  assert.deepEqual(planOf(sales, { x: "year", y: "amount" }), {
    kind: "points",
    x: 2,
    y: 1,
    series: undefined,
  });
  assert.deepEqual(planOf(sales, { kind: "line", series: "region" }), {
    kind: "line",
    x: 0,
    y: 1,
    series: 0,
  });
  assert.deepEqual(planOf(sales, { kind: "pie", x: "none", y: "region" }), {
    kind: "bars",
    x: 0,
    y: 1,
    series: undefined,
  });
});

test("a series can be chosen away", () => {
  const rows = rowsOf({
    g: ["string", ["a", "a", "b", "b"]],
    x: ["int", [2n, 1n, 3n, 4n]],
    y: ["int", [2n, 1n, 3n, 4n]],
  });
  assert.equal(planOf(rows)?.series, 0);
  assert.equal(planOf(rows, { series: "" })?.series, undefined);
});
