// The language for the editor: which signs are what. What they mean, the server says.

import {
  HighlightStyle,
  LanguageSupport,
  StreamLanguage,
  type StringStream,
  syntaxHighlighting,
} from "@codemirror/language";
import { tags } from "@lezer/highlight";

/** Within which comments, how deep, and whether in a text. */
interface State {
  comments: number;
  isText: boolean;
}

const KEYWORDS = new Set(["not", "in", "or", "and", "limit", "offset", "by", "asc", "desc", "type", "as"]);
const CONSTANTS = new Set(["true", "false", "null"]);

function token(stream: StringStream, state: State): string | null {
  if (state.comments > 0) return comment(stream, state);
  if (state.isText) return text(stream, state);
  if (stream.eatSpace()) return null;
  const isFirst = stream.string.slice(0, stream.pos).trim() === "";
  if (stream.match("//") || (isFirst && stream.match("%"))) {
    stream.skipToEnd();
    return "comment";
  }
  if (stream.match("/*")) {
    state.comments = 1;
    return comment(stream, state);
  }
  if (stream.match(/^[tT]?"/)) {
    state.isText = true;
    return text(stream, state);
  }
  if (stream.pos === 0 && stream.match(/^\.[\p{L}_?]+/u)) return "meta";
  if (stream.match(/^\$[\p{L}_][\p{L}\p{N}_]*/u)) return "macroName";
  if (stream.match(/^(?:\d[\d_]*)(?:\.\d+)?(?:[eE][+-]?\d+)?/)) return "number";
  if (stream.match(/^[\p{Lu}_][\p{L}\p{N}_]*/u))
    return stream.current() === "_" ? "punctuation" : "variableName";
  const word = stream.match(/^[\p{L}][\p{L}\p{N}_]*/u) as RegExpMatchArray | null;
  if (word !== null) {
    const [name] = word;
    if (CONSTANTS.has(name)) return "atom";
    if (stream.peek() === "<") return "className";
    if (stream.peek() === "(") return "function";
    return KEYWORDS.has(name) ? "keyword" : "name";
  }
  if (stream.match(/^(?:<-|:-|!=|<=|>=|[=<>!?])/)) return "operator";
  if (stream.match(/^[+\-*/%]/)) return "operator";
  stream.next();
  return "punctuation";
}

function comment(stream: StringStream, state: State): string {
  while (!stream.eol() && state.comments > 0) {
    if (stream.match("/*")) state.comments += 1;
    else if (stream.match("*/")) state.comments -= 1;
    else stream.next();
  }
  return "comment";
}

function text(stream: StringStream, state: State): string {
  while (!stream.eol()) {
    const sign = stream.next();
    if (sign === "\\") stream.next();
    else if (sign === '"') {
      state.isText = false;
      break;
    }
  }
  return "string";
}

const definition = StreamLanguage.define<State>({
  name: "stratalog",
  startState: () => ({ comments: 0, isText: false }),
  copyState: (state) => ({ ...state }),
  token,
  tokenTable: { function: tags.function(tags.variableName) },
  languageData: {
    commentTokens: { line: "//", block: { open: "/*", close: "*/" } },
    closeBrackets: { brackets: ["(", "[", '"'] },
  },
});

/** Colours are classes, `tok-…`: the style sheet says what they look like, in light and dark. */
const style = HighlightStyle.define([
  { tag: tags.comment, class: "tok-comment" },
  { tag: tags.string, class: "tok-string" },
  { tag: tags.number, class: "tok-number" },
  { tag: tags.atom, class: "tok-atom" },
  { tag: tags.keyword, class: "tok-keyword" },
  { tag: tags.meta, class: "tok-command" },
  { tag: tags.macroName, class: "tok-parameter" },
  { tag: tags.function(tags.variableName), class: "tok-relation" },
  { tag: tags.className, class: "tok-aggregate" },
  { tag: tags.variableName, class: "tok-variable" },
  { tag: tags.operator, class: "tok-operator" },
]);

/** What the editor needs to know. */
export const stratalog = () => new LanguageSupport(definition, [syntaxHighlighting(style)]);

/** The same for text that cannot be edited. */
export { definition, style };
