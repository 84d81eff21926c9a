// What a browser keeps for its user between visits: programs, never answers, and never credentials.

import { type Signal, signal } from "@preact/signals";

/** A value that is kept under a name, and shared with other tabs. Without a place to keep it, it ends with the page. */
export function kept<T>(name: string, initial: T): Signal<T> {
  const key = `stratalog.${name}`;
  const value = signal(read(key, initial));
  value.subscribe((now) => {
    try {
      localStorage.setItem(key, JSON.stringify(now));
    } catch {
      // The browser keeps nothing, or has no place left: it ends with the page.
    }
  });
  addEventListener("storage", (event) => {
    if (event.key === key) value.value = read(key, initial);
  });
  return value;
}

function read<T>(key: string, initial: T): T {
  try {
    const text = localStorage.getItem(key);
    return text === null ? initial : (JSON.parse(text) as T);
  } catch {
    return initial;
  }
}
