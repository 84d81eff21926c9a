// Something that is asked for again and again, while a component is shown and the page is seen.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Task } from "../parts/useTask.ts";
import { untilSeen } from "./untilSeen.ts";

/** What was found, and how to ask at once. */
export interface Polled<T> {
  readonly task: Task<T>;
  readonly again: () => void;
}

/**
 * Asks `work` when the component appears or one of `inputs` changes, and so many milliseconds after each answer; with
 * Infinity only when somebody asks for it.
 */
export function usePolled<T>(
  work: (signal: AbortSignal) => Promise<T>,
  milliseconds: number,
  inputs: readonly unknown[],
): Polled<T> {
  const [task, setTask] = useState<Task<T>>({ state: "running" });
  const wake = useRef<() => void>(() => {});
  useEffect(() => {
    const gone = new AbortController();
    const { signal } = gone;
    const follow = async () => {
      while (!signal.aborted) {
        await untilSeen(signal);
        if (signal.aborted) return;
        // Whoever asks for it while it is on its way wants what comes after.
        let isAwaited = true;
        const pause = new Promise<void>((done) => {
          wake.current = () => {
            isAwaited = false;
            done();
          };
        });
        try {
          const value = await work(signal);
          if (!signal.aborted) setTask({ state: "done", value });
        } catch (problem) {
          if (!signal.aborted) setTask({ state: "failed", problem });
        }
        const isTimed = isAwaited && milliseconds !== Infinity;
        const timer = isTimed ? setTimeout(wake.current, milliseconds) : undefined;
        await pause;
        clearTimeout(timer);
      }
    };
    void follow();
    return () => {
      gone.abort();
      wake.current();
    };
  }, inputs);
  const again = useCallback(() => wake.current(), []);
  return { task, again };
}
