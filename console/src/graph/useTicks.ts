// Looks again, as long as that is needed and the page is seen.

import { useEffect, useRef } from "preact/hooks";

/** Between two looks. */
const PAUSE_MILLISECONDS = 2000;

export function useTicks(isNeeded: boolean, look: () => void): void {
  const latest = useRef(look);
  latest.current = look;
  useEffect(() => {
    if (!isNeeded) return;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") latest.current();
    }, PAUSE_MILLISECONDS);
    return () => clearInterval(timer);
  }, [isNeeded]);
}
