// One socket and the conversation over it.
//
// Answers come in the order of the requests; `ping` and `cancel` are answered at once. While an upload is on its way,
// other requests wait, as nothing else may come between its frames.

import type { Login } from "./address.js";
import { type Answer, Call, type CallOptions, type Reason } from "./call.js";
import { Cancelled, InvalidMessage, type StratalogError } from "./errors.js";
import { errorOfFailure } from "./failure.js";
import { Flow } from "./flow.js";
import { type Greeted, greeted } from "./greeting.js";
import { Inbox, type Pushed } from "./inbox.js";
import { parseMessage } from "./json.js";
import type { AuthenticatedMessage, ErrorMessage, Reply } from "./messages.js";
import { Routing } from "./routing.js";
import { OPEN, type Socket, type SocketClass } from "./socket.js";
import { unlessAborted } from "./time.js";
import { upload } from "./upload.js";

/** How long a request that was cancelled may take to end, before we hang up. */
const GRACE_MILLISECONDS = 5_000;
/** How often the server is shown that we are there. */
const KEEP_MILLISECONDS = 20_000;
/** After so many pings without any sign of life, the connection is given up. */
const MOST_SILENT = 2;

/** What belongs to sending a request. */
export interface Sending {
  /** Binary frames that follow. */
  pieces?: Iterable<Uint8Array<ArrayBuffer>> | undefined;
  /** Ends the waiting for its turn. */
  signal?: AbortSignal | undefined;
}

export class Connection {
  readonly #socket: Socket;
  readonly #flow: Flow;
  readonly #calls = new Routing<Call>();
  readonly #inbox: Inbox;
  #lastId = 0;
  /** What the server said at login. */
  readonly session: AuthenticatedMessage;
  /** The graph that the session is bound to now. */
  knowledgeGraph = "";
  /** The last thing the server said outside of any request, such as why it is about to hang up. */
  #notice: StratalogError | undefined;
  /** Why the connection ended, once it has. */
  #ending: string | undefined;
  #uploading: Promise<void> | undefined;
  #silent = 0;
  readonly #keeper: ReturnType<typeof setInterval>;
  readonly #onEnd: () => void;

  private constructor({ socket, session, more, end }: Greeted, onEnd: () => void) {
    this.#socket = socket;
    this.#flow = new Flow(socket);
    this.#inbox = new Inbox(this.#flow);
    this.session = session;
    this.knowledgeGraph = session.knowledge_graph;
    this.#onEnd = onEnd;
    socket.onmessage = (event: { data: unknown }) => {
      this.#silent = 0;
      this.#receive(event.data);
    };
    socket.onerror = () => {};
    socket.onclose = (event: { code?: number; reason?: string }) => this.#end(closedText(event));
    this.#keeper = setInterval(() => this.#keep(), KEEP_MILLISECONDS);
    for (const data of more) this.#receive(data);
    if (end !== undefined) this.#end(closedText(end));
  }

  /** Opens the socket and logs in. `onEnd` is told when the connection has ended, however that came. */
  static async open(
    url: string,
    login: Login,
    Socket: SocketClass,
    milliseconds: number,
    onEnd: () => void = () => {},
  ): Promise<Connection> {
    return new Connection(await greeted(url, login, Socket, milliseconds), onEnd);
  }

  /** Whether a request can be sent, as far as we know. */
  get alive(): boolean {
    return this.#ending === undefined && this.#socket.readyState === OPEN;
  }

  get ending(): string {
    return this.#ending ?? "the connection is closed";
  }

  /** Why the server has hung up for good: this user or key may not be here any more. */
  get dismissal(): StratalogError | undefined {
    return this.#ending !== undefined && this.#notice?.code === "access_denied" ? this.#notice : undefined;
  }

  // Requests

