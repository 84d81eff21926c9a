// A fact as text, and as a field for each of its columns: an empty field is any value.

import { goalOf } from "../program/goal.ts";
import { literal } from "../program/literal.ts";
import { isVariable, plain } from "../program/scan.ts";

/** A column that a field is for. */
export interface FieldColumn {
  readonly name: string;
  /** Its type; undefined where nobody knows it. */
  readonly type: string | undefined;
}

/** A fact as it is typed. */
export interface Fields {
  readonly relation: string;
  readonly inputs: readonly string[];
}

const INTEGER = /^[+-]?\d+$/;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
/** What is a value without anybody quoting it. */
const CONSTANT = /^(?:true|false|null|t"[^"]*"|"(?:\\.|[^"\\])*"|\[.*\]|list\(.*\))$/s;

/**
 * The fact that is typed, as a program would write it. What is no value of the type is text: the server
 * then says what is wrong.
 */
export function factOfFields({ relation, inputs }: Fields, columns: readonly FieldColumn[]): string {
  return `${relation}(${inputs.map((input, column) => valueOfInput(input, columns[column]?.type)).join(", ")})`;
}

function valueOfInput(input: string, type: string | undefined): string {
  const text = input.trim();
  if (type === "string") return input === "" ? "_" : literal(input);
  if (text === "" || text === "_") return "_";
  if (type === "timestamp" && !CONSTANT.test(text) && !INTEGER.test(text)) return `t${literal(text)}`;
  if (INTEGER.test(text) && type === "float") return `${text}.0`;
  return NUMBER.test(text) || CONSTANT.test(text) ? text : literal(text);
}

/** What the fields say, of a fact in a program; undefined where it is none. */
export function fieldsOfFact(fact: string, columns: readonly FieldColumn[]): Fields | undefined {
  const goal = goalOf(
    `?${plain(fact)
      .trim()
      .replace(/^\?\s*/, "")}`,
  );
  if (goal === undefined || goal.rest.trim() !== "") return undefined;
  const terms = goal.terms.filter((term, place) => term !== "" || place + 1 < goal.terms.length);
  return {
    relation: goal.relation,
    inputs: terms.map((term, column) => inputOf(term, columns[column]?.type)),
  };
}

function inputOf(term: string, type: string | undefined): string {
  if (term === "_" || isVariable(term)) return "";
  const inside = /^t?"((?:\\.|[^"\\])*)"$/s.exec(term)?.[1];
  const isBare =
    (type === "string" && !term.startsWith("t")) || (type === "timestamp" && term.startsWith("t"));
  return inside !== undefined && isBare ? unescaped(inside) : term;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", '"': '"', "\\": "\\" };

function unescaped(text: string): string {
  return text.replace(
    /\\(?:u([0-9a-fA-F]{4})|(.))/gs,
    (found, code: string | undefined, sign: string | undefined) => {
      if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
      return ESCAPES[sign ?? ""] ?? found;
    },
  );
}
