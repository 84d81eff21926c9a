// Waiting, which a signal can end.

import { Cancelled } from "./errors.js";
import { LOOK_FIRST } from "./failure.js";

/** Waits so many milliseconds, or until the signal. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal?.addEventListener("abort", done);
  });
}

/** What was promised; Cancelled if the signal comes first. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(cancelled(signal.reason, false));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** Why a request ended that nobody wanted any more. */
export function cancelled(cause: unknown, uncertain: boolean, program?: string): Cancelled {
  const help = uncertain ? LOOK_FIRST : undefined;
  return new Cancelled("the request was cancelled", { cause, help, uncertain, program });
}
