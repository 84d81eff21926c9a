// What happens on the graph in use, and what has happened there lately, as far as the server keeps it: the last thousand
// events. The list goes on while one looks at another view, and begins anew on another graph.

import { effect, signal, untracked } from "@preact/signals";
import type { Client, Events } from "@stratalog/client";
import { session } from "../session/session.ts";
import { type Happening, MOST_HAPPENINGS } from "./happening.ts";

/** Numbers are those of all graphs, so more are asked for than are shown. */
const BACK = 3 * MOST_HAPPENINGS;

/** Milliseconds from one picture to the next. */
const SHOW_MILLISECONDS = 250;

/** What is shown, the earliest first. */
export interface Log {
  readonly happenings: readonly Happening[];
  /** How many there were in all. */
  readonly told: number;
  /** Whether the server is listened to. */
  readonly isOpen: boolean;
  /** Why it is not any more. */
  readonly problem: unknown;
}

const NOTHING: Log = { happenings: [], told: 0, isOpen: false, problem: undefined };

export const log = signal<Log>(NOTHING);

/** How often somebody has asked to listen; 0 is not at all. */
const asked = signal(0);

/** Begins to listen, if nobody does. */
export function listen(): void {
  if (asked.peek() === 0 || log.peek().problem !== undefined) asked.value += 1;
}

effect(() => {
  const open = session.value;
  const graph = open?.graph.value;
  if (open === undefined) asked.value = 0;
  if (open === undefined || graph === undefined || asked.value === 0) {
    log.value = NOTHING;
    return;
  }
  const gone = new AbortController();
  const { looking } = open;
  untracked(() => void follow(looking, gone.signal));
  return () => gone.abort();
});

async function follow(client: Client, signal: AbortSignal): Promise<void> {
  log.value = NOTHING;
  let happenings: Happening[] = [];
  let told = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const show = (problem?: unknown) => {
    clearTimeout(timer);
    timer = undefined;
    if (signal.aborted) return;
    happenings = happenings.slice(-MOST_HAPPENINGS);
    log.value = { happenings, told, isOpen: problem === undefined, problem };
  };
  try {
    const events = await lately(client);
    signal.addEventListener("abort", () => events.close());
    if (signal.aborted) return events.close();
    show();
    for await (const event of events) {
      happenings.push(event);
      told += 1;
      if (happenings.length > 2 * MOST_HAPPENINGS) happenings = happenings.slice(-MOST_HAPPENINGS);
      timer ??= setTimeout(show, SHOW_MILLISECONDS);
    }
  } catch (problem) {
    show(problem);
  }
}

/** Events from a while ago on: the server says which number is the last one, and then tells again from before that. */
async function lately(client: Client): Promise<Events> {
  const now = await client.events();
  const last = now.lastSeq ?? 0;
  now.close();
  return client.events({ lastSeq: Math.max(0, last - BACK) });
}
