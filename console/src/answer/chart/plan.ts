// Which chart an answer makes: what kind, and which columns stand where.
//
// What nobody has chosen is guessed from the types of the columns and from the first rows.

import type { Column, Rows } from "@stratalog/client";

export type Kind = "bars" | "line" | "points";

export const KINDS: readonly Kind[] = ["bars", "line", "points"];

/** What a column can be in a chart. */
export type Role = "number" | "time" | "name";

/** A chart. Columns are known by their place. */
export interface Plan {
  readonly kind: Kind;
  readonly x: number;
  readonly y: number;
  /** The column whose values are told apart by colour. */
  readonly series: number | undefined;
}

/** What somebody has chosen, as the address has it: names of columns, an empty one for none. */
export type Choices = Readonly<Record<string, string>>;

/** A guess looks at so many rows. */
const LOOKED_AT = 2_000;
/** So many values are few. */
const FEW = 8;

/** The chart that the choices make of an answer; none where there is no column of numbers, or nothing beside it. */
export function planOf(answer: Rows, choices: Choices = {}): Plan | undefined {
  const guessed = guess(answer);
  if (guessed === undefined) return undefined;
  const chosen = (name: string) => {
    const place = answer.columns.findIndex((column) => column.name === choices[name]);
    return place < 0 ? undefined : place;
  };
  const numbers = chosen("y");
  const y = numbers !== undefined && roleAt(answer, numbers) === "number" ? numbers : guessed.y;
  const others = [guessed.x, ...answer.columns.keys()].filter((place) => place !== y);
  const x = chosen("x") ?? others[0] ?? guessed.x;
  const free = guessed.series === x || guessed.series === y ? undefined : guessed.series;
  const series = choices["series"] === "" ? undefined : (chosen("series") ?? free);
  const isGuessed = x === guessed.x && y === guessed.y;
  const kind =
    KINDS.find((each) => each === choices["kind"]) ?? (isGuessed ? guessed.kind : kindFor(answer, x));
  return { kind, x, y, series };
}

/** What a column can be. A column of values of several types is one of numbers if it begins with nothing else. */
export function roleOf(column: Column): Role {
  if (column.type === "int" || column.type === "float") return "number";
  if (column.type === "timestamp") return "time";
  return column.type === "any" && isNumeric(column) ? "number" : "name";
}

function roleAt(answer: Rows, place: number): Role {
  const column = answer.columns[place];
  return column === undefined ? "name" : roleOf(column);
}

/** A good chart. */
export function guess(answer: Rows): Plan | undefined {
  const places: Record<Role, number[]> = { number: [], time: [], name: [] };
  answer.columns.forEach((column, place) => {
    places[roleOf(column)].push(place);
  });
  const { number: numbers, time: times, name: names } = places;
  const [first, second] = numbers;
  const [time] = times;
  if (first === undefined || answer.columns.length < 2) return undefined;
  const groups = names.find((place) => repeatsFew(answer, place));
  if (time !== undefined) return { kind: "line", x: time, y: first, series: groups };
  if (second !== undefined && (groups !== undefined || names.length === 0)) {
    const kind = groups === undefined ? kindFor(answer, first) : "points";
    return { kind, x: first, y: second, series: groups };
  }
  // Of two columns of names, the one with the fewer values is told apart by colour.
  const x = names.find((place) => place !== groups) ?? names[0];
  if (x === undefined) return undefined;
  const y = numbers.find((place) => place > x) ?? first;
  return { kind: "bars", x, y, series: groups === x ? undefined : groups };
}

function kindFor(answer: Rows, x: number): Kind {
  const column = answer.columns[x];
  if (column === undefined) return "bars";
  const role = roleOf(column);
  if (role === "name") return "bars";
  return role === "time" || ascends(column) ? "line" : "points";
}

/** Whether each number is greater than the one before. */
function ascends(column: Column): boolean {
  let before: number | bigint | undefined;
  const end = Math.min(column.length, LOOKED_AT);
  for (let row = 0; row < end; row += 1) {
    const value = column.get(row);
    if (typeof value !== "number" && typeof value !== "bigint") return false;
    if (before !== undefined && value <= before) return false;
    before = value;
  }
  return end > 2;
}

/** Whether a column has few values, each more than once on average. */
function repeatsFew(answer: Rows, place: number): boolean {
  const column = answer.columns[place];
  if (column === undefined) return false;
  const end = Math.min(column.length, LOOKED_AT);
  const found = new Set<string>();
  for (let row = 0; row < end && found.size <= FEW; row += 1) found.add(column.key(row));
  return found.size <= FEW && found.size * 2 <= end;
}

function isNumeric(column: Column): boolean {
  let found = false;
  const end = Math.min(column.length, LOOKED_AT);
  for (let row = 0; row < end; row += 1) {
    const value = column.get(row);
    if (value === null) continue;
    if (typeof value !== "number" && typeof value !== "bigint") return false;
    found = true;
  }
  return found;
}
