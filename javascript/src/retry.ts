// When a request may be sent again, and after how long.
//
// Only what reads is ever repeated. Everything else is sent once, and an error says whether it may have happened.

import { ConnectionLost, LimitExceeded, Overloaded, SessionLost } from "./errors.js";

/** The first pause is at most so long, and each further one at most twice as long as the one before. */
const FIRST_MILLISECONDS = 50;
const LONGEST_MILLISECONDS = 5_000;

/** A statement that writes, a command, or a comment that may hide either. */
const MAY_WRITE = /^\s*(?:[-+./*]|type\b)|\/\*|\r(?!\n)/m;
const LINE_COMMENT = /^\s*\/\/.*$/gm;
/** A statement of the session, which is kept where it is the only one. */
const OF_THE_SESSION = /^(?!type\s)[\p{L}\p{N}_]/mu;
const TEXT = /"(?:\\.|[^"\\])*"/gs;
const QUERY = /^\s*\?/m;
/** A command that shows something and changes nothing. */
const SHOWS = /^\s*\.(?:why|why_not|what_if|impact|explain|profile)\b/;

/** Pauses with full jitter, until so many milliseconds are over. */
export class Retry {
  #until: number;
  #most = FIRST_MILLISECONDS;

  constructor(milliseconds: number) {
    this.#until = Date.now() + milliseconds;
  }

  /** Goes on for so many milliseconds from now, at least. */
  extend(milliseconds: number): void {
    this.#until = Math.max(this.#until, Date.now() + milliseconds);
  }

  /** Milliseconds to wait before the next attempt; undefined if there is to be none. */
  pause(atLeast = 0): number | undefined {
    const pause = atLeast + Math.random() * this.#most;
    this.#most = Math.min(this.#most * 2, LONGEST_MILLISECONDS);
    return Date.now() + pause < this.#until ? pause : undefined;
  }

  /** How long to wait after a request that ended so and only reads; undefined if it is not to be repeated. */
  after(outcome: unknown): number | undefined {
    if (outcome instanceof SessionLost) return undefined;
    if (outcome instanceof ConnectionLost) return this.pause();
    const isBusy = outcome instanceof Overloaded || outcome instanceof LimitExceeded;
    return isBusy && outcome.retryAfter !== undefined ? this.pause(outcome.retryAfter) : undefined;
  }
}

/** Whether a program changes nothing, so that running it twice is running it once. In doubt it does. */
export function onlyReads(program: string): boolean {
  const text = program.replace(LINE_COMMENT, "");
  if (SHOWS.test(text)) return !/\n\S/.test(text.trim());
  return !MAY_WRITE.test(text) && QUERY.test(text);
}

/**
 * Whether a program may leave facts or rules in the session. In doubt it does. In a program of several statements they
 * serve that program only, and a query shows that it is one.
 */
export function touchesSession(program: string): boolean {
  const text = program.replace(TEXT, '""');
  const hasQuery = !text.includes("/*") && QUERY.test(text);
  return OF_THE_SESSION.test(text) && !hasQuery;
}
