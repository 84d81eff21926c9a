// What the server has told of itself since an administrator first looked: a reading every five seconds while the page is
// seen, over the last hour. It is in the memory of the page only.

import { effect, signal, untracked } from "@preact/signals";
import { type Session, session } from "../session/session.ts";
import { type Reading, readingOf } from "./metrics.ts";
import { untilSeen } from "./untilSeen.ts";

const EVERY_MILLISECONDS = 5_000;
const HOUR_MILLISECONDS = 3_600_000;

/** The readings, the earliest first. */
export const readings = signal<readonly Reading[]>([]);

/** Why there are no more. */
export const unreadable = signal<unknown>(undefined);

/** How often somebody has asked to read; 0 is not at all. */
const asked = signal(0);

/** Begins to read, if nobody does. It goes on in other views, until the session ends. */
export function measure(): void {
  if (asked.peek() === 0 || unreadable.peek() !== undefined) asked.value += 1;
}

effect(() => {
  const open = session.value;
  if (open === undefined) {
    asked.value = 0;
    untracked(() => {
      readings.value = [];
      unreadable.value = undefined;
    });
    return;
  }
  if (asked.value === 0) return;
  const gone = new AbortController();
  void follow(open, gone.signal);
  return () => gone.abort();
});

async function follow({ looking }: Session, signal: AbortSignal): Promise<void> {
  unreadable.value = undefined;
  try {
    while (!signal.aborted) {
      await untilSeen(signal);
      if (signal.aborted) return;
      const rows = await looking.execute(".metrics", { reads: true, signal });
      const now = Date.now();
      const kept = readings.peek().filter(({ time }) => time > now - HOUR_MILLISECONDS && time < now);
      readings.value = [...kept, readingOf(rows, now)];
      await new Promise((done) => setTimeout(done, EVERY_MILLISECONDS));
    }
  } catch (problem) {
    if (!signal.aborted) unreadable.value = problem;
  }
}
