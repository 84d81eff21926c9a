// The WebSocket for Node: that of the package `ws`, as the one that newer releases have cannot stop reading.

import { WebSocket } from "ws";
import type { SocketClass } from "./socket.js";

class NodeSocket extends WebSocket {
  constructor(url: string) {
    super(url, { perMessageDeflate: false, maxPayload: 0 });
  }
}

export const NativeSocket: SocketClass | undefined = NodeSocket;
