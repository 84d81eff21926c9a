// What is shown of a live query: its rows in an order, with those that just came or went marked.
//
// Changes are taken at once, and come into the picture when somebody asks for that: a few times a second, or not at all
// while it stands still. What came and went in between is never drawn, so what waits is never more than the rows that there
// are and those that are shown.

import type { Row } from "@stratalog/client";
import { compare } from "../answer/order.ts";

/** For how long a row that came or went is marked. */
export const MARK_MILLISECONDS = 2500;

/** Of rows that went, so many are shown at a time. */
export const MOST_GONE = 1000;

/** A row in the picture. */
export interface Entry {
  readonly row: Row;
  /** Later ones have greater numbers; those that came together have them the other way round. */
  readonly serial: number;
  /** When it came; undefined if it was among all rows that came anew. */
  readonly came: number | undefined;
  /** When it went, if it has. */
  went?: number;
}

/** By which column the rows are ordered. */
export interface Order {
  readonly column: number;
  readonly descends: boolean;
}

/** What has changed; the arrays of `removed` are those that were in `added` before. */
export interface RowChange {
  readonly reset: boolean;
  readonly added: readonly Row[];
  readonly removed: readonly Row[];
}

export class Picture {
  #entries: readonly Entry[] = [];
  readonly #here = new Map<Row, Entry>();
  /** Those that went and are shown still, the first of them first. */
  #gone: Entry[] = [];
  #added = new Set<Row>();
  #removed = new Set<Row>();
  #isReset = false;
  #serial = 0;
  #order: Order | undefined;
  #markedUntil: number | undefined;
  #generation = 0;

  /** The rows, those that went among them. The array is another one whenever they change. */
  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** How often all rows came anew. */
  get generation(): number {
    return this.#generation;
  }

  /** Whether a row is marked that will not be for ever. */
  get isMarked(): boolean {
    return this.#markedUntil !== undefined;
  }

  /** The order; undefined is the latest first. */
  get order(): Order | undefined {
    return this.#order;
  }

  /** Takes a change, which does not come into the picture yet. */
  take({ reset, added, removed }: RowChange): void {
    if (reset) {
      this.#isReset = true;
      this.#added = new Set(added);
      this.#removed = new Set();
      return;
    }
    // What comes and goes before anybody has looked was never there.
    for (const row of removed) if (!this.#added.delete(row)) this.#removed.add(row);
    for (const row of added) this.#added.add(row);
  }

  /** Brings the changes into the picture, and ends marks that have been there for long enough; whether it is another one. */
  settle(now: number): boolean {
    const isReset = this.#isReset;
    const hasChanged = isReset || this.#added.size > 0 || this.#removed.size > 0;
    if (isReset) this.#begin();
    for (const row of this.#removed) this.#go(row, now);
    const fresh = this.#come(isReset ? undefined : now);
    const over = this.#over(now);
    const stay = over.size === 0 ? this.#entries : this.#entries.filter((entry) => !over.has(entry));
    this.#entries = merged(stay, fresh.sort(this.#compare), this.#compare);
    if (hasChanged && !isReset) this.#markedUntil = now + MARK_MILLISECONDS;
    const marksEnd = this.#markedUntil !== undefined && now >= this.#markedUntil;
    if (marksEnd || isReset) this.#markedUntil = undefined;
    return hasChanged || marksEnd || over.size > 0;
  }

  /** Orders the rows by a column, or with the latest first. */
  sort(order: Order | undefined): void {
    this.#order = order;
    this.#entries = [...this.#entries].sort(this.#compare);
  }

  #begin(): void {
    this.#isReset = false;
    this.#generation += 1;
    this.#entries = [];
    this.#here.clear();
    this.#gone = [];
  }

  #go(row: Row, now: number): void {
    const entry = this.#here.get(row);
    if (entry === undefined) return;
    entry.went = now;
    this.#here.delete(row);
    this.#gone.push(entry);
  }

  #come(came: number | undefined): Entry[] {
    const fresh: Entry[] = [];
    // With the latest first, those that came together stand as they were told.
    let serial = this.#serial + this.#added.size;
    this.#serial = serial;
    for (const row of this.#added) {
      const entry = { row, serial, came };
      serial -= 1;
      this.#here.set(row, entry);
      fresh.push(entry);
    }
    this.#added = new Set();
    this.#removed = new Set();
    return fresh;
  }

  /** Those that went and are not shown any longer. */
  #over(now: number): ReadonlySet<Entry> {
    let count = Math.max(0, this.#gone.length - MOST_GONE);
    while (count < this.#gone.length && now - (this.#gone[count]?.went ?? now) >= MARK_MILLISECONDS)
      count += 1;
    return new Set(count === 0 ? [] : this.#gone.splice(0, count));
  }

  readonly #compare = (left: Entry, right: Entry): number => {
    const latest = right.serial - left.serial;
    if (this.#order === undefined) return latest;
    const { column, descends } = this.#order;
    return compare(left.row[column] ?? null, right.row[column] ?? null, descends) || latest;
  };
}

/** Two lists in order as one. */
function merged(
  stay: readonly Entry[],
  fresh: readonly Entry[],
  by: (left: Entry, right: Entry) => number,
): readonly Entry[] {
  if (fresh.length === 0) return stay;
  if (stay.length === 0) return fresh;
  const all: Entry[] = [];
  let next = 0;
  for (const entry of stay) {
    for (let each = fresh[next]; each !== undefined && by(each, entry) < 0; each = fresh[next]) {
      all.push(each);
      next += 1;
    }
    all.push(entry);
  }
  for (; next < fresh.length; next += 1) all.push(fresh[next] as Entry);
  return all;
}
