// JSON whose numbers stay as they were written: `2.0` is not `2`, and 64-bit integers are not rounded.

/** A number as it was written. */
class Written {
  constructor(source) {
    this.source = source;
  }
}

/** Like JSON.parse, but numbers are `Written` where the browser tells how they were written. */
export function parseExactly(text) {
  return JSON.parse(text, (_key, value, context) =>
    typeof value === 'number' ? new Written(context?.source ?? String(value)) : value);
}

export const isNumber = (value) => value instanceof Written;

/** The text of a value that `parseExactly` gave; with an indent on several lines, as far as they would be long. */
export function write(value, indent = '') {
  if (value instanceof Written) return value.source;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const isArray = Array.isArray(value);
  const [open, close] = isArray ? '[]' : '{}';
  const parts = (deeper) => isArray
    ? value.map((each) => write(each, deeper))
    : Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${write(each, deeper)}`);
  const short = open + parts('').join(', ') + close;
  if (short.length + indent.length <= 60 && !short.includes('\n')) return short;
  const deeper = `${indent}  `;
  return `${open}\n${parts(deeper).map((part) => deeper + part).join(',\n')}\n${indent}${close}`;
}
