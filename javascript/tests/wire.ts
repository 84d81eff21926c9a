// A wire between client and server, which can be held: then nothing passes, and neither side is told.

import { type AddressInfo, createConnection, createServer, type Server, type Socket } from "node:net";
import type { LocalServer } from "./local-server.js";

export class Wire {
  readonly #sockets: Socket[] = [];
  readonly #listener: Server;

  constructor(server: LocalServer) {
    const port = Number(server.url.split(":").at(-1));
    this.#listener = createServer((client) => {
      const inner = createConnection(port, "127.0.0.1");
      client.pipe(inner).pipe(client);
      for (const socket of [client, inner]) this.#sockets.push(socket.on("error", () => {}));
    });
  }

  async url(): Promise<string> {
    await new Promise<void>((resolve) => this.#listener.listen(0, "127.0.0.1", resolve));
    return `ws://127.0.0.1:${(this.#listener.address() as AddressInfo).port}`;
  }

  hold(): void {
    for (const socket of this.#sockets) socket.unpipe().pause();
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#listener.close();
  }
}
