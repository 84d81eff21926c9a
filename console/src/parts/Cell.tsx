// A value. Whatever it holds is shown as text, and no sign in it can change what stands around it.

import type { ColumnType, Value } from "@stratalog/client";
import { textOf } from "./text.ts";

/** Of a longer one, so many signs are shown where there is little room. */
export const SHORT = 400;

/** Signs that would turn what follows around, or are not seen at all. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** A text in which what is not seen can be seen. */
export function seen(text: string): string {
  return text.replace(UNSEEN, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** What kind of value it is, for its looks. */
export function kindOf(value: Value, type?: ColumnType): string {
  if (value === null) return "null";
  if (typeof value === "number" || typeof value === "bigint") return "number";
  if (typeof value === "boolean") return "bool";
  if (value instanceof Date || type === "timestamp") return "time";
  return typeof value === "string" ? "string" : "list";
}

export function Cell({ value, type, most = SHORT }: { value: Value; type?: ColumnType; most?: number }) {
  return <bdi class={`value ${kindOf(value, type)}`}>{seen(textOf(value, most))}</bdi>;
}
