// One WebSocket, over which goes what was written, and nothing else: it neither logs in nor comes back by itself.

import { parseMessage } from "#client/json.ts";
import type { DeltaMessage, Reply, RequestId } from "#client/messages.ts";
import { Routing } from "#client/routing.ts";
import { parseWritten } from "./written.ts";

/** A message that was sent, with its numbers as they were written. Whatever was typed is in it: of no field is known what it holds. */
export type Sent = Readonly<Record<string, unknown>>;

/** A frame that came. */
export type Received =
  | { readonly text: string; readonly message: Reply; readonly request: Sent | undefined }
  | {
      readonly bytes: ArrayBuffer;
      /** What announced it. */
      readonly delta?: DeltaMessage | undefined;
      readonly request?: Sent | undefined;
    };

/** How far a connection is. */
export type LinkState = "closed" | "connecting" | "open";

export interface Hearer {
  state(state: LinkState, words: string): void;
  sent(frame: string | ArrayBuffer): void;
  received(frame: Received): void;
}

export class Connection {
  readonly #hearer: Hearer;
  #routing = new Routing<Sent>();
  #socket: WebSocket | undefined;
  /** How often one was opened. */
  #opened = 0;

  constructor(hearer: Hearer) {
    this.#hearer = hearer;
  }

  get isOpen(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /** Another number for each socket. */
  get number(): number {
    return this.#opened;
  }

  /** Connects; the promise is kept when the socket is open. */
  open(address: string): Promise<void> {
    this.close();
    this.#routing = new Routing();
    this.#opened += 1;
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(address);
      socket.binaryType = "arraybuffer";
      this.#socket = socket;
      const isCurrent = () => this.#socket === socket;
      this.#hearer.state("connecting", "connecting");
      socket.onopen = () => {
        this.#hearer.state("open", "connected, not logged in");
        resolve();
      };
      socket.onmessage = ({ data }) => {
        if (isCurrent()) this.#hearer.received(this.#routed(data));
      };
      socket.onclose = ({ code, reason }) => {
        const why =
          reason || (code === 1006 ? "the server cannot be reached, or refused the connection" : "");
        if (isCurrent()) this.#hearer.state("closed", `closed (${code})${why && `: ${why}`}`);
        reject(new Error(why || `closed with code ${code}`));
      };
    });
  }

  close(): void {
    this.#socket?.close(1000);
  }

  /** Sends a message, given as JSON text; the message is what its answers are told apart by. */
  send(text: string): Sent {
    const message = parseWritten(text) as Sent;
    const { id } = parseMessage(text) as { id?: RequestId | null };
    this.#routing.ask(id ?? undefined, message);
    this.#socket?.send(text);
    this.#hearer.sent(text);
    return message;
  }

  /** Sends a binary frame. */
  sendBytes(bytes: ArrayBuffer): void {
    this.#socket?.send(bytes);
    this.#hearer.sent(bytes);
  }

  #routed(data: string | ArrayBuffer): Received {
    if (typeof data !== "string") return { bytes: data, ...this.#routing.takeBytes() };
    const message = parseMessage(data) as Reply;
    return { text: data, message, request: this.#routing.take(message) };
  }
}
