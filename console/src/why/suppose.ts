// The programs that suppose something, and the one that asks why something does not hold.
//
// What somebody typed, or what stood in an address, becomes a part of one command and nothing else: no line
// of it begins in the first column, where it would be a statement of its own.

import { questionOf } from "../program/question.ts";
import { plain } from "../program/scan.ts";

/** The program that asks which rows of a query would come and go; undefined if there is no query. */
export function whatIf(changes: string, program: string): string | undefined {
  const question = questionOf(program);
  if (question === undefined) return undefined;
  return [".what_if", ...lines(changes), ...question.own.flatMap(lines), ...lines(question.query)].join(
    "\n  ",
  );
}

/**
 * The program that asks what of all that rules derive would come and go; undefined if nothing is supposed.
 */
export function impact(changes: string): string | undefined {
  const supposed = lines(changes);
  return supposed.length === 0 ? undefined : [".impact", ...supposed].join("\n  ");
}

/** The program that asks why a fact does not hold; undefined if there is none. */
export function whyNot(fact: string): string | undefined {
  const text = lines(fact).join(" ");
  return text === "" ? undefined : `.why_not ${text}`;
}

/** The lines of a text without comments, and without blanks around them. */
function lines(text: string): string[] {
  return plain(text)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
