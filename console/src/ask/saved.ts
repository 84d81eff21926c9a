// Programs that somebody has given a name to.

import { kept } from "../session/store.ts";

export interface Saved {
  readonly name: string;
  readonly graph: string;
  readonly program: string;
}

/** By graph and name. */
export const saved = kept<readonly Saved[]>("saved", []);

/** Keeps a program under a name, in place of what had that name on the same graph. */
export function save(one: Saved): void {
  const others = saved.peek().filter(({ name, graph }) => name !== one.name || graph !== one.graph);
  saved.value = [...others, one].sort((a, b) => a.name.localeCompare(b.name));
}

/** Forgets what has this name. */
export function unsave({ name, graph }: Saved): void {
  saved.value = saved.peek().filter((other) => other.name !== name || other.graph !== graph);
}
