// What an API key may be asked for with.

import { command } from "./words.ts";

/** What a key opens; the first is everything. */
export const SCOPES = [
  { scope: "", may: "all that its owner may do" },
  { scope: "write", may: "facts, rules, schemas and indexes, as far as its owner may" },
  { scope: "read", may: "questions, as far as its owner may" },
  { scope: "metrics", may: "metrics and documents over HTTP, and no session" },
] as const;

/** Until when; `at` is a moment of its own. */
export const EXPIRIES = [
  { expires: "", text: "never" },
  { expires: "1d", text: "in a day" },
  { expires: "1w", text: "in a week" },
  { expires: "30d", text: "in 30 days" },
  { expires: "90d", text: "in 90 days" },
  { expires: "365d", text: "in a year" },
  { expires: "at", text: "at a moment…" },
] as const;

/** A key as a form has it; what is empty is not said. */
export interface AskedKey {
  readonly label: string;
  readonly owner: string;
  readonly expiry: string;
  /** The moment, without a time zone: it is that of the browser. */
  readonly at: string;
  readonly scope: string;
}

/** The command that creates a key. */
export function keyCommand({ label, owner, expiry, at, scope }: AskedKey): string {
  const expires = expiry === "at" ? momentOf(at) : expiry;
  return command(
    "apikey",
    "create",
    label,
    ...(owner === "" ? [] : ["for", owner]),
    ...(expires === "" ? [] : ["expires", expires]),
    ...(scope === "" ? [] : [scope]),
  );
}

function momentOf(local: string): string {
  const moment = new Date(local);
  if (Number.isNaN(moment.getTime())) throw new RangeError("this is no date and time");
  return moment.toISOString();
}
