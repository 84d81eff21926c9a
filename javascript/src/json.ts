// JSON without rounding: an integer that a number cannot hold exactly is read as a bigint.
//
// `JSON.parse` is exact for up to 15 digits, so whatever has no longer run of digits is left to it.

/** A value as it travels in JSON; a cell of a proof is one. */
export type Cell = null | boolean | number | bigint | string | Cell[];

/** How the parts of a text become values. */
export interface Readers<T> {
  /** A number, by its text. */
  number(text: string): T;
  /** An array, and whether a tab follows its first bracket, or stands before its last one: see `cells.ts`. */
  array(items: T[], begins: boolean, ends: boolean): T;
  /** Text, a boolean or null. */
  plain(value: string | boolean | null): T;
}

const MANY_DIGITS = /\d{16}/;
const WORDS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** Stands for a number that is not left to JSON.parse; no key of the protocol is called so. */
const MARK = "\u0000number";

/** The value of a message. */
export function parseMessage(text: string): unknown {
  if (!MANY_DIGITS.test(text)) return JSON.parse(text);
  return parseNumbers(text, (number) => {
    const value = integer(number);
    return typeof value === "bigint" ? value : undefined;
  });
}

/** Like JSON.parse, but with what `read` makes of the text of a number; where that is undefined, the number. */
export function parseNumbers(text: string, read: (number: string) => unknown): unknown {
  const found: unknown[] = [];
  const marked = text.replace(WORDS, (word) => {
    const value = word.startsWith('"') ? undefined : read(word);
    return value === undefined ? word : `{${JSON.stringify(MARK)}:${found.push(value) - 1}}`;
  });
  if (found.length === 0) return JSON.parse(text);
  return JSON.parse(marked, (_, value) => {
    const place = typeof value === "object" && value !== null ? value[MARK] : undefined;
    return place === undefined ? value : found[place];
  });
}

/** A number by its text: a bigint if it is an integer that is not exact as a number. */
export function integer(text: string): number | bigint {
  const value = Number(text);
  return Number.isSafeInteger(value) || isFloat(text) ? value : BigInt(text);
}

/** Whether a number is written with a fraction or an exponent. */
export function isFloat(text: string): boolean {
  return /[.eE]/.test(text);
}

/** Reads one value that holds no objects, such as a cell of a column of several types. */
export function readValue<T>(text: string, readers: Readers<T>): T {
  let at = 0;
  const blanks = /[ \t\n\r]*/y;
  const word = /"[^"\\]*(?:\\.[^"\\]*)*"|[^\s,\]]+/y;

  function skip(): void {
    blanks.lastIndex = at;
    blanks.exec(text);
    at = blanks.lastIndex;
  }

  function value(): T {
    skip();
    if (text[at] === "[") return array();
    word.lastIndex = at;
    const found = word.exec(text)?.[0];
    if (found === undefined) throw new SyntaxError(`not JSON: ${text.slice(0, 40)}`);
    at += found.length;
    return /^[-\d]/.test(found) ? readers.number(found) : readers.plain(JSON.parse(found));
  }

  function array(): T {
    at += 1;
    const begins = text[at] === "\t";
    const items: T[] = [];
    skip();
    while (text[at] !== "]") {
      items.push(value());
      skip();
      if (text[at] === ",") at += 1;
      else if (text[at] !== "]") throw new SyntaxError(`not JSON: ${text.slice(0, 40)}`);
    }
    at += 1;
    return readers.array(items, begins, text[at - 2] === "\t");
  }

  return value();
}
