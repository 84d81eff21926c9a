// How many rows an answer had, by version: the last few hundred versions at which it changed.

import type { Point } from "./scale.ts";

export const MOST_POINTS = 300;

export class RowLine {
  #points: Point[] = [];

  /** The answer has so many rows from this version on. */
  add(version: number, rows: number): void {
    // All rows anew may be told at a version that was told already.
    if (this.#points.at(-1)?.x === version) this.#points.pop();
    this.#points.push({ x: version, y: rows });
    // Not one by one, as that would move all of them each time.
    if (this.#points.length > 2 * MOST_POINTS) this.#points = this.#points.slice(-MOST_POINTS);
  }

  /** Forgets everything: versions of another time may be counted otherwise. */
  clear(): void {
    this.#points = [];
  }

  /** What there is to draw. */
  get points(): readonly Point[] {
    return this.#points.slice(-MOST_POINTS);
  }
}
