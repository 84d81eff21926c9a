// Rows that are kept current by what comes and goes.
//
// Each has a key, by which it is told apart: it is that of the server, to which 1 and 1.0 are two values.

import { InvalidMessage } from "./errors.js";

/** What a change is from and to. */
export interface Step {
  /** The version of the rows that it changes. */
  readonly from?: number | undefined;
  /** The version at which the rows are the answer afterwards. */
  readonly version: number;
  /** Whether what is added are all rows, in the place of those that were there. */
  readonly reset?: boolean | undefined;
}

export class KeptRows<R> {
  readonly #rows = new Map<string, R>();
  #version = 0;

  /** The rows by their keys, those that came last behind the others. */
  get rows(): ReadonlyMap<string, R> {
    return this.#rows;
  }

  /** The version that they are the answer at. */
  get version(): number {
    return this.#version;
  }

  /** What comes next is told from this version on. */
  begin(version: number): void {
    this.#version = version;
  }

  /** Takes a change, and gives the rows that went, as they were kept. Throws if something was missed before it. */
  take(
    { from, version, reset = false }: Step,
    added: Iterable<[string, R]>,
    removed: Iterable<[string, R]>,
  ): R[] {
    if (!reset && from !== this.#version) {
      throw new InvalidMessage(
        `the server tells what came after version ${from}; known is version ${this.#version}`,
      );
    }
    if (reset) this.#rows.clear();
    const went: R[] = [];
    for (const [key, row] of removed) {
      went.push(this.#rows.get(key) ?? row);
      this.#rows.delete(key);
    }
    for (const [key, row] of added) this.#rows.set(key, row);
    this.#version = version;
    return went;
  }
}
