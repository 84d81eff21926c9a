// Events: what changes on the server. It numbers them, so nothing is told twice, and what was missed is told as a gap.

import { graphAddress } from "./address.js";
import { Connection } from "./connection.js";
import type { Pushed } from "./inbox.js";
import type { Place } from "./link.js";
import { Listener } from "./listener.js";

/** Something has changed. */
export interface Change {
  readonly type: "persistent_update" | "rule_change" | "schema_change" | "kg_change";
  /** The number of the event; later ones have greater ones. */
  readonly seq: number;
  /** The graph. */
  readonly kg: string;
  /** The relation, rule, type, index or graph; `multiple` for an update. */
  readonly name: string;
  readonly operation: "insert" | "delete" | "update" | "registered" | "declared" | "created" | "dropped";
  /** How many facts were inserted or deleted; 0 for everything else. */
  readonly count: number;
  /** When, by the server's clock. */
  readonly time: Date;
  /** The session that made the change, if it is known. */
  readonly sessionId: string | undefined;
}

/** Events were perhaps missed, from the first number to the last: what they could be about has to be read again. */
export interface Gap {
  readonly type: "gap";
  readonly first: number;
  readonly last: number;
}

export interface EventsOptions {
  /** The number of the last event that was seen. */
  lastSeq?: number | undefined;
}

export class Events extends Listener<Change | Gap> {
  readonly #place: Place;
  readonly #kg: string;
  #lastSeq: number | undefined;

  private constructor(place: Place, kg: string, lastSeq: number | undefined) {
    super();
    this.#place = place;
    this.#kg = kg;
    this.#lastSeq = lastSeq;
  }

  static async open(place: Place, kg: string, { lastSeq }: EventsOptions): Promise<Events> {
    const events = new Events(place, kg, lastSeq);
    await events.begin();
    return events;
  }

  /** The number of the last event; give it to `events` to go on from there. */
  get lastSeq(): number | undefined {
    return this.#lastSeq;
  }

  protected override async connect(): Promise<Connection> {
    const { server, login, Socket, openMilliseconds } = this.#place;
    const url = graphAddress(server, this.#kg, this.#lastSeq ?? "");
    const connection = await Connection.open(url, login, Socket, openMilliseconds);
    this.#lastSeq ??= connection.session.last_seq;
    return connection;
  }

  protected override take(message: Pushed): Change | Gap | undefined {
    if (message.type === "error" && message.gap !== undefined) {
      const { from: first, to: last } = message.gap;
      // Numbers from the future are taken back: the server goes on below them.
      const isFuture = this.#lastSeq !== undefined && this.#lastSeq >= last;
      this.#lastSeq = isFuture ? first - 1 : last;
      return { type: "gap", first, last };
    }
    const change = changeOf(message);
    if (change !== undefined) this.#lastSeq = change.seq;
    return change;
  }
}

/** A message as an event; undefined if it is of a type that this version does not know. */
function changeOf(message: Pushed): Change | undefined {
  switch (message.type) {
    case "persistent_update":
      return { ...common(message), type: message.type, name: message.relation, count: message.count };
    case "rule_change":
      return { ...common(message), type: message.type, name: message.rule_name };
    case "schema_change":
      return { ...common(message), type: message.type, name: message.entity };
    case "kg_change":
      return { ...common(message), type: message.type, name: message.knowledge_graph };
    default:
      return undefined;
  }
}

type ChangeMessage = Extract<Pushed, { seq: number }>;

function common(message: ChangeMessage): Omit<Change, "type" | "name"> {
  return {
    seq: message.seq,
    kg: message.knowledge_graph,
    operation: message.operation,
    count: 0,
    time: new Date(message.timestamp_ms),
    sessionId: message.session_id,
  };
}
