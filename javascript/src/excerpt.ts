// The lines of a program that a finding is about, and its places in them.

import type { Diagnostic, Span } from "./errors.js";

/** A line of a program with a place in it. */
export interface MarkedLine {
  /** Its number, from 1. */
  readonly line: number;
  /** What stands in it before the place, at it and behind it; at a place between two characters stands nothing. */
  readonly before: string;
  readonly at: string;
  readonly after: string;
  /** Whether the place is the cause, or a further one. */
  readonly isCause: boolean;
  /** What the place contributes. */
  readonly text: string;
}

/** The places of a finding in the order of the text, each with its line, in which passwords are stars. */
export function markedLines(program: string | undefined, finding: Diagnostic): MarkedLine[] {
  if (program === undefined || finding.span === undefined) return [];
  const source = discreet(program).split("\n");
  return marksOf(finding, finding.span).flatMap(({ span, isCause, text }) => {
    const whole = source[span.line - 1];
    if (whole === undefined) return [];
    const line = [...whole.replace(/\r$/, "").replaceAll("\t", " ")];
    const start = span.column - 1;
    const end = start + charactersOf(program, span);
    const [before, at, after] = [line.slice(0, start), line.slice(start, end), line.slice(end)];
    return {
      line: span.line,
      before: before.join(""),
      at: at.join(""),
      after: after.join(""),
      isCause,
      text,
    };
  });
}

/** The same as text, with signs below the places. Nothing where the place is not known. */
export function excerpt(program: string | undefined, finding: Diagnostic): string[] {
  const marked = markedLines(program, finding);
  if (marked.length === 0) return [];
  const width = String(Math.max(...marked.map(({ line }) => line))).length;
  const margin = " ".repeat(width);
  const lines = [`${margin}--> line ${finding.span?.line}, column ${finding.span?.column}`, `${margin} |`];
  let shown = 0;
  for (const { line, before, at, after, isCause, text } of marked) {
    if (line !== shown) lines.push(`${String(line).padStart(width)} | ${before}${at}${after}`);
    shown = line;
    const signs = (isCause ? "^" : "-").repeat(Math.max(1, [...at].length));
    lines.push(`${margin} | ${" ".repeat([...before].length)}${signs} ${text}`.trimEnd());
  }
  return lines;
}

interface Mark {
  span: Span;
  isCause: boolean;
  text: string;
}

/** The cause, and the further places, in the order of the text. */
function marksOf(finding: Diagnostic, span: Span): Mark[] {
  const labels = finding.labels ?? [];
  const own = labels.find((label) => label.span.offset === span.offset && label.span.length === span.length);
  const marks: Mark[] = [{ span, isCause: true, text: own?.text ?? "" }];
  for (const label of labels)
    if (label !== own) marks.push({ span: label.span, isCause: false, text: label.text });
  return marks.sort((a, b) => a.span.line - b.span.line || Number(b.isCause) - Number(a.isCause));
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
