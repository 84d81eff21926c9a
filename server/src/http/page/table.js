// Tables of rows whose values are shown as they travelled.

import { element } from './dom.js';
import { isNumber, write } from './json.js';

/** The most rows of a table that are shown. */
export const MOST_ROWS = 500;

/** A table to scroll, of rows that are `tr` already. */
export function table(name, columns, rows, caption) {
  const head = element('tr', {}, ...columns.map((column) => element('th', { scope: 'col' }, column)));
  const made = element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows));
  if (caption) made.prepend(element('caption', {}, caption));
  return element('div', { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': name }, made);
}

/** The cell of a value. */
export function cell(value) {
  if (value === null) return element('td', { class: 'null' }, 'null');
  if (isNumber(value)) return element('td', { class: 'number' }, write(value));
  return element('td', {}, typeof value === 'string' ? value : write(value));
}

/** `1 row`, `2,000 rows`. */
export const count = (number, what) => `${number.toLocaleString('en')} ${what}${number === 1 ? '' : 's'}`;
