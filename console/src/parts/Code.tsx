// Program text in the colours of the editor, where it cannot be edited.

import { coloured } from "../editor/colours.ts";

/** A rule, a query or a program. */
export function Code({ text, class: kind = "" }: { text: string; class?: string }) {
  return (
    <code class={`program ${kind}`}>
      {coloured(text).map(({ text: part, colour }, number) =>
        colour === undefined ? (
          part
        ) : (
          <span key={number} class={`tok-${colour}`}>
            {part}
          </span>
        ),
      )}
    </code>
  );
}
