// The lines of a program that a finding is about, with marks under its places.

import type { Diagnostic, Span } from "./errors.js";

interface Mark {
  span: Span;
  sign: "^" | "-";
  text: string;
}

/** Nothing where the place is not known. */
export function excerpt(program: string | undefined, finding: Diagnostic): string[] {
  if (program === undefined || finding.span === undefined) return [];
  const source = discreet(program).split("\n");
  const marks = marksOf(finding, finding.span).filter(
    ({ span }) => span.line >= 1 && span.line <= source.length,
  );
  if (marks.length === 0) return [];
  const width = String(Math.max(...marks.map(({ span }) => span.line))).length;
  const margin = " ".repeat(width);
  const lines = [`${margin}--> line ${finding.span.line}, column ${finding.span.column}`, `${margin} |`];
  let shown = 0;
  for (const { span, sign, text } of marks) {
    const line = [...(source[span.line - 1] ?? "").replace(/\r$/, "").replaceAll("\t", " ")];
    if (span.line !== shown) lines.push(`${String(span.line).padStart(width)} | ${line.join("")}`);
    shown = span.line;
    const room = line.length - (span.column - 1);
    const length = Math.max(1, Math.min(room, charactersOf(program, span)));
    lines.push(`${margin} | ${" ".repeat(span.column - 1)}${sign.repeat(length)} ${text}`.trimEnd());
  }
  return lines;
}

/** The cause, and the further places, in the order of the text. */
function marksOf(finding: Diagnostic, span: Span): Mark[] {
  const labels = finding.labels ?? [];
  const own = labels.find((label) => label.span.offset === span.offset && label.span.length === span.length);
  const marks: Mark[] = [{ span, sign: "^", text: own?.text ?? "" }];
  for (const label of labels)
    if (label !== own) marks.push({ span: label.span, sign: "-", text: label.text });
  return marks.sort((a, b) => a.span.line - b.span.line || (a.sign === b.sign ? 0 : a.sign === "^" ? -1 : 1));
}

/** A command with a password in it, the user's name, and the rest of its statement. */
const SECRET = /(\.user\s+(create|password)\s+)(\S+)((?:[^\n]|\n[ \t])*)/gi;

/** The program with stars in place of passwords, character for character. */
function discreet(program: string): string {
  return program.replace(SECRET, (_, command: string, kind: string, name: string, rest: string) => {
    // A password that stands alone is the user's own.
    const isOwn = kind.toLowerCase() === "password" && rest.trim() === "";
    return command + (isOwn ? stars(name) : name) + stars(rest);
  });
}

function stars(text: string): string {
  return text.replace(/\S/gu, "*");
}

/** How many characters a span's bytes are. */
function charactersOf(program: string, span: Span): number {
  const bytes = new TextEncoder().encode(program).subarray(span.offset, span.offset + span.length);
  return [...new TextDecoder().decode(bytes)].length;
}
