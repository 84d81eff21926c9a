import assert from "node:assert/strict";
import { test } from "node:test";
import { timeTicks } from "./ticks.ts";

const time = (text: string) => Date.parse(text);

function labels(from: string, to: string, most: number): string[] {
  const { values, label } = timeTicks(time(from), time(to), most);
  return values.map(label);
}

test("hours are whole ones, midnight is its day", () => {
  assert.deepEqual(labels("2026-01-01T20:10:00Z", "2026-01-02T03:00:00Z", 6), [
    "22:00",
    "2026-01-02",
    "02:00",
  ]);
});

test("days, months and years", () => {
  assert.deepEqual(labels("2026-01-30T12:00:00Z", "2026-02-02T12:00:00Z", 5), [
    "2026-01-31",
    "2026-02-01",
    "2026-02-02",
  ]);
  assert.deepEqual(labels("2025-11-15T00:00:00Z", "2026-02-15T00:00:00Z", 5), [
    "2025-12",
    "2026-01",
    "2026-02",
  ]);
  assert.deepEqual(labels("2001-06-01T00:00:00Z", "2026-06-01T00:00:00Z", 6), [
    "2005",
    "2010",
    "2015",
    "2020",
    "2025",
  ]);
});

test("weeks begin on Mondays", () => {
  const { values } = timeTicks(time("2026-01-01T00:00:00Z"), time("2026-02-01T00:00:00Z"), 6);
  assert.deepEqual(
    values.map((value) => new Date(value).getUTCDay()),
    [1, 1, 1, 1],
  );
});

test("parts of a second", () => {
  assert.deepEqual(labels("2026-01-01T10:00:00.000Z", "2026-01-01T10:00:00.010Z", 3), [
    "10:00:00.000",
    "10:00:00.005",
    "10:00:00.010",
  ]);
});

test("there are never many more marks than asked for, however long or short the time", () => {
  for (let length = 1; length < 1e16; length *= 3.7) {
    const { values, label } = timeTicks(1.7e12, 1.7e12 + length, 8);
    assert.ok(values.length <= 9, `${values.length} marks for ${length}`);
    assert.ok(values.every((value) => label(value) !== ""));
  }
});

test("years before 1000 and before our era", () => {
  const { values, label } = timeTicks(time("0900-01-01T00:00:00Z"), time("1100-01-01T00:00:00Z"), 3);
  assert.deepEqual(values.map(label), ["0900", "1000", "1100"]);
  const far = timeTicks(-8e15, 8e15, 4);
  assert.ok(far.values.length > 0);
});
