// Values and numbers as people read them.

import type { Value, Working } from "@stratalog/client";

/** A number with separators: `1,234,567`. */
export function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** `1 row`, `2 rows`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Milliseconds: `0.4 ms`, `12 ms`, `3.4 s`. */
export function duration(milliseconds: number): string {
  if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  if (milliseconds < 3_600_000) return `${Math.floor(milliseconds / 60_000)} min`;
  return `${(milliseconds / 3_600_000).toFixed(1)} h`;
}

/** How far a query is: `4.5 s, 14 rounds, 3,200,000 rows found, 212 MB`. */
export function howFar({ state, elapsedMilliseconds, rounds, rows, memoryBytes }: Working): string {
  const said = [duration(elapsedMilliseconds)];
  if (state === "waiting") said.push("waits for a place");
  if (state === "stopping") said.push("stops");
  if (rounds > 0) said.push(counted(rounds, "round"));
  if (rows > 0) said.push(`${counted(rows, "row")} found`);
  if (memoryBytes > 0) said.push(bytes(memoryBytes));
  return said.join(", ");
}

const UNITS = ["B", "kB", "MB", "GB", "TB"];

/** Bytes: `12 kB`. */
export function bytes(value: number): string {
  let unit = 0;
  let shown = value;
  while (shown >= 1000 && unit < UNITS.length - 1) {
    shown /= 1000;
    unit += 1;
  }
  return `${shown < 10 && unit > 0 ? shown.toFixed(1) : Math.round(shown)} ${UNITS[unit]}`;
}

/** A value as one line of text; `most` bounds what of a long one is written. */
export function textOf(value: Value, most = Number.POSITIVE_INFINITY): string {
  const text = whole(value, most);
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

function whole(value: Value, most: number): string {
  if (value === null) return "null";
  if (typeof value === "string") return value;
  if (value instanceof Date)
    return value
      .toISOString()
      .replace(/T00:00:00\.000Z$/, "")
      .replace(/\.000Z$/, "Z");
  if (value instanceof Float32Array || value instanceof Int8Array) {
    // No more is joined than can be shown.
    const shown = value.subarray(0, Math.min(value.length, most));
    return `[${Array.from(shown, (each) => String(Number(each.toPrecision(7)))).join(", ")}${shown.length < value.length ? ", …" : ""}]`;
  }
  if (Array.isArray(value)) return `[${value.map((each) => textOf(each as Value, most)).join(", ")}]`;
  return String(value);
}
