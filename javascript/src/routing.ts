// Which request a frame answers, and what is told unasked.
//
// A message carries the id of the request that it answers; requests of the same id, or of none, are answered in their
// order. A binary frame carries nothing: it is rows of the live query that were announced by the message before it, or
// else of the answer that has begun.

import type { DeltaMessage, Reply, RequestId } from "./messages.js";

/** What a binary frame is rows of; nothing of both if nobody has announced it. */
export interface Announced<R> {
  delta?: DeltaMessage;
  request?: R | undefined;
}

export class Routing<R> {
  readonly #waiting = new Map<RequestId | undefined, R[]>();
  /** The request whose answer has begun. */
  #streaming: R | undefined;
  /** Rows of a live query, whose binary frame comes next. */
  #delta: DeltaMessage | undefined;

  /** A request goes out, and is waited for. */
  ask(id: RequestId | undefined, request: R): void {
    const same = this.#waiting.get(id);
    if (same === undefined) this.#waiting.set(id, [request]);
    else same.push(request);
  }

  /** The requests that are waited for. */
  get waiting(): R[] {
    return [...this.#waiting.values()].flat();
  }

  /** None is waited for any more. */
  clear(): void {
    this.#waiting.clear();
    this.#streaming = undefined;
    this.#delta = undefined;
  }

  /**
   * Takes a message, and gives the request that it answers, which is not waited for any more if that was all. Undefined for
   * what is told unasked, and for a late word about what has ended.
   */
  take(message: Reply): R | undefined {
    if (message.type === "delta" && message.format === "arrow") this.#delta = message;
    if (isUnasked(message)) return undefined;
    const same = this.#waiting.get(message.id);
    const request = same?.[0];
    if (request === undefined) return undefined;
    if (message.type === "result_start") this.#streaming = request;
    if (!goesOn(message)) {
      if (same?.length === 1) this.#waiting.delete(message.id);
      else same?.shift();
      if (this.#streaming === request) this.#streaming = undefined;
    }
    return request;
  }

  /** Takes a binary frame, and gives what it is rows of. */
  takeBytes(): Announced<R> {
    const delta = this.#delta;
    this.#delta = undefined;
    return delta === undefined ? { request: this.#streaming } : { delta };
  }
}

/** Whether more comes in answer to the same request. */
function goesOn(message: Reply): boolean {
  return message.type === "working" || message.type === "result_start" || message.type === "result_chunk";
}

/** Whether it is an event, or told of live queries. */
function isUnasked(message: Reply): boolean {
  switch (message.type) {
    case "delta":
    case "progress":
      return true;
    case "unsubscribed":
      return message.error !== undefined;
    case "error":
      return message.gap !== undefined;
    default:
      return "seq" in message;
  }
}
