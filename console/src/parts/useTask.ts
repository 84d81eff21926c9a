// Something that is asked for while a component is shown.

import { useEffect, useState } from "preact/hooks";

/** How far it is. */
export type Task<T> =
  | { readonly state: "running"; readonly value?: T }
  | { readonly state: "done"; readonly value: T }
  | { readonly state: "failed"; readonly problem: unknown; readonly value?: T };

/**
 * Does `work` when the component appears and whenever one of `inputs` changes; what it did before stays as `value` until there
 * is more. A component that is gone, or asks for something else, aborts the signal.
 */
export function useTask<T>(work: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Task<T> {
  const [task, setTask] = useState<Task<T>>({ state: "running" });
  useEffect(() => {
    const gone = new AbortController();
    setTask(({ value }) => ({ state: "running", ...(value === undefined ? {} : { value }) }));
    work(gone.signal).then(
      (value) => {
        if (!gone.signal.aborted) setTask({ state: "done", value });
      },
      (problem: unknown) => {
        if (!gone.signal.aborted) setTask({ state: "failed", problem });
      },
    );
    return () => gone.abort();
  }, inputs);
  return task;
}
