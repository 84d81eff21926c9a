// What a connection needs of a WebSocket: what browsers have, and where it can be, to stop reading for a while.

/** A WebSocket as browsers and `ws` have it. */
export interface Socket {
  binaryType: string;
  readonly readyState: number;
  readonly bufferedAmount: number;
  onopen: ((this: never, event: never) => void) | null;
  onmessage: ((this: never, event: never) => void) | null;
  onerror: ((this: never, event: never) => void) | null;
  onclose: ((this: never, event: never) => void) | null;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number): void;
  /** Stops reading, so that the server stops sending. Browsers cannot. */
  pause?(): void;
  resume?(): void;
}

/** Opens one. */
export type SocketClass = new (url: string) => Socket;

/** `readyState` of a socket that is open. */
export const OPEN = 1;
