// The binary frames of an insert: pieces of one Arrow IPC stream, sent no faster than the socket takes them.

import type { Call } from "./call.js";
import type { Socket } from "./socket.js";
import { sleep } from "./time.js";

/** What an Arrow IPC stream ends with. */
const END_OF_STREAM = Uint8Array.of(255, 255, 255, 255, 0, 0, 0, 0);
const FRAME_BYTES = 1 << 20;
/** While so many bytes wait to be sent, no others are added. */
const MUCH = 4 << 20;
/** How long to wait until some of it has gone. */
const FULL_MILLISECONDS = 5;

/** Sends them for as long as it `goesOn`. Throws what is wrong with the data, which is made meanwhile. */
export async function upload(
  call: Call,
  pieces: Iterable<Uint8Array<ArrayBuffer>>,
  socket: Socket,
  goesOn: () => boolean,
): Promise<void> {
  for (const piece of pieces) {
    for (let start = 0; start < piece.length; start += FRAME_BYTES) {
      await sleep(0);
      while (goesOn() && socket.bufferedAmount > MUCH) await sleep(FULL_MILLISECONDS);
      if (!goesOn()) return;
      socket.send(piece.subarray(start, start + FRAME_BYTES));
    }
  }
  if (!goesOn()) return;
  call.pending = false;
  socket.send(END_OF_STREAM);
}
