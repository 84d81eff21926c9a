// The rows of a live query, those that came last on top, and what of them came and went since somebody looked.

import { KeptRows, type Step } from "#client/kept.ts";
import { MOST_ROWS, type Row } from "./rows.ts";
import { lineOf } from "./written.ts";

/** A row as it is drawn. */
export interface Line {
  readonly key: string;
  readonly row: Row;
  readonly looks: "" | "came" | "went";
}

/** A row, and the version that it came with. */
interface Kept {
  readonly row: Row;
  readonly version: number;
}

/** Rows are told apart by their text, in which 1 is not 1.0. */
export class Picture {
  readonly #kept = new KeptRows<Kept>();
  readonly #came = new Set<string>();
  readonly #went = new Map<string, Row>();
  #isSeen = false;

  /** The version that the rows are the answer at. */
  get version(): number {
    return this.#kept.version;
  }

  get rows(): number {
    return this.#kept.rows.size;
  }

  get came(): number {
    return this.#came.size;
  }

  get went(): number {
    return this.#went.size;
  }

  /** What comes next is told from this version on. */
  begin(version: number): void {
    this.#kept.begin(version);
  }

  /** Takes a change. Throws if something was missed before it. */
  take(step: Step, added: readonly Row[], removed: readonly Row[]): void {
    const keyed = (row: Row): [string, Kept] => [lineOf(row), { row, version: step.version }];
    const came = added.map(keyed);
    const gone = removed.map(keyed);
    this.#kept.take(step, came, gone);
    if (this.#isSeen || step.reset) {
      this.#came.clear();
      this.#went.clear();
    }
    this.#isSeen = false;
    // All rows anew are no change that one would look for.
    if (step.reset) return;
    for (const [key, { row }] of gone) if (!this.#came.delete(key)) this.#went.set(key, row);
    for (const [key] of came) if (!this.#went.delete(key)) this.#came.add(key);
  }

  /** What there is to draw. What comes and goes is counted anew with the next change. */
  lines(): Line[] {
    this.#isSeen = true;
    const went = [...this.#went].slice(0, MOST_ROWS);
    // Those of one change stay in their order.
    const here = [...this.#kept.rows].sort(([, a], [, b]) => b.version - a.version).slice(0, MOST_ROWS);
    return [
      ...went.map(([key, row]): Line => ({ key: `- ${key}`, row, looks: "went" })),
      ...here.map(([key, { row }]): Line => ({ key, row, looks: this.#came.has(key) ? "came" : "" })),
    ];
  }
}
