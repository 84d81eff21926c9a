// The WebSocket of browsers, and of whatever else has it as a global.

import type { SocketClass } from "./socket.js";

export const NativeSocket: SocketClass | undefined = globalThis.WebSocket;
