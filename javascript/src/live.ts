// Live queries: an answer as it changes.
//
// The server tells which rows came and went since the version that is known here, so nothing is missed or told twice,
// also across lost connections and restarts of the server.

import { graphAddress } from "./address.js";
import type { Answer } from "./call.js";
import { Connection } from "./connection.js";
import { InvalidMessage } from "./errors.js";
import { errorOfFailure } from "./failure.js";
import type { Pushed } from "./inbox.js";
import { KeptRows } from "./kept.js";
import type { Place } from "./link.js";
import { Listener } from "./listener.js";
import type { DeltaMessage, Resume, SubscribeMessage } from "./messages.js";
import { type Params, subscription } from "./requests.js";
import { tableOfFrames } from "./result.js";
import { type Row, Rows } from "./rows.js";

/** The rows that came and went. */
export interface LiveChange {
  /** The version of the graph at which the answer is what it is now. */
  readonly version: number;
  /** Whether `added` are all rows, and those of before are of no use. */
  readonly reset: boolean;
  /** Rows that were not there. */
  readonly added: readonly Row[];
  /** Rows that are not there any more. */
  readonly removed: readonly Row[];
}

export interface LiveOptions {
  /** Values of the query's `$names`. */
  params?: Params | undefined;
  /** The `token` of an earlier one, whose rows you have: only what has changed since comes, if the server knows it. */
  resume?: string | undefined;
  /** Whether `rows` is kept up to date; true if it is not said. */
  keep?: boolean | undefined;
  /** No two versions are told as one change. */
  everyVersion?: boolean | undefined;
}

export class Live extends Listener<LiveChange> {
  readonly #place: Place;
  readonly #kg: string;
  readonly #query: string;
  readonly #options: LiveOptions;
  readonly #kept = new KeptRows<Row>();
  #names: readonly string[] = [];
  #resume: Resume | undefined;
  #parts: Uint8Array<ArrayBuffer>[] = [];

  private constructor(place: Place, kg: string, query: string, options: LiveOptions) {
    super();
    this.#place = place;
    this.#kg = kg;
    this.#query = query;
    this.#options = options;
    if (options.resume !== undefined) this.#resume = resumeOf(options.resume);
  }

  static async open(place: Place, kg: string, query: string, options: LiveOptions): Promise<Live> {
    const live = new Live(place, kg, query, options);
    await live.begin();
    return live;
  }

  /** The names of the columns. */
  get names(): readonly string[] {
    return this.#names;
  }

  /** The version of the last change; 0 before the first one. */
  get version(): number {
    return this.#kept.version;
  }

  /**
   * The answer after the changes that were taken, in no particular order: the same arrays as in the changes, by keys that
   * stay the same. It is empty without `keep`.
   */
  get rows(): ReadonlyMap<string, Row> {
    return this.#kept.rows;
  }

  /** What `live(query, {resume})` goes on with, after the last change that was taken. */
  get token(): string {
    return `${this.#resume?.token}@${this.#resume?.version}`;
  }

  protected override async connect(): Promise<Connection> {
    const { server, login, Socket, openMilliseconds } = this.#place;
    const connection = await Connection.open(graphAddress(server, this.#kg), login, Socket, openMilliseconds);
    try {
      this.#parts = [];
      const message: SubscribeMessage = { type: "subscribe", query: this.#query, format: "arrow" };
      if (this.#options.everyVersion) message.every_version = true;
      if (this.#resume !== undefined) message.resume = this.#resume;
      const about = { program: this.#query, reads: true };
      const call = await connection.send(about, subscription(message, this.#options.params));
      const outcome = await call.ended();
      if (outcome instanceof Error) throw outcome;
      this.#agreed(outcome);
      return connection;
    } catch (problem) {
      connection.close();
      throw problem;
    }
  }

  /** The server will tell. What is known stays, if it says so. */
  #agreed({ subscribed }: Answer): void {
    if (subscribed === undefined) throw new InvalidMessage("no subscription");
    this.#names = subscribed.names ?? subscribed.columns;
    this.#kept.begin(subscribed.resumed ? (this.#resume?.version ?? 0) : 0);
    this.#resume = { token: subscribed.token, version: this.#kept.version };
  }

  protected override take(message: Pushed): LiveChange | undefined {
    if (message.type === "unsubscribed" && message.error !== undefined) {
      throw errorOfFailure(message.error, this.#query);
    }
    if (message.type !== "delta" || message.bytes === undefined) return undefined;
    this.#parts.push(message.bytes);
    return message.last ? this.#changed(message) : undefined;
  }

  #changed(message: DeltaMessage): LiveChange {
    const came: [string, Row][] = [];
    const gone: [string, Row][] = [];
    for (const part of this.#parts) {
      const [diff, ...columns] = new Rows(tableOfFrames([part])).columns;
      for (let place = 0; place < (diff?.length ?? 0); place += 1) {
        const row = columns.map((column) => column.get(place));
        const key = columns.map((column) => column.key(place)).join();
        (diff?.get(place) === 1 ? came : gone).push([key, row]);
      }
    }
    this.#parts = [];
    const { version, reset = false } = message;
    const removed = this.#kept.take(message, (this.#options.keep ?? true) ? came : [], gone);
    if (this.#resume !== undefined) this.#resume = { ...this.#resume, version };
    return { version, reset, added: came.map(([, row]) => row), removed };
  }
}

function resumeOf(token: string): Resume {
  const found = /^(.+)@(\d+)$/.exec(token);
  if (found?.[1] === undefined)
    throw new TypeError("`resume` is the `token` of a live query, and this is none");
  return { token: found[1], version: Number(found[2]) };
}
