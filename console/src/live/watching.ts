// The queries that are watched. They go on while one looks at another view; the browser keeps which they are, so that they
// begin again when the page is opened. Each is watched on its graph only, while the page is on that.

import { effect, signal, untracked } from "@preact/signals";
import { type Session, session } from "../session/session.ts";
import { kept } from "../session/store.ts";
import { Watch } from "./Watch.ts";

/** What the browser keeps of a watched query. */
export interface Watched {
  readonly id: string;
  readonly graph: string;
  readonly query: string;
}

const list = kept<readonly Watched[]>("watched", []);

/** Those of the graph in use, by their ids, in the order in which they were begun. */
export const watches = signal<ReadonlyMap<string, Watch>>(new Map());

/** All that the browser keeps. What else may stand there is left alone. */
export function allWatched(): readonly Watched[] {
  return Array.isArray(list.value) ? list.value.filter(isWatched) : [];
}

/** Watches a query on a graph, if nobody does yet; its id. */
export function watch(graph: string, query: string): string {
  const text = query.trim();
  const all = allWatched();
  const same = all.find((each) => each.graph === graph && each.query === text);
  if (same !== undefined) return same.id;
  const id = newId();
  list.value = [...all, { id, graph, query: text }];
  return id;
}

/** Watches a query no longer. */
export function unwatch(id: string): void {
  list.value = allWatched().filter((each) => each.id !== id);
}

/** It says nothing; ids are only told apart. */
function newId(): string {
  return Math.random().toString(36).slice(2, 10);
}

function isWatched(value: unknown): value is Watched {
  const { id, graph, query } = (value ?? {}) as Partial<Record<string, unknown>>;
  return typeof id === "string" && typeof graph === "string" && typeof query === "string";
}

/** Where `watches` are. */
let place: { session: Session | undefined; graph: string | undefined } = {
  session: undefined,
  graph: undefined,
};

effect(() => {
  const open = session.value;
  const graph = open?.graph.value;
  const wanted = open === undefined ? [] : allWatched().filter((each) => each.graph === graph);
  untracked(() => bring(open, graph, wanted));
});

effect(() => {
  if (session.value?.state.value !== "open") return;
  untracked(() => {
    for (const each of watches.value.values()) each.connected();
  });
});

document.addEventListener("visibilitychange", () => {
  for (const each of watches.peek().values()) each.draw();
});

/** Ends what is not wanted here, and begins what is. */
function bring(open: Session | undefined, graph: string | undefined, wanted: readonly Watched[]): void {
  const isHere = place.session === open && place.graph === graph;
  const before = watches.peek();
  place = { session: open, graph };
  const now = new Map<string, Watch>();
  if (open !== undefined && graph !== undefined) {
    for (const { id, query } of wanted) {
      const going = isHere ? before.get(id) : undefined;
      now.set(id, going ?? new Watch(open, graph, id, query));
    }
  }
  for (const [id, each] of before) if (now.get(id) !== each) each.close();
  watches.value = now;
}
