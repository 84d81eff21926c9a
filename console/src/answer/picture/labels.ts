// Which names are written: the most important ones first, and none over another.

import type { Size } from "./camera.ts";

/** A rectangle for a text, on the screen. */
export interface Room {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Cells of this size are free or taken. */
const CELL = 8;

/** The places of a screen that are taken by texts. */
export class Rooms {
  readonly #across: number;
  readonly #down: number;
  readonly #taken: Uint8Array;

  constructor({ width, height }: Size) {
    this.#across = Math.max(1, Math.ceil(width / CELL));
    this.#down = Math.max(1, Math.ceil(height / CELL));
    this.#taken = new Uint8Array(this.#across * this.#down);
  }

  /** Takes a place if it is free, and on the screen. */
  take(room: Room): boolean {
    const left = Math.floor(room.left / CELL);
    const top = Math.floor(room.top / CELL);
    const right = Math.floor((room.left + room.width) / CELL);
    const bottom = Math.floor((room.top + room.height) / CELL);
    if (right < 0 || bottom < 0 || left >= this.#across || top >= this.#down) return false;
    const [x1, x2] = [Math.max(0, left), Math.min(this.#across - 1, right)];
    const [y1, y2] = [Math.max(0, top), Math.min(this.#down - 1, bottom)];
    for (let y = y1; y <= y2; y += 1) {
      for (let x = x1; x <= x2; x += 1) if (this.#taken[y * this.#across + x] === 1) return false;
    }
    for (let y = y1; y <= y2; y += 1) this.#taken.fill(1, y * this.#across + x1, y * this.#across + x2 + 1);
    return true;
  }
}

/** So many names can be read on a screen; in a crowd fewer, as each covers something. */
export function mostNames({ width, height }: Size, nodes: number): number {
  return Math.max(12, Math.min(160, Math.floor((width * height) / (nodes > 600 ? 16_000 : 9_000))));
}
