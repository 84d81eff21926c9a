// What the server tells unasked, as something to iterate over: on a connection of its own, which is opened again for as
// long as somebody listens.

import type { Connection } from "./connection.js";
import { ConnectionLost, Overloaded } from "./errors.js";
import type { Pushed } from "./inbox.js";
import type { State } from "./link.js";
import { sleep } from "./time.js";

const FIRST_MILLISECONDS = 100;
const LONGEST_MILLISECONDS = 10_000;

export abstract class Listener<T> implements AsyncIterableIterator<T> {
  #connection: Connection | undefined;
  readonly #closed = new AbortController();
  /** Whoever asks for the next one waits for those who asked before. */
  #turn: Promise<unknown> = Promise.resolve();
  #state: State = "connecting";
  readonly #listeners = new Set<(state: State) => void>();

  /** Opens a connection, and asks for what is wanted from where it was left. */
  protected abstract connect(): Promise<Connection>;

  /** What is complete with a message; undefined if nothing is. */
  protected abstract take(message: Pushed): T | undefined;

  /** The first connection: what is wrong with the question is thrown at once. */
  protected async begin(): Promise<void> {
    this.#connection = await this.connect();
    this.#become("open");
  }

  /** Whether it is connected; a lost connection is opened again while somebody waits for the next one. */
  get state(): State {
    return this.#state;
  }

  /** Tells each change of the state from now on; call the answer to hear no more. */
  onState(listener: (state: State) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Whether it is closed: then nothing comes any more. */
  get closed(): boolean {
    return this.#closed.signal.aborted;
  }

  /** The next one. Throws when there will be no other: why. */
  next(): Promise<IteratorResult<T, undefined>> {
    const turn = this.#turn.then(() => this.#next());
    this.#turn = turn.catch(() => {});
    return turn;
  }

  /** Ends it, also for whoever waits for the next one. */
  close(): void {
    this.#closed.abort();
    this.#connection?.close();
    this.#become("closed");
  }

  #become(state: State): void {
    if (state === this.#state) return;
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    this.close();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #next(): Promise<IteratorResult<T, undefined>> {
    let pause = FIRST_MILLISECONDS;
    while (!this.closed) {
      try {
        this.#connection ??= await this.connect();
        if (this.closed) break;
        this.#become("open");
        const found = this.take(await this.#connection.pushed());
        pause = FIRST_MILLISECONDS;
        if (found !== undefined) return { done: false, value: found };
      } catch (problem) {
        this.#connection?.close();
        this.#connection = undefined;
        if (this.closed) break;
        if (!(problem instanceof ConnectionLost || problem instanceof Overloaded)) {
          this.close();
          throw problem;
        }
        this.#become("lost");
        await sleep(pause * (0.5 + Math.random() / 2), this.#closed.signal);
        pause = Math.min(pause * 2, LONGEST_MILLISECONDS);
      }
    }
    this.#connection?.close();
    return { done: true, value: undefined };
  }
}
