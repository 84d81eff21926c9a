// Where one is in the console: everything that can be shared or gone back to stands in the fragment of the address,
// which no browser sends to a server.
//
//   #/GRAPH/VIEW/PART/...?name=value

import { signal } from "@preact/signals";

/** A place in the console. */
export interface Address {
  /** The graph; none until somebody has chosen one. */
  readonly graph: string | undefined;
  /** Which view. */
  readonly view: string;
  /** What of it. */
  readonly parts: readonly string[];
  /** Beside that. */
  readonly values: Readonly<Record<string, string>>;
}

/** Where we are. */
export const address = signal<Address>(readAddress(location.hash));

/** The place that a fragment names. */
export function readAddress(fragment: string): Address {
  const [path = "", query = ""] = fragment.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [graph, view, ...parts] = path.split("/").map(decoded);
  return {
    graph: graph || undefined,
    view: view || "ask",
    parts: parts.filter((part) => part !== ""),
    values: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** The fragment of a place. */
export function writeAddress({ graph, view, parts, values }: Address): string {
  const path = [graph ?? "default", view, ...parts].map(encodeURIComponent).join("/");
  const query = new URLSearchParams(values).toString();
  return `#/${path}${query === "" ? "" : `?${query}`}`;
}

/** The address of a place of the graph in use. */
export function to(view: string, parts: readonly string[] = [], values: Record<string, string> = {}): string {
  return writeAddress({ graph: address.value.graph, view, parts, values });
}

/** Goes to a place, of which the browser's history gets an entry. */
export function go(fragment: string): void {
  if (location.hash === fragment) address.value = readAddress(fragment);
  else location.hash = fragment;
}

/** Says where we are, without an entry in the browser's history. */
export function rename(fragment: string): void {
  history.replaceState(null, "", fragment);
  address.value = readAddress(fragment);
}

addEventListener("hashchange", () => {
  address.value = readAddress(location.hash);
});

/** Whatever cannot be decoded stays as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
