// Program text cut into pieces of one colour.

import { highlightTree } from "@lezer/highlight";
import { definition, style } from "./language.ts";

export interface Piece {
  readonly text: string;
  /** Which colour: what follows `tok-` in the name of its class. */
  readonly colour: string | undefined;
}

/** The pieces of a text, in their order; together they are the text. */
export function coloured(text: string): Piece[] {
  const pieces: Piece[] = [];
  let done = 0;
  highlightTree(definition.parser.parse(text), style, (from, to, classes) => {
    if (from > done) pieces.push({ text: text.slice(done, from), colour: undefined });
    pieces.push({ text: text.slice(from, to), colour: classes.replace(/^tok-/, "") });
    done = to;
  });
  if (done < text.length) pieces.push({ text: text.slice(done), colour: undefined });
  return pieces;
}
