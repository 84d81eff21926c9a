// Events as rows of a table.

import type { Change, Gap, Value } from "@stratalog/client";

/** So many are kept. */
export const MOST_HAPPENINGS = 1000;

export type Happening = Change | Gap;

/** The columns of the table. */
export const COLUMNS = [
  { name: "time", type: "timestamp" },
  { name: "type", type: "string" },
  { name: "name", type: "string" },
  { name: "operation", type: "string" },
  { name: "count", type: "int" },
  { name: "session", type: "string" },
  { name: "number", type: "int" },
] as const;

/** One event as a row. Of what was missed it is only known how much it may have been. */
export function rowOf(happening: Happening): Value[] {
  if (happening.type === "gap") {
    const { first, last } = happening;
    return [null, "gap", "not kept any more", `${first} to ${last}`, last - first + 1, null, last];
  }
  const { time, type, name, operation, count, sessionId, seq } = happening;
  return [time, type, name, operation, count, sessionId ?? null, seq];
}

/** Those in which each word of a filter stands, in any case, the latest first. */
export function filtered(happenings: readonly Happening[], filter: string): readonly Happening[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return happenings
    .filter((happening) => {
      const [, ...rest] = rowOf(happening);
      const text = rest.join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .reverse();
}
