// Which rows of an answer are shown, and in which order: rows stay where they are, and only their numbers are sorted.
//
// A million rows take a second or so. That is done in slices, between which the page lives on.

import type { Value } from "@stratalog/client";
import { textOf } from "../parts/text.ts";

/** What can be read of an answer. */
export interface Readable {
  readonly rowCount: number;
  readonly columns: readonly { get(row: number): Value; readonly name: string }[];
}

/** By which column, and whether the greatest comes first. */
export interface Sorting {
  readonly column: number;
  readonly descends: boolean;
}

/** Milliseconds that a slice may take. */
const SLICE = 12;
/** Of a longer text, no more is searched. */
const SEARCHED = 10_000;

/**
 * The numbers of the rows in which some value holds `filter`, in any case, in this order; undefined if that is all rows as they
 * came. Rows that are equal stay in their order.
 */
export async function orderOf(
  answer: Readable,
  filter: string,
  sorting: Sorting | undefined,
  signal: AbortSignal,
): Promise<Uint32Array<ArrayBuffer> | undefined> {
  if (filter === "" && sorting === undefined) return undefined;
  const pause = pauses(signal);
  const rows = await filtered(answer, filter.toLocaleLowerCase(), pause);
  const column = sorting === undefined ? undefined : answer.columns[sorting.column];
  if (sorting === undefined || column === undefined) return rows;
  const values = new Array<Value>(answer.rowCount);
  for (const row of rows) {
    values[row] = column.get(row);
    if (row % 1024 === 0) await pause();
  }
  return merged(rows, (a, b) => compare(values[a] ?? null, values[b] ?? null, sorting.descends), pause);
}

async function filtered(
  answer: Readable,
  filter: string,
  pause: () => Promise<void>,
): Promise<Uint32Array<ArrayBuffer>> {
  const found = new Uint32Array(answer.rowCount);
  let count = 0;
  for (let row = 0; row < answer.rowCount; row += 1) {
    const holds =
      filter === "" ||
      answer.columns.some((column) => textOf(column.get(row), SEARCHED).toLocaleLowerCase().includes(filter));
    if (holds) {
      found[count] = row;
      count += 1;
    }
    if (row % 512 === 0) await pause();
  }
  return found.subarray(0, count);
}

/** Runs of a few thousand are sorted at once, and then merged. */
async function merged(
  rows: Uint32Array<ArrayBuffer>,
  by: (a: number, b: number) => number,
  pause: () => Promise<void>,
): Promise<Uint32Array<ArrayBuffer>> {
  const RUN = 4096;
  const stable = (a: number, b: number) => by(a, b) || a - b;
  for (let start = 0; start < rows.length; start += RUN) {
    rows.subarray(start, start + RUN).sort(stable);
    await pause();
  }
  let [from, to] = [rows, new Uint32Array(rows.length)];
  for (let run = RUN; run < rows.length; run *= 2) {
    for (let start = 0; start < rows.length; start += 2 * run) {
      await mergeRuns(from, to, start, run, stable, pause);
    }
    [from, to] = [to, from];
  }
  return from;
}

async function mergeRuns(
  from: Uint32Array,
  to: Uint32Array,
  start: number,
  run: number,
  by: (a: number, b: number) => number,
  pause: () => Promise<void>,
): Promise<void> {
  const middle = Math.min(start + run, from.length);
  const end = Math.min(start + 2 * run, from.length);
  let [left, right] = [start, middle];
  for (let place = start; place < end; place += 1) {
    const takesLeft = left < middle && (right >= end || by(from[left] ?? 0, from[right] ?? 0) <= 0);
    to[place] = from[takesLeft ? left : right] ?? 0;
    if (takesLeft) left += 1;
    else right += 1;
    if (place % 4096 === 0) await pause();
  }
}

/** Nulls come last in either order; values of different types are grouped. */
export function compare(a: Value, b: Value, descends: boolean): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  const order = rank(a) - rank(b) || sameKind(a, b);
  return descends ? -order : order;
}

function rank(value: Value): number {
  if (typeof value === "boolean") return 0;
  if (typeof value === "number" || typeof value === "bigint" || value instanceof Date) return 1;
  return typeof value === "string" ? 2 : 3;
}

function sameKind(a: Value, b: Value): number {
  if (typeof a === "string" && typeof b === "string") return a < b ? -1 : a > b ? 1 : 0;
  if (rank(a) === 3) {
    const [left, right] = [textOf(a), textOf(b)];
    return left < right ? -1 : left > right ? 1 : 0;
  }
  const [left, right] = [a instanceof Date ? a.getTime() : a, b instanceof Date ? b.getTime() : b] as [
    number | bigint,
    number | bigint,
  ];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Lets the page do something else, when a slice is over. Throws when nobody wants it any more. */
function pauses(signal: AbortSignal): () => Promise<void> {
  let start = performance.now();
  return async () => {
    if (performance.now() - start < SLICE) return;
    await new Promise((done) => setTimeout(done, 0));
    signal.throwIfAborted();
    start = performance.now();
  };
}
