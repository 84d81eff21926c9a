// How much has come that nobody has taken yet. While that is much, nothing more is read where a socket can wait, so that
// the server makes rows as fast as they are taken.
//
// Whoever waits for an answer that stands behind it has it read nevertheless: else both would wait for each other.

import type { Socket } from "./socket.js";

/** From so many bytes on, reading stops. */
const MUCH = 4 << 20;

export class Flow {
  readonly #socket: Socket;
  #held = 0;
  /** How many answers are waited for that may stand behind it. */
  #awaited = 0;
  #paused = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Whether nothing is read at present. */
  get paused(): boolean {
    return this.#paused;
  }

  /** So many bytes have come, or with a minus gone. */
  hold(bytes: number): void {
    this.#held += bytes;
    this.#steer();
  }

  /** So many more answers are waited for, or with a minus fewer. */
  await(answers: number): void {
    this.#awaited += answers;
    this.#steer();
  }

  /** Reads on, whatever is held: who closes has to hear that the other side agrees. */
  free(): void {
    if (this.#paused) this.#socket.resume?.();
    this.#paused = false;
  }

  #steer(): void {
    const paused = this.#held > MUCH && this.#awaited === 0;
    const socket = this.#socket;
    if (paused === this.#paused || socket.pause === undefined || socket.resume === undefined) return;
    this.#paused = paused;
    if (paused) socket.pause();
    else socket.resume();
  }
}
