// Metrics over time: what the server tells every few seconds, as values, as counts a second, and as quantiles of how long
// something took.
//
// Counters begin anew with the server. What was counted between two readings is known all the same, but for what the server
// counted before it ended and nobody has read.

import type { Point } from "../live/scale.ts";

/** What the server told at one moment. */
export interface Reading {
  /** Milliseconds of the page's clock. */
  readonly time: number;
  /** By name, and of what has labels by `name{labels}`. */
  readonly values: ReadonlyMap<string, number>;
}

/** Readings that are further apart are not joined: nobody has looked in between. */
const FAR_MILLISECONDS = 20_000;

/** Time that a quantile is about. */
const WINDOW_MILLISECONDS = 30_000;

/** The rows of `.metrics` as a reading. */
export function readingOf(rows: Iterable<readonly unknown[]>, time: number): Reading {
  const values = new Map<string, number>();
  for (const [name, labels, value] of rows) {
    const isPlain = labels === null || labels === undefined || labels === "";
    values.set(isPlain ? String(name) : `${String(name)}{${String(labels)}}`, Number(value));
  }
  return { time, values };
}

/** A value at each moment. */
export function gauge(readings: readonly Reading[], name: string): Point[] {
  return joined(readings, (reading) => reading.values.get(name));
}

/** How much was counted a second, since the reading before. */
export function rate(readings: readonly Reading[], name: string): Point[] {
  return joined(readings, (reading, before) => {
    if (before === undefined) return undefined;
    const increase = increaseOf(before, reading, name);
    return increase === undefined ? undefined : (increase * 1000) / (reading.time - before.time);
  });
}

/** How long something took at most, of this part of all times, estimated from the buckets of the last half minute. */
export function quantiles(readings: readonly Reading[], name: string, part: number): Point[] {
  const bounds = boundsOf(readings.at(-1), name);
  const steps = readings.map((reading, number) => {
    const before = readings[number - 1];
    if (before === undefined || isFar(before, reading)) return undefined;
    return bounds.map(({ key }) => increaseOf(before, reading, key) ?? 0);
  });
  return joined(readings, (reading, before, number) => {
    if (before === undefined) return undefined;
    const counts = bounds.map(() => 0);
    for (let each = number; each >= 0; each -= 1) {
      const [step, time] = [steps[each], readings[each - 1]?.time];
      if (step === undefined || time === undefined || reading.time - time > WINDOW_MILLISECONDS) break;
      for (const [place, count] of step.entries()) counts[place] = (counts[place] ?? 0) + count;
    }
    const buckets = bounds.map(({ bound }, place) => ({ bound, count: counts[place] ?? 0 }));
    return quantile(buckets, part);
  });
}

/** How many values are not greater than a bound; the last bound is infinite. */
export interface Bucket {
  readonly bound: number;
  readonly count: number;
}

/**
 * The value that a part of all values does not exceed, if they are spread evenly within each bucket; undefined if there are
 * none. Of those beyond all finite bounds it is only known that they are: then it is the greatest of these.
 */
export function quantile(buckets: readonly Bucket[], part: number): number | undefined {
  const total = buckets.at(-1)?.count ?? 0;
  if (total <= 0) return undefined;
  const wanted = part * total;
  let [below, counted] = [0, 0];
  for (const { bound, count } of buckets) {
    if (count >= wanted && count > counted) {
      if (bound === Infinity) return below;
      return below + ((bound - below) * (wanted - counted)) / (count - counted);
    }
    if (bound !== Infinity) below = bound;
    counted = Math.max(counted, count);
  }
  return below;
}

/** How much was counted from one reading to the next; undefined if it is not counted. */
export function increaseOf(before: Reading, after: Reading, key: string): number | undefined {
  const [old, now] = [before.values.get(key), after.values.get(key)];
  if (now === undefined || old === undefined) return undefined;
  return isRestart(before, after) || now < old ? now : now - old;
}

/** Whether the server has begun anew in between. */
export function isRestart(before: Reading, after: Reading): boolean {
  const uptime = "service_uptime_seconds";
  return (after.values.get(uptime) ?? 0) < (before.values.get(uptime) ?? 0);
}

/** The finite and infinite bounds of a histogram, the least first. */
function boundsOf(reading: Reading | undefined, name: string): { key: string; bound: number }[] {
  const bounds: { key: string; bound: number }[] = [];
  for (const key of reading?.values.keys() ?? []) {
    const label = key.startsWith(`${name}_bucket{`) ? /le="([^"]+)"/.exec(key)?.[1] : undefined;
    if (label !== undefined) bounds.push({ key, bound: label === "+Inf" ? Infinity : Number(label) });
  }
  return bounds.sort((left, right) => left.bound - right.bound || 0);
}

/** A line with a gap wherever nobody has looked for longer. */
function joined(
  readings: readonly Reading[],
  of: (reading: Reading, before: Reading | undefined, number: number) => number | undefined,
): Point[] {
  const points: Point[] = [];
  for (const [number, reading] of readings.entries()) {
    const last = readings[number - 1];
    const before = last !== undefined && isFar(last, reading) ? undefined : last;
    if (last !== undefined && before === undefined) points.push({ x: reading.time, y: undefined });
    points.push({ x: reading.time, y: of(reading, before, number) });
  }
  return points;
}

function isFar(before: Reading, after: Reading): boolean {
  return after.time - before.time > FAR_MILLISECONDS;
}
