// The frames that went out and came in, newest first.

import { signal } from "@preact/signals";
import { parseWritten, textOf } from "./written.ts";

export interface Frame {
  readonly number: number;
  readonly direction: "out" | "in";
  readonly data: string | ArrayBuffer;
  /** The type of its message. */
  readonly type: string;
  readonly bytes: number;
  readonly time: string;
}

/** The most frames that are kept. */
const MOST = 500;
/** The longest text that is shown in full. */
const LONGEST = 20_000;
/** So much is shown of bytes. */
const BEGINNING = 256;

export class Frames {
  readonly list = signal<readonly Frame[]>([]);
  #number = 0;

  add(direction: "out" | "in", data: string | ArrayBuffer): void {
    const isText = typeof data === "string";
    this.#number += 1;
    const frame: Frame = {
      number: this.#number,
      direction,
      data,
      type: isText ? String(JSON.parse(data).type ?? "no type") : "arrow",
      bytes: isText ? new TextEncoder().encode(data).length : data.byteLength,
      time: timeOfDay(new Date()),
    };
    this.list.value = [frame, ...this.list.peek().slice(0, MOST - 1)];
  }

  clear(): void {
    this.list.value = [];
  }
}

/** What a frame holds, for people. */
export function shown(data: string | ArrayBuffer, secrets: ReadonlySet<string>): string {
  if (typeof data !== "string") return hex(data);
  const message = parseWritten(data) as Record<string, unknown>;
  for (const name of secrets) if (name in message) message[name] = "•••";
  const written = textOf(message);
  return written.length > LONGEST ? `${written.slice(0, LONGEST)}\n…` : written;
}

function hex(bytes: ArrayBuffer): string {
  const beginning = [...new Uint8Array(bytes.slice(0, BEGINNING))];
  const text = beginning.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  return bytes.byteLength > BEGINNING ? `${text} …` : text;
}

function timeOfDay(date: Date): string {
  return date.toLocaleTimeString("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    fractionalSecondDigits: 3,
  });
}
