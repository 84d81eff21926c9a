// What tests share: a server for a file, a graph for each test, sockets that can be cut.

import { after } from "node:test";
import type { Client, ConnectOptions, SocketClass } from "@stratalog/client";
import { WebSocket } from "ws";
import { LocalServer } from "./local-server.js";

/** Never ends by itself: the numbers go on. */
export const ENDLESS = "n(X) <- start(X)\nn(Y) <- n(X), Y = X + 1\n?n(X)";

/** A server for the tests of a file. */
export async function serverForTests(settings: Record<string, string> = {}): Promise<LocalServer> {
  const server = await LocalServer.start({ SERVICE_LIMITS__QUERY_TIMEOUT_MS: "600000", ...settings });
  after(() => server.stop());
  return server;
}

let graphs = 0;

/** Runs a test with a client in an empty graph of its own. */
export async function withClient(
  server: LocalServer,
  test: (db: Client) => Promise<void>,
  options: ConnectOptions = {},
): Promise<void> {
  const db = await server.connect(options);
  try {
    graphs += 1;
    await db.execute(`.kg create test_${graphs}`);
    await test(db);
  } finally {
    db.close();
  }
}

/** Sockets that a test can cut, as a cable can be. */
export class Cable {
  readonly #sockets = new Set<WebSocket>();

  /** For the option `WebSocket`. */
  readonly Socket: SocketClass = cuttable(this.#sockets);

  /** How much has come over all of them. */
  bytesRead(): number {
    const sockets = [...this.#sockets] as unknown as { _socket: { bytesRead: number } }[];
    return sockets.reduce((sum, { _socket }) => sum + _socket.bytesRead, 0);
  }

  /** How many are not closed. */
  open(): number {
    return [...this.#sockets].filter(({ readyState }) => readyState !== WebSocket.CLOSED).length;
  }

  /** Cuts those that are open. */
  cut(): void {
    for (const socket of this.#sockets) socket.terminate();
    this.#sockets.clear();
  }
}

function cuttable(sockets: Set<WebSocket>): SocketClass {
  class Cuttable extends WebSocket {
    constructor(url: string) {
      super(url);
      sockets.add(this);
    }
  }
  return Cuttable;
}

/** Whether the server works at a program with these words, as another client sees. */
export async function isRunning(db: Client, words: string): Promise<boolean> {
  const requests = await db.execute(".query list");
  return requests.rows().some((row) => row.some((cell) => String(cell).includes(words)));
}
