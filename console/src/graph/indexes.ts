// What the forms for indexes offer, and the commands that they make.

import { isName } from "./clauses.ts";

/** In addresses it stands in the place of a relation's name: no relation can be called so. */
export const INDEXES = "*indexes";

/** A type of index, and what it is for. */
export interface IndexType {
  readonly name: string;
  readonly about: string;
}

const HNSW: IndexType = { name: "hnsw", about: "nearest vectors" };
const TEXT: IndexType = { name: "text", about: "words in texts" };
const SORTED: IndexType = { name: "sorted", about: "values in a range" };
const HASH: IndexType = { name: "hash", about: "rows with a value" };

/** The distances that an index of vectors may have. */
export const METRICS = ["cosine", "l2", "dot", "l1"] as const;

/** The languages of texts; without one, words are what they are. */
export const LANGUAGES = [
  "none",
  "arabic",
  "danish",
  "dutch",
  "english",
  "finnish",
  "french",
  "german",
  "hungarian",
  "italian",
  "norwegian",
  "portuguese",
  "romanian",
  "russian",
  "spanish",
  "swedish",
  "tamil",
  "turkish",
] as const;

/** The types of index that a column of this type may have, the likeliest first. */
export function indexTypesFor(columnType: string): readonly IndexType[] {
  if (/^(?:vector|vec\b|embedding)/.test(columnType)) return [HNSW];
  if (columnType === "string") return [TEXT, SORTED, HASH];
  return [SORTED, HASH];
}

/** An index that somebody wants. */
export interface Wanted {
  readonly name: string;
  readonly relation: string;
  readonly column: string;
  readonly type: string;
  readonly metric?: string;
  readonly language?: string;
}

/** Whether a text is a name that an index may have. */
export function isIndexName(text: string): boolean {
  return /^[\p{L}\p{N}_-]{1,128}$/u.test(text);
}

/** The command that creates it. Throws where a name could be anything else than a name. */
export function creation({ name, relation, column, type, metric, language }: Wanted): string {
  if (!isIndexName(name))
    throw new TypeError("the name of an index has letters, digits, _ and -, at most 128");
  if (!isName(relation) || !isName(column))
    throw new TypeError(`${relation}(${column}) cannot be named in a command`);
  const options = [
    metric !== undefined && type === "hnsw" ? ` metric ${metric}` : "",
    language !== undefined && type === "text" ? ` language ${language}` : "",
  ];
  return `.index create ${name} on ${relation}(${column}) type ${type}${options.join("")}`;
}
