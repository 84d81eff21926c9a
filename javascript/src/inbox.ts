// What the server has told unasked, until somebody takes it.

import { ConnectionLost } from "./errors.js";
import type { Flow } from "./flow.js";
import type { Reply } from "./messages.js";

/** What the server tells unasked; rows of a live query come with it. */
export type Pushed = Reply & { bytes?: Uint8Array<ArrayBuffer> };

export class Inbox {
  readonly #flow: Flow;
  readonly #messages: Pushed[] = [];
  #ending: string | undefined;
  #wake: (() => void)[] = [];

  constructor(flow: Flow) {
    this.#flow = flow;
  }

  put(message: Pushed): void {
    this.#messages.push(message);
    this.#flow.hold(sizeOf(message));
    this.#tell();
  }

  /** Nothing more will come. */
  end(reason: string): void {
    this.#ending = reason;
    this.#tell();
  }

  /** The next message. Throws when there will be none. */
  async next(): Promise<Pushed> {
    for (;;) {
      const message = this.#messages.shift();
      if (message !== undefined) {
        this.#flow.hold(-sizeOf(message));
        return message;
      }
      if (this.#ending !== undefined) throw new ConnectionLost(this.#ending);
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  #tell(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }
}

function sizeOf(message: Pushed): number {
  return message.bytes?.length ?? 0;
}
