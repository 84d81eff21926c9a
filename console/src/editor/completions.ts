// What may be written here: relations, columns, functions, commands and variables, as the server offers them.

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { Session } from "../session/session.ts";
import { placeOf } from "./places.ts";

const TYPES = {
  relation: "class",
  function: "function",
  aggregate: "function",
  variable: "variable",
  word: "keyword",
} as const;

/** Asks the session that would run the program. While that runs something else, nothing is offered. */
export function completions(session: Session) {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const before = context.state.sliceDoc(0, context.pos);
    const isAsked = context.explicit || /[\p{L}\p{N}_.?!(,$]$/u.test(before);
    if (!isAsked || session.isBusy.value) return null;
    const gone = new AbortController();
    context.addEventListener("abort", () => gone.abort());
    try {
      const text = context.state.doc.toString();
      const offers = await session.asking.complete(text, context.pos, { signal: gone.signal });
      if (offers.length === 0) return null;
      const typed = offers[0]?.typed ?? 0;
      const bytes = new TextEncoder().encode(before).length;
      const options = offers.map(
        ({ text: label, kind, about }): Completion => ({
          label: label.replace(/[(<]$/, ""),
          apply: label,
          type: TYPES[kind],
          ...(about === undefined ? {} : kind === "relation" ? { detail: about } : { info: about }),
        }),
      );
      return { from: placeOf(text, bytes - typed), options, validFor: /^[\p{L}\p{N}_]*$/u };
    } catch {
      return null;
    }
  };
}