  /** Sends a request when it is its turn; `message` is told the id. */
  async send(
    options: CallOptions,
    message: (id: number) => string,
    { pieces, signal }: Sending = {},
  ): Promise<Call> {
    while (this.#uploading !== undefined) await unlessAborted(this.#uploading, signal);
    const call = new Call(++this.#lastId, options);
    if (!this.alive) {
      call.lose(this.ending);
      return call;
    }
    this.#transmit(call, message(call.id));
    if (pieces !== undefined) {
      call.pending = true;
      this.#uploading = this.#upload(call, pieces).finally(() => {
        this.#uploading = undefined;
      });
    }
    return call;
  }

  /** The same for what the server answers at once, also between the frames of an upload. */
  urgent(message: (id: number) => string): Call {
    const call = new Call(++this.#lastId, { reads: true });
    if (this.alive) this.#transmit(call, message(call.id));
    else call.lose(this.ending);
    return call;
  }

  #transmit(call: Call, text: string): void {
    this.#calls.ask(call.id, call);
    call.sent = true;
    this.#await(call, true);
    this.#socket.send(text);
  }

  #await(call: Call, awaited: boolean): void {
    if (awaited === call.awaited) return;
    call.awaited = awaited;
    this.#flow.await(awaited ? 1 : -1);
  }

  /** It is never rejected: what is wrong with the data is the call's outcome. */
  async #upload(call: Call, pieces: Iterable<Uint8Array<ArrayBuffer>>): Promise<void> {
    try {
      const goesOn = () => this.alive && !call.done && call.abandoned === undefined;
      await upload(call, pieces, this.#socket, goesOn);
    } catch (problem) {
      await this.takeBack(call, () => (problem instanceof Error ? problem : new Error(String(problem))));
    }
  }

  /** Cancels a request and waits until the server has let go of it; hangs up if it does not. */
  async takeBack(call: Call, reason: Reason): Promise<void> {
    if (call.done || call.abandoned !== undefined) return;
    call.abandoned = reason;
    this.#release(call);
    this.urgent((id) => JSON.stringify({ type: "cancel", target: call.id, id }));
    // What stands behind another request ends after that, however long it takes.
    const isNext = () =>
      !this.#calls.waiting.some(({ id, abandoned }) => id < call.id && abandoned === undefined);
    let wasNext = isNext();
    const timer = setInterval(() => {
      if (wasNext) {
        this.#end("the server does not answer");
        this.close();
      }
      wasNext = isNext();
    }, GRACE_MILLISECONDS);
    await call.ended();
    clearInterval(timer);
  }

  /** The next frame of a streamed call; undefined after the last. */
  async frame(call: Call): Promise<Uint8Array<ArrayBuffer> | undefined> {
    while (call.frames.length === 0 && !call.done) await call.news();
    const frame = call.frames.shift();
    if (frame !== undefined) this.#flow.hold(-frame.length);
    return frame;
  }

  /** The next message that answers nothing. Throws when the connection has ended. */
  pushed(): Promise<Pushed> {
    return this.#inbox.next();
  }

  /** Hangs up. Whatever waits fails. */
  close(): void {
    this.#end("the client is closed");
    this.#flow.free();
    this.#socket.close();
  }

  // What arrives

  #parsed(data: unknown): Reply | undefined {
    if (typeof data !== "string") return undefined;
    try {
      return parseMessage(data) as Reply;
    } catch (problem) {
      this.#end(`the server sent something that is no message: ${problem}`);
      this.close();
      return undefined;
    }
  }

  #receive(data: unknown): void {
    // What comes after the end is nobody's.
    if (this.#ending !== undefined) return;
    if (data instanceof ArrayBuffer) {
      this.#frame(new Uint8Array(data));
      return;
    }
    const message = this.#parsed(data);
    if (message === undefined) return;
    const call = this.#calls.take(message);
    if (call !== undefined) this.#reply(call, message);
    else this.#unasked(message);
  }

  #frame(bytes: Uint8Array<ArrayBuffer>): void {
    const { delta, request: call } = this.#calls.takeBytes();
    if (delta !== undefined) {
      this.#inbox.put({ ...delta, bytes });
      return;
    }
    if (call === undefined || (call.streamed && call.abandoned !== undefined)) return;
    call.frames.push(bytes);
    if (call.streamed) this.#flow.hold(bytes.length);
    call.tell();
  }

  #reply(call: Call, message: Reply): void {
    switch (message.type) {
      case "working":
        call.working = {
          state: message.state,
          elapsedMilliseconds: message.elapsed_ms,
          rounds: message.rounds,
          rows: message.rows,
          memoryBytes: message.memory_bytes,
        };
        call.tell();
        return;
      case "result_start":
        call.head = message;
        // From now on, frames are counted.
        if (call.streamed) this.#await(call, false);
        call.tell();
        return;
      case "result_chunk":
        for (const row of message.rows) call.rows.push(row);
        return;
      case "result_end":
        this.#settle(call, this.#complete(call, message.row_count));
        return;
      case "result":
        this.#settle(call, { head: message, rowCount: message.row_count, rows: message.rows });
        return;
      case "subscribed":
        this.#settle(call, { subscribed: message, rowCount: 0, rows: [] });
        return;
      case "checked":
        this.#settle(call, { found: message.diagnostics, rowCount: 0, rows: [] });
        return;
      case "formatted":
        this.#settle(call, { formatted: message.program, rowCount: 0, rows: [] });
        return;
      case "completions":
        this.#settle(call, { offers: message.offers, rowCount: 0, rows: [] });
        return;
      case "pong":
        this.#settle(call, { rowCount: 0, rows: [] });
        return;
      case "error":
        this.#refused(call, message);
        return;
      default:
        this.#settle(call, new InvalidMessage(`an answer of the type ${message.type}`));
    }
  }

  #complete(call: Call, rowCount: number): Answer {
    const { head, rows } = call;
    const frames = head?.format === "arrow" ? call.frames : undefined;
    return { ...(head && { head }), rowCount, rows, frames };
  }

  #refused(call: Call, message: ErrorMessage): void {
    const error = errorOfFailure(message, call.program);
    this.#settle(
      call,
      call.abandoned !== undefined && error instanceof Cancelled ? call.abandoned(false) : error,
    );
  }

  #settle(call: Call, outcome: Answer | Error): void {
    const graph = "head" in outcome ? outcome.head?.switched_kg : undefined;
    if (graph !== undefined) this.knowledgeGraph = graph;
    this.#await(call, false);
    call.settle(outcome);
  }

  #unasked(message: Reply): void {
    // A late word about a request that has ended.
    if (message.id !== undefined) return;
    // It goes on with its rows.
    if (message.type === "delta" && message.format === "arrow") return;
    if (message.type === "error" && message.gap === undefined) this.#notice = errorOfFailure(message);
    else this.#inbox.put(message);
  }

  // Keeping up, and the end

  /** Drops what nobody will take. */
  #release(call: Call): void {
    if (!call.streamed) return;
    const bytes = call.frames.reduce((sum, frame) => sum + frame.length, 0);
    call.frames.length = 0;
    this.#flow.hold(-bytes);
  }

  #keep(): void {
    // Whoever has stopped reading hears nothing.
    if (this.#flow.paused) this.#silent = 0;
    if (this.#silent >= MOST_SILENT) {
      this.#end("the server does not answer");
      this.close();
      return;
    }
    this.#silent += 1;
    const ping = this.urgent((id) => JSON.stringify({ type: "ping", id }));
    // What lies unread needs not be read for it.
    this.#await(ping, false);
  }

  #end(reason: string): void {
    if (this.#ending !== undefined) return;
    this.#ending = this.#notice === undefined ? reason : `${reason}: ${this.#notice.message}`;
    clearInterval(this.#keeper);
    for (const call of this.#calls.waiting) call.lose(this.#ending);
    this.#calls.clear();
    this.#inbox.end(this.#ending);
    this.#onEnd();
  }
}

/** Why a connection ended, in words. */
function closedText({ code, reason }: { code?: number; reason?: string }): string {
  if (reason !== undefined && reason !== "") return `the server closed the connection (${reason})`;
  // 1006 stands for an end without any word.
  return code !== undefined && code < 1006
    ? `the server closed the connection (code ${code})`
    : "the connection to the server broke off";
}
