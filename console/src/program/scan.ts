// A program cut as the server cuts it: into texts, comments and what is neither, and into statements.
//
// What comes out of `statementsOf` stays one statement wherever it is put: it has no comments, no line
// breaks in its texts, and each further line of it is set in.

export interface Piece {
  readonly kind: "code" | "text" | "comment";
  readonly text: string;
}

/** What the server takes for a blank. */
const BLANK = /[\s\u0085]/;

/** The pieces of a program, in their order; together they are the program. */
export function* pieces(program: string): Generator<Piece> {
  let from = 0;
  let at = 0;
  // Nothing but blanks and comments stands before it in its line: only there `%` begins a comment.
  let isFirst = true;
  while (at < program.length) {
    const sign = program[at] ?? "";
    const end = endOfPiece(program, at, isFirst);
    if (end > at) {
      if (at > from) yield { kind: "code", text: program.slice(from, at) };
      yield { kind: sign === '"' ? "text" : "comment", text: program.slice(at, end) };
      if (sign === '"') isFirst = false;
      at = end;
      from = end;
    } else {
      if (sign === "\n") isFirst = true;
      else if (!BLANK.test(sign)) isFirst = false;
      at += 1;
    }
  }
  if (at > from) yield { kind: "code", text: program.slice(from, at) };
}

/** Where the text or comment ends that begins here; the place itself if none does. */
function endOfPiece(program: string, at: number, isFirst: boolean): number {
  if (program[at] === '"') return endOfText(program, at);
  if (program.startsWith("/*", at)) return endOfComment(program, at);
  if (!program.startsWith("//", at) && !(isFirst && program[at] === "%")) return at;
  const end = program.indexOf("\n", at);
  return end < 0 ? program.length : end;
}

function endOfText(program: string, start: number): number {
  let at = start + 1;
  while (at < program.length && program[at] !== '"') at += program[at] === "\\" ? 2 : 1;
  return Math.min(at + 1, program.length);
}

/** Comments of this kind nest. */
function endOfComment(program: string, start: number): number {
  let open = 0;
  let at = start;
  while (at < program.length) {
    const two = program.slice(at, at + 2);
    if (two === "/*") open += 1;
    if (two === "*/") open -= 1;
    at += two === "/*" || two === "*/" ? 2 : 1;
    if (open === 0) return at;
  }
  return program.length;
}

/** The same program without comments, and with no line break in a text. */
export function plain(program: string): string {
  let done = "";
  let isTrimming = false;
  for (const { kind, text } of pieces(program)) {
    if (kind === "comment") {
      // What follows a comment that begins a line begins that line.
      if (done === "" || done.endsWith("\n")) isTrimming = true;
      else done += " ";
    } else {
      const next = kind === "text" ? inOneLine(text) : text;
      done += isTrimming ? next.replace(/^[^\S\n]+/, "") : next;
      isTrimming = false;
    }
  }
  return done;
}

/** A text with its line breaks as escapes. */
function inOneLine(text: string): string {
  return text.replace(/\\([\s\S])|\n/g, (found, escaped: string | undefined) => {
    if (escaped === undefined) return "\\n";
    return escaped === "\n" ? "\\\\\\n" : found;
  });
}

/**
 * A statement of which no further line begins another one, wherever it is put. What somebody has written as two statements is
 * none any more, and the server says so.
 */
export function setIn(statement: string): string {
  const lines = plain(statement).split("\n");
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join("\n  ");
}

/** Lines that begin a statement although a bracket is open, or a comma stands before them. */
const BEGINS =
  /^(?:\?|\.(?!\d)|[+-][\p{Alphabetic}_][\p{Alphabetic}\p{N}_]*\s*[([]|-[\p{Alphabetic}_][\p{Alphabetic}\p{N}_]*\s*$)/u;

/** The statements of a program, each so that it stays one. */
export function statementsOf(program: string): string[] {
  const statements: string[] = [];
  let open = 0;
  let goesOn = false;
  for (const line of plain(program).split("\n")) {
    const text = line.trim();
    if (text === "") continue;
    const isSetIn = /^[ \t]/.test(line);
    const last = statements.length - 1;
    if (last < 0 || (!isSetIn && (!goesOn || BEGINS.test(text)))) {
      statements.push(text);
      open = 0;
    } else {
      statements[last] += `\n  ${text}`;
    }
    for (const sign of masked(text)) {
      if ("([{".includes(sign)) open += 1;
      if (")]}".includes(sign)) open = Math.max(0, open - 1);
    }
    goesOn = open > 0 || /(?:,|<-)$/.test(text);
  }
  return statements;
}

/**
 * A text of the same length in which nothing stands but what is neither text nor comment; of texts, quotes.
 */
export function masked(text: string): string {
  let done = "";
  for (const piece of pieces(text)) {
    if (piece.kind === "code") done += piece.text;
    else done += (piece.kind === "text" ? '"' : " ").repeat(piece.text.length);
  }
  return done;
}

/** In heads, what stands between `<` and `>` belongs to an aggregate. */
export const IN_HEADS = "<";

/**
 * The parts between the commas that stand in no brackets, without blanks around them, and without a last
 * one that is empty.
 */
export function split(text: string, also = ""): string[] {
  const cuts = [...outer(text, also)].filter(({ sign }) => sign === ",").map(({ at }) => at);
  const places = [-1, ...cuts, text.length];
  const parts = places.slice(1).map((end, number) => text.slice((places[number] ?? -1) + 1, end).trim());
  if (parts.at(-1) === "") parts.pop();
  return parts;
}

/** The signs that stand in no brackets. */
export function* outer(text: string, also = ""): Generator<{ at: number; sign: string }> {
  const opening = `([{${also}`;
  const closing = `)]}${also === "" ? "" : ">"}`;
  let depth = 0;
  let at = 0;
  const mask = masked(text);
  for (; at < mask.length; at += 1) {
    const sign = mask[at] ?? "";
    if (closing.includes(sign)) depth = Math.max(0, depth - 1);
    if (depth === 0) yield { at, sign };
    if (opening.includes(sign)) depth += 1;
  }
}

/** Where the arrow of a statement stands, outside of brackets. `X <-5` compares. */
export function arrowOf(text: string): number | undefined {
  for (const { at, sign } of outer(text)) {
    if (sign === "<" && /^<-(?![\d.])/.test(text.slice(at, at + 3))) return at;
  }
  return undefined;
}

/** Whether a text is the name of a variable. */
export function isVariable(text: string): boolean {
  return text !== "_" && /^[\p{Lu}_][\p{L}\p{N}_]*$/u.test(text);
}

/** The variables of a text, as often and in the order as they stand there. */
export function variablesOf(text: string): string[] {
  const names = masked(text).matchAll(/(?<![\p{L}\p{N}_$])[\p{Lu}_][\p{L}\p{N}_]*(?![\p{L}\p{N}_]|\s*\()/gu);
  return [...names].map(([name]) => name).filter((name) => name !== "_");
}

/** The names of the parameters of a program, each once. */
export function parametersOf(program: string): string[] {
  const names = masked(program).matchAll(/\$([\p{L}_][\p{L}\p{N}_]*)/gu);
  return [...new Set([...names].map(([, name]) => name ?? ""))];
}
