// What is asked for again and again is not asked for while nobody sees the page.

/** Waits until the page is not hidden. */
export function untilSeen(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const look = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener("visibilitychange", look);
      signal.removeEventListener("abort", look);
      done();
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", look);
    look();
  });
}
