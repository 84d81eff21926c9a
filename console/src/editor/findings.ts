// What is wrong with the program, and what deserves a second look: the server says it, and nothing of the program runs.

import type { Action, Diagnostic } from "@codemirror/lint";
import type { EditorView } from "@codemirror/view";
import type { Session } from "../session/session.ts";
import { placeOf } from "./places.ts";

/** Asks the session that would run the program. While that runs something else, nothing is said. */
export function findings(session: Session) {
  let latest = new AbortController();
  return async (view: EditorView): Promise<Diagnostic[]> => {
    latest.abort();
    latest = new AbortController();
    const text = view.state.doc.toString();
    if (text.trim() === "" || session.isBusy.value) return [];
    try {
      const found = await session.asking.check(text, { signal: latest.signal });
      return found.map(({ severity, message, help, span, fixes = [] }) => {
        const from = span === undefined ? 0 : placeOf(text, span.offset);
        const to = span === undefined ? 0 : placeOf(text, span.offset + span.length);
        return {
          from,
          to: Math.max(to, Math.min(from + 1, text.length)),
          severity,
          message: help === undefined ? message : `${message}\n→ ${help}`,
          actions: fixes.map(
            (fix): Action => ({
              name: fix.text === "" ? "take it away" : fix.text.trim().slice(0, 40),
              apply: (editor, now) => {
                const start = placeOf(text, fix.span.offset);
                const end = placeOf(text, fix.span.offset + fix.span.length);
                // What was written before it meanwhile has moved it; what was written into it has another meaning.
                const changes = { from: start + now - from, to: end + now - from, insert: fix.text };
                if (editor.state.sliceDoc(changes.from, changes.to) !== text.slice(start, end)) return;
                editor.dispatch({ changes });
              },
            }),
          ),
        };
      });
    } catch {
      // The next letter asks again.
      return [];
    }
  };
}
