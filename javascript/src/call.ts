// A request on its way: what it was, what has come of it, and for a stream the frames that nobody has taken yet.

import { ConnectionLost, type Diagnostic } from "./errors.js";
import { LOOK_FIRST } from "./failure.js";
import type { Cell } from "./json.js";
import type { Offer, ResultMessage, ResultStartMessage, SubscribedMessage, WorkState } from "./messages.js";

/** A complete reply, however many frames it came in. */
export interface Answer {
  /** What the server says of it. */
  head?: ResultMessage | ResultStartMessage;
  rowCount: number;
  /** Rows that came as JSON. */
  rows: Cell[][];
  /** One Arrow IPC stream, if the rows came that way. */
  frames?: Uint8Array<ArrayBuffer>[] | undefined;
  subscribed?: SubscribedMessage;
  /** What was found in a program that was checked. */
  found?: readonly Diagnostic[];
  /** A program in the layout of all programs. */
  formatted?: string;
  /** What may be written at a place. */
  offers?: readonly Offer[];
}

/** How far a program is whose answer is not there yet. */
export interface Working {
  /** `waiting` for a place, `running` or `stopping`. */
  state: WorkState;
  /** Since its turn came. */
  elapsedMilliseconds: number;
  /** Rounds of recursions that are done. Nobody knows before how many there will be. */
  rounds: number;
  /** Rows that rules have found so far. */
  rows: number;
  /** What it holds now. */
  memoryBytes: number;
}

/** Told how far a program is, twice a second. */
export type Watch = (working: Working) => void;

/** Why nobody waits for an answer any more, given whether the request may have taken effect. */
export type Reason = (uncertain: boolean) => Error;

export interface CallOptions {
  /** The text that runs, for errors. */
  program?: string | undefined;
  /** Whether it changes nothing, so that it may be sent again. */
  reads: boolean;
  /** Whether it has nothing to do with what the session holds: that this is gone is told to another one. */
  isAside?: boolean;
  /** Whether somebody takes frames as they come. Else they become part of the answer. */
  streamed?: boolean;
}

export class Call {
  readonly id: number;
  readonly program: string | undefined;
  readonly reads: boolean;
  readonly streamed: boolean;
  /** Set once it is over. */
  outcome: Answer | Error | undefined;
  /** Whether the server may know of it. */
  sent = false;
  /** Whether somebody waits for what comes first of it. */
  awaited = false;
  /** It takes effect at its end, which was not sent yet. */
  pending = false;
  /** Nobody waits for it any more: why. */
  abandoned: Reason | undefined;
  /** What comes before the rows of a stream. */
  head: ResultStartMessage | undefined;
  readonly frames: Uint8Array<ArrayBuffer>[] = [];
  readonly rows: Cell[][] = [];
  /** How far it is, until that is told. */
  working: Working | undefined;
  /** Told when there is something new. */
  #wake: (() => void)[] = [];

  constructor(id: number, { program, reads, streamed = false }: CallOptions) {
    this.id = id;
    this.program = program;
    this.reads = reads;
    this.streamed = streamed;
  }

  get done(): boolean {
    return this.outcome !== undefined;
  }

  /** Whether it may have taken effect although there is no answer. */
  get uncertain(): boolean {
    return this.sent && !this.reads && !this.pending;
  }

  /** Its end; it is never rejected. */
  async ended(): Promise<Answer | Error> {
    while (this.outcome === undefined) await this.news();
    return this.outcome;
  }

  /** Something has come: a head, a frame or the end. */
  news(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve));
  }

  tell(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }

  settle(outcome: Answer | Error): void {
    if (this.outcome !== undefined) return;
    this.outcome = outcome;
    this.tell();
  }

  /** The connection is gone. */
  lose(reason: string): void {
    const { uncertain, program } = this;
    const help = uncertain ? LOOK_FIRST : undefined;
    const lost = () => new ConnectionLost(reason, { help, program, uncertain });
    this.settle((this.abandoned ?? lost)(uncertain));
  }
}
