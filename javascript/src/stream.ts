// An answer that is read while it comes, batch by batch.
//
// No more of it is held than some megabytes where the WebSocket can stop reading, as that of `ws` can. Other requests of
// the same client stand behind it, and what they make it read is kept: to ask while reading, connect once more.

import { RecordBatchReader, Table } from "apache-arrow";
import type { Call, Reason } from "./call.js";
import type { Connection } from "./connection.js";
import { tableOf } from "./encode.js";
import { Cancelled } from "./errors.js";
import { withoutProvenance } from "./provenance.js";
import { Rows } from "./rows.js";

export class ResultStream implements AsyncIterable<Rows> {
  /** The names of the columns. */
  readonly names: readonly string[];
  /** How many rows there are, those that a limit left out included. */
  readonly totalCount: number;
  /** Whether a limit left rows out. */
  readonly truncated: boolean;
  /** What ran, but deserves a second look. */
  readonly warnings: readonly string[];
  /** The version of the graph that this is the answer at. */
  readonly version: number | undefined;
  readonly #connection: Connection;
  readonly #call: Call;
  readonly #signal: AbortSignal | undefined;
  readonly #abort = () => void this.#end((uncertain) => ended(uncertain, this.#signal?.reason));
  #isTaken = false;

  constructor(connection: Connection, call: Call, signal: AbortSignal | undefined) {
    const { outcome } = call;
    const head = call.head ?? (outcome !== undefined && "head" in outcome ? outcome.head : undefined);
    this.names = head?.names ?? head?.columns ?? [];
    this.totalCount = head?.total_count ?? 0;
    this.truncated = head?.truncated ?? false;
    this.warnings = head?.metadata?.warnings ?? [];
    this.version = head?.version;
    this.#connection = connection;
    this.#call = call;
    this.#signal = signal;
    signal?.addEventListener("abort", this.#abort);
    if (signal?.aborted) this.#abort();
  }

  /** The rows of each record batch. It can be read once; whoever leaves the loop ends the query on the server. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Rows, void, undefined> {
    if (this.#isTaken) throw new TypeError("a stream can be read once: ask again for another one");
    this.#isTaken = true;
    try {
      const frames = this.#frames();
      const first = await frames.next();
      if (first.done) {
        yield this.#asJson();
        return;
      }
      const reader = await RecordBatchReader.from(following(first.value, frames));
      for await (const batch of reader) {
        yield new Rows(withoutProvenance(new Table([batch]), this.names.length).table);
      }
      // The end of the rows comes before that of the request.
      await this.#call.ended();
      this.#check();
    } finally {
      await this.close();
    }
  }

  /** Ends the request, if there is more to come. */
  async close(): Promise<void> {
    this.#signal?.removeEventListener("abort", this.#abort);
    await this.#end((uncertain) => ended(uncertain));
  }

  async *#frames(): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
    for (;;) {
      const frame = await this.#connection.frame(this.#call);
      if (frame === undefined) break;
      yield frame;
    }
    this.#check();
  }

  /** Messages do not come as Arrow. */
  #asJson(): Rows {
    return new Rows(tableOf(this.names, this.#check()));
  }

  /** The rows that came as JSON; throws if the request failed. */
  #check(): readonly unknown[][] {
    const { outcome } = this.#call;
    if (outcome instanceof Error) throw outcome;
    return outcome?.rows ?? [];
  }

  async #end(reason: Reason): Promise<void> {
    await this.#connection.takeBack(this.#call, reason);
  }
}

function ended(uncertain: boolean, cause?: unknown): Cancelled {
  return new Cancelled("the stream was closed", { cause, uncertain });
}

async function* following<T>(
  first: T,
  rest: AsyncGenerator<T, void, undefined>,
): AsyncGenerator<T, void, undefined> {
  yield first;
  yield* rest;
}
