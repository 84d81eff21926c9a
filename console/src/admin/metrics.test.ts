import assert from "node:assert/strict";
import test from "node:test";
import { gauge, isRestart, quantile, quantiles, type Reading, rate, readingOf } from "./metrics.ts";

/** A reading at so many seconds. */
function at(seconds: number, values: Record<string, number>): Reading {
  return { time: seconds * 1000, values: new Map(Object.entries(values)) };
}

const values = (points: { y: number | undefined }[]) => points.map(({ y }) => y);

test("rows become values by name and labels", () => {
  const rows = [
    ["service_queries_total", "", 7],
    ["service_query_seconds_bucket", 'le="0.01"', 3],
    ["service_relations_total", null, 2n],
  ];
  assert.deepEqual(
    [...readingOf(rows, 5).values],
    [
      ["service_queries_total", 7],
      ['service_query_seconds_bucket{le="0.01"}', 3],
      ["service_relations_total", 2],
    ],
  );
});

test("a rate is what was counted a second", () => {
  const readings = [at(0, { n: 10 }), at(5, { n: 20 }), at(15, { n: 20 })];
  assert.deepEqual(values(rate(readings, "n")), [undefined, 2, 0]);
  assert.deepEqual(values(rate(readings, "absent")), [undefined, undefined, undefined]);
});

test("after a restart, everything counted is new", () => {
  const readings = [
    at(0, { n: 100, service_uptime_seconds: 50 }),
    at(5, { n: 10, service_uptime_seconds: 2 }),
    // It has counted more by now than it had before it was restarted.
    at(10, { n: 200, service_uptime_seconds: 1 }),
  ];
  assert.deepEqual(values(rate(readings, "n")), [undefined, 2, 40]);
  assert.ok(isRestart(readings[0] as Reading, readings[1] as Reading));
});

test("where nobody has looked there is a gap", () => {
  const readings = [at(0, { n: 1 }), at(5, { n: 6 }), at(100, { n: 7 }), at(105, { n: 12 })];
  assert.deepEqual(values(rate(readings, "n")), [undefined, 1, undefined, undefined, 1]);
  assert.deepEqual(values(gauge(readings, "n")), [1, 6, undefined, 7, 12]);
});

test("a quantile lies within its bucket", () => {
  const buckets = [
    { bound: 0.01, count: 50 },
    { bound: 0.1, count: 90 },
    { bound: Infinity, count: 100 },
  ];
  assert.equal(quantile(buckets, 0.25), 0.005);
  assert.equal(quantile(buckets, 0.5), 0.01);
  assert.ok(Math.abs((quantile(buckets, 0.7) ?? 0) - 0.055) < 1e-9);
});

test("beyond all bounds, it is the greatest bound", () => {
  assert.equal(
    quantile(
      [
        { bound: 5, count: 0 },
        { bound: Infinity, count: 3 },
      ],
      0.5,
    ),
    5,
  );
});

test("without values there is no quantile", () => {
  assert.equal(quantile([], 0.5), undefined);
  assert.equal(quantile([{ bound: Infinity, count: 0 }], 0.5), undefined);
});

test("empty buckets below and in between do not matter", () => {
  const buckets = [
    { bound: 1, count: 0 },
    { bound: 2, count: 4 },
    { bound: 3, count: 4 },
    { bound: Infinity, count: 4 },
  ];
  assert.equal(quantile(buckets, 0.5), 1.5);
  assert.equal(quantile(buckets, 1), 2);
});

test("quantiles are those of the last half minute, also across a restart", () => {
  const read = (seconds: number, uptime: number, fast: number, all: number) =>
    at(seconds, {
      service_uptime_seconds: uptime,
      't_bucket{le="1"}': fast,
      't_bucket{le="2"}': all,
      't_bucket{le="+Inf"}': all,
    });
  const readings = [
    read(0, 100, 1000, 1000),
    read(10, 110, 1000, 1010),
    read(20, 5, 10, 10),
    read(30, 15, 10, 10),
    read(40, 25, 10, 10),
    read(50, 35, 10, 10),
    read(60, 45, 10, 10),
  ];
  // Ten between 1 and 2, and then ten below 1; half a minute later nothing.
  assert.deepEqual(values(quantiles(readings, "t", 0.5)), [undefined, 1.5, 1, 1, 0.5, undefined, undefined]);
});
