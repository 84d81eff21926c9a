// What is known of the graph in use beside its relations, read again whenever these have changed.

import { type Task, useTask } from "../parts/useTask.ts";
import type { Session } from "../session/session.ts";
import { type Details, readDetails } from "./details.ts";

/** Another `ticks` reads it again, where something has changed that no event tells. */
export function useDetails(session: Session, ticks = 0): Task<Details> {
  const catalog = session.catalog.value;
  return useTask(() => readDetails(session.looking), [session, catalog, ticks]);
}
